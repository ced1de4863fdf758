// The scalar references of quantize_kernels.h and histogram_kernels.h, one element at a time and in the plainest form:
// what the Highway versions are tested against, bit for bit. Same contracts; production code calls octet::, tests
// compare both.
#pragma once

#include <cstdint>
#include <span>

#include "kernels/histogram_kernels.h"
#include "kernels/quantize_kernels.h"

namespace octet::scalar {

Range find_range(std::span<const float> x);

void quantize_s8(std::span<const float> x, float scale, std::int32_t zero_point, std::int32_t low, std::int32_t high,
                 std::span<std::int8_t> q);
void quantize_u8(std::span<const float> x, float scale, std::int32_t zero_point, std::int32_t low, std::int32_t high,
                 std::span<std::uint8_t> q);
void quantize_s16(std::span<const float> x, float scale, std::int32_t zero_point, std::int32_t low, std::int32_t high,
                  std::span<std::int16_t> q);
void quantize_u16(std::span<const float> x, float scale, std::int32_t zero_point, std::int32_t low, std::int32_t high,
                  std::span<std::uint16_t> q);

void quantize_row_s8(std::span<const float> x, std::span<const float> scale, std::span<const std::int32_t> zero_point,
                     std::int32_t low, std::int32_t high, std::span<std::int8_t> q);
void quantize_row_u8(std::span<const float> x, std::span<const float> scale, std::span<const std::int32_t> zero_point,
                     std::int32_t low, std::int32_t high, std::span<std::uint8_t> q);
std::uint64_t accumulate_row_range(std::span<const float> x, std::span<float> lo, std::span<float> hi);
Magnitudes count_upper_halves(std::span<const float> x, std::uint16_t* counters);

void half_to_float(std::span<const std::uint16_t> half, std::span<float> out);
void bfloat16_to_float(std::span<const std::uint16_t> bf, std::span<float> out);
void double_to_float(std::span<const double> in, std::span<float> out);

ErrorSums error_sums(std::span<const float> x, std::span<const float> y);

void transpose_bytes(std::span<const std::uint8_t> in, std::uint64_t rows, std::uint64_t cols,
                     std::span<std::uint8_t> out);
void pack_nibbles(std::span<const std::int8_t> values, std::span<std::uint8_t> out);

}  // namespace octet::scalar
