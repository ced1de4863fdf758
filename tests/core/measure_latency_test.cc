// Latency statistics against numbers worked out by hand.
#include <gtest/gtest.h>

#include <cmath>

#include "octet/measure.h"

namespace octet {
namespace {

TEST(MeasureLatency, ByHand) {
  const LatencyStats s = latency_stats(std::vector<double>{3, 1, 2, 10, 4});
  EXPECT_EQ(s.runs, 5u);
  EXPECT_EQ(s.median_ms, 3.0);
  EXPECT_EQ(s.mean_ms, 4.0);
  EXPECT_EQ(s.min_ms, 1.0);
  EXPECT_EQ(s.max_ms, 10.0);
  EXPECT_DOUBLE_EQ(s.p90_ms, 4.0 + 0.6 * 6.0);  // place 3.6 of 0 to 4
  EXPECT_DOUBLE_EQ(s.stddev_ms, std::sqrt(50.0 / 4));
  EXPECT_EQ(s.mad_ms, 1.0);  // of 0 1 1 2 7
}

TEST(MeasureLatency, FewRuns) {
  EXPECT_EQ(latency_stats({}).runs, 0u);
  EXPECT_EQ(latency_stats({}).median_ms, 0.0);
  const LatencyStats one = latency_stats(std::vector<double>{7});
  EXPECT_EQ(one.median_ms, 7.0);
  EXPECT_EQ(one.p90_ms, 7.0);
  EXPECT_EQ(one.stddev_ms, 0.0);
  EXPECT_EQ(latency_stats(std::vector<double>{1, 2}).median_ms, 1.5);
}

TEST(MeasureSpeedup, SteadyRatioHasNoSpread) {
  std::vector<double> baseline, candidate;
  for (int i = 1; i <= 30; ++i) {
    baseline.push_back(2.0 * i);
    candidate.push_back(i);
  }
  const Speedup s = paired_speedup(baseline, candidate);
  EXPECT_EQ(s.ratio, 2.0);
  EXPECT_EQ(s.low, 2.0);
  EXPECT_EQ(s.high, 2.0);
}

TEST(MeasureSpeedup, IntervalHoldsTheRatioAndRepeats) {
  std::vector<double> baseline, candidate;
  for (int i = 0; i < 51; ++i) {
    baseline.push_back(1.0 + 0.01 * (i * 29 % 51));
    candidate.push_back(1.0);
  }
  const Speedup s = paired_speedup(baseline, candidate), again = paired_speedup(baseline, candidate);
  EXPECT_DOUBLE_EQ(s.ratio, 1.25);
  EXPECT_LT(s.low, s.ratio);
  EXPECT_GT(s.high, s.ratio);
  // The median of 51 even steps of 0.01 varies by about 0.01 * 51 / (2 * sqrt(51)) = 0.036; 5 % to 95 % is 1.64 of it.
  EXPECT_NEAR(s.low, 1.25 - 0.059, 0.02);
  EXPECT_NEAR(s.high, 1.25 + 0.059, 0.02);
  EXPECT_EQ(s.low, again.low);
  EXPECT_EQ(s.high, again.high);
}

TEST(MeasureSpeedup, NothingToCompare) {
  EXPECT_EQ(paired_speedup({}, {}).ratio, 1.0);
  EXPECT_EQ(paired_speedup(std::vector<double>{1, 0}, std::vector<double>{0, 1}).high, 1.0);
  EXPECT_EQ(paired_speedup(std::vector<double>{3, 4}, std::vector<double>{1}).ratio, 3.0);
}

}  // namespace
}  // namespace octet
