// Why a verdict is as it is and what to try next, for each thing that can decide it.
#include <gmock/gmock.h>

#include "octet/verdict.h"

namespace octet {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

Plan plan_of(Mode mode, const std::string& op, Action action, Form form = Form::kNone) {
  Plan plan;
  plan.mode = mode;
  NodePlan node;
  node.node = "n";
  node.op = op;
  node.action = action;
  node.form = form;
  plan.nodes.push_back(node);
  TensorPlan weight;
  weight.axis = 0;
  plan.tensors.push_back(weight);
  return plan;
}

Plan static_plan(const std::string& op = "Conv") {
  Plan plan = plan_of(Mode::kStatic, op, Action::kStatic);
  ActivationPlan value;
  value.method = RangeMethod::kMse;
  plan.activations.push_back(value);
  return plan;
}

VerdictInput figures(double speed, double db) {
  VerdictInput input;
  input.float_bytes = 4000;
  input.output_bytes = 1000;
  input.speedup = Speedup{speed, speed * 0.98, speed * 1.02};
  input.sqnr_db = db;
  return input;
}

Explanation explained(const VerdictInput& input, const Plan& plan, const RunFacts& facts = {}) {
  return explain(judge(input), input, plan, facts);
}

std::vector<std::string> codes(const Explanation& explanation) {
  std::vector<std::string> codes;
  for (const Advice& advice : explanation.next) codes.push_back(advice.code);
  return codes;
}

TEST(Explain, NothingToSayOfWhatShips) {
  EXPECT_EQ(judge(figures(2, 33)).decided_by, Decider::kSpeed);
  const Explanation fast = explained(figures(2, 33), static_plan());
  EXPECT_EQ(fast.why, "");
  EXPECT_THAT(fast.next, IsEmpty());
}

TEST(Explain, WeightsThatAreAsFastAreCalledThat) {
  const VerdictInput input = figures(1, 40);
  EXPECT_EQ(judge(input).decided_by, Decider::kSize);
  const Explanation same = explained(input, plan_of(Mode::kWeights, "Conv", Action::kWeights, Form::kFold));
  EXPECT_EQ(same.why, "Arithmetic stays in float: only the file shrinks.");
  EXPECT_THAT(same.next, IsEmpty());
}

TEST(Explain, SlowConvolutionsInDynamicMode) {
  const Explanation slow = explained(figures(0.3, 33), plan_of(Mode::kDynamic, "Conv", Action::kDynamic));
  EXPECT_THAT(slow.why, HasSubstr("no fast integer kernel"));
  EXPECT_THAT(codes(slow), ElementsAre("static", "weights"));
}

TEST(Explain, SlowDynamicMatrices) {
  RunFacts facts;
  facts.float_ms = 0.02;
  const Explanation slow = explained(figures(0.6, 33), plan_of(Mode::kDynamic, "MatMul", Action::kDynamic), facts);
  EXPECT_THAT(slow.why, HasSubstr("converts at every run"));
  EXPECT_THAT(slow.why, HasSubstr("only 0.02 ms"));
  EXPECT_THAT(codes(slow), ElementsAre("static", "weights"));
}

TEST(Explain, SlowStatic) {
  RunFacts facts;
  facts.integer_products = 4;
  facts.conversions = 9;
  const Explanation torn = explained(figures(0.7, 33), static_plan(), facts);
  EXPECT_EQ(torn.why, "9 conversions lie between integers and float.");
  EXPECT_THAT(codes(torn), ElementsAre("weights"));
  EXPECT_THAT(codes(explained(figures(0.7, 33), static_plan("MatMul"), facts)), ElementsAre("dynamic", "weights"));

  Plan other = static_plan();
  other.activations.front().type = QuantType::kInt8;
  EXPECT_THAT(codes(explained(figures(0.7, 33), other)), ElementsAre("unsigned_activations", "weights"));
  other.activations.front().type = QuantType::kUint16;
  EXPECT_THAT(codes(explained(figures(0.7, 33), other)), ElementsAre("activations8", "weights"));

  facts = {};
  facts.float_ms = 0.1;
  EXPECT_THAT(explained(figures(0.7, 33), static_plan(), facts).why, testing::StartsWith("A float run takes only"));
  EXPECT_THAT(explained(figures(0.7, 33), static_plan()).why, HasSubstr("no faster integer kernel"));
}

TEST(Explain, SlowWeights) {
  const auto slow = [](Form form) {
    return explained(figures(0.5, 33), plan_of(Mode::kWeights, "MatMul", Action::kWeights, form));
  };
  EXPECT_THAT(codes(slow(Form::kDequantize)), ElementsAre("fold", "static"));
  EXPECT_THAT(codes(slow(Form::kBlocks)), ElementsAre("bits8", "static"));
  EXPECT_THAT(codes(slow(Form::kFold)), ElementsAre("time_again", "static"));
}

TEST(Explain, DriftOfStaticModels) {
  RunFacts facts;
  facts.calibrated_on = 20;
  const Explanation low = explained(figures(2, 4), static_plan(), facts);
  EXPECT_THAT(low.why, HasSubstr("one or two layers"));
  EXPECT_THAT(codes(low), ElementsAre("keep_layers", "more_samples", "activations16"));

  Plan coarse = static_plan();
  coarse.tensors.front().axis.reset();
  coarse.activations.front().method = RangeMethod::kMinMax;
  EXPECT_THAT(codes(explained(figures(2, 4), coarse, facts)), ElementsAre("per_channel", "method", "keep_layers"));
  // Samples nobody counted are not called few.
  EXPECT_THAT(codes(explained(figures(2, 4), static_plan())), ElementsAre("keep_layers", "activations16", "train"));
}

TEST(Explain, DriftWithoutRoundedActivations) {
  Plan plan = plan_of(Mode::kWeights, "MatMul", Action::kWeights, Form::kBlocks);
  plan.tensors.front().type = QuantType::kInt4;
  EXPECT_THAT(codes(explained(figures(1, 4), plan)), ElementsAre("bits8", "train"));
  EXPECT_THAT(codes(explained(figures(1, 4), plan_of(Mode::kDynamic, "MatMul", Action::kDynamic))),
              ElementsAre("keep_layers", "weights", "train"));
}

TEST(Explain, WhatCannotBeTold) {
  VerdictInput input = figures(2, 33);
  input.synthetic = true;
  EXPECT_THAT(codes(explained(input, static_plan())), ElementsAre("real_samples"));
  input = figures(1.1, 33);
  input.speedup = Speedup{1.1, 0.8, 1.4};
  EXPECT_THAT(codes(explained(input, static_plan())), ElementsAre("time_again"));
}

TEST(Explain, NoSmaller) {
  VerdictInput input = figures(1, 33);
  input.output_bytes = 3900;
  EXPECT_THAT(explained(input, plan_of(Mode::kWeights, "Relu", Action::kKeep)).why, HasSubstr("Hardly any"));
  EXPECT_THAT(explained(input, static_plan()).why, HasSubstr("something else"));
}

TEST(Explain, ThresholdsAreTheCallers) {
  VerdictInput input = figures(0.9, 15);
  EXPECT_EQ(judge(input).decided_by, Decider::kSpeed);
  input.thresholds.slower = 0.8;
  EXPECT_EQ(judge(input).judgement, Judgement::kShip);
  input.thresholds.min_sqnr_db = 20;
  EXPECT_EQ(judge(input).decided_by, Decider::kDrift);
  input.thresholds = {.min_sqnr_db = 10, .min_smaller = 5, .slower = 0.8};
  EXPECT_EQ(judge(input).decided_by, Decider::kSize);
}

}  // namespace
}  // namespace octet
