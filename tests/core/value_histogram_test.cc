// Bins, channels and what is left out of them.
#include "octet/value_histogram.h"

#include <gmock/gmock.h>

#include <cmath>
#include <limits>

#include "model_fixtures.h"
#include "octet/error.h"

namespace octet {
namespace {

using testing::ElementsAre;

Observation observed(const std::vector<float>& values) {
  Observation seen;
  seen.add(values);
  return seen;
}

TEST(ValueHistogram, ActivationsFallIntoBinsOfOneWidth) {
  const auto shown = activation_histogram(observed({-1, -0.9F, 0, 0, 0.5F, 1, std::nanf("")}), 4);
  EXPECT_EQ(shown.range.low, -1);
  EXPECT_EQ(shown.range.high, 1);
  EXPECT_THAT(shown.counts, ElementsAre(2, 0, 2, 2));
  EXPECT_EQ(shown.values, 6U);
  EXPECT_EQ(shown.zeros, 2U);
  EXPECT_EQ(shown.non_finite, 1U);
}

TEST(ValueHistogram, OneValueIsOneBin) {
  EXPECT_THAT(activation_histogram(observed({3, 3, 3}), 3).counts, ElementsAre(3, 0, 0));
  EXPECT_THAT(activation_histogram(Observation(), 2).counts, ElementsAre(0, 0));
}

TEST(ValueHistogram, EveryValueIsCounted) {
  std::vector<float> values;
  for (int i = 0; i < 10000; ++i) values.push_back(std::sin(static_cast<float>(i)) * static_cast<float>(i % 97));
  const auto shown = activation_histogram(observed(values), 50);
  std::uint64_t sum = 0;
  for (const std::uint64_t count : shown.counts) sum += count;
  EXPECT_EQ(sum, values.size());
}

Model with_weight() {
  return fixtures::load(fixtures::parse_text(R"(<ir_version: 8, opset_import: ["" : 17]>
    g (float[2] x) => (float[3] y) <float[2, 3] w = {-3, 0, 1, -1, 0, 5}, int64[1] n = {4}> { y = MatMul (x, w) })"));
}

TEST(ValueHistogram, WeightsChannelByChannel) {
  Model model = with_weight();
  const auto columns = weight_histogram(model, "w", 4, 1);
  EXPECT_THAT(columns.dims, ElementsAre(2, 3));
  EXPECT_THAT(columns.counts, ElementsAre(1, 3, 1, 1));
  EXPECT_EQ(columns.zeros, 2U);
  ASSERT_EQ(columns.channels.size(), 3U);
  EXPECT_EQ(columns.channels[0].low, -3);
  EXPECT_EQ(columns.channels[0].high, -1);
  EXPECT_EQ(columns.channels[2].high, 5);
  EXPECT_EQ(weight_histogram(model, "w", 4, -2).channels.size(), 2U);
  EXPECT_EQ(weight_histogram(model, "w", 4, -2).channels[1].low, -1);
  EXPECT_TRUE(weight_histogram(model, "w", 4).channels.empty());
}

TEST(ValueHistogram, WhatIsNoWeightIsNamed) {
  Model model = with_weight();
  for (const auto& [name, axis, said] : std::vector<std::tuple<const char*, int, const char*>>{
           {"v", 0, "is not stored"}, {"n", 0, "INT64"}, {"w", 2, "no axis 2"}, {"w", -3, "no axis -3"}}) {
    const Error fault =
        fixtures::load_error([&model, name = name, axis = axis] { weight_histogram(model, name, 4, axis); });
    EXPECT_EQ(fault.code(), ErrorCode::kUsage);
    EXPECT_THAT(fault.what(), testing::HasSubstr(said));
  }
}

TEST(ValueHistogram, TooManyBinsAreRefused) {
  EXPECT_THROW(activation_histogram(observed({1}), 0), Error);
  EXPECT_THROW(activation_histogram(observed({1}), kMostBins + 1), Error);
}

}  // namespace
}  // namespace octet
