// A quantized model against its float model, value by value and weight by weight: where its loss comes from.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "data/samples.h"
#include "octet/layers.h"
#include "octet/measure.h"

namespace octet {

struct LayersJob {
  std::filesystem::path reference, candidate;
  std::optional<std::filesystem::path> data;  // none: synthetic samples
  SampleOptions samples = {};
  SyntheticOptions synthetic = {};
  unsigned threads = 1;
  // Bytes of values that one run may show; where more are compared, the samples run as often as that takes.
  std::uint64_t memory_budget = std::uint64_t{256} << 20;
  std::function<void(double fraction)> progress = {};
};

struct LayerDrift {
  ValuePair pair;
  OutputDrift model;                    // the float model's value against the quantized model's: all loss up to here
  std::optional<OutputDrift> rounding;  // the quantized model's value before and behind its rounding: this loss alone
};

struct LayersResult {
  std::string runtime, samples_description;
  std::size_t samples = 0;
  bool prepared = false;  // names are those of the float model once it is prepared
  int float_values = 0;   // of the float model, inputs included
  int rounded = 0, rounded_matched = 0;
  std::vector<LayerDrift> layers;    // the most rounded away first, then by the loss up to there
  std::vector<WeightDrift> weights;  // the worst first
  int weights_unmatched = 0;
  std::size_t slices = 0;  // runs of all samples
};

// Both models run without the runtime's optimizations, which would do away with values. Throws Error.
LayersResult compare_layers(const LayersJob& job);

}  // namespace octet
