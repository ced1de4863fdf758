// How far a quantized model drifted from the float one, and how fast it is. Every formula is stated once, here.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "octet/tensor.h"

namespace octet {

// Drift of one output over all samples together. Sums are in double, over the elements that are finite on both sides.
struct OutputDrift {
  std::string name;
  bool comparable = true;   // same type and shape on both sides, and numeric
  std::string why_not;      // when not comparable
  bool finite = true;       // the candidate has no NaN or infinity where the reference has none
  // 10·log10(Σ r² / Σ (r − c)²); kSqnrEqual when all elements are equal, −kSqnrEqual when the reference is all zero
  // but the candidate is not, or when the candidate is not finite.
  double sqnr_db = 0;
  double cosine = 0;        // Σ r·c / √(Σ r² · Σ c²); 1 when both are zero, 0 when one is
  double max_abs_error = 0; // max |r − c|
  double max_abs = 0;       // max |r|, to read the error against
  // Share of rows (all axes but the last) whose largest element stands at the same place; only for float outputs
  // whose last axis has 2 or more elements. For integer outputs: share of equal elements.
  std::optional<double> top1_agreement;
  std::uint64_t elements = 0;
};
inline constexpr double kSqnrEqual = 200.0;

// Streams over samples: memory per output is constant. What is measured are the outputs of the reference; one that the
// candidate lacks, or gives another type or shape even once, is not comparable.
class DriftMeter {
 public:
  void add(const Sample& reference, const Sample& candidate);
  std::vector<OutputDrift> result() const;  // in order of first appearance (output name order of the map)
  // Lowest SQNR over comparable float outputs; kSqnrEqual when there is none. −kSqnrEqual if any is not finite.
  double worst_sqnr_db() const;

 private:
  struct Sums;
  std::vector<std::pair<std::string, Sums>> outputs_;

 public:
  DriftMeter();
  ~DriftMeter();
  DriftMeter(DriftMeter&&) noexcept;
  DriftMeter& operator=(DriftMeter&&) noexcept;
};

// Latency in milliseconds over timed runs after warm-up. Percentiles, the median among them, interpolate linearly
// between the two nearest runs; the standard deviation is the sample's (n - 1). No runs: all zero.
struct LatencyStats {
  std::uint64_t runs = 0;
  double median_ms = 0, mean_ms = 0, min_ms = 0, max_ms = 0, p90_ms = 0, stddev_ms = 0;
  double mad_ms = 0;  // median absolute deviation from the median, the spread quoted
};
LatencyStats latency_stats(std::span<const double> milliseconds);

// Median of the pairwise ratios baseline[i] / candidate[i] of interleaved runs, with its 5th and 95th percentile from a
// seeded bootstrap of the median (1000 resamples). Above 1: the candidate is faster. Runs without a partner, and pairs
// in which either time is not positive, are left out; with none left all three are 1.
struct Speedup {
  double ratio = 1, low = 1, high = 1;
};
Speedup paired_speedup(std::span<const double> baseline_ms, std::span<const double> candidate_ms);

}  // namespace octet
