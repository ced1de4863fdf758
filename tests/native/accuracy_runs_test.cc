// What is done to a model so that it loses less in integers leaves what it computes in float as it was.
#include <gmock/gmock.h>

#include "engine/engine.h"
#include "octet/measure.h"
#include "static_pictures.h"

namespace octet {
namespace {

using pictures::model_of;

// Of the product of factors rounded to 8 bits and weights rounded to float32 once more.
constexpr double kSameButForRounding = 1e-5;

Sample ramp(std::int64_t rows, std::int64_t columns) {
  Tensor tensor{kFloat, {rows, columns}, {}};
  std::uint32_t state = 7;
  for (std::int64_t i = 0; i < rows * columns; ++i) {
    state = state * 1664525u + 1013904223u;
    const float value = static_cast<float>(state >> 8) / 8388608.0f - 1;
    const auto* bytes = reinterpret_cast<const std::uint8_t*>(&value);
    tensor.bytes.insert(tensor.bytes.end(), bytes, bytes + sizeof value);
  }
  return {{"x", tensor}};
}

Sample run(const Model& model, const Sample& inputs) {
  return Session::from_bytes(fixtures::save(model), {.optimize = false}).run(inputs);
}

void expect_same(const Sample& wanted, const Sample& found) {
  DriftMeter meter;
  meter.add(wanted, found);
  for (const OutputDrift& output : meter.result()) {
    EXPECT_TRUE(output.comparable) << output.why_not;
    EXPECT_LE(output.max_abs_error, kSameButForRounding * output.max_abs) << output.name;
  }
}

// Channels that differ by up to 2000 times, as sentence encoders have them.
ChannelObservations uneven(const Quantizer& quantizer) {
  ChannelObservations seen;
  for (const ChannelTap& tap : quantizer.smoothing_taps()) {
    std::vector<float> values;
    for (int i = 0; i < 32; ++i) values.push_back(static_cast<float>((i % 5 == 0 ? 200 : 0.1) * (1 + i)));
    seen[tap.value].add(values, {1, 32}, tap.axis);
  }
  return seen;
}

struct SmoothCase {
  std::string name, text;
  std::size_t folded = 0, inserted = 0;
};

const std::vector<SmoothCase>& smooth_cases() {
  static const std::vector<SmoothCase> cases = {
      {"of an input", "g (float[n,32] x) => (float[n,48] y) <float[32,48] w> { y = MatMul(x, w) }", 0, 1},
      {"of a Gemm turned over",
       "g (float[n,32] x) => (float[n,48] y) <float[48,32] w, float[48] c> { y = Gemm<transB = 1>(x, w, c) }", 0, 1},
      {"of a normalization",
       "g (float[n,32] x) => (float[n,48] y, float[n,16] z) "
       "<float[32] s, float[32] b, float[32,48] w, float[32,16] v> { l = LayerNormalization(x, s, b) y = MatMul(l, w) "
       "z = MatMul(l, v) }",
       1, 0},
      {"of a normalization that others read",
       "g (float[n,32] x) => (float[n,48] y, float[n,32] z) <float[32] s, float[32] b, float[32,48] w> { "
       "l = LayerNormalization(x, s, b) y = MatMul(l, w) z = Add(l, x) }",
       0, 1},
      {"of a product with bias and Relu",
       "g (float[n,32] x) => (float[n,48] y) <float[32,32] v, float[32] b, float[32,48] w> { p = MatMul(x, v) "
       "q = Add(p, b) r = Relu(q) y = MatMul(r, w) }",
       1, 1},
      {"of a half",
       "g (float[n,32] x) => (float[n,48] y) <float[32,48] w, float[1] b> { t = Tanh(x) h = Mul(t, b) y = MatMul(h, w) "
       "}",
       1, 0},
      {"of a sum of two",
       "g (float[n,32] x) => (float[n,48] y) <float[32,48] w> { t = Tanh(x) h = Add(t, x) y = MatMul(h, w) }", 0, 1},
  };
  return cases;
}

TEST(Smoothing, LeavesTheFloatModelAsItWas) {
  for (const SmoothCase& entry : smooth_cases()) {
    SCOPED_TRACE(entry.name);
    const Quantizer quantizer(model_of(entry.text), pictures::static_options());
    const Smoothed smoothed = quantizer.smoothed(uneven(quantizer), 0.5);
    EXPECT_EQ(smoothed.folded, entry.folded);
    EXPECT_EQ(smoothed.inserted, entry.inserted);
    const Sample inputs = ramp(6, 32);
    expect_same(run(quantizer.model(), inputs), run(smoothed.quantizer.model(), inputs));
    EXPECT_NE(fingerprint_of(quantizer.model()), fingerprint_of(smoothed.quantizer.model()));
  }
}

// One channel in 32 is 2000 times larger than the rest, which with one scale for all get no bits.
TEST(Smoothing, KeepsWhatSmallChannelsSay) {
  const std::string text = "g (float[n,32] x) => (float[n,48] y) <float[32,48] w> { y = MatMul(x, w) }";
  Sample inputs = ramp(64, 32);
  auto* values = reinterpret_cast<float*>(inputs.at("x").bytes.data());
  for (int row = 0; row < 64; ++row) values[row * 32 + 5] *= 50;
  const std::vector<float> all(values, values + 64 * 32);
  const Quantizer quantizer(model_of(text), pictures::static_options());
  ChannelObservations seen;
  seen["x"].add(all, {64, 32}, -1);
  const Smoothed smoothed = quantizer.smoothed(seen, 0.5);
  const auto decibels = [&](const Quantizer& made, float most) {
    DriftMeter meter;
    meter.add(run(quantizer.model(), inputs), run(made.apply(pictures::with_ranges(made.plan(), -most, most)), inputs));
    return meter.worst_sqnr_db();
  };
  float most = 0;
  for (std::size_t i = 0; i < all.size(); ++i)
    most = std::max(most, std::abs(all[i]) / smoothed.quantizer.plan().smoothed.at(0).factors[i % 32]);
  EXPECT_GT(decibels(smoothed.quantizer, most), decibels(quantizer, 50) + 6);
}

TEST(Smoothing, ComesBackFromItsPlan) {
  for (const SmoothCase& entry : smooth_cases()) {
    SCOPED_TRACE(entry.name);
    const Quantizer quantizer(model_of(entry.text), pictures::static_options());
    const Smoothed smoothed = quantizer.smoothed(uneven(quantizer), 0.5);
    const Plan plan = pictures::with_ranges(smoothed.quantizer.plan(), -3, 3);
    const Plan back = plan_from_json(plan_to_json(plan));
    const Quantizer again(model_of(entry.text), pictures::static_options(), &back);
    EXPECT_EQ(fixtures::save(again.apply(again.plan())), fixtures::save(smoothed.quantizer.apply(plan)));
  }
}

TEST(Smoothing, RefusesPlansOfOtherModels) {
  const std::string text = "g (float[n,32] x) => (float[n,48] y) <float[32,48] w> { y = MatMul(x, w) }";
  const Quantizer quantizer(model_of(text), pictures::static_options());
  const Plan good = quantizer.smoothed(uneven(quantizer), 0.5).quantizer.plan();
  const auto refused = [&](const auto& change) {
    Plan plan = good;
    change(plan.smoothed.at(0));
    return pictures::message_of(ErrorCode::kUsage, [&] { Quantizer(model_of(text), {}, &plan); });
  };
  EXPECT_THAT(refused([](Smoothing& s) { s.value = "z"; }), testing::HasSubstr("makes no such value"));
  EXPECT_THAT(refused([](Smoothing& s) { s.products = {"other"}; }), testing::HasSubstr("lacks products"));
  EXPECT_THAT(refused([](Smoothing& s) { s.factors.pop_back(); }), testing::HasSubstr("number of channels"));
  EXPECT_THAT(refused([](Smoothing& s) { s.factors[3] = 0; }), testing::HasSubstr("above zero"));
}

struct EqualizeCase {
  std::string name, text;
  int pairs = 0;
};

const std::vector<EqualizeCase>& equalize_cases() {
  static const std::vector<EqualizeCase> cases = {
      {"convolutions with a Relu between",
       "g (float[8,32] x) => (float[n,c,h,w] y) <int64[4] s = {1, 8, 4, 8}, float[6,8,3,3] u, float[6] b, "
       "float[5,6,1,1] v> { i = Reshape(x, s) p = Conv(i, u, b) r = Relu(p) y = Conv(r, v) }",
       1},
      {"a depthwise convolution in the middle",
       "g (float[8,32] x) => (float[n,c,h,w] y) <int64[4] s = {1, 8, 4, 8}, float[6,8,1,1] u, float[6,1,3,3] d, "
       "float[5,6,1,1] v> { i = Reshape(x, s) p = Conv(i, u) q = LeakyRelu(p) e = Conv<group = 6>(q, d) "
       "m = MaxPool<kernel_shape = [2,2]>(e) y = Conv(m, v) }",
       2},
      {"matrices",
       "g (float[n,32] x) => (float[n,16] y) <float[32,24] u, float[24] b, float[16,24] v> { p = Gemm(x, u, b) "
       "r = Relu(p) y = Gemm<transB = 1>(r, v) }",
       1},
      {"nothing where a Clip is between",
       "g (float[n,32] x) => (float[n,16] y) <float[32,24] u, float zero = {0}, float six = {6}, float[24,16] v> { "
       "p = MatMul(x, u) r = Clip(p, zero, six) y = MatMul(r, v) }",
       0},
      {"nothing where another reads the value",
       "g (float[n,32] x) => (float[n,16] y, float[n,24] r) <float[32,24] u, float[24,16] v> { p = MatMul(x, u) "
       "r = Relu(p) y = MatMul(r, v) }",
       0},
      {"nothing where a weight has two readers",
       "g (float[n,24] x) => (float[n,24] y) <float[24,24] u> { p = MatMul(x, u) r = Relu(p) y = MatMul(r, u) }", 0},
  };
  return cases;
}

TEST(Equalizing, ChangesNothingOfWhatIsComputed) {
  for (const EqualizeCase& test : equalize_cases()) {
    SCOPED_TRACE(test.name);
    PlanOptions options;
    options.mode = Mode::kStatic;
    const Quantizer quantizer(model_of(test.text), options);
    const Equalized equalized = quantizer.equalized();
    EXPECT_EQ(equalized.pairs, test.pairs);
    EXPECT_TRUE(equalized.quantizer.plan().equalized);
    const Sample inputs = test.text.find("x[8,32]") == std::string::npos
                              ? ramp(8, test.text.find("[n,24] x") == std::string::npos ? 32 : 24)
                              : ramp(8, 32);
    expect_same(run(quantizer.model(), inputs), run(equalized.quantizer.model(), inputs));
    // A plan tells it again, to the byte.
    const Quantizer again(model_of(test.text), options, &equalized.quantizer.plan());
    EXPECT_EQ(fixtures::save(again.model()), fixtures::save(equalized.quantizer.model()));
  }
}

}  // namespace
}  // namespace octet
