// The hot loop of observing activations.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace octet {

// Counters per bin, taken in turn: one alone would wait for its last store whenever values repeat.
inline constexpr std::size_t kCounterLanes = 8;

// What the same pass learns of the values' size. Without a NaN or infinity, min and max are the smallest and largest
// value; with one (`most` ≥ 0x7F800000) they say nothing. Without values: +inf and -inf.
struct Magnitudes {
  float min = 0, max = 0;
  std::uint32_t least = 0;  // the bits of the smallest |x[i]| other than zero; 0xFFFFFFFF when there is none
  std::uint32_t most = 0;   // the bits of the largest |x[i]|, NaN above infinity above all numbers
};

// Adds 1 to one of the kCounterLanes counters of each value's bin: counters[bin * kCounterLanes + any lane], bin being
// the upper 16 of its bits. There are 65,536 bins; the caller sees that no counter overflows: in one call none grows by
// more than x.size() / kCounterLanes + 1.
Magnitudes count_upper_halves(std::span<const float> x, std::uint16_t* counters);

}  // namespace octet
