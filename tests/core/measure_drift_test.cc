// Drift against numbers worked out by hand.
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <limits>

#include "octet/error.h"
#include "octet/measure.h"

namespace octet {
namespace {

constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
constexpr float kInf = std::numeric_limits<float>::infinity();

template <class T>
Tensor tensor(int type, std::vector<std::int64_t> dims, const std::vector<T>& values) {
  Tensor t{type, std::move(dims), std::vector<std::uint8_t>(values.size() * sizeof(T))};
  if (!values.empty()) std::memcpy(t.bytes.data(), values.data(), t.bytes.size());
  return t;
}
Tensor floats(std::vector<std::int64_t> dims, const std::vector<float>& values) {
  return tensor(kFloat, std::move(dims), values);
}

OutputDrift drift_of(const Tensor& reference, const Tensor& candidate) {
  DriftMeter meter;
  meter.add({{"y", reference}}, {{"y", candidate}});
  return meter.result().at(0);
}

TEST(MeasureDrift, ByHand) {
  const OutputDrift d = drift_of(floats({1, 4}, {1, 2, 3, 4}), floats({1, 4}, {1, 2, 3, 5}));
  EXPECT_TRUE(d.comparable);
  EXPECT_TRUE(d.finite);
  EXPECT_DOUBLE_EQ(d.sqnr_db, 10.0 * std::log10(30.0 / 1.0));
  EXPECT_DOUBLE_EQ(d.cosine, 34.0 / std::sqrt(30.0 * 39.0));
  EXPECT_EQ(d.max_abs_error, 1.0);
  EXPECT_EQ(d.max_abs, 4.0);
  EXPECT_EQ(d.top1_agreement, 1.0);
  EXPECT_EQ(d.elements, 4u);
}

TEST(MeasureDrift, SumsRunOverAllSamplesTogether) {
  DriftMeter meter;
  meter.add({{"y", floats({2}, {1, 0})}}, {{"y", floats({2}, {1, 0})}});
  meter.add({{"y", floats({2}, {3, 1})}}, {{"y", floats({2}, {1, 2})}});
  const OutputDrift d = meter.result().at(0);
  EXPECT_DOUBLE_EQ(d.sqnr_db, 10.0 * std::log10(11.0 / 5.0));
  EXPECT_DOUBLE_EQ(d.cosine, 6.0 / std::sqrt(11.0 * 6.0));
  EXPECT_EQ(d.max_abs_error, 2.0);
  EXPECT_EQ(d.top1_agreement, 0.5);
  EXPECT_EQ(d.elements, 4u);
}

TEST(MeasureDrift, EqualAndZero) {
  const Tensor some = floats({3}, {0.1f, -0.2f, 0.3f}), zero = floats({3}, {0, 0, 0});
  EXPECT_EQ(drift_of(some, some).sqnr_db, kSqnrEqual);
  EXPECT_EQ(drift_of(some, some).cosine, 1.0);
  EXPECT_EQ(drift_of(zero, zero).sqnr_db, kSqnrEqual);
  EXPECT_EQ(drift_of(zero, zero).cosine, 1.0);
  EXPECT_EQ(drift_of(zero, some).sqnr_db, -kSqnrEqual);
  EXPECT_EQ(drift_of(zero, some).cosine, 0.0);
  EXPECT_EQ(drift_of(some, zero).sqnr_db, 0.0);
}

TEST(MeasureDrift, NonFinite) {
  const OutputDrift broken = drift_of(floats({3}, {1, 2, 3}), floats({3}, {1, kNan, 3}));
  EXPECT_FALSE(broken.finite);
  EXPECT_EQ(broken.sqnr_db, -kSqnrEqual);
  EXPECT_EQ(broken.max_abs_error, 0.0);  // of what is finite on both sides
  EXPECT_EQ(broken.max_abs, 3.0);

  // A mask of minus infinity in the reference is no fault of the candidate, whatever stands there.
  const OutputDrift masked = drift_of(floats({3}, {1, -kInf, 3}), floats({3}, {1, -kInf, 3}));
  EXPECT_TRUE(masked.finite);
  EXPECT_EQ(masked.sqnr_db, kSqnrEqual);
  EXPECT_TRUE(drift_of(floats({2}, {kNan, 1}), floats({2}, {kInf, 1})).finite);
}

TEST(MeasureDrift, LargestPerRow) {
  const Tensor a = floats({2, 2, 3}, {1, 2, 3, 3, 2, 1, 5, 5, 0, 0, -1, -2});
  const Tensor b = floats({2, 2, 3}, {1, 3, 2, 3, 2, 1, 5, 5, 9, 0, -1, -2});
  EXPECT_EQ(drift_of(a, b).top1_agreement, 0.5);
  EXPECT_EQ(drift_of(a, a).top1_agreement, 1.0);
  EXPECT_EQ(drift_of(floats({2, 1}, {1, 2}), floats({2, 1}, {1, 2})).top1_agreement, std::nullopt);
  EXPECT_EQ(drift_of(floats({}, {1}), floats({}, {1})).top1_agreement, std::nullopt);
  // NaN is never the largest, wherever it stands.
  EXPECT_EQ(drift_of(floats({3}, {kNan, 1, 2}), floats({3}, {0, 1, 2})).top1_agreement, 1.0);
}

TEST(MeasureDrift, Integers) {
  const auto big = std::int64_t{1} << 53;  // float32 would call the two equal
  const OutputDrift d = drift_of(tensor<std::int64_t>(kInt64, {4}, {1, 2, 3, big}),
                                 tensor<std::int64_t>(kInt64, {4}, {1, 2, 4, big - 1}));
  EXPECT_EQ(d.top1_agreement, 0.5);
  EXPECT_EQ(d.max_abs_error, 1.0);
  EXPECT_EQ(drift_of(tensor<std::uint8_t>(kBool, {2}, {1, 0}), tensor<std::uint8_t>(kBool, {2}, {1, 1})).top1_agreement,
            0.5);
  EXPECT_EQ(drift_of(tensor<std::int32_t>(kInt32, {1}, {16777217}), tensor<std::int32_t>(kInt32, {1}, {16777216}))
                .top1_agreement,
            0.0);
}

TEST(MeasureDrift, OtherFloats) {
  const OutputDrift half = drift_of(tensor<std::uint16_t>(kFloat16, {2}, {0x3C00, 0x4000}),
                                    tensor<std::uint16_t>(kFloat16, {2}, {0x3C00, 0x3C00}));
  EXPECT_DOUBLE_EQ(half.sqnr_db, 10.0 * std::log10(5.0));
  const OutputDrift wide =
      drift_of(tensor<double>(kDouble, {2}, {1.0, 2.0}), tensor<double>(kDouble, {2}, {1.0, 2.0 + 1e-12}));
  EXPECT_GT(wide.max_abs_error, 0.0);  // float32 would not see it
}

TEST(MeasureDrift, NotComparable) {
  const Tensor y = floats({1, 2}, {1, 2});
  EXPECT_EQ(drift_of(y, floats({2, 1}, {1, 2})).why_not, "the reference has shape [1,2], the candidate [2,1]");
  EXPECT_EQ(drift_of(y, tensor<double>(kDouble, {1, 2}, {1, 2})).why_not,
            "the reference is FLOAT, the candidate DOUBLE");
  EXPECT_FALSE(drift_of(Tensor{kString, {1}, {}}, Tensor{kString, {1}, {}}).comparable);

  DriftMeter meter;
  meter.add({{"a", y}, {"b", y}}, {{"a", y}, {"extra", y}});
  meter.add({{"a", y}, {"b", y}}, {{"a", y}, {"b", y}});
  const auto drifts = meter.result();
  ASSERT_EQ(drifts.size(), 2u);
  EXPECT_EQ(drifts[0].name, "a");
  EXPECT_TRUE(drifts[0].comparable);
  EXPECT_FALSE(drifts[1].comparable);  // one missing sample is enough
  EXPECT_EQ(drifts[1].why_not, "the candidate has no such output");
  EXPECT_EQ(meter.worst_sqnr_db(), kSqnrEqual);
}

TEST(MeasureDrift, BytesMustFitTheShape) {
  Tensor broken = floats({3}, {1, 2});
  EXPECT_THROW(drift_of(broken, broken), Error);
}

TEST(MeasureDrift, Worst) {
  const Tensor r = floats({2}, {1, 1}), near = floats({2}, {1, 1.001f}), far = floats({2}, {1, 3});
  DriftMeter meter;
  EXPECT_EQ(meter.worst_sqnr_db(), kSqnrEqual);
  meter.add({{"a", r}, {"b", r}, {"i", tensor<std::int32_t>(kInt32, {1}, {1})}},
            {{"a", near}, {"b", far}, {"i", tensor<std::int32_t>(kInt32, {1}, {100})}});
  EXPECT_DOUBLE_EQ(meter.worst_sqnr_db(), 10.0 * std::log10(2.0 / 4.0));
  meter.add({{"a", r}}, {{"a", floats({2}, {1, kInf})}});
  DriftMeter moved = std::move(meter);
  EXPECT_EQ(moved.worst_sqnr_db(), -kSqnrEqual);
}

// Names that come and go between samples keep their own sums.
TEST(MeasureDrift, OutputsInAnyOrder) {
  const Tensor one = floats({1}, {1}), two = floats({1}, {2});
  DriftMeter meter;
  meter.add({{"b", one}}, {{"b", one}});
  meter.add({{"a", one}, {"b", one}, {"c", one}}, {{"a", two}, {"b", one}, {"c", one}});
  const auto drifts = meter.result();
  ASSERT_EQ(drifts.size(), 3u);
  EXPECT_EQ(drifts[0].name + drifts[1].name + drifts[2].name, "bac");
  EXPECT_EQ(drifts[0].elements, 2u);
  EXPECT_EQ(drifts[1].max_abs_error, 1.0);
}

}  // namespace
}  // namespace octet
