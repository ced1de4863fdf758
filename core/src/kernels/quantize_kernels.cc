// Ranges and quantization. Compiled once per target; the public functions at the end pick the best at run time (in
// WebAssembly there is one target and the call is direct).
#include "kernels/quantize_kernels.h"

#include <cstddef>
#include <cstring>
#include <limits>

#include "kernels/highway_targets.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/quantize_kernels.cc"
#include <hwy/foreach_target.h>  // IWYU pragma: keep

#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace octet {
namespace HWY_NAMESPACE {
namespace {

namespace hn = hwy::HWY_NAMESPACE;

using F32 = hn::ScalableTag<float>;
using I32 = hn::RebindToSigned<F32>;
using FloatVec = hn::Vec<F32>;
using IntVec = hn::Vec<I32>;
using FloatMask = hn::Mask<F32>;

constexpr std::size_t kMaxLanes = HWY_MAX_BYTES / sizeof(float);

HWY_INLINE FloatMask finite(FloatVec v) {
  const F32 d;
  return hn::Lt(hn::Abs(v), hn::Set(d, std::numeric_limits<float>::infinity()));  // false for NaN
}

// Running minimum, maximum and number of finite elements of one vector position.
struct RangeLanes {
  FloatVec low, high;
  IntVec finite_count;  // counted downwards: a true mask is -1

  HWY_INLINE void add(FloatVec v) {
    const F32 d;
    const I32 di;
    const FloatMask ok = finite(v);
    low = hn::Min(low, hn::IfThenElse(ok, v, hn::Set(d, std::numeric_limits<float>::infinity())));
    high = hn::Max(high, hn::IfThenElse(ok, v, hn::Set(d, -std::numeric_limits<float>::infinity())));
    finite_count = hn::Add(finite_count, hn::BitCast(di, hn::VecFromMask(d, ok)));
  }
};

Range FindRange(std::span<const float> x) {
  const F32 d;
  const I32 di;
  const std::size_t lanes = hn::Lanes(d), n = x.size();
  const float* p = x.data();

  const auto inf = hn::Set(d, std::numeric_limits<float>::infinity());
  // Two independent sets, since each minimum waits for the one before.
  RangeLanes a{inf, hn::Neg(inf), hn::Zero(di)}, b = a;

  std::uint64_t finite_elements = 0;
  const auto drain = [&](IntVec& count) HWY_ATTR {
    HWY_ALIGN std::int32_t part[kMaxLanes];
    hn::Store(count, di, part);
    for (std::size_t i = 0; i < lanes; ++i)
      finite_elements += static_cast<std::uint64_t>(-static_cast<std::int64_t>(part[i]));
    count = hn::Zero(di);
  };

  std::size_t i = 0;
  while (n - i >= 2 * lanes) {
    // The 32-bit counters are emptied long before they can overflow.
    const std::size_t steps = HWY_MIN((n - i) / (2 * lanes), std::size_t{1} << 24);
    for (std::size_t s = 0; s < steps; ++s, i += 2 * lanes) {
      a.add(hn::LoadU(d, p + i));
      b.add(hn::LoadU(d, p + i + lanes));
    }
    drain(a.finite_count);
    drain(b.finite_count);
  }
  for (; n - i >= lanes; i += lanes) a.add(hn::LoadU(d, p + i));
  if (i < n) {
    HWY_ALIGN float rest[kMaxLanes];
    hn::Store(inf, d, rest);  // padding that is neither counted nor compared
    std::memcpy(rest, p + i, (n - i) * sizeof(float));
    b.add(hn::Load(d, rest));
  }
  drain(a.finite_count);
  drain(b.finite_count);

  Range r;
  r.non_finite = n - finite_elements;
  if (finite_elements == 0) return r;
  r.min = hn::GetLane(hn::MinOfLanes(d, hn::Min(a.low, b.low))) + 0.0f;  // turns -0 into +0
  r.max = hn::GetLane(hn::MaxOfLanes(d, hn::Max(a.high, b.high))) + 0.0f;
  return r;
}

// One vector: divide, put NaN at the zero point, clamp, round. Clamping comes first: the bounds are integers, so
// the order does not change the result, and nothing reaches the conversion that int32 cannot hold.
HWY_INLINE IntVec quantize_vector(FloatVec x, FloatVec scale, IntVec zero_point, FloatVec below, FloatVec above) {
  const FloatVec v = hn::Div(x, scale);
  const FloatVec number = hn::IfThenZeroElse(hn::IsNaN(v), v);
  const FloatVec clamped = hn::Min(hn::Max(number, below), above);
  return hn::Add(hn::NearestInt(clamped), zero_point);
}

// Values are in range already, so the saturating conversions only narrow.
template <class T>
HWY_INLINE void store_narrow(IntVec v, T* to) {
  const hn::Rebind<T, I32> d;
  hn::StoreU(hn::DemoteTo(d, v), d, to);
}

template <class T>
HWY_INLINE void quantize_span(std::span<const float> x, float scale, std::int32_t zero_point, std::int32_t low,
                              std::int32_t high, std::span<T> q) {
  const F32 d;
  const I32 di;
  const std::size_t lanes = hn::Lanes(d), n = x.size();
  const auto s = hn::Set(d, scale);
  const auto zp = hn::Set(di, zero_point);
  const auto below = hn::Set(d, static_cast<float>(low - zero_point)),
             above = hn::Set(d, static_cast<float>(high - zero_point));
  const float* HWY_RESTRICT from = x.data();
  T* HWY_RESTRICT to = q.data();

  std::size_t i = 0;
  for (; n - i >= lanes; i += lanes) store_narrow(quantize_vector(hn::LoadU(d, from + i), s, zp, below, above), to + i);
  if (i < n) {
    HWY_ALIGN float rest[kMaxLanes] = {};
    T narrow[kMaxLanes];
    std::memcpy(rest, from + i, (n - i) * sizeof(float));
    store_narrow(quantize_vector(hn::Load(d, rest), s, zp, below, above), narrow);
    std::memcpy(to + i, narrow, (n - i) * sizeof(T));
  }
}

template <class T>
HWY_INLINE void quantize_row(std::span<const float> x, std::span<const float> scale,
                             std::span<const std::int32_t> zero_point, std::int32_t low, std::int32_t high,
                             std::span<T> q) {
  const F32 d;
  const I32 di;
  const std::size_t lanes = hn::Lanes(d), n = x.size();
  const auto lowest = hn::Set(di, low), highest = hn::Set(di, high);
  const auto one = [&](const float* from, const float* by, const std::int32_t* zero, T* to) HWY_ATTR {
    const auto zp = hn::LoadU(di, zero);
    const auto below = hn::ConvertTo(d, hn::Sub(lowest, zp)), above = hn::ConvertTo(d, hn::Sub(highest, zp));
    store_narrow(quantize_vector(hn::LoadU(d, from), hn::LoadU(d, by), zp, below, above), to);
  };
  std::size_t i = 0;
  for (; n - i >= lanes; i += lanes) one(x.data() + i, scale.data() + i, zero_point.data() + i, q.data() + i);
  if (i < n) {
    float from[kMaxLanes] = {}, by[kMaxLanes] = {};
    std::int32_t zero[kMaxLanes] = {};
    T narrow[kMaxLanes];
    std::memcpy(from, x.data() + i, (n - i) * sizeof(float));
    std::memcpy(by, scale.data() + i, (n - i) * sizeof(float));
    std::memcpy(zero, zero_point.data() + i, (n - i) * sizeof(std::int32_t));
    one(from, by, zero, narrow);
    std::memcpy(q.data() + i, narrow, (n - i) * sizeof(T));
  }
}

void QuantizeS8(std::span<const float> x, float scale, std::int32_t zero_point, std::int32_t low, std::int32_t high,
                std::span<std::int8_t> q) {
  quantize_span(x, scale, zero_point, low, high, q);
}
void QuantizeU8(std::span<const float> x, float scale, std::int32_t zero_point, std::int32_t low, std::int32_t high,
                std::span<std::uint8_t> q) {
  quantize_span(x, scale, zero_point, low, high, q);
}
void QuantizeS16(std::span<const float> x, float scale, std::int32_t zero_point, std::int32_t low, std::int32_t high,
                 std::span<std::int16_t> q) {
  quantize_span(x, scale, zero_point, low, high, q);
}
void QuantizeU16(std::span<const float> x, float scale, std::int32_t zero_point, std::int32_t low, std::int32_t high,
                 std::span<std::uint16_t> q) {
  quantize_span(x, scale, zero_point, low, high, q);
}
void QuantizeRowS8(std::span<const float> x, std::span<const float> scale, std::span<const std::int32_t> zero_point,
                   std::int32_t low, std::int32_t high, std::span<std::int8_t> q) {
  quantize_row(x, scale, zero_point, low, high, q);
}
void QuantizeRowU8(std::span<const float> x, std::span<const float> scale, std::span<const std::int32_t> zero_point,
                   std::int32_t low, std::int32_t high, std::span<std::uint8_t> q) {
  quantize_row(x, scale, zero_point, low, high, q);
}

std::uint64_t AccumulateRowRange(std::span<const float> x, std::span<float> lo, std::span<float> hi) {
  const F32 d;
  const std::size_t lanes = hn::Lanes(d), n = x.size();
  std::uint64_t finite_elements = 0;
  const auto one = [&](const float* from, float* low, float* high) HWY_ATTR {
    const FloatVec raw = hn::LoadU(d, from);
    const FloatMask ok = finite(raw);
    const FloatVec v = hn::Add(raw, hn::Zero(d));  // turns -0 into +0
    const FloatVec l = hn::LoadU(d, low), h = hn::LoadU(d, high);
    // Comparisons, not Min and Max: targets differ on which of -0 and +0 those return.
    hn::StoreU(hn::IfThenElse(hn::And(ok, hn::Lt(v, l)), v, l), d, low);
    hn::StoreU(hn::IfThenElse(hn::And(ok, hn::Gt(v, h)), v, h), d, high);
    return hn::CountTrue(d, ok);
  };
  std::size_t i = 0;
  for (; n - i >= lanes; i += lanes) finite_elements += one(x.data() + i, lo.data() + i, hi.data() + i);
  if (i < n) {
    HWY_ALIGN float from[kMaxLanes];
    float low[kMaxLanes] = {}, high[kMaxLanes] = {};
    hn::Store(hn::Set(d, std::numeric_limits<float>::infinity()), d, from);  // padding is not counted
    const std::size_t bytes = (n - i) * sizeof(float);
    std::memcpy(from, x.data() + i, bytes);
    std::memcpy(low, lo.data() + i, bytes);
    std::memcpy(high, hi.data() + i, bytes);
    finite_elements += one(from, low, high);
    std::memcpy(lo.data() + i, low, bytes);
    std::memcpy(hi.data() + i, high, bytes);
  }
  return n - finite_elements;
}

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace octet
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace octet {

HWY_EXPORT(FindRange);
HWY_EXPORT(QuantizeS8);
HWY_EXPORT(QuantizeU8);
HWY_EXPORT(QuantizeS16);
HWY_EXPORT(QuantizeU16);
HWY_EXPORT(QuantizeRowS8);
HWY_EXPORT(QuantizeRowU8);
HWY_EXPORT(AccumulateRowRange);

Range find_range(std::span<const float> x) { return HWY_DYNAMIC_DISPATCH(FindRange)(x); }

void quantize_s8(std::span<const float> x, float scale, std::int32_t zero_point, std::int32_t low, std::int32_t high,
                 std::span<std::int8_t> q) {
  HWY_DYNAMIC_DISPATCH(QuantizeS8)(x, scale, zero_point, low, high, q);
}
void quantize_u8(std::span<const float> x, float scale, std::int32_t zero_point, std::int32_t low, std::int32_t high,
                 std::span<std::uint8_t> q) {
  HWY_DYNAMIC_DISPATCH(QuantizeU8)(x, scale, zero_point, low, high, q);
}
void quantize_s16(std::span<const float> x, float scale, std::int32_t zero_point, std::int32_t low, std::int32_t high,
                  std::span<std::int16_t> q) {
  HWY_DYNAMIC_DISPATCH(QuantizeS16)(x, scale, zero_point, low, high, q);
}
void quantize_u16(std::span<const float> x, float scale, std::int32_t zero_point, std::int32_t low, std::int32_t high,
                  std::span<std::uint16_t> q) {
  HWY_DYNAMIC_DISPATCH(QuantizeU16)(x, scale, zero_point, low, high, q);
}
void quantize_row_s8(std::span<const float> x, std::span<const float> scale, std::span<const std::int32_t> zero_point,
                     std::int32_t low, std::int32_t high, std::span<std::int8_t> q) {
  HWY_DYNAMIC_DISPATCH(QuantizeRowS8)(x, scale, zero_point, low, high, q);
}
void quantize_row_u8(std::span<const float> x, std::span<const float> scale, std::span<const std::int32_t> zero_point,
                     std::int32_t low, std::int32_t high, std::span<std::uint8_t> q) {
  HWY_DYNAMIC_DISPATCH(QuantizeRowU8)(x, scale, zero_point, low, high, q);
}

std::uint64_t accumulate_row_range(std::span<const float> x, std::span<float> lo, std::span<float> hi) {
  return HWY_DYNAMIC_DISPATCH(AccumulateRowRange)(x, lo, hi);
}

}  // namespace octet
#endif  // HWY_ONCE
