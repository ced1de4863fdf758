// Bias correction, run: what products give is right on average afterwards, and the plan alone says so.
#include <gmock/gmock.h>

#include "engine/engine.h"
#include "octet/bias_correction.h"
#include "static_pictures.h"

namespace octet {
namespace {

using pictures::model_of;

Sample ramp(std::vector<std::int64_t> dims) {
  Tensor tensor{kFloat, std::move(dims), {}};
  std::uint32_t state = 7;
  for (std::uint64_t i = 0; i < element_count(tensor.dims); ++i) {
    state = state * 1664525u + 1013904223u;
    const float value = static_cast<float>(state >> 8) / 8388608.0f;
    const auto* bytes = reinterpret_cast<const std::uint8_t*>(&value);
    tensor.bytes.insert(tensor.bytes.end(), bytes, bytes + sizeof value);
  }
  return {{"x", tensor}};
}

// The value of the model's one output, by channels.
ChannelObservation output_of(const Model& model, const Sample& inputs, int axis) {
  const Sample outputs = Session::from_bytes(fixtures::save(model), {.optimize = false}).run(inputs);
  const Tensor& tensor = outputs.at("y");
  ChannelObservation seen;
  seen.add(to_float(tensor), tensor.dims, axis);
  return seen;
}

double off(const ChannelObservation& wanted, const ChannelObservation& found) {
  double sum = 0;
  for (std::size_t c = 0; c < wanted.channels(); ++c) sum += std::abs(wanted.mean()[c] - found.mean()[c]);
  return sum;
}

struct Case {
  std::string name, text;
  std::vector<std::int64_t> dims;
  int axis;
};

// y is what the only product gives, its Add included.
const std::vector<Case>& cases() {
  static const std::vector<Case> all = {
      {"Conv with a bias",
       "g (float[n,4,h,w] x) => (float[n,8,h,w] y) <float[8,4,3,3] k, float[8] b> "
       "{ y = Conv<pads = [1, 1, 1, 1]>(x, k, b) }",
       {2, 4, 9, 9},
       1},
      {"Conv without",
       "g (float[n,4,h,w] x) => (float[n,8,h,w] y) <float[8,4,3,3] k> { y = Conv<pads = [1, 1, 1, 1]>(x, k) }",
       {2, 4, 9, 9},
       1},
      {"Gemm",
       "g (float[n,32] x) => (float[n,48] y) <float[48,32] k, float[48] b> { y = Gemm<transB = 1, beta = 0.5>(x, k, b) "
       "}",
       {16, 32},
       -1},
      {"MatMul with an Add",
       "g (float[n,32] x) => (float[n,48] y) <float[32,48] k, float[48] b> { m = MatMul(x, k) y = Add(b, m) }",
       {16, 32},
       -1},
  };
  return all;
}

TEST(BiasCorrection, GivesBackWhatRoundingTakesOnAverage) {
  for (const Case& entry : cases()) {
    SCOPED_TRACE(entry.name);
    const PlanOptions options = pictures::static_options();
    Quantizer quantizer(model_of(entry.text), options);
    // The range ends where values go on: what is cut off shifts the mean of every channel.
    quantizer.plan() = pictures::with_ranges(quantizer.plan(), 0, 1.5);
    for (ActivationPlan& activation : quantizer.plan().activations) {
      if (activation.tensor == "y") activation.range = Interval{-30, 30};
    }
    const Sample inputs = ramp(entry.dims);
    const ChannelObservation wanted = output_of(quantizer.model(), inputs, entry.axis);
    const double before = off(wanted, output_of(quantizer.apply(quantizer.plan()), inputs, entry.axis));
    const CorrectionRun run = correction_run(quantizer);
    ASSERT_EQ(run.taps.size(), 1u);
    EXPECT_EQ(run.taps[0].rounded.axis, entry.axis);
    add_correction(quantizer.plan(), run.taps[0], wanted,
                   output_of(quantizer.apply(quantizer.plan()), inputs, entry.axis));
    Model corrected = quantizer.apply(quantizer.plan());
    pictures::expect_sound(corrected);
    EXPECT_LT(off(wanted, output_of(corrected, inputs, entry.axis)), before / 5);

    const Plan back = plan_from_json(plan_to_json(quantizer.plan()));
    const Quantizer again(model_of(entry.text), options, &back);
    EXPECT_EQ(fixtures::save(again.apply(back)), fixtures::save(corrected));
  }
}

TEST(BiasCorrection, LeavesOutWhatHasNoPlaceForIt) {
  const Quantizer quantizer(model_of("g (float[n,32] x) => (float[n,48] y) <float[32,48] k> { y = MatMul(x, k) }"),
                            pictures::static_options());
  Quantizer ranged(model_of("g (float[n,32] x) => (float[n,48] y) <float[32,48] k> { y = MatMul(x, k) }"),
                   pictures::static_options());
  ranged.plan() = pictures::with_ranges(quantizer.plan(), 0, 1);
  EXPECT_TRUE(correction_run(ranged).taps.empty());
}

TEST(BiasCorrection, RefusesPlansOfOtherModels) {
  const Case& entry = cases().front();
  Quantizer quantizer(model_of(entry.text), pictures::static_options());
  Plan plan = pictures::with_ranges(quantizer.plan(), -1, 1);
  const auto refused = [&](BiasCorrection correction) {
    plan.corrections = {std::move(correction)};
    return pictures::message_of(ErrorCode::kUsage, [&] { quantizer.apply(plan); });
  };
  EXPECT_THAT(refused({"other", {1}}), testing::HasSubstr("has no such node"));
  EXPECT_THAT(refused({plan.nodes.front().node, {1}}), testing::HasSubstr("number of channels"));
}

}  // namespace
}  // namespace octet
