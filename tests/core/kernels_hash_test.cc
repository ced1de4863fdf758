// One number per kernel, the same natively, on ARM and in WebAssembly. A change of any of these changes the bytes of
// the models Octet writes.
#include <gtest/gtest.h>

#include "kernel_inputs.h"
#include "kernels/quantize_kernels.h"

namespace octet {
namespace {

using test::for_each_target;
using test::hash_of;

const std::vector<float>& input() {
  static const std::vector<float> values = test::mixed_floats(2024, 10007);
  return values;
}

TEST(KernelsHash, Quantize) {
  for_each_target([] {
    std::vector<std::int8_t> s8(input().size());
    quantize_s8(input(), 0.37f, 0, -127, 127, s8);
    EXPECT_EQ(hash_of(s8), 0xBEC57848F8D38764u);
    std::vector<std::uint8_t> u8(input().size());
    quantize_u8(input(), 0.37f, 131, 0, 255, u8);
    EXPECT_EQ(hash_of(u8), 0x6D0AC1FFE87ABCDFu);
    std::vector<std::int16_t> s16(input().size());
    quantize_s16(input(), 0.0037f, 5, -32768, 32767, s16);
    EXPECT_EQ(hash_of(s16), 0x83B59E8EBA5B02B9u);
    std::vector<std::uint16_t> u16(input().size());
    quantize_u16(input(), 0.0037f, 40000, 0, 65535, u16);
    EXPECT_EQ(hash_of(u16), 0xAC2AC767845AD510u);
  });
}

TEST(KernelsHash, RangesAndSums) {
  for_each_target([] {
    const Range range = find_range(input());
    EXPECT_EQ(hash_of(std::vector<float>{range.min, range.max}, range.non_finite), 0xC6174983F3B837A7u);
    const auto x = test::unit_floats(1, 10007), y = test::unit_floats(2, 10007);
    const ErrorSums sums = error_sums(x, y);
    EXPECT_EQ(hash_of(std::vector<double>{sums.signal, sums.noise}), 0x8A84E57ED30A98D0u);
  });
}

TEST(KernelsHash, Conversions) {
  for_each_target([] {
    std::vector<std::uint16_t> half, bf;
    for (const float v : input()) {
      half.push_back(float_to_half(v));
      bf.push_back(float_to_bfloat16(v));
    }
    EXPECT_EQ(hash_of(half), 0x1F932586498405E6u);
    EXPECT_EQ(hash_of(bf), 0xB456E72A7A438A65u);
    std::vector<float> wide(half.size());
    half_to_float(half, wide);
    EXPECT_EQ(hash_of(wide), 0x9913645B55F22239u);
    const std::vector<double> doubles(input().begin(), input().end());
    double_to_float(doubles, wide);
    EXPECT_EQ(hash_of(wide), 0xCCEFFFA84DD52CBBu);
  });
}

}  // namespace
}  // namespace octet
