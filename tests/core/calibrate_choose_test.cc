// How a range is chosen: against the same rules worked out on the values themselves.
#include <gmock/gmock.h>

#include <algorithm>
#include <cmath>
#include <functional>

#include "calibrate_values.h"
#include "kernels/quantize_kernels.h"
#include "octet/measure.h"
#include "onnx/onnx_pb.h"
#include "quantize/weight_params.h"

namespace octet {
namespace {

using test::bell;
using test::heavy_tail;
using test::observed;
using test::relu;

constexpr RangeMethod kMethods[] = {RangeMethod::kMinMax,     RangeMethod::kAverage, RangeMethod::kEntropy,
                                    RangeMethod::kPercentile, RangeMethod::kMse,     RangeMethod::kBest};

RangeRule rule(RangeMethod method, bool symmetric = false, QuantType type = QuantType::kUint8) {
  RangeRule result;
  result.method = method;
  result.symmetric = symmetric;
  result.type = symmetric ? QuantType::kInt8 : type;
  return result;
}

// Each named for the test's messages.
struct Case {
  const char* name;
  std::vector<float> values;
};

const std::vector<Case>& cases() {
  static const std::vector<Case> all = [] {
    std::vector<Case> c = {{"bell", bell(1, 60000)},
                           {"shifted", bell(2, 40000, 0.3f, 2)},
                           {"positive", relu(bell(3, 60000))},
                           {"negative", bell(4, 30000, 0.1f, -3)},
                           {"heavy", heavy_tail(5, 80000)},
                           {"positive heavy", relu(heavy_tail(6, 80000))},
                           {"uniform", test::unit_floats(7, 50000)},
                           {"few", bell(8, 37)},
                           {"huge", bell(9, 20000, 1e37f)},
                           {"small", bell(10, 20000, 1e-30f)}};
    return c;
  }();
  return all;
}

// The noise of a range, by quantizing every value with the kernels.
struct Measured {
  double signal = 0, noise = 0;
  double db() const { return 10 * std::log10(signal / noise); }
};

Measured measure(const std::vector<float>& values, Interval range, const RangeRule& chosen_for) {
  TensorPlan plan;
  plan.type = chosen_for.type;
  plan.symmetric = chosen_for.symmetric;
  float scale;
  std::int32_t zero;
  choose_params(range.low, range.high, plan, onnx::TensorProto::FLOAT, scale, zero);
  std::vector<std::uint8_t> u(values.size());
  std::vector<std::int8_t> s(values.size());
  if (plan.type == QuantType::kUint8)
    quantize_u8(values, scale, zero, 0, 255, u);
  else
    quantize_s8(values, scale, zero, -128, 127, s);
  Measured sums;
  for (std::size_t i = 0; i < values.size(); ++i) {
    const int level = plan.type == QuantType::kUint8 ? u[i] : s[i];
    const double x = values[i], error = x - static_cast<double>(level - zero) * static_cast<double>(scale);
    sums.signal += x * x;
    sums.noise += error * error;
  }
  return sums;
}

void expect_near_values(Interval got, double low, double high, double tolerance) {
  EXPECT_NEAR(got.low, low, tolerance);
  EXPECT_NEAR(got.high, high, tolerance);
}

TEST(CalibrateChoose, MinMaxIsExact) {
  for (const Case& c : cases()) {
    const auto [low, high] = std::minmax_element(c.values.begin(), c.values.end());
    for (const bool symmetric : {false, true}) {
      const auto chosen = choose_range(observed(c.values), rule(RangeMethod::kMinMax, symmetric));
      EXPECT_EQ(chosen.range.low, *low) << c.name;
      EXPECT_EQ(chosen.range.high, *high) << c.name;
    }
  }
}

TEST(CalibrateChoose, AverageOfTheRuns) {
  Observation seen;
  seen.add(std::vector<float>{-1, 4});
  seen.add(std::vector<float>{-4, 1, 0});
  seen.add(std::vector<float>{1, 1});
  const auto chosen = choose_range(seen, rule(RangeMethod::kAverage));
  EXPECT_EQ(chosen.range.low, static_cast<float>(-4.0 / 3));
  EXPECT_EQ(chosen.range.high, 2);
}

// Percentiles lie in the bin of the value that sorting finds.
TEST(CalibrateChoose, PercentileIsWithinABin) {
  for (const Case& c : cases()) {
    std::vector<float> sorted = c.values, magnitudes;
    std::sort(sorted.begin(), sorted.end());
    for (const float v : sorted) magnitudes.push_back(std::fabs(v));
    std::sort(magnitudes.begin(), magnitudes.end());
    // The value that `share` of all are not above.
    const auto at = [](const std::vector<float>& from, double share) {
      const double rank = std::ceil(share * static_cast<double>(from.size()) - 1e-9);
      return static_cast<double>(from[static_cast<std::size_t>(std::max(rank, 1.0)) - 1]);
    };
    for (const double percentile : {50.0, 90.0, 99.0, 99.9, 99.99, 100.0}) {
      RangeRule both = rule(RangeMethod::kPercentile), symmetric = rule(RangeMethod::kPercentile, true);
      both.percentile = symmetric.percentile = percentile;
      const double cut = (100 - percentile) / 200;
      SCOPED_TRACE(std::string(c.name) + " " + std::to_string(percentile));
      const double low = at(sorted, cut), high = at(sorted, 1 - cut), most = at(magnitudes, percentile / 100);
      const Interval range = choose_range(observed(c.values), both).range;
      EXPECT_NEAR(range.low, low, 0.008 * std::fabs(low));
      EXPECT_NEAR(range.high, high, 0.008 * std::fabs(high));
      const Interval even = choose_range(observed(c.values), symmetric).range;
      EXPECT_NEAR(even.low, std::max<double>(-most, sorted.front()), 0.008 * most);
      EXPECT_NEAR(even.high, std::min<double>(most, sorted.back()), 0.008 * most);
    }
  }
}

TEST(CalibrateChoose, ExpectedNoiseIsWhatQuantizingMakes) {
  for (const Case& c : cases()) {
    if (c.values.size() < 1000) continue;  // too few to be spread evenly in their bins
    for (const RangeMethod method : kMethods) {
      for (const bool symmetric : {false, true}) {
        const RangeRule r = rule(method, symmetric);
        const auto chosen = choose_range(observed(c.values), r);
        EXPECT_NEAR(chosen.sqnr_db, measure(c.values, chosen.range, r).db(), 0.1) << c.name << " " << name_of(method);
      }
    }
  }
}

// Every range of a fine grid tried on the values themselves finds hardly a better one.
TEST(CalibrateChoose, MseIsNearTheBestOfAll) {
  for (const Case& c : cases()) {
    std::vector<float> values = c.values;
    values.resize(std::min<std::size_t>(values.size(), 3000));
    const auto [least, most] = std::minmax_element(values.begin(), values.end());
    const float low = std::min(*least, 0.0f), high = std::max(*most, 0.0f);
    for (const bool symmetric : {false, true}) {
      const RangeRule r = rule(RangeMethod::kMse, symmetric);
      double best = measure(values, {low, high}, r).noise;
      for (int i = 1; i <= 40; ++i) {
        for (int j = 1; j <= 40; ++j) {
          const Interval range = {low * (static_cast<float>(i) / 40), high * (static_cast<float>(j) / 40)};
          if (!symmetric || i == 40 || j == 40) best = std::min(best, measure(values, range, r).noise);
        }
      }
      const double found = measure(values, choose_range(observed(values), r).range, r).noise;
      EXPECT_LE(found, best * 1.05) << c.name << " symmetric " << symmetric;
    }
  }
}

// What clipping is for: rare large values would take the levels from all others.
TEST(CalibrateChoose, EntropyAndMseClipAHeavyTail) {
  std::vector<float> values = bell(11, 100000);
  for (int i = 0; i < 10; ++i) values[static_cast<std::size_t>(i) * 9973] = i % 2 ? 30.0f : -30.0f;
  const Observation seen = observed(values);
  EXPECT_EQ(choose_range(seen, rule(RangeMethod::kMinMax)).range.high, 30);
  for (const RangeMethod method : {RangeMethod::kEntropy, RangeMethod::kPercentile}) {
    const Interval range = choose_range(seen, rule(method)).range;
    EXPECT_LT(range.high, 6) << name_of(method);
    EXPECT_GT(range.high, 2) << name_of(method);
    EXPECT_GT(range.low, -6) << name_of(method);
  }
  // MSE weighs the cost of each clipped value: ten at 30 are worth keeping, one part in a million at 8 is not.
  for (const bool symmetric : {false, true}) {
    std::vector<float> light = bell(12, 1000000);
    light[500] = 14;
    light[700] = -14;
    const auto mse = choose_range(observed(light), rule(RangeMethod::kMse, symmetric));
    const auto whole = choose_range(observed(light), rule(RangeMethod::kMinMax, symmetric));
    EXPECT_LT(mse.range.high, 8);
    EXPECT_GT(mse.range.low, -8);
    EXPECT_GT(mse.sqnr_db, whole.sqnr_db + 3);
  }
}

TEST(CalibrateChoose, BestIsTheLeastNoiseOfAll) {
  for (const Case& c : cases()) {
    for (const bool symmetric : {false, true}) {
      const Observation seen = observed(c.values);
      const auto best = choose_range(seen, rule(RangeMethod::kBest, symmetric));
      double most = -kSqnrEqual;
      for (const RangeMethod method :
           {RangeMethod::kMinMax, RangeMethod::kEntropy, RangeMethod::kPercentile, RangeMethod::kMse})
        most = std::max(most, choose_range(seen, rule(method, symmetric)).sqnr_db);
      EXPECT_EQ(best.sqnr_db, most) << c.name;
      EXPECT_NE(best.method, RangeMethod::kBest);
      const auto again = choose_range(seen, rule(best.method, symmetric));
      EXPECT_EQ(best.range.low, again.range.low);
      EXPECT_EQ(best.range.high, again.range.high);
    }
  }
}

void for_each_choice(const Observation& seen, const std::function<void(const ChosenRange&)>& check) {
  for (const RangeMethod method : kMethods) {
    for (const QuantType type : {QuantType::kUint8, QuantType::kInt8, QuantType::kUint16, QuantType::kInt16}) {
      for (const bool symmetric : {false, true}) {
        RangeRule r = rule(method, symmetric);
        r.type = type;
        SCOPED_TRACE(std::string(name_of(method)) + " " + std::string(name_of(type)) + (symmetric ? " symmetric" : ""));
        check(choose_range(seen, r));
      }
    }
  }
}

TEST(CalibrateChoose, OddTensors) {
  using Limits = std::numeric_limits<float>;
  std::vector<float> mostly_zero(100000, 0.0f);
  mostly_zero[7] = 3;
  mostly_zero[9] = 0.001f;
  const std::vector<Case> odd = {{"zeros", std::vector<float>(9000, 0.0f)},
                                 {"one", {0.3f}},
                                 {"constant", std::vector<float>(9000, 0.7f)},
                                 {"negative constant", std::vector<float>(9000, -1e-3f)},
                                 {"denormal", {1e-45f, -3e-41f, 2e-39f}},
                                 {"smallest", std::vector<float>(10, Limits::denorm_min())},
                                 {"extremes", {Limits::max(), Limits::lowest(), 1.0f}},
                                 {"largest", {Limits::max()}},
                                 {"mostly zero", mostly_zero},
                                 {"two", {-5.0f, 100.0f}},
                                 {"anything", test::mixed_floats(1, 20000)}};
  for (const Case& c : odd) {
    const Observation seen = observed(c.values);
    SCOPED_TRACE(c.name);
    for_each_choice(seen, [&](const ChosenRange& chosen) {
      EXPECT_LE(chosen.range.low, chosen.range.high);
      EXPECT_GE(chosen.range.low, seen.min_max().low);
      EXPECT_LE(chosen.range.high, seen.min_max().high);
      EXPECT_GE(chosen.sqnr_db, -kSqnrEqual);
      EXPECT_LE(chosen.sqnr_db, kSqnrEqual);
      const bool all_zero = seen.min_max().low == 0 && seen.min_max().high == 0;
      EXPECT_EQ(chosen.range.low >= 0 && chosen.range.high <= 0, all_zero) << "a range that erases the tensor";
    });
  }
  EXPECT_EQ(choose_range(observed(odd[0].values), rule(RangeMethod::kMse)).sqnr_db, kSqnrEqual);
  expect_near_values(choose_range(observed(odd[2].values), rule(RangeMethod::kBest)).range, 0.7f, 0.7f, 0);
}

// One number for all choices, the same natively, on ARM and in WebAssembly.
TEST(CalibrateChoose, SameBitsEverywhere) {
  std::vector<double> all;
  for (const Case& c : cases()) {
    for_each_choice(observed(c.values), [&](const ChosenRange& chosen) {
      all.insert(all.end(), {chosen.range.low, chosen.range.high, chosen.sqnr_db, static_cast<double>(chosen.method)});
    });
  }
  EXPECT_EQ(test::hash_of(all), 0x19845CA1404282B3u);
}

}  // namespace
}  // namespace octet
