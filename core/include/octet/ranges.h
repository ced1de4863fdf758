// What calibration learns of activations: streams in, in memory that does not grow with the samples, and merges
// exactly.
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "octet/model.h"
#include "octet/plan.h"

namespace octet {

// Counts of finite float32 values by their own bits: sign, exponent and the leading 7 bits of the mantissa. Needs no
// range in advance, is within 0.8 % of any value, and adds up exactly in any order. Zeros of either sign are one bin.
class Histogram {
 public:
  struct Bin {
    float low = 0, high = 0;  // values v with low ≤ v ≤ high (of negative bins too: low < high); {0, 0} is zero
    std::uint64_t count = 0;
  };

  void add(std::span<const float> values);  // non-finite values are left out
  void merge(const Histogram& other);
  std::vector<Bin> bins() const;  // those with a count, ascending
  std::uint64_t count() const;

 private:
  // One page per sign and exponent, 128 bins each, there once touched.
  std::map<std::uint32_t, std::vector<std::uint64_t>> pages_;
  std::uint64_t zeros_ = 0;
  friend class HistogramFiller;
  friend class RangesJson;
};

// The sum of float32 values, exact whatever their order.
class ExactSum {
 public:
  void add(float value);
  void merge(const ExactSum& other);
  double value() const;  // rounded once

 private:
  std::vector<std::int64_t> limbs_;
  friend class RangesJson;
};

// All values of one tensor over all runs.
class Observation {
 public:
  // The tensor in one run. Empty tensors count for nothing; NaN and infinity are counted and otherwise left out.
  void add(std::span<const float> values);
  void merge(const Observation& other);

  bool seen() const { return runs_ > 0; }  // any finite value at all
  Interval min_max() const { return {min_, max_}; }
  Interval average() const;  // of the runs' smallest and largest values
  std::uint64_t runs() const { return runs_; }      // that had a finite value
  std::uint64_t values() const { return values_; }  // finite ones
  std::uint64_t non_finite() const { return non_finite_; }
  const Histogram& histogram() const { return histogram_; }

 private:
  float min_ = 0, max_ = 0;
  ExactSum sum_of_mins_, sum_of_maxs_;
  std::uint64_t runs_ = 0, values_ = 0, non_finite_ = 0;
  Histogram histogram_;
  friend class RangesJson;
};

struct Ranges {
  std::string model;                           // fingerprint of the model that ran
  std::uint64_t samples = 0;                   // that went through it
  std::map<std::string, Observation> tensors;  // by value name

  // Adds what another part of the data set gave. Throws Error(kUsage) when it is of another model, or knows other
  // tensors. What nothing was put into yet takes the other's model and tensors.
  void merge(const Ranges& other);
};

std::string ranges_to_json(const Ranges& ranges);
Ranges ranges_from_json(std::string_view json);  // throws Error(kMalformed) naming the field

// Of a model's graph, weights included: what binds ranges to the model they were learned from. The same natively and in
// WebAssembly, whether weights are inside or external.
std::string fingerprint_of(const Model& model);

// What a range is chosen for.
struct RangeRule {
  RangeMethod method = RangeMethod::kMinMax;
  double percentile = 99.9;
  QuantType type = QuantType::kUint8;
  bool symmetric = false;
};

struct ChosenRange {
  Interval range;  // of real values, without zero or symmetry forced in: choose_params does that
  RangeMethod method = RangeMethod::kMinMax;  // never kBest
  double sqnr_db = 0;                         // of the values quantized so, by their histogram
};

// Deterministic: the same everywhere to the last bit. `observed` has seen something.
ChosenRange choose_range(const Observation& observed, const RangeRule& rule);

}  // namespace octet
