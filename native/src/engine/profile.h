// How long each node of a model takes, by the runtime's own profiler, and which compute in integers.
#pragma once

#include <cstddef>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "octet/tensor.h"

namespace octet {

// Times are milliseconds per run, on average. A node that holds a graph is without the time of that graph's nodes.
struct Profile {
  struct Operator {
    std::string op;
    bool integers = false;  // an integer kernel, or values in 8 bits that it only carries on
    double count = 0;       // nodes run, per run of the model
    double ms = 0, share = 0;
  };
  struct Node {
    std::string name, op;
    double ms = 0;
  };

  std::string why_not;              // there are no times; nothing else is filled then
  std::size_t runs = 0;             // that the times are of: the faster half
  double run_ms = 0;                // of a whole run while it is watched, which is slower than without
  double integer_share = 0;         // of the time that nodes took
  std::vector<Operator> operators;  // the longest first; an operator that runs both ways has two entries
  std::vector<Node> nodes;          // the longest first, at most kProfiledNodes
};
inline constexpr std::size_t kProfiledNodes = 20;

struct ProfileOptions {
  unsigned threads = 1;
  std::size_t warmup = 2, runs = 20;
  double seconds = 10;  // no run is begun after that
};

// Runs the model on the samples in turn. What goes wrong is in the result. Never to be used while something is timed.
Profile profile_model(const std::filesystem::path& model, const std::vector<Sample>& samples,
                      const ProfileOptions& options);

// From the trace that the runtime writes, without the first `warmup` runs and the slower half of the rest. Throws
// Error(kRun) for what is none.
Profile profile_from_trace(std::string_view trace, std::size_t warmup);

nlohmann::json to_json(const Profile& profile);

}  // namespace octet
