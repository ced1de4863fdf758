// How values are spread, for pictures: of stored weights, and of what calibration saw of activations.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "octet/model.h"
#include "octet/ranges.h"

namespace octet {

struct ValueHistogram {
  std::vector<std::int64_t> dims;                       // of a weight; empty for activations
  Interval range;                                       // smallest and largest finite value; {0, 0} where there is none
  std::vector<std::uint64_t> counts;                    // in bins of one width from range.low to range.high
  std::uint64_t values = 0, zeros = 0, non_finite = 0;  // values: the finite ones
  std::vector<Interval> channels;                       // along the axis asked for, at most kMostChannels of them
};
inline constexpr std::size_t kMostChannels = 4096, kMostBins = 4096;

// `tensor`: a stored float tensor of a prepared (or normalized) model, by the name that its plan gives it. Throws
// Error(kUsage) for one that is not there, is not float, or has no such axis, and for no bins or too many.
ValueHistogram weight_histogram(Model& model, const std::string& tensor, std::size_t bins,
                                std::optional<int> axis = std::nullopt);

// Within 0.8 % of where the values lay. Throws Error(kUsage) for no bins or too many.
ValueHistogram activation_histogram(const Observation& observed, std::size_t bins);

}  // namespace octet
