#include "kernels/histogram_kernels.h"

#include <algorithm>
#include <cstring>
#include <limits>

#include "kernels/bit_cast.h"
#include "kernels/highway_targets.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/histogram_kernels.cc"
#include <hwy/foreach_target.h>  // IWYU pragma: keep

#include <hwy/cache_control.h>
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace octet {
namespace HWY_NAMESPACE {
namespace {

namespace hn = hwy::HWY_NAMESPACE;

constexpr std::size_t kAhead = 1024;  // values: the processor's own reading ahead does not see past the counters
constexpr std::size_t kStep = 16;     // values per step: a cache line, and no vector is longer

HWY_INLINE void Count(std::uint8_t* counters, std::uint64_t offset, std::size_t lane) {
  std::uint8_t* const at = counters + offset + lane * sizeof(std::uint16_t);
  std::uint16_t n;
  std::memcpy(&n, at, sizeof(n));
  ++n;
  std::memcpy(at, &n, sizeof(n));
}

// Byte offsets of a bin's counters, since a bin is too long for the processor to scale by.
constexpr std::uint64_t kOffset = std::uint64_t{0xFFFF} * kCounterLanes * sizeof(std::uint16_t);
static_assert(kCounterLanes * sizeof(std::uint16_t) == 1 << 4);

// Two values per load.
HWY_INLINE void CountPair(std::uint8_t* counters, const float* from, std::size_t lane) {
  std::uint64_t pair;
  std::memcpy(&pair, from + lane, sizeof(pair));
  Count(counters, (pair >> 12) & kOffset, lane);
  Count(counters, (pair >> 44) & kOffset, lane + 1);
}

// Written out: compilers that keep this a loop take twice as long.
HWY_INLINE void CountEight(std::uint8_t* counters, const float* from) {
  CountPair(counters, from, 0);
  CountPair(counters, from, 2);
  CountPair(counters, from, 4);
  CountPair(counters, from, 6);
}

Magnitudes CountUpperHalves(std::span<const float> x, std::uint16_t* counters) {
  const hn::CappedTag<float, kStep> d;
  const hn::RebindToUnsigned<decltype(d)> du;
  const std::size_t lanes = hn::Lanes(d), n = x.size();
  const auto magnitude = hn::Set(du, 0x7FFFFFFFu), one = hn::Set(du, 1u);
  auto low = hn::Set(d, std::numeric_limits<float>::infinity());
  auto high = hn::Neg(low);
  auto least = hn::Set(du, 0xFFFFFFFFu), most = hn::Zero(du);

  auto* const bytes = reinterpret_cast<std::uint8_t*>(counters);

  std::size_t i = 0;
  for (; n - i >= kStep; i += kStep) {
    const float* const from = x.data() + i;
    hwy::Prefetch(x.data() + std::min(i + kAhead, n - 1));
    for (std::size_t j = 0; j < kStep; j += lanes) {
      const auto v = hn::LoadU(d, from + j);
      const auto size = hn::And(hn::BitCast(du, v), magnitude);
      low = hn::Min(low, v);
      high = hn::Max(high, v);
      most = hn::Max(most, size);
      least = hn::Min(least, hn::Sub(size, one));  // zero becomes the largest number of all
    }
    CountEight(bytes, from);
    CountEight(bytes, from + kCounterLanes);
  }

  Magnitudes found{hn::GetLane(hn::MinOfLanes(d, low)), hn::GetLane(hn::MaxOfLanes(d, high)),
                   hn::GetLane(hn::MinOfLanes(du, least)), hn::GetLane(hn::MaxOfLanes(du, most))};
  for (; i < n; ++i) {
    const auto bits = bit_cast<std::uint32_t>(x[i]);
    found.min = std::min(found.min, x[i]);
    found.max = std::max(found.max, x[i]);
    found.most = std::max(found.most, bits & 0x7FFFFFFFu);
    found.least = std::min(found.least, (bits & 0x7FFFFFFFu) - 1);
    Count(bytes, (bits >> 12) & kOffset, i % kCounterLanes);
  }
  found.min += 0.0f;  // turns -0 into +0
  found.max += 0.0f;
  if (found.least != 0xFFFFFFFFu) ++found.least;
  return found;
}

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace octet
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace octet {

HWY_EXPORT(CountUpperHalves);

Magnitudes count_upper_halves(std::span<const float> x, std::uint16_t* counters) {
  return HWY_DYNAMIC_DISPATCH(CountUpperHalves)(x, counters);
}

}  // namespace octet
#endif  // HWY_ONCE
