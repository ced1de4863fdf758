// A process of this program that stays: one JSON document a line in, one a line out. What it has loaded serves all
// questions; a crash takes it alone, and the next question starts another.
#pragma once

#include <filesystem>
#include <functional>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>

#include "engine/child_process.h"

namespace octet {

class TalkingChild {
 public:
  // `greeting` is the first line of every process; it has no answer of its own.
  TalkingChild(const char* command, nlohmann::json greeting, std::filesystem::path executable = "/proc/self/exe");
  ~TalkingChild();
  TalkingChild(const TalkingChild&) = delete;
  TalkingChild& operator=(const TalkingChild&) = delete;

  struct Answer {
    std::optional<nlohmann::json> result;
    std::string why_not;  // how the process ended instead
  };
  // Throws the Error that the child's work ended in, and Error(kRun) when no process can be made. A child that takes
  // longer is killed.
  Answer ask(const nlohmann::json& question, double timeout_seconds);

 private:
  bool send(const std::string& line, double deadline);
  std::optional<std::string> receive(double deadline);
  std::string end();

  const char* command_;
  nlohmann::json greeting_;
  std::filesystem::path executable_;
  StartedChild child_;
  std::string received_;
};

// The child's side: `start` makes of the greeting what answers questions; both may throw. Returns the exit status.
using Answerer = std::function<nlohmann::json(const nlohmann::json& question)>;
int answer_lines(const char* where, const std::function<Answerer(const nlohmann::json& greeting)>& start);

}  // namespace octet
