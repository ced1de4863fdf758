// How much memory a model takes to run, measured where nothing else is held.
#pragma once

#include <cstdint>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>

#include "data/samples.h"

namespace octet {

struct MemoryJob {
  std::filesystem::path model;
  std::optional<std::filesystem::path> data;  // none: synthetic samples
  SampleOptions samples;                      // of the data
  SyntheticOptions synthetic;
  unsigned threads = 1;
  double seconds = 20;  // after this no further sample is begun
};

struct MemoryResult {
  std::uint64_t bytes =
      0;                // most that a process held that loaded the model and ran it, with the runtime's own; 0: unknown
  std::string why_not;  // it is not known
};

// Loads the model and runs one sample after the other in a process of its own (`octet __memory`). What goes wrong there
// is in the result. Throws Error(kRun) only when no process can be made.
MemoryResult measure_peak_memory(const MemoryJob& job, double timeout_seconds = 600,
                                 const std::filesystem::path& executable = "/proc/self/exe");

inline constexpr const char* kMemoryCommand = "__memory";
// What main runs for kMemoryCommand: a job on standard input, a result on standard output. Returns the status.
int memory_child_main();

}  // namespace octet
