// Conversions between float widths, and the sums behind SQNR. Half is converted with integer operations on every
// target: the processor's own instructions disagree about NaN, and some targets have none.
#include <cstddef>
#include <cstring>

#include "kernels/highway_targets.h"
#include "kernels/quantize_kernels.h"
#include "kernels/scalar_kernels.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/convert_kernels.cc"
#include <hwy/foreach_target.h>  // IWYU pragma: keep

#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace octet {
namespace HWY_NAMESPACE {
namespace {

namespace hn = hwy::HWY_NAMESPACE;

using F32 = hn::ScalableTag<float>;
using U32 = hn::RebindToUnsigned<F32>;
using I32 = hn::RebindToSigned<F32>;
using FloatVec = hn::Vec<F32>;
using WordVec = hn::Vec<U32>;

constexpr std::size_t kMaxLanes = HWY_MAX_BYTES / sizeof(float);

struct WidenHalf {
  HWY_INLINE FloatVec operator()(WordVec h) const {
    const F32 d;
    const U32 du;
    const I32 di;
    const auto sign = hn::ShiftLeft<16>(hn::And(h, hn::Set(du, 0x8000u)));
    const auto magnitude = hn::And(h, hn::Set(du, 0x7FFFu));
    const auto normal = hn::Add(hn::ShiftLeft<13>(magnitude), hn::Set(du, 112u << 23));
    // Compared and converted as signed integers, which every target can; all values are small and positive.
    const auto m = hn::BitCast(di, magnitude);
    // Zero and subnormals: the mantissa is a small integer count of 2^-24.
    const auto tiny = hn::BitCast(du, hn::Mul(hn::ConvertTo(d, m), hn::Set(d, 0x1p-24f)));
    auto bits = hn::IfThenElse(hn::RebindMask(du, hn::Lt(m, hn::Set(di, 0x0400))), tiny, normal);
    bits = hn::IfThenElse(hn::RebindMask(du, hn::Gt(m, hn::Set(di, 0x7BFF))), hn::Set(du, 0x7F800000u), bits);
    bits = hn::IfThenElse(hn::RebindMask(du, hn::Gt(m, hn::Set(di, 0x7C00))), hn::Set(du, 0x7FC00000u), bits);
    return hn::BitCast(d, hn::Or(bits, sign));
  }
};

struct WidenBfloat16 {
  HWY_INLINE FloatVec operator()(WordVec bf) const { return hn::BitCast(F32(), hn::ShiftLeft<16>(bf)); }
};

template <class Widen>
HWY_INLINE void widen_span(std::span<const std::uint16_t> in, std::span<float> out, const Widen widen) {
  const F32 d;
  const U32 du;
  const hn::ScalableTag<std::uint16_t> d16;
  const std::size_t step = hn::Lanes(d16), n = in.size();
  // Whole vectors are loaded and split: loading half of one goes through memory on some targets.
  const auto one = [&](const std::uint16_t* from, float* to) HWY_ATTR {
    const auto words = hn::LoadU(d16, from);
#if HWY_TARGET == HWY_SCALAR
    hn::StoreU(widen(hn::PromoteTo(du, words)), d, to);
#else
    hn::StoreU(widen(hn::PromoteTo(du, hn::LowerHalf(words))), d, to);
    hn::StoreU(widen(hn::PromoteTo(du, hn::UpperHalf(hn::Half<decltype(d16)>(), words))), d, to + hn::Lanes(d));
#endif
  };
  std::size_t i = 0;
  for (; n - i >= step; i += step) one(in.data() + i, out.data() + i);
  if (i < n) {
    std::uint16_t rest[2 * kMaxLanes] = {};
    float wide[2 * kMaxLanes];
    std::memcpy(rest, in.data() + i, (n - i) * sizeof(std::uint16_t));
    one(rest, wide);
    std::memcpy(out.data() + i, wide, (n - i) * sizeof(float));
  }
}

void HalfToFloat(std::span<const std::uint16_t> half, std::span<float> out) { widen_span(half, out, WidenHalf()); }
void Bfloat16ToFloat(std::span<const std::uint16_t> bf, std::span<float> out) { widen_span(bf, out, WidenBfloat16()); }

#if HWY_TARGET == HWY_SCALAR || HWY_TARGET == HWY_EMU128 || HWY_TARGET == HWY_WASM

// Highway 1.0 does not convert between float and double in WebAssembly, and where it emulates vectors it turns what is
// too large into the largest float instead of infinity.
void DoubleToFloat(std::span<const double> in, std::span<float> out) { scalar::double_to_float(in, out); }
ErrorSums ComputeErrorSums(std::span<const float> x, std::span<const float> y) { return scalar::error_sums(x, y); }

#else

// Eight doubles at most, so that the lanes of the sums below are the same on every target.
using F64 = hn::CappedTag<double, 8>;
using F32Part = hn::Rebind<float, F64>;

void DoubleToFloat(std::span<const double> in, std::span<float> out) {
  const F64 d;
  const F32Part df;
  const std::size_t lanes = hn::Lanes(d), n = in.size();
  const hn::RebindToUnsigned<F32Part> du;
  const auto quiet = hn::BitCast(df, hn::Set(du, 0x7FC00000u));
  const auto one = [&](const double* from, float* to) HWY_ATTR {
    const auto v = hn::DemoteTo(df, hn::LoadU(d, from));
    hn::StoreU(hn::IfThenElse(hn::IsNaN(v), quiet, v), df, to);
  };
  std::size_t i = 0;
  for (; n - i >= lanes; i += lanes) one(in.data() + i, out.data() + i);
  if (i < n) {
    double rest[8] = {};
    float narrow[8];
    std::memcpy(rest, in.data() + i, (n - i) * sizeof(double));
    one(rest, narrow);
    std::memcpy(out.data() + i, narrow, (n - i) * sizeof(float));
  }
}

// The vectors that hold lanes [kFirst, 8) of both sums. A recursive type instead of an array: the compiler keeps it in
// registers without being asked to unroll.
template <std::size_t kFirst>
struct ErrorLanes {
  static constexpr std::size_t kNext = kFirst + hn::MaxLanes(F64());
  hn::Vec<F64> signal, noise;
  ErrorLanes<kNext> rest;

  // Not a constructor: the compiler would generate it without this target's instructions.
  static HWY_INLINE ErrorLanes zero() { return {hn::Zero(F64()), hn::Zero(F64()), ErrorLanes<kNext>::zero()}; }

  HWY_INLINE void add(const float* x, const float* y) {
    const F64 d;
    const auto a = hn::PromoteTo(d, hn::LoadU(F32Part(), x + kFirst));
    const auto e = hn::Sub(a, hn::PromoteTo(d, hn::LoadU(F32Part(), y + kFirst)));
    signal = hn::Add(signal, hn::Mul(a, a));
    noise = hn::Add(noise, hn::Mul(e, e));
    rest.add(x, y);
  }
  HWY_INLINE void store(double* signals, double* noises) const {
    hn::StoreU(signal, F64(), signals + kFirst);
    hn::StoreU(noise, F64(), noises + kFirst);
    rest.store(signals, noises);
  }
};
template <>
struct ErrorLanes<8> {
  static HWY_INLINE ErrorLanes zero() { return {}; }
  HWY_INLINE void add(const float*, const float*) {}
  HWY_INLINE void store(double*, double*) const {}
};

ErrorSums ComputeErrorSums(std::span<const float> x, std::span<const float> y) {
  const std::size_t n = x.size();
  ErrorLanes<0> lanes = ErrorLanes<0>::zero();
  std::size_t i = 0;
  for (; n - i >= 8; i += 8) lanes.add(x.data() + i, y.data() + i);
  double signal[8], noise[8];
  lanes.store(signal, noise);
  for (std::size_t lane = 0; i < n; ++i, ++lane) {
    const double a = x[i], e = a - static_cast<double>(y[i]);
    signal[lane] += a * a;
    noise[lane] += e * e;
  }
  ErrorSums sums;
  for (std::size_t lane = 0; lane < 8; ++lane) {
    sums.signal += signal[lane];
    sums.noise += noise[lane];
  }
  return sums;
}

#endif

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace octet
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace octet {

HWY_EXPORT(HalfToFloat);
HWY_EXPORT(Bfloat16ToFloat);
HWY_EXPORT(DoubleToFloat);
HWY_EXPORT(ComputeErrorSums);

void half_to_float(std::span<const std::uint16_t> half, std::span<float> out) {
  HWY_DYNAMIC_DISPATCH(HalfToFloat)(half, out);
}
void bfloat16_to_float(std::span<const std::uint16_t> bf, std::span<float> out) {
  HWY_DYNAMIC_DISPATCH(Bfloat16ToFloat)(bf, out);
}
void double_to_float(std::span<const double> in, std::span<float> out) { HWY_DYNAMIC_DISPATCH(DoubleToFloat)(in, out); }
ErrorSums error_sums(std::span<const float> x, std::span<const float> y) {
  return HWY_DYNAMIC_DISPATCH(ComputeErrorSums)(x, y);
}

}  // namespace octet
#endif  // HWY_ONCE
