// What counting values by their bits needs of a block of them.
#pragma once

#include <cstdint>
#include <span>

namespace octet {

// The bits of the smallest |x[i]| other than zero; 0xFFFFFFFF when there is none. NaN and infinity take part by their
// bits, which are above those of every number.
std::uint32_t smallest_magnitude_bits(std::span<const float> x);

}  // namespace octet
