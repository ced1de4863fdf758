// What the parts of calibration share of histograms.
#pragma once

#include <cstdint>
#include <span>

#include "kernels/quantize_kernels.h"

namespace octet {

class Histogram;

inline constexpr std::uint32_t kPages = 512;  // sign and exponent
inline constexpr std::uint32_t kBinsPerPage = 128;

// Adds the values and says, from the same pass, what find_range says of them.
Range count_values(Histogram& histogram, std::span<const float> values);

}  // namespace octet
