#include "kernels/scalar_kernels.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "kernels/bit_cast.h"

namespace octet {
namespace {

// Everything NaN becomes when it changes width: payloads are not the same on all targets, this is.
constexpr std::uint32_t kQuietNan = 0x7FC00000u;

}  // namespace

std::uint16_t float_to_half(float value) {
  const auto bits = bit_cast<std::uint32_t>(value);
  const std::uint32_t sign = (bits >> 16) & 0x8000u;
  const std::uint32_t magnitude = bits & 0x7FFFFFFFu;
  if (magnitude > 0x7F800000u) return static_cast<std::uint16_t>(sign | 0x7E00u);
  // 65520 is half way between the largest half and the next power of two; the tie goes to the even side, infinity.
  if (magnitude >= 0x477FF000u) return static_cast<std::uint16_t>(sign | 0x7C00u);
  if (magnitude < 0x33000000u) return static_cast<std::uint16_t>(sign);  // below half the smallest subnormal
  std::uint32_t mantissa, shift;
  if (magnitude < 0x38800000u) {  // a subnormal half: shift the mantissa with its implicit one into place
    mantissa = (magnitude & 0x7FFFFFu) | 0x800000u;
    shift = 126u - (magnitude >> 23);
  } else {
    mantissa = magnitude - 0x38000000u;  // exponent rebiased; it rides along above the mantissa
    shift = 13;
  }
  const std::uint32_t half_way = 1u << (shift - 1);
  std::uint32_t result = mantissa >> shift;
  const std::uint32_t rest = mantissa & ((1u << shift) - 1);
  if (rest > half_way || (rest == half_way && (result & 1u))) ++result;  // the carry into the exponent is right
  return static_cast<std::uint16_t>(sign | result);
}

std::uint16_t float_to_bfloat16(float value) {
  const auto bits = bit_cast<std::uint32_t>(value);
  if ((bits & 0x7FFFFFFFu) > 0x7F800000u) return static_cast<std::uint16_t>(((bits >> 16) & 0x8000u) | 0x7FC0u);
  return static_cast<std::uint16_t>((bits + 0x7FFFu + ((bits >> 16) & 1u)) >> 16);
}

namespace scalar {
namespace {

bool is_finite(float v) { return (bit_cast<std::uint32_t>(v) & 0x7FFFFFFFu) < 0x7F800000u; }

// Half to even without asking for the rounding mode; only for |v| < 2^22, which a clamped value always is.
std::int32_t round_half_even(float v) {
  constexpr float kShift = 12582912.0f;  // 1.5 * 2^23: sums near it have a spacing of one
  return static_cast<std::int32_t>((v + kShift) - kShift);
}

template <class T>
T quantize_one(float x, float scale, std::int32_t zero_point, std::int32_t low, std::int32_t high) {
  float v = x / scale;
  if (v != v) v = 0.0f;
  // Clamped before rounding: the bounds are integers, so the order does not matter, and nothing overflows int32.
  const auto below = static_cast<float>(low - zero_point), above = static_cast<float>(high - zero_point);
  v = v < below ? below : v;
  v = v > above ? above : v;
  return static_cast<T>(round_half_even(v) + zero_point);
}

template <class T>
void quantize_all(std::span<const float> x, float scale, std::int32_t zero_point, std::int32_t low, std::int32_t high,
                  std::span<T> q) {
  for (std::size_t i = 0; i < x.size(); ++i) q[i] = quantize_one<T>(x[i], scale, zero_point, low, high);
}

template <class T>
void quantize_row(std::span<const float> x, std::span<const float> scale, std::span<const std::int32_t> zero_point,
                  std::int32_t low, std::int32_t high, std::span<T> q) {
  for (std::size_t i = 0; i < x.size(); ++i) q[i] = quantize_one<T>(x[i], scale[i], zero_point[i], low, high);
}

}  // namespace

Range find_range(std::span<const float> x) {
  Range r;
  float low = std::numeric_limits<float>::infinity(), high = -low;
  for (const float v : x) {
    if (!is_finite(v)) {
      ++r.non_finite;
      continue;
    }
    low = std::min(low, v);
    high = std::max(high, v);
  }
  if (r.non_finite == x.size()) return r;
  r.min = low + 0.0f;  // turns -0 into +0
  r.max = high + 0.0f;
  return r;
}

void quantize_s8(std::span<const float> x, float scale, std::int32_t zero_point, std::int32_t low, std::int32_t high,
                 std::span<std::int8_t> q) {
  quantize_all(x, scale, zero_point, low, high, q);
}
void quantize_u8(std::span<const float> x, float scale, std::int32_t zero_point, std::int32_t low, std::int32_t high,
                 std::span<std::uint8_t> q) {
  quantize_all(x, scale, zero_point, low, high, q);
}
void quantize_s16(std::span<const float> x, float scale, std::int32_t zero_point, std::int32_t low, std::int32_t high,
                  std::span<std::int16_t> q) {
  quantize_all(x, scale, zero_point, low, high, q);
}
void quantize_u16(std::span<const float> x, float scale, std::int32_t zero_point, std::int32_t low, std::int32_t high,
                  std::span<std::uint16_t> q) {
  quantize_all(x, scale, zero_point, low, high, q);
}
void quantize_row_s8(std::span<const float> x, std::span<const float> scale, std::span<const std::int32_t> zero_point,
                     std::int32_t low, std::int32_t high, std::span<std::int8_t> q) {
  quantize_row(x, scale, zero_point, low, high, q);
}
void quantize_row_u8(std::span<const float> x, std::span<const float> scale, std::span<const std::int32_t> zero_point,
                     std::int32_t low, std::int32_t high, std::span<std::uint8_t> q) {
  quantize_row(x, scale, zero_point, low, high, q);
}

std::uint64_t accumulate_row_range(std::span<const float> x, std::span<float> lo, std::span<float> hi) {
  std::uint64_t skipped = 0;
  for (std::size_t i = 0; i < x.size(); ++i) {
    if (!is_finite(x[i])) {
      ++skipped;
      continue;
    }
    const float v = x[i] + 0.0f;  // turns -0 into +0
    if (v < lo[i]) lo[i] = v;
    if (v > hi[i]) hi[i] = v;
  }
  return skipped;
}

Magnitudes count_upper_halves(std::span<const float> x, std::uint16_t* counters) {
  constexpr float kInf = std::numeric_limits<float>::infinity();
  Magnitudes found{kInf, -kInf, 0xFFFFFFFFu, 0};
  for (std::size_t i = 0; i < x.size(); ++i) {
    const auto bits = bit_cast<std::uint32_t>(x[i]), magnitude = bits & 0x7FFFFFFFu;
    ++counters[(bits >> 16) * kCounterLanes + i % kCounterLanes];
    found.most = std::max(found.most, magnitude);
    if (magnitude != 0) found.least = std::min(found.least, magnitude);
    if (x[i] < found.min) found.min = x[i] + 0.0f;  // turns -0 into +0
    if (x[i] > found.max) found.max = x[i] + 0.0f;
  }
  return found;
}

void half_to_float(std::span<const std::uint16_t> half, std::span<float> out) {
  for (std::size_t i = 0; i < half.size(); ++i) {
    const std::uint32_t sign = (half[i] & 0x8000u) << 16, exponent = half[i] & 0x7C00u, mantissa = half[i] & 0x3FFu;
    std::uint32_t bits;
    if (exponent == 0) {
      bits = bit_cast<std::uint32_t>(static_cast<float>(mantissa) * 0x1p-24f);  // zero and subnormals, exact
    } else if (exponent == 0x7C00u) {
      bits = mantissa == 0 ? 0x7F800000u : kQuietNan;
    } else {
      bits = ((exponent | mantissa) << 13) + (112u << 23);
    }
    out[i] = bit_cast<float>(sign | bits);
  }
}

void bfloat16_to_float(std::span<const std::uint16_t> bf, std::span<float> out) {
  for (std::size_t i = 0; i < bf.size(); ++i) out[i] = bit_cast<float>(static_cast<std::uint32_t>(bf[i]) << 16);
}

void double_to_float(std::span<const double> in, std::span<float> out) {
  for (std::size_t i = 0; i < in.size(); ++i)
    out[i] = in[i] != in[i] ? bit_cast<float>(kQuietNan) : static_cast<float>(in[i]);
}

ErrorSums error_sums(std::span<const float> x, std::span<const float> y) {
  std::array<double, 8> signal{}, noise{};
  for (std::size_t i = 0; i < x.size(); ++i) {
    const double a = x[i], d = a - static_cast<double>(y[i]);
    signal[i % 8] += a * a;
    noise[i % 8] += d * d;
  }
  ErrorSums sums;
  for (std::size_t lane = 0; lane < 8; ++lane) {
    sums.signal += signal[lane];
    sums.noise += noise[lane];
  }
  return sums;
}

void transpose_bytes(std::span<const std::uint8_t> in, std::uint64_t rows, std::uint64_t cols,
                     std::span<std::uint8_t> out) {
  for (std::uint64_t r = 0; r < rows; ++r) {
    for (std::uint64_t c = 0; c < cols; ++c) out[c * rows + r] = in[r * cols + c];
  }
}

void pack_nibbles(std::span<const std::int8_t> values, std::span<std::uint8_t> out) {
  for (std::size_t i = 0; i < values.size(); ++i) {
    const auto nibble = static_cast<unsigned>(values[i]) & 15u;
    if (i % 2 == 0) {
      out[i / 2] = static_cast<std::uint8_t>(nibble);
    } else {
      out[i / 2] = static_cast<std::uint8_t>(out[i / 2] | (nibble << 4));
    }
  }
}

}  // namespace scalar
}  // namespace octet
