// Measures one quantized model after another against the same float model, in a process that stays: the float model is
// loaded once, and runs over the samples once.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>

#include "data/samples.h"
#include "engine/talking_child.h"
#include "octet/auto_engine.h"

namespace octet {

struct MeasureJob {
  std::filesystem::path float_model, data;
  SampleOptions samples;
  std::optional<std::filesystem::path> labels;  // none: labels.json beside the samples, where there is one
  bool needs_labels = false;                    // labels that do not fit are an error then
  unsigned threads = 1;
};

class CandidateMeter {
 public:
  explicit CandidateMeter(const MeasureJob& job, const std::filesystem::path& executable = "/proc/self/exe");

  // What the model does wrong is in the result. Throws Error(kData), Error(kRead) or Error(kUsage) for samples that do
  // not fit, and Error(kRun) where the float model does not run.
  Measurement measure(const std::filesystem::path& candidate, std::uint64_t bytes, Effort effort);

 private:
  TalkingChild child_;
};

inline constexpr const char* kMeasureCommand = "__measure";
int measure_child_main();

}  // namespace octet
