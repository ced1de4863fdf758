// Comparing every value of a quantized model with the float model's, in steps: the core says what a run of both is to
// show and measures what it showed; whoever has a runtime runs them.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "octet/layers.h"
#include "octet/measure.h"
#include "octet/tensor.h"

namespace octet {

struct LayerDrift {
  ValuePair pair;
  OutputDrift model;                    // the float model's value against the quantized model's: all loss up to here
  std::optional<OutputDrift> rounding;  // the quantized model's value before and behind its rounding: this loss alone
};

struct LayersResult {
  std::string samples_description;
  std::size_t samples = 0;
  bool prepared = false;  // names are those of the float model once it is prepared
  int float_values = 0;   // of the float model, inputs included
  int rounded = 0, rounded_matched = 0;
  std::vector<LayerDrift> layers;    // the most rounded away first, then by the loss up to there
  std::vector<WeightDrift> weights;  // the worst first
  int weights_unmatched = 0;
  std::size_t slices = 0;  // runs of all samples
};

// Values that one run of both models shows, by name; inputs are not among them.
struct LayerSlice {
  std::vector<std::string> reference, candidate;
};

class LayerSteps {
 public:
  // The quantized model has the names of what it was made from: the float model as it is, or prepared. Asks for the
  // float model twice to find out. Throws what loading and preparing throw.
  LayerSteps(const std::function<Model()>& open_reference, Model candidate);

  // Bytes that one slice may take in a runtime and in copies, unless told otherwise.
  static constexpr std::uint64_t kMemoryBudget = std::uint64_t{256} << 20;
  // As many values together as `budget` bytes hold for a sample like this, at least one. None where there is nothing to
  // compare. Forgets what was added.
  const std::vector<LayerSlice>& cut(const Sample& sample, std::uint64_t budget = kMemoryBudget);
  const std::vector<LayerSlice>& slices() const { return slices_; }
  // To be run without the runtime's optimizations, which would do away with values. Throws Error(kUsage) for a slice
  // that there is none of.
  Model reference_model(std::size_t slice) const;
  Model candidate_model(std::size_t slice) const;

  // What both gave for one sample. Values that are not of the slice are passed over, and so are pairs of which a side
  // is missing or no float tensor.
  void add(std::size_t slice, const Sample& inputs, const Sample& reference, const Sample& candidate);

  // Added to a slice so far.
  std::size_t samples(std::size_t slice) const { return slice < samples_of_.size() ? samples_of_[slice] : 0; }
  // Of what was added; `samples` are those of the first slice.
  LayersResult result() const;

 private:
  struct Meters {
    DriftMeter model, rounding;
  };
  void add_pair(const ValuePair& pair, const Sample& inputs, const Sample& reference, const Sample& candidate);
  const LayerSlice& at(std::size_t slice) const;

  Model candidate_, reference_;
  LayerPairs pairs_;
  std::vector<WeightDrift> weights_;
  int weights_unmatched_ = 0;
  bool prepared_ = false;
  std::vector<std::string> inputs_, other_inputs_;  // of the float model and of the quantized one
  std::vector<LayerSlice> slices_;
  std::vector<std::vector<const ValuePair*>> pairs_of_;  // of each slice
  std::map<std::string, Meters> meters_;
  std::vector<std::size_t> samples_of_;  // added to each slice
};

}  // namespace octet
