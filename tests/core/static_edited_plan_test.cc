// Static plans after planning: written and read again, edited, filled with ranges, with nodes taken back to float.
#include <gmock/gmock.h>

#include <limits>

#include "static_pictures.h"

namespace octet {
namespace {

using namespace pictures;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

TEST(StaticPlanEdited, PlansSurviveTheirJson) {
  Plan plan = with_ranges(planned(kPair, static_options()), -1, 3);
  plan.activations[1].type = QuantType::kInt16;
  plan.activations[1].method = RangeMethod::kPercentile;
  plan.activations[1].percentile = 99.5;
  plan.activations[1].symmetric = true;
  plan.activations[2].same_as = "x";
  plan.format = Format::kQOperator;
  const std::string json = plan_to_json(plan);
  const Plan back = plan_from_json(json);
  EXPECT_EQ(plan_to_json(back), json);
  ASSERT_EQ(back.activations.size(), 3u);
  EXPECT_EQ(back.activations[1].type, QuantType::kInt16);
  EXPECT_EQ(back.activations[1].method, RangeMethod::kPercentile);
  EXPECT_EQ(back.activations[1].percentile, 99.5);
  EXPECT_TRUE(back.activations[1].symmetric);
  EXPECT_EQ(back.activations[0].range->low, -1);
  EXPECT_EQ(back.activations[2].same_as, "x");
  EXPECT_EQ(back.format, Format::kQOperator);
  EXPECT_EQ(back.nodes[0].absorbs, "act");
  EXPECT_THAT(back.nodes[0].reads, ElementsAre("x"));
  EXPECT_THAT(back.nodes[0].writes, ElementsAre("q"));
}

// What people write into plans.
TEST(StaticPlanEdited, NonsenseIsRefusedInWords) {
  const Quantizer quantizer(model_of(kPair), static_options());
  const auto refusal = [&](const std::function<void(Plan&)>& edit) {
    Plan plan = with_ranges(quantizer.plan(), 0, 3);
    edit(plan);
    return message_of(ErrorCode::kUsage, [&] { quantizer.apply(plan); });
  };
  EXPECT_THAT(refusal([](Plan& plan) { plan.activations[0].range.reset(); }),
              testing::AllOf(HasSubstr("'x'"), HasSubstr("has no range"), HasSubstr("--calib")));
  EXPECT_THAT(refusal([](Plan& plan) { plan.activations[0].tensor = "xx"; }),
              testing::AllOf(HasSubstr("'xx'"), HasSubstr("makes no such value")));
  EXPECT_THAT(refusal([](Plan& plan) { plan.activations[0].tensor = "w"; }), HasSubstr("makes no such value"));
  EXPECT_THAT(refusal([](Plan& plan) { plan.activations.erase(plan.activations.begin()); }),
              HasSubstr("not among the activations"));
  EXPECT_THAT(refusal([](Plan& plan) { plan.activations.push_back(plan.activations[0]); }), HasSubstr("twice"));
  EXPECT_THAT(refusal([](Plan& plan) { plan.activations[0].range = {3, 2}; }), HasSubstr("no finite interval"));
  for (const float odd : {std::numeric_limits<float>::quiet_NaN(), std::numeric_limits<float>::infinity()}) {
    EXPECT_THAT(refusal([odd](Plan& plan) { plan.activations[0].range = {0, odd}; }), HasSubstr("no finite interval"));
    EXPECT_THAT(refusal([odd](Plan& plan) { plan.activations[0].range = {-odd, 0}; }), HasSubstr("no finite interval"));
  }
  EXPECT_THAT(refusal([](Plan& plan) { plan.activations[0].type = QuantType::kUint4; }), HasSubstr("8 or 16 bits"));
  EXPECT_THAT(refusal([](Plan& plan) { plan.activations[0].same_as = "zz"; }), HasSubstr("'x'"));
  EXPECT_THAT(refusal([](Plan& plan) { plan.activations[0].same_as = "x"; }), HasSubstr("'x'"));
  EXPECT_THAT(refusal([](Plan& plan) {
                plan.activations[0].same_as = "y";
                plan.activations[0].type = QuantType::kInt8;
              }),
              HasSubstr("of another type"));
  EXPECT_THAT(refusal([](Plan& plan) { plan.nodes[0].reads.clear(); }), HasSubstr("reads nothing"));
  EXPECT_THAT(refusal([](Plan& plan) { plan.nodes[0].reads = {"q"}; }), HasSubstr("does not read 'q'"));
  EXPECT_THAT(refusal([](Plan& plan) { plan.nodes[0].reads = {"x", "b"}; }), HasSubstr("'b'"));
  EXPECT_THAT(refusal([](Plan& plan) { plan.nodes[2].writes = {"x"}; }), HasSubstr("does not write 'x'"));
  EXPECT_THAT(refusal([](Plan& plan) { plan.nodes[0].absorbs = "second"; }), HasSubstr("'second'"));
  EXPECT_THAT(refusal([](Plan& plan) {
                plan.nodes[0].writes = {"p", "q"};
                plan.activations.push_back(plan.activations[0]);
                plan.activations.back().tensor = "p";
              }),
              HasSubstr("cannot absorb 'act'"));
  EXPECT_THAT(refusal([](Plan& plan) { plan.nodes[1].action = Action::kStatic; }), HasSubstr("no static form"));
  EXPECT_THAT(refusal([](Plan& plan) { plan.nodes[0].node = "nobody"; }), HasSubstr("no such node"));
  EXPECT_THAT(refusal([](Plan& plan) { plan.tensors.erase(plan.tensors.begin()); }), HasSubstr("weight"));
  EXPECT_THAT(refusal([](Plan& plan) { plan.tensors[0].axis = 1; }), HasSubstr("along its outputs"));
  EXPECT_THAT(refusal([](Plan& plan) { plan.tensors[0].symmetric = false; }), HasSubstr("one zero point"));
  EXPECT_THAT(refusal([](Plan& plan) { plan.tensors[0].transposed = true; }), HasSubstr("layout"));
  EXPECT_THAT(refusal([](Plan& plan) { plan.tensors[0].type = QuantType::kInt4; }), HasSubstr("4 bits"));
}

TEST(StaticPlanEdited, NonsenseInJsonIsRefusedInWords) {
  const std::string json = plan_to_json(with_ranges(planned(kPair, static_options()), 0, 3));
  const auto refusal = [&](const std::string& from, const std::string& to) {
    std::string text = json;
    const auto at = text.find(from);
    EXPECT_NE(at, std::string::npos) << from << json;
    if (at != std::string::npos) text.replace(at, from.size(), to);
    return message_of(ErrorCode::kMalformed, [&] { plan_from_json(text); });
  };
  EXPECT_THAT(refusal("\"quint8\"", "\"quint7\""), HasSubstr("quint7"));
  EXPECT_THAT(refusal("\"best\"", "\"middle\""), HasSubstr("middle"));
  EXPECT_THAT(refusal("\"qdq\"", "\"dqd\""), HasSubstr("dqd"));
}

TEST(StaticPlanEdited, DemotionTakesAlongWhatWasThereForTheNodeAlone) {
  Plan plan = planned(between("[s] s = Sigmoid(p) [m] q = Mul(p, s)"), static_options());
  EXPECT_THAT(demote(plan, "last", "for the test"), ElementsAre("last"));
  EXPECT_EQ(static_picture(plan), lines(R"(
    first: x → p
    x p)"));
  for (const NodePlan& node : plan.nodes) EXPECT_FALSE(node.why.empty()) << node.node;
  EXPECT_THAT(demote(plan, "first", "for the test"), ElementsAre("first"));
  EXPECT_THAT(plan.activations, IsEmpty());
  EXPECT_THAT(demote(plan, "m", "for the test"), IsEmpty());
}

TEST(StaticPlanEdited, DemotionKeepsTheRootOfCarriedScales) {
  Plan plan = planned(between("[pool] q = MaxPool<kernel_shape = [2, 2]>(p)"), static_options());
  ASSERT_THAT(demote(plan, "first", "for the test"), ElementsAre("first"));
  // Nothing in integers comes to the pool any more.
  EXPECT_EQ(static_picture(plan), lines(R"(
    last: q → y
    p q y)"));
  EXPECT_EQ(activation(plan, "q").same_as, "p");
}

TEST(StaticPlanEdited, DemotionGivesAMatrixItsFloatOutputBack) {
  Plan plan = planned(
      "g (float[5,32] x) => (float[a,b] y) <float[32,48] u, float[48] c, float[48,32] v> { [first] p = Gemm(x, u, c) "
      "[act] q = Relu(p) [last] y = MatMul(q, v) }",
      static_options());
  ASSERT_EQ(plan.nodes[0].absorbs, "act");
  ASSERT_THAT(demote(plan, "last", "for the test"), ElementsAre("last"));
  EXPECT_EQ(static_picture(plan), lines(R"(
    first: x →
    x)"));
  EXPECT_THAT(plan.nodes[1].why, HasSubstr("in float"));
}

TEST(StaticPlanEdited, DemotionLeavesRoundedOutputsThatWereAskedFor) {
  PlanOptions options = static_options();
  options.round_outputs = true;
  Plan plan = planned(
      "g (float[5,32] x) => (float[a,b] y, float[a,b] z) <float[32,48] u, float[48,32] v, float[32,32] w> { [first] p "
      "= "
      "MatMul(x, u) [last] y = MatMul(p, v) [beside] z = MatMul(x, w) }",
      options);
  ASSERT_THAT(demote(plan, "last", "for the test"), ElementsAre("last"));
  EXPECT_EQ(static_picture(plan), lines(R"(
    first: x →
    beside: x → z
    x z)"));
}

TEST(StaticPlanEdited, DemotionSparesWhatStoodAloneAsAsked) {
  PlanOptions options = static_options();
  options.op_types = {"Sigmoid", "Tanh"};
  Plan plan = planned(
      "g (float[5,32] x, float[5,32] z) => (float[a,b] y, float[a,b] w) { [one] y = Sigmoid(x) [two] w = "
      "Tanh(z) }",
      options);
  ASSERT_THAT(demote(plan, "one", "for the test"), ElementsAre("one"));
  EXPECT_EQ(static_picture(plan), lines(R"(
    two: z → w
    z w)"));
}

TEST(StaticPlanEdited, RangesFillWhatIsMissingAndNothingElse) {
  Quantizer quantizer(model_of(kPair), static_options());
  quantizer.plan().activations[1].range = {0, 2.5f};
  EXPECT_THAT(quantizer.taps(), ElementsAre("x", "y"));
  quantizer.set_ranges(seen(quantizer.model(), {{"x", {-1, 2}}, {"y", {-3, 3}}}));
  EXPECT_EQ(activation(quantizer.plan(), "x").range->low, -1);
  EXPECT_EQ(activation(quantizer.plan(), "x").range->high, 2);
  EXPECT_EQ(activation(quantizer.plan(), "q").range->high, 2.5f);
  EXPECT_THAT(quantizer.taps(), IsEmpty());
}

TEST(StaticPlanEdited, ValuesThatNoSampleShowsLeaveIntegers) {
  Quantizer quantizer(model_of(between("[it] q = Sigmoid(p)")), static_options());
  quantizer.set_ranges(seen(quantizer.model(), {{"x", {-1, 2}}, {"p", {-3, 3}}, {"q", {}}, {"y", {-1, 1}}}));
  EXPECT_EQ(static_picture(quantizer.plan()), lines(R"(
    first: x → p
    x p)"));
  EXPECT_THAT(quantizer.plan().nodes.back().why, HasSubstr("no sample gave 'q'"));
  EXPECT_NO_THROW(quantizer.apply(quantizer.plan()));
}

TEST(StaticPlanEdited, RangesOfAnotherModelAreRefused) {
  Quantizer quantizer(model_of(kPair), static_options());
  EXPECT_THAT(message_of(ErrorCode::kUsage,
                         [&] {
                           quantizer.set_ranges(seen(model_of(between("q = Sigmoid(p)")),
                                                     {{"x", {-1, 2}}, {"q", {0, 1}}, {"y", {0, 1}}}));
                         }),
              HasSubstr("another model"));
  EXPECT_THAT(message_of(ErrorCode::kUsage,
                         [&] {
                           quantizer.set_ranges(seen(quantizer.model(), {{"x", {-1, 2}}}));
                         }),
              HasSubstr("lack the value 'q'"));
}

}  // namespace
}  // namespace octet
