// Float conversions and error sums, and the bytes rearranged after quantizing.
#include <gtest/gtest.h>

#include <cmath>

#include "kernel_inputs.h"
#include "kernels/quantize_kernels.h"
#include "kernels/scalar_kernels.h"

namespace octet {
namespace {

using test::bits_of;
using test::for_each_target;

constexpr std::size_t kLongest = 100;

std::vector<std::uint16_t> all_halves() {
  std::vector<std::uint16_t> all(65536);
  for (std::size_t i = 0; i < all.size(); ++i) all[i] = static_cast<std::uint16_t>(i);
  return all;
}

float bits_to_float(std::uint32_t bits) { return bit_cast<float>(bits); }

TEST(KernelsConvert, EveryHalfWidens) {
  const auto halves = all_halves();
  for_each_target([&] {
    std::vector<float> got(halves.size()), want(halves.size());
    half_to_float(halves, got);
    scalar::half_to_float(halves, want);
    EXPECT_EQ(bits_of(got), bits_of(want));
    bfloat16_to_float(halves, got);
    scalar::bfloat16_to_float(halves, want);
    EXPECT_EQ(bits_of(got), bits_of(want));
    for (std::size_t n = 0; n <= kLongest; ++n) {
      std::vector<float> tail(n + 1, 7.0f), tail_want(n + 1, 7.0f);
      const auto some = std::span(halves).subspan(0x3C00 + n % 3, n);
      half_to_float(some, std::span(tail).first(n));
      scalar::half_to_float(some, std::span(tail_want).first(n));
      ASSERT_EQ(tail, tail_want) << n;
      bfloat16_to_float(some, std::span(tail).first(n));
      scalar::bfloat16_to_float(some, std::span(tail_want).first(n));
      ASSERT_EQ(tail, tail_want) << n;
    }
  });
}

TEST(KernelsConvert, HalfByHand) {
  const std::vector<std::uint16_t> half = {0x0000, 0x8000, 0x3C00, 0xC000, 0x7BFF, 0x0001,
                                           0x03FF, 0x0400, 0x7C00, 0xFC00, 0x7C01, 0xFE00};
  std::vector<float> got(half.size());
  half_to_float(half, got);
  const std::vector<float> want = {0.0f,
                                   -0.0f,
                                   1.0f,
                                   -2.0f,
                                   65504.0f,
                                   0x1p-24f,
                                   0x1.ff8p-15f,
                                   0x1p-14f,
                                   bits_to_float(0x7F800000),
                                   bits_to_float(0xFF800000),
                                   bits_to_float(0x7FC00000),
                                   bits_to_float(0xFFC00000)};
  EXPECT_EQ(bits_of(got), bits_of(want));
}

TEST(KernelsConvert, EveryHalfComesBack) {
  const auto halves = all_halves();
  std::vector<float> wide(halves.size());
  half_to_float(halves, wide);
  for (std::size_t i = 0; i < halves.size(); ++i) {
    if (std::isnan(wide[i])) {
      ASSERT_EQ(float_to_half(wide[i]), (halves[i] & 0x8000) | 0x7E00);
    } else {
      ASSERT_EQ(float_to_half(wide[i]), halves[i]);
    }
  }
  bfloat16_to_float(halves, wide);
  for (std::size_t i = 0; i < halves.size(); ++i) {
    if (std::isnan(wide[i])) continue;
    ASSERT_EQ(float_to_bfloat16(wide[i]), halves[i]);
  }
}

// Between two neighbours: just below the middle, the middle, just above. The middle goes to the even one.
TEST(KernelsConvert, NarrowingRoundsHalfToEven) {
  for (std::uint32_t h = 0; h < 0x7C00; ++h) {
    std::vector<float> pair(2);
    half_to_float(std::vector<std::uint16_t>{static_cast<std::uint16_t>(h), static_cast<std::uint16_t>(h + 1)}, pair);
    // 65520 stands where the next half would, were there one.
    const double above = h + 1 == 0x7C00 ? 65536.0 : static_cast<double>(pair[1]);
    const auto middle = static_cast<float>((static_cast<double>(pair[0]) + above) / 2);
    ASSERT_EQ(float_to_half(middle), h % 2 == 0 ? h : h + 1);
    ASSERT_EQ(float_to_half(std::nextafter(middle, 0.0f)), h);
    ASSERT_EQ(float_to_half(std::nextafter(middle, 1e9f)), h + 1);
    ASSERT_EQ(float_to_half(-middle), (h % 2 == 0 ? h : h + 1) | 0x8000);
  }
  EXPECT_EQ(float_to_half(1e10f), 0x7C00);
  EXPECT_EQ(float_to_half(std::numeric_limits<float>::denorm_min()), 0);

  EXPECT_EQ(float_to_bfloat16(bits_to_float(0x3F808000)), 0x3F80);
  EXPECT_EQ(float_to_bfloat16(bits_to_float(0x3F808001)), 0x3F81);
  EXPECT_EQ(float_to_bfloat16(bits_to_float(0x3F818000)), 0x3F82);
  EXPECT_EQ(float_to_bfloat16(std::numeric_limits<float>::max()), 0x7F80);
  EXPECT_EQ(float_to_bfloat16(bits_to_float(0xFF800001)), 0xFFC0);
}

TEST(KernelsConvert, DoublesNarrow) {
  test::SplitMix random(11);
  std::vector<double> in;
  for (const float v : test::awkward_floats()) {
    in.push_back(static_cast<double>(v));
    in.push_back(static_cast<double>(v) * (1 + 0x1p-24));  // half way between two floats
  }
  for (int i = 0; i < 2000; ++i) in.push_back(bit_cast<double>(random.next()));
  in.push_back(1e300);
  in.push_back(-1e-300);
  for_each_target([&] {
    for (std::size_t n = 0; n <= kLongest; ++n) {
      const auto some = std::span(in).subspan(n * 7, n);
      std::vector<float> got(n), want(n);
      double_to_float(some, got);
      scalar::double_to_float(some, want);
      ASSERT_EQ(bits_of(got), bits_of(want)) << n;
    }
    std::vector<float> got(in.size()), want(in.size());
    double_to_float(in, got);
    scalar::double_to_float(in, want);
    EXPECT_EQ(bits_of(got), bits_of(want));
  });
}

TEST(KernelsErrorSums, SameBitsOnEveryTarget) {
  for_each_target([] {
    for (const std::size_t n : {0, 1, 2, 3, 4, 5, 7, 8, 9, 15, 16, 17, 31, 33, 63, 64, 65, 99, 100, 1000, 4099}) {
      const auto x = test::unit_floats(n, n + 1), y = test::unit_floats(n + 7, n + 1);
      const auto a = std::span(x).subspan(1), b = std::span(y).subspan(1);
      const ErrorSums got = error_sums(a, b), want = scalar::error_sums(a, b);
      ASSERT_EQ(bit_cast<std::uint64_t>(got.signal), bit_cast<std::uint64_t>(want.signal)) << n;
      ASSERT_EQ(bit_cast<std::uint64_t>(got.noise), bit_cast<std::uint64_t>(want.noise)) << n;
    }
    const ErrorSums by_hand = error_sums(std::vector<float>{1, 2, 3}, std::vector<float>{1, 0, 4});
    EXPECT_EQ(by_hand.signal, 14.0);
    EXPECT_EQ(by_hand.noise, 5.0);
    // Squares of the largest floats fit a double.
    EXPECT_TRUE(std::isfinite(error_sums(std::vector<float>(9, 3e38f), std::vector<float>(9, -3e38f)).noise));
  });
}

TEST(KernelsBytes, Transpose) {
  test::SplitMix random(21);
  for_each_target([&] {
    for (const std::uint64_t rows : {0, 1, 2, 15, 16, 17, 31, 32, 33, 63, 64, 65, 80, 130}) {
      for (const std::uint64_t cols : {0, 1, 3, 9, 15, 16, 17, 32, 48, 63, 64, 65, 100, 144}) {
        std::vector<std::uint8_t> in(rows * cols), got(rows * cols), want(rows * cols);
        for (std::uint8_t& byte : in) byte = static_cast<std::uint8_t>(random.next());
        transpose_bytes(in, rows, cols, got);
        scalar::transpose_bytes(in, rows, cols, want);
        ASSERT_EQ(got, want) << rows << " × " << cols;
        transpose_bytes(want, cols, rows, got);
        ASSERT_EQ(got, in);
      }
    }
  });
}

TEST(KernelsBytes, PackNibbles) {
  std::vector<std::int8_t> values(kLongest + 200);
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = static_cast<std::int8_t>(i * 37 + i / 16);
  for_each_target([&] {
    std::vector<std::uint8_t> by_hand(3);
    pack_nibbles(std::vector<std::int8_t>{1, 2, -1, -8, 7}, by_hand);
    EXPECT_EQ(by_hand, (std::vector<std::uint8_t>{0x21, 0x8F, 0x07}));
    for (std::size_t n = 0; n <= kLongest + 100; ++n) {
      const auto some = std::span(values).subspan(n % 3, n);
      std::vector<std::uint8_t> got((n + 1) / 2 + 1, 77), want((n + 1) / 2 + 1, 77);
      pack_nibbles(some, got);
      scalar::pack_nibbles(some, want);
      ASSERT_EQ(got, want) << n;
    }
  });
}

}  // namespace
}  // namespace octet
