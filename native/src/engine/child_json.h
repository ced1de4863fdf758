// One question to this program in a process of its own, one answer back, both JSON.
#pragma once

#include <filesystem>
#include <functional>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>

#include "octet/error.h"
#include "octet/synthetic.h"

namespace octet {

struct ChildAnswer {
  std::optional<nlohmann::json> result;
  std::optional<Error> error;    // that the child's work ended in
  std::string why_not;           // with neither of them: how the process ended
  bool unwanted = false;         // the listener had it killed
  double seconds = 0;            // with the start of the process
  std::uint64_t peak_bytes = 0;  // as ChildResult has it
};

// How complaints name it: "running both models" took too long, "the verifying process" ended.
struct ChildWords {
  const char *work, *process;
};

// For a child that tells how far it is. An exception of `progress` ends the child as well.
struct ChildListener {
  std::function<void(const nlohmann::json&)> progress;
  std::function<bool()> wanted;  // asked several times a second; false kills the child
};

// Runs `executable command`. Throws Error(kRun) only when no process can be made.
ChildAnswer ask_child(const char* command, const nlohmann::json& question, const ChildWords& words,
                      double timeout_seconds, const std::filesystem::path& executable = "/proc/self/exe",
                      const ChildListener* listener = nullptr);

// The child's side: does `work` on the question, and answers with what it returns or throws. Returns the exit status.
int answer_parent(const char* where, const std::function<nlohmann::json(const nlohmann::json&)>& work);

// The same for work that tells how far it is, by calling the function it is given with a JSON object.
using TellParent = std::function<void(const nlohmann::json&)>;
int answer_parent(const char* where,
                  const std::function<nlohmann::json(const nlohmann::json&, const TellParent&)>& work);

nlohmann::json to_json(const SyntheticOptions& options);
SyntheticOptions synthetic_from_json(const nlohmann::json& document);

}  // namespace octet
