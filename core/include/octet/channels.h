// What calibration learns of the channels of an activation: for steps that treat each channel apart.
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "octet/ranges.h"

namespace octet {

// A value to observe, and the axis of its channels; negative ones count from the end.
struct ChannelTap {
  std::string value;
  int axis = -1;
};

// Every channel of one tensor over all runs. NaN and infinity are left out. Merges exactly, in any order.
class ChannelObservation {
 public:
  // The tensor in one run. Throws Error(kData) when it has no such axis, or another number of channels than before.
  void add(std::span<const float> values, const std::vector<std::int64_t>& dims, int axis);
  void merge(const ChannelObservation& other);  // throws likewise

  bool seen() const { return runs_ > 0; }
  std::size_t channels() const { return low_.size(); }
  // Of each channel, from zero on: low ≤ 0 ≤ high.
  std::vector<Interval> ranges() const;
  // The mean over the runs of what is the channel's mean in each, of values and of their squares; 0 where there was no
  // finite value.
  std::vector<double> mean() const;
  std::vector<double> mean_square() const;

 private:
  void expect(std::size_t channels);
  std::vector<double> per_run(const std::vector<ExactSum>& sums) const;

  std::vector<float> low_, high_;
  std::vector<ExactSum> sum_of_means_, sum_of_squares_;
  std::vector<std::uint64_t> counted_;  // runs in which the channel had a finite value
  std::uint64_t runs_ = 0;
};

using ChannelObservations = std::map<std::string, ChannelObservation>;  // by value name

}  // namespace octet
