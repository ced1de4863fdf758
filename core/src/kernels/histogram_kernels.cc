#include "kernels/histogram_kernels.h"

#include <algorithm>
#include <cstddef>

#include "kernels/bit_cast.h"
#include "kernels/highway_targets.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/histogram_kernels.cc"
#include <hwy/foreach_target.h>  // IWYU pragma: keep

#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace octet {
namespace HWY_NAMESPACE {
namespace {

namespace hn = hwy::HWY_NAMESPACE;

std::uint32_t SmallestMagnitudeBits(std::span<const float> x) {
  const hn::ScalableTag<std::uint32_t> d;
  const hn::RebindToFloat<decltype(d)> df;
  const std::size_t lanes = hn::Lanes(d), n = x.size();
  const auto magnitude = hn::Set(d, 0x7FFFFFFFu), one = hn::Set(d, 1u);
  auto a = hn::Set(d, 0xFFFFFFFFu), b = a;
  // One less than the magnitude: zero becomes the largest number of all.
  const auto of = [&](const float* from)
                      HWY_ATTR { return hn::Sub(hn::And(hn::BitCast(d, hn::LoadU(df, from)), magnitude), one); };
  std::size_t i = 0;
  for (; n - i >= 2 * lanes; i += 2 * lanes) {
    a = hn::Min(a, of(x.data() + i));
    b = hn::Min(b, of(x.data() + i + lanes));
  }
  std::uint32_t least = hn::GetLane(hn::MinOfLanes(d, hn::Min(a, b)));
  for (; i < n; ++i) least = std::min(least, (bit_cast<std::uint32_t>(x[i]) & 0x7FFFFFFFu) - 1);
  return least == 0xFFFFFFFFu ? least : least + 1;
}

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace octet
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace octet {

HWY_EXPORT(SmallestMagnitudeBits);

std::uint32_t smallest_magnitude_bits(std::span<const float> x) {
  return HWY_DYNAMIC_DISPATCH(SmallestMagnitudeBits)(x);
}

}  // namespace octet
#endif  // HWY_ONCE
