// A quantized model against its float model, value by value and weight by weight: where its loss comes from.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>

#include "data/samples.h"
#include "octet/layer_steps.h"

namespace octet {

struct LayersJob {
  std::filesystem::path reference, candidate;
  std::optional<std::filesystem::path> data;  // none: synthetic samples
  SampleOptions samples = {};
  SyntheticOptions synthetic = {};
  unsigned threads = 1;
  // Bytes of values that one run may show; where more are compared, the samples run as often as that takes.
  std::uint64_t memory_budget = LayerSteps::kMemoryBudget;
  std::function<void(double fraction)> progress = {};
};

// Both models run without the runtime's optimizations, which would do away with values. Throws Error.
LayersResult compare_layers(const LayersJob& job);

}  // namespace octet
