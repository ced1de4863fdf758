#include "octet/channels.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "kernels/quantize_kernels.h"
#include "octet/error.h"
#include "octet/tensor.h"

namespace octet {
namespace {

struct Channel {
  double sum = 0, squares = 0;  // of finite values, in the order of the tensor
  std::uint64_t count = 0;
};

void sum_up(std::span<const float> values, Channel& channel) {
  for (const float value : values) {
    if (!std::isfinite(value)) continue;
    const auto wide = static_cast<double>(value);
    channel.sum += wide;
    channel.squares += wide * wide;
    ++channel.count;
  }
}

}  // namespace

void ChannelObservation::expect(std::size_t channels) {
  if (runs_ > 0 && channels != low_.size()) {
    throw Error(ErrorCode::kData, "calibration",
                "a value has " + std::to_string(channels) + " channels after " + std::to_string(low_.size()),
                "leave its node out with --nodes-to-exclude");
  }
  low_.resize(channels, std::numeric_limits<float>::infinity());
  high_.resize(channels, -std::numeric_limits<float>::infinity());
  sum_of_means_.resize(channels);
  sum_of_squares_.resize(channels);
  counted_.resize(channels);
}

void ChannelObservation::add(std::span<const float> values, const std::vector<std::int64_t>& dims, int axis) {
  const int rank = static_cast<int>(dims.size()), at = axis < 0 ? rank + axis : axis;
  if (at < 0 || at >= rank || element_count(dims) != values.size()) {
    throw Error(ErrorCode::kData, "calibration", "a value of rank " + std::to_string(rank) + " has no channels",
                "leave its node out with --nodes-to-exclude");
  }
  const auto channels = static_cast<std::size_t>(dims[static_cast<std::size_t>(at)]);
  if (values.empty()) return;
  expect(channels);
  std::size_t inner = 1;
  for (std::size_t i = static_cast<std::size_t>(at) + 1; i < dims.size(); ++i)
    inner *= static_cast<std::size_t>(dims[i]);
  std::vector<Channel> sums(channels);
  for (std::size_t begin = 0; begin < values.size(); begin += channels * inner) {
    const auto block = values.subspan(begin, channels * inner);
    if (inner == 1) {
      accumulate_row_range(block, low_, high_);
      for (std::size_t c = 0; c < channels; ++c) sum_up(block.subspan(c, 1), sums[c]);
      continue;
    }
    for (std::size_t c = 0; c < channels; ++c) {
      const auto part = block.subspan(c * inner, inner);
      const Range range = find_range(part);
      if (range.non_finite < inner) {
        low_[c] = std::min(low_[c], range.min);
        high_[c] = std::max(high_[c], range.max);
      }
      sum_up(part, sums[c]);
    }
  }
  for (std::size_t c = 0; c < channels; ++c) {
    if (sums[c].count == 0) continue;
    const auto count = static_cast<double>(sums[c].count);
    sum_of_means_[c].add(static_cast<float>(sums[c].sum / count));
    sum_of_squares_[c].add(static_cast<float>(sums[c].squares / count));
    ++counted_[c];
  }
  ++runs_;
}

void ChannelObservation::merge(const ChannelObservation& other) {
  if (!other.seen()) return;
  expect(other.channels());
  for (std::size_t c = 0; c < channels(); ++c) {
    low_[c] = std::min(low_[c], other.low_[c]);
    high_[c] = std::max(high_[c], other.high_[c]);
    sum_of_means_[c].merge(other.sum_of_means_[c]);
    sum_of_squares_[c].merge(other.sum_of_squares_[c]);
    counted_[c] += other.counted_[c];
  }
  runs_ += other.runs_;
}

std::vector<Interval> ChannelObservation::ranges() const {
  std::vector<Interval> result;
  for (std::size_t c = 0; c < channels(); ++c) result.push_back({std::min(low_[c], 0.0f), std::max(high_[c], 0.0f)});
  return result;
}

std::vector<double> ChannelObservation::per_run(const std::vector<ExactSum>& sums) const {
  std::vector<double> result;
  for (std::size_t c = 0; c < channels(); ++c)
    result.push_back(counted_[c] ? sums[c].value() / static_cast<double>(counted_[c]) : 0);
  return result;
}

std::vector<double> ChannelObservation::mean() const { return per_run(sum_of_means_); }

std::vector<double> ChannelObservation::mean_square() const { return per_run(sum_of_squares_); }

}  // namespace octet
