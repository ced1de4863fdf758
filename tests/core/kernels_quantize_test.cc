// Quantization and ranges: the vector versions against the references, and the references against numbers worked out
// by hand.
#include <gtest/gtest.h>

#include <array>
#include <cmath>

#include "kernel_inputs.h"
#include "kernels/quantize_kernels.h"
#include "kernels/scalar_kernels.h"

namespace octet {
namespace {

using test::for_each_target;
using test::mixed_floats;

constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
constexpr float kInf = std::numeric_limits<float>::infinity();
constexpr std::size_t kLongest = 100;  // beyond any vector, with every tail

const float kScales[] = {1.0f,   0.5f,   0.1f,  0.0078125f, 3.0f, 1e-3f, 1e-20f,
                         1e-40f, 1e-45f, 1e20f, 3e38f,      0.0f, kInf,  kNan};

template <class T>
using Quantize = void (*)(std::span<const float>, float, std::int32_t, std::int32_t, std::int32_t, std::span<T>);

template <class T>
void expect_same(Quantize<T> fast, Quantize<T> reference, std::initializer_list<std::array<std::int32_t, 3>> settings) {
  const auto source = mixed_floats(1, kLongest + 64);
  for (const float scale : kScales) {
    for (const auto& [zero_point, low, high] : settings) {
      for (std::size_t n = 0; n <= kLongest; ++n) {
        // Neither pointer is aligned, and a guard behind the end must survive.
        const std::size_t shift = n % 5;
        const auto x = std::span(source).subspan(shift, n);
        std::vector<T> got(n + shift + 1, T{77}), want(n);
        fast(x, scale, zero_point, low, high, std::span(got).subspan(shift, n));
        reference(x, scale, zero_point, low, high, want);
        ASSERT_EQ(std::vector<T>(got.begin() + static_cast<std::ptrdiff_t>(shift), got.end() - 1), want)
            << "n " << n << " scale " << scale << " zero point " << zero_point;
        ASSERT_EQ(got.back(), T{77});
      }
    }
  }
}

TEST(KernelsQuantize, VectorsEqualTheReference) {
  for_each_target([] {
    expect_same<std::int8_t>(quantize_s8, scalar::quantize_s8,
                             {{0, -127, 127}, {0, -128, 127}, {-128, -128, 127}, {127, -64, 64}, {3, -8, 7}});
    expect_same<std::uint8_t>(quantize_u8, scalar::quantize_u8,
                              {{0, 0, 255}, {128, 0, 255}, {255, 0, 255}, {77, 0, 127}, {8, 0, 15}});
    expect_same<std::int16_t>(quantize_s16, scalar::quantize_s16,
                              {{0, -32767, 32767}, {-32768, -32768, 32767}, {32767, -32768, 32767}});
    expect_same<std::uint16_t>(quantize_u16, scalar::quantize_u16,
                               {{0, 0, 65535}, {32768, 0, 65535}, {65535, 0, 65535}});
  });
}

TEST(KernelsQuantize, FollowsTheFormulaByHand) {
  const std::vector<float> x = {0.5f, 1.5f,  2.5f,  -0.5f,  -1.5f,  -0.0f,  kNan,
                                kInf, -kInf, 1e30f, -1e30f, 127.5f, 126.5f, -300.0f};
  const std::vector<std::int8_t> symmetric = {0, 2, 2, 0, -2, 0, 0, 127, -127, 127, -127, 127, 126, -127};
  const std::vector<std::uint8_t> shifted = {10, 12, 12, 10, 8, 10, 10, 255, 0, 255, 0, 138, 136, 0};
  for_each_target([&] {
    std::vector<std::int8_t> s(x.size());
    quantize_s8(x, 1.0f, 0, -127, 127, s);
    EXPECT_EQ(s, symmetric);
    std::vector<std::uint8_t> u(x.size());
    quantize_u8(x, 1.0f, 10, 0, 255, u);
    EXPECT_EQ(u, shifted);
    // Where the zero point lies outside the allowed levels NaN gives the nearest of them.
    quantize_s8(std::vector<float>(x.size(), kNan), 1.0f, 100, -64, 64, s);
    EXPECT_EQ(s, std::vector<std::int8_t>(x.size(), 64));
  });
}

// Values chosen half way between two levels, where quotient and product with the reciprocal part.
TEST(KernelsQuantize, DividesInsteadOfMultiplyingByTheReciprocal) {
  std::size_t different = 0;
  test::SplitMix random(5);
  std::vector<float> x(1), scales;
  for (int i = 0; i < 20000; ++i) {
    const float scale = static_cast<float>(1 + random.next() % 1000) / 997.0f;
    x[0] = scale * (static_cast<float>(random.next() % 120) + 0.5f);
    const float quotient = x[0] / scale, product = x[0] * (1.0f / scale);
    std::vector<std::int8_t> q(1);
    quantize_s8(x, scale, 0, -127, 127, q);
    ASSERT_EQ(static_cast<float>(q[0]), std::nearbyint(quotient));
    different += std::nearbyint(quotient) != std::nearbyint(product);
  }
  EXPECT_GT(different, 0u);  // else this test could not tell the two apart
}

TEST(KernelsQuantize, RowsWithParametersOfTheirOwn) {
  const auto x = mixed_floats(2, kLongest);
  test::SplitMix random(3);
  std::vector<float> scale(kLongest);
  std::vector<std::int32_t> zero_s(kLongest), zero_u(kLongest);
  for (std::size_t i = 0; i < kLongest; ++i) {
    scale[i] = kScales[random.next() % std::size(kScales)];
    zero_s[i] = static_cast<std::int32_t>(random.next() % 256) - 128;
    zero_u[i] = zero_s[i] + 128;
  }
  for_each_target([&] {
    for (std::size_t n = 0; n <= kLongest; ++n) {
      std::vector<std::int8_t> s(n + 1, 77), want_s(n + 1, 77);
      std::vector<std::uint8_t> u(n + 1, 77), want_u(n + 1, 77);
      const std::span<const float> row(x.data(), n), scales(scale.data(), n);
      quantize_row_s8(row, scales, zero_s, -127, 127, std::span(s).first(n));
      scalar::quantize_row_s8(row, scales, zero_s, -127, 127, std::span(want_s).first(n));
      quantize_row_u8(row, scales, zero_u, 0, 255, std::span(u).first(n));
      scalar::quantize_row_u8(row, scales, zero_u, 0, 255, std::span(want_u).first(n));
      ASSERT_EQ(s, want_s) << n;
      ASSERT_EQ(u, want_u) << n;
      for (std::size_t i = 0; i < n; ++i) {
        std::vector<std::int8_t> one(1);
        scalar::quantize_s8(row.subspan(i, 1), scale[i], zero_s[i], -127, 127, one);
        ASSERT_EQ(one[0], want_s[i]);
      }
    }
  });
}

void expect_range(const Range& got, const Range& want) {
  EXPECT_EQ(bit_cast<std::uint32_t>(got.min), bit_cast<std::uint32_t>(want.min));
  EXPECT_EQ(bit_cast<std::uint32_t>(got.max), bit_cast<std::uint32_t>(want.max));
  EXPECT_EQ(got.non_finite, want.non_finite);
}

TEST(KernelsRange, VectorsEqualTheReference) {
  for_each_target([] {
    for (std::uint64_t seed = 0; seed < 20; ++seed) {
      const auto source = mixed_floats(seed, kLongest + 8);
      for (std::size_t n = 0; n <= kLongest; ++n) {
        const auto x = std::span(source).subspan(seed % 7, n);
        expect_range(find_range(x), scalar::find_range(x));
      }
    }
    const auto large = mixed_floats(99, 100003);
    expect_range(find_range(large), scalar::find_range(large));
  });
}

TEST(KernelsRange, ByHand) {
  for_each_target([] {
    expect_range(find_range({}), {0, 0, 0});
    expect_range(find_range(std::vector<float>{kNan, kInf, -kInf}), {0, 0, 3});
    expect_range(find_range(std::vector<float>(37, -0.0f)), {0.0f, 0.0f, 0});
    expect_range(find_range(std::vector<float>(37, -2.5f)), {-2.5f, -2.5f, 0});
    expect_range(find_range(std::vector<float>{1, kNan, 3, -kInf, 2}), {1, 3, 2});
    expect_range(find_range(std::vector<float>{-1e-45f, 1e-45f, 3e38f}), {-1e-45f, 3e38f, 0});
  });
}

// A minimum or maximum must be found wherever it stands.
TEST(KernelsRange, EveryPosition) {
  for_each_target([] {
    for (std::size_t n = 1; n <= kLongest; ++n) {
      for (std::size_t i = 0; i < n; ++i) {
        std::vector<float> x(n, 1.0f);
        x[i] = -5.0f;
        ASSERT_EQ(find_range(x).min, -5.0f);
        x[i] = 5.0f;
        ASSERT_EQ(find_range(x).max, 5.0f);
        x[i] = kNan;
        ASSERT_EQ(find_range(x).non_finite, 1u);
      }
    }
  });
}

TEST(KernelsRange, RowsAccumulate) {
  for_each_target([] {
    for (std::size_t n = 0; n <= kLongest; ++n) {
      std::vector<float> lo(n, kInf), hi(n, -kInf), want_lo = lo, want_hi = hi;
      for (std::uint64_t row = 0; row < 5; ++row) {
        const auto x = mixed_floats(row * 1000 + n, n);
        ASSERT_EQ(accumulate_row_range(x, lo, hi), scalar::accumulate_row_range(x, want_lo, want_hi));
      }
      ASSERT_EQ(test::bits_of(lo), test::bits_of(want_lo)) << n;
      ASSERT_EQ(test::bits_of(hi), test::bits_of(want_hi)) << n;
    }
    std::vector<float> lo = {kInf, 0, 0}, hi = {-kInf, 0, 0};
    EXPECT_EQ(accumulate_row_range(std::vector<float>{-0.0f, -0.0f, kNan}, lo, hi), 1u);
    EXPECT_EQ(test::bits_of(lo), (std::vector<std::uint32_t>{0, 0, 0}));
    EXPECT_EQ(test::bits_of(hi), (std::vector<std::uint32_t>{0, 0, 0}));
  });
}

}  // namespace
}  // namespace octet
