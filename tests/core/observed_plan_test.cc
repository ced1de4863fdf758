// A plan read off a model that was made by one: the same as far as it can be seen.
#include "octet/observed_plan.h"

#include <gmock/gmock.h>

#include "octet/verdict.h"
#include "static_pictures.h"

namespace octet {
namespace {

using namespace pictures;
using testing::Contains;
using testing::Each;
using testing::Field;
using testing::Optional;

constexpr const char* kMatMul = "g (float[n,32] x) => (float[n,48] y) <float[32,48] w> { y = MatMul(x, w) }";

Plan observed(Model model) {
  auto plan = observed_plan(model);
  if (!plan) throw std::runtime_error("nothing seen in" + picture(model));
  return *plan;
}

// "MatMul: weights/fold", for nodes that do something.
std::vector<std::string> actions(const Plan& plan) {
  std::vector<std::string> result;
  for (const NodePlan& node : plan.nodes) {
    if (node.action == Action::kKeep) continue;
    result.push_back(node.op + ": " + std::string(name_of(node.action)));
    if (node.form != Form::kNone) result.back() += "/" + std::string(name_of(node.form));
  }
  return result;
}

TEST(ObservedPlan, OfAFloatModelThereIsNone) {
  Model model = model_of(kMatMul);
  EXPECT_FALSE(observed_plan(model).has_value());
}

TEST(ObservedPlan, EachFormOfStoredWeights) {
  const Plan folded = observed(quantized(kMatMul, weights_options()));
  EXPECT_EQ(folded.mode, Mode::kWeights);
  EXPECT_THAT(actions(folded), Contains("MatMul: weights/fold"));
  ASSERT_EQ(folded.tensors.size(), 1u);
  EXPECT_EQ(folded.tensors[0].type, QuantType::kInt8);
  EXPECT_TRUE(folded.tensors[0].axis.has_value());

  const Plan dequantized = observed(quantized(kMatMul, weights_options(Target::kX64)));
  EXPECT_THAT(actions(dequantized), Contains("MatMul: weights/dequantize"));

  const Plan blocks = observed(quantized(kMatMul, weights_options(Target::kX64, QuantType::kUint4, 16)));
  EXPECT_EQ(blocks.mode, Mode::kWeights);
  EXPECT_THAT(actions(blocks), Contains("MatMul: weights/blocks"));
  EXPECT_THAT(blocks.tensors, Each(Field(&TensorPlan::type, QuantType::kUint4)));
}

TEST(ObservedPlan, ScalePerTensorIsSeen) {
  PlanOptions options = weights_options();
  options.per_channel = false;
  EXPECT_FALSE(observed(quantized(kMatMul, options)).tensors.at(0).axis.has_value());
}

TEST(ObservedPlan, Dynamic) {
  PlanOptions options = dynamic_options();
  options.target = Target::kX64;
  const Plan plan = observed(quantized(kMatMul, options));
  EXPECT_EQ(plan.mode, Mode::kDynamic);
  EXPECT_THAT(actions(plan), Contains("MatMul: dynamic"));
}

TEST(ObservedPlan, StaticInBothFormats) {
  for (const Format format : {Format::kQdq, Format::kQOperator}) {
    const Plan plan = observed(statically(kPair, static_options(format)));
    EXPECT_EQ(plan.mode, Mode::kStatic);
    EXPECT_THAT(actions(plan), Contains("Conv: static").Times(2));
    EXPECT_THAT(plan.tensors, Contains(Field(&TensorPlan::axis, Optional(0))));
    EXPECT_THAT(plan.activations, Each(Field(&ActivationPlan::type, QuantType::kUint8)));
    // How ranges were chosen is not to be seen, so nothing is said of it.
    EXPECT_THAT(plan.activations, Each(Field(&ActivationPlan::method, RangeMethod::kBest)));
    EXPECT_FALSE(plan.activations.empty());
  }
}

TEST(ObservedPlan, SignedActivationsAreSeen) {
  PlanOptions options = static_options();
  options.activation_type = QuantType::kInt8;
  const Plan plan = observed(statically(kPair, options));
  EXPECT_THAT(plan.activations, Each(Field(&ActivationPlan::type, QuantType::kInt8)));
}

// What it is for: the reason is the same as with the plan itself.
TEST(ObservedPlan, ExplainsAsThePlanDoes) {
  VerdictInput figures{4000, 1000, Speedup{0.5, 0.49, 0.51}, 33.0, false, {}};
  const Verdict slow = judge(figures);
  for (PlanOptions options : {weights_options(Target::kX64), weights_options(), dynamic_options()}) {
    const Quantizer quantizer(model_of(kMatMul), options);
    const Explanation with_plan = explain(slow, figures, quantizer.plan(), {});
    const Explanation without = explain(slow, figures, observed(quantizer.apply(quantizer.plan())), {});
    EXPECT_EQ(without.why, with_plan.why);
    ASSERT_EQ(without.next.size(), with_plan.next.size());
    for (std::size_t i = 0; i < without.next.size(); ++i) EXPECT_EQ(without.next[i].code, with_plan.next[i].code);
  }
}

}  // namespace
}  // namespace octet
