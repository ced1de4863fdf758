// The hot loops over weights. Each has a scalar reference in scalar_kernels.h; the Highway version gives the same
// bits for every length, scale, zero point, NaN and tie, on every target.
#pragma once

#include <cstdint>
#include <span>

namespace octet {

// Minimum, maximum and the number of NaN or infinite elements (which min and max leave out).
// Empty input: min = max = 0, non_finite = 0. -0.0 and +0.0 compare equal; a zero minimum or maximum is +0.0.
struct Range {
  float min = 0, max = 0;
  std::uint64_t non_finite = 0;
};
Range find_range(std::span<const float> x);

// q[i] = clamp(round_half_even(x[i] / scale) + zero_point, low, high). Division, not multiplication by the
// reciprocal: that is what the reference does. NaN gives clamp(zero_point). low/high and zero_point lie inside T.
void quantize_s8(std::span<const float> x, float scale, std::int32_t zero_point, std::int32_t low, std::int32_t high,
                 std::span<std::int8_t> q);
void quantize_u8(std::span<const float> x, float scale, std::int32_t zero_point, std::int32_t low, std::int32_t high,
                 std::span<std::uint8_t> q);
void quantize_s16(std::span<const float> x, float scale, std::int32_t zero_point, std::int32_t low, std::int32_t high,
                  std::span<std::int16_t> q);
void quantize_u16(std::span<const float> x, float scale, std::int32_t zero_point, std::int32_t low, std::int32_t high,
                  std::span<std::uint16_t> q);

// As above with one scale and zero point per element of the row, x and q of the same length as scale: for tensors
// quantized along their last axis, row by row.
void quantize_row_s8(std::span<const float> x, std::span<const float> scale, std::span<const std::int32_t> zero_point,
                     std::int32_t low, std::int32_t high, std::span<std::int8_t> q);
void quantize_row_u8(std::span<const float> x, std::span<const float> scale, std::span<const std::int32_t> zero_point,
                     std::int32_t low, std::int32_t high, std::span<std::uint8_t> q);
// Elementwise running min/max over rows: lo[i] = min(lo[i], x[i]) and so on; non-finite elements are skipped and
// counted. -0.0 enters as +0.0. Start from lo = +inf, hi = -inf (or from zeros, to keep zero inside every range).
std::uint64_t accumulate_row_range(std::span<const float> x, std::span<float> lo, std::span<float> hi);

// Conversions, round half to even where bits are lost. NaN becomes the quiet NaN of one fixed payload (its sign kept,
// except from double), so that it is the same everywhere; only bfloat16_to_float moves its bits unseen.
void half_to_float(std::span<const std::uint16_t> half, std::span<float> out);
void bfloat16_to_float(std::span<const std::uint16_t> bf, std::span<float> out);
void double_to_float(std::span<const double> in, std::span<float> out);
std::uint16_t float_to_half(float value);
std::uint16_t float_to_bfloat16(float value);

// Sum of squares of x and of (x - y), each in double with a fixed order: eight lanes, then lane 0 to 7. For SQNR.
struct ErrorSums {
  double signal = 0, noise = 0;
};
ErrorSums error_sums(std::span<const float> x, std::span<const float> y);

// Two 4-bit values per byte in the order of ONNX: the first in the low nibble; an odd last value leaves a zero high
// nibble. Only the low four bits of each value count, so the same call serves int4 and uint4. out: (values + 1) / 2.
void pack_nibbles(std::span<const std::int8_t> values, std::span<std::uint8_t> out);

// Blocked transpose of a rows × cols byte matrix: out is cols × rows.
void transpose_bytes(std::span<const std::uint8_t> in, std::uint64_t rows, std::uint64_t cols,
                     std::span<std::uint8_t> out);

}  // namespace octet
