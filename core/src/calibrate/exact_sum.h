// The size of an exact sum: 32-bit limbs for 277 bits of float32, and one for what carries over.
#pragma once

#include <cstddef>

namespace octet {

inline constexpr std::size_t kSumLimbs = 10;

}  // namespace octet
