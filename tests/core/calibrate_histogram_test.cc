// Histograms and exact sums: against counting one value at a time, in any order and in any parts.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "calibrate_values.h"
#include "kernels/histogram_kernels.h"
#include "kernels/scalar_kernels.h"

namespace octet {
namespace {

using test::for_each_target;
using test::mixed_floats;

constexpr float kInf = std::numeric_limits<float>::infinity();
constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
constexpr std::size_t kLarge = 30011;  // through the flat table, with a last block that is not full

using Bins = std::vector<std::tuple<float, float, std::uint64_t>>;

Bins plain(const Histogram& histogram) {
  Bins bins;
  for (const auto& bin : histogram.bins()) bins.emplace_back(bin.low, bin.high, bin.count);
  return bins;
}

// The definition, one value at a time.
Bins counted(const std::vector<float>& values) {
  std::map<std::pair<float, float>, std::uint64_t> bins;
  for (const float v : values) {
    if (!std::isfinite(v)) continue;
    const auto bits = bit_cast<std::uint32_t>(v);
    float near = bit_cast<float>(bits & 0xFFFF0000u), far = bit_cast<float>(bits | 0xFFFFu);
    if (v == 0) far = near = 0;
    if (v != 0 && near == 0) near = std::copysign(std::numeric_limits<float>::denorm_min(), v);
    ++bins[{std::min(near, far), std::max(near, far)}];
  }
  Bins result;
  for (const auto& [ends, count] : bins) result.emplace_back(ends.first, ends.second, count);
  return result;
}

Histogram histogram_of(const std::vector<float>& values) {
  Histogram histogram;
  histogram.add(values);
  return histogram;
}

TEST(CalibrateHistogram, CountsEveryValueInItsBin) {
  for_each_target([] {
    for (const std::size_t count : {0u, 1u, 7u, 500u, 4096u, 4097u, 8200u, 30011u, 32768u, 32769u, 70000u}) {
      const auto values = mixed_floats(count + 1, count);
      ASSERT_EQ(plain(histogram_of(values)), counted(values)) << count;
    }
    const auto ordinary = test::unit_floats(5, kLarge);  // none that takes the slow way round
    EXPECT_EQ(plain(histogram_of(ordinary)), counted(ordinary));
  });
}

TEST(CalibrateHistogram, BinsAscendAndHoldTheirValues) {
  const auto values = mixed_floats(77, kLarge);
  const auto bins = histogram_of(values).bins();
  for (std::size_t i = 0; i < bins.size(); ++i) {
    ASSERT_LE(bins[i].low, bins[i].high);
    ASSERT_TRUE(i == 0 || bins[i - 1].high < bins[i].low);
    // Within 0.8 % of any value, denormal numbers aside.
    const double low = bins[i].low, high = bins[i].high;
    const double least = std::min(std::fabs(low), std::fabs(high));
    ASSERT_TRUE(least < 1e-37 || (high - low) / least <= 0.008);
  }
  for (const float v : values) {
    if (!std::isfinite(v)) continue;
    ASSERT_TRUE(std::any_of(bins.begin(), bins.end(), [v](const auto& bin) { return bin.low <= v && v <= bin.high; }));
  }
}

// A counter of the flat table holds 16 bits.
TEST(CalibrateHistogram, ManyEqualValues) {
  constexpr std::size_t kCount = 1500000;
  std::vector<float> values(kCount, 0.75f);
  auto bins = histogram_of(values).bins();
  ASSERT_EQ(bins.size(), 1u);
  EXPECT_EQ(bins[0].count, kCount);
  std::fill(values.begin(), values.end(), -0.0f);
  EXPECT_EQ(plain(histogram_of(values)), (Bins{{0.0f, 0.0f, kCount}}));
  std::fill(values.begin(), values.end(), kNan);
  EXPECT_TRUE(histogram_of(values).bins().empty());
  // And nothing of it is left behind for the next.
  EXPECT_EQ(histogram_of(test::unit_floats(1, kLarge)).count(), kLarge);
}

TEST(CalibrateHistogram, EdgesByHand) {
  using Limits = std::numeric_limits<float>;
  const float below_two = std::nextafter(2.0f, 0.0f), tiny = Limits::denorm_min();
  EXPECT_EQ(plain(histogram_of({1.0f, 1.00781f, 1.0078125f, below_two, 2.0f})),
            (Bins{{1.0f, bit_cast<float>(0x3F80FFFFu), 2},
                  {1.0078125f, bit_cast<float>(0x3F81FFFFu), 1},
                  {1.9921875f, below_two, 1},
                  {2.0f, bit_cast<float>(0x4000FFFFu), 1}}));
  EXPECT_EQ(plain(histogram_of({tiny, -tiny, 0.0f, -0.0f, kNan, kInf, -kInf})),
            (Bins{{bit_cast<float>(0x8000FFFFu), -tiny, 1}, {0, 0, 2}, {tiny, bit_cast<float>(0x0000FFFFu), 1}}));
  EXPECT_EQ(
      plain(histogram_of({Limits::max(), Limits::lowest()})),
      (Bins{{Limits::lowest(), bit_cast<float>(0xFF7F0000u), 1}, {bit_cast<float>(0x7F7F0000u), Limits::max(), 1}}));
}

TEST(CalibrateHistogram, PartsInAnyOrderAddUp) {
  const auto values = mixed_floats(3, 40000);
  const auto whole = plain(histogram_of(values));
  const std::size_t cuts[] = {0, 1, 9000, 9003, 25000, 40000};
  std::vector<std::size_t> order = {0, 1, 2, 3, 4};
  do {
    Histogram sum;
    for (const std::size_t part : order) {
      const auto from = values.begin() + static_cast<std::ptrdiff_t>(cuts[part]);
      sum.merge(histogram_of({from, values.begin() + static_cast<std::ptrdiff_t>(cuts[part + 1])}));
    }
    ASSERT_EQ(plain(sum), whole);
  } while (std::next_permutation(order.begin(), order.end()));
}

// One pass of the kernel over values that start anywhere in memory.
TEST(CalibrateHistogram, EveryTargetCountsAndMeasuresAlike) {
  for_each_target([] {
    std::vector<std::uint16_t> counters(65536 * kCounterLanes), expected(counters.size());
    for (std::size_t n = 0; n <= 70; ++n) {
      const auto from = test::unit_floats(n, n + 3);
      for (const auto& all : {mixed_floats(n, n + 3), from, std::vector<float>(n + 3, -0.0f)}) {
        const auto values = std::span(all).subspan(n % 4, n);
        const Magnitudes found = count_upper_halves(values, counters.data());
        const Magnitudes wanted = scalar::count_upper_halves(values, expected.data());
        ASSERT_EQ(found.least, wanted.least) << n;
        ASSERT_EQ(found.most, wanted.most) << n;
        if (wanted.most >= 0x7F800000u) continue;
        ASSERT_EQ(bit_cast<std::uint32_t>(found.min), bit_cast<std::uint32_t>(wanted.min)) << n;
        ASSERT_EQ(bit_cast<std::uint32_t>(found.max), bit_cast<std::uint32_t>(wanted.max)) << n;
      }
    }
    ASSERT_EQ(counters, expected);
  });
}

// The smallest denormal numbers share a bin with zero while they are counted.
TEST(CalibrateHistogram, DenormalsAmongMany) {
  std::vector<float> values(kLarge, 0.0f);
  const float tiny = std::numeric_limits<float>::denorm_min();
  values[5] = tiny, values[20000] = -tiny, values[20001] = tiny, values[30000] = 3;
  EXPECT_EQ(plain(histogram_of(values)), counted(values));
}

double sum_of(const std::vector<float>& values) {
  ExactSum sum;
  for (const float v : values) sum.add(v);
  return sum.value();
}

TEST(CalibrateSum, LosesNothing) {
  EXPECT_EQ(sum_of({}), 0);
  EXPECT_EQ(sum_of({0.0f, -0.0f}), 0);
  EXPECT_EQ(sum_of({3e38f, 1.0f, -3e38f}), 1);
  EXPECT_EQ(sum_of({1e-45f, 3e38f, 3e38f, -3e38f, -3e38f}), static_cast<double>(1e-45f));
  EXPECT_EQ(sum_of({-1e-45f, -1e-45f}), -2 * static_cast<double>(1e-45f));
  EXPECT_EQ(sum_of(std::vector<float>(1000, -3e38f)), -1000 * static_cast<double>(3e38f));
  EXPECT_EQ(sum_of({1.0f, kNan, kInf, 2.0f}), 3);  // only numbers add up
}

TEST(CalibrateSum, EqualsWholeNumbers) {
  test::SplitMix random(4);
  for (int round = 0; round < 200; ++round) {
    std::vector<float> values;
    std::int64_t whole = 0;
    for (int i = 0; i < 50; ++i) {
      const auto step = static_cast<std::int64_t>(random.next() % 33554432) - 16777216;
      values.push_back(static_cast<float>(step) * 0x1p-20f);
      whole += step;
    }
    ASSERT_EQ(sum_of(values), static_cast<double>(whole) * 0x1p-20);
  }
}

// 2^53 + 1 lies half way between two doubles; a last bit far below decides.
TEST(CalibrateSum, RoundsOnce) {
  EXPECT_EQ(sum_of({0x1p53f, 1.0f}), 0x1p53);
  EXPECT_EQ(sum_of({0x1p53f, 1.0f, 0x1p-140f}), 0x1p53 + 2);
  EXPECT_EQ(sum_of({-0x1p53f, -1.0f, -0x1p-140f}), -0x1p53 - 2);
  EXPECT_EQ(sum_of({0x1p53f, 2.0f, 1.0f}), 0x1p53 + 4);
  EXPECT_EQ(sum_of({0x1p53f, 2.0f, 1.0f, -0x1p-140f}), 0x1p53 + 2);
}

TEST(CalibrateSum, AnyOrderAndParts) {
  auto values = mixed_floats(8, 3000);
  const double whole = sum_of(values);
  std::reverse(values.begin(), values.end());
  EXPECT_EQ(sum_of(values), whole);
  ExactSum parts[3], all;
  for (std::size_t i = 0; i < values.size(); ++i) parts[i % 3].add(values[i]);
  for (const ExactSum& part : {parts[2], parts[0], ExactSum(), parts[1]}) all.merge(part);
  EXPECT_EQ(all.value(), whole);
}

}  // namespace
}  // namespace octet
