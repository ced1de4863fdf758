// Plans on their way back to float, node by node, and options that contradict each other.
#include <gmock/gmock.h>

#include "graph_pictures.h"
#include "rewrite_models.h"

namespace octet {
namespace {

using pictures::lines;
using pictures::message_of;
using pictures::picture;
using pictures::planned;
using pictures::weights_options;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

const NodePlan& node_of(const Plan& plan, const std::string& name) {
  for (const NodePlan& node : plan.nodes) {
    if (node.node == name) return node;
  }
  throw std::runtime_error("no node " + name);
}

constexpr const char* kTwo =
    R"(g (float[n,32] x) => (float[n,32] y) <float[32,32] w, float[32,32] v> { [one] a = MatMul(x, w) [two] y = MatMul(a, v) })";

TEST(Demote, StepsTowardsFloat) {
  PlanOptions options;
  options.target = Target::kX64;
  Plan plan = planned(kTwo, options);
  EXPECT_THAT(demote(plan, "one", "it drifted"), ElementsAre("one"));
  EXPECT_EQ(node_of(plan, "one").action, Action::kWeights);
  EXPECT_EQ(node_of(plan, "one").form, Form::kDequantize);
  EXPECT_THAT(node_of(plan, "one").why, HasSubstr("it drifted"));
  EXPECT_THAT(demote(plan, "one", "it drifted"), ElementsAre("one"));
  EXPECT_EQ(node_of(plan, "one").form, Form::kFold);
  EXPECT_THAT(demote(plan, "one", "it drifted"), ElementsAre("one")) << "scales along the rows that are summed over";
  EXPECT_TRUE(plan.tensors[0].across);
  EXPECT_EQ(plan.tensors[0].axis, 0);
  EXPECT_THAT(demote(plan, "one", "it drifted"), ElementsAre("one"));
  EXPECT_EQ(node_of(plan, "one").action, Action::kKeep);
  EXPECT_EQ(node_of(plan, "one").form, Form::kNone);
  ASSERT_EQ(plan.tensors.size(), 1u);
  EXPECT_EQ(plan.tensors[0].tensor, "v");
  ASSERT_EQ(plan.kept.size(), 1u);
  EXPECT_EQ(plan.kept[0].why, "it drifted");
  EXPECT_EQ(plan.kept[0].bytes, 4096u);
  EXPECT_THAT(demote(plan, "one", "it drifted"), IsEmpty()) << "it is in float already";
  EXPECT_EQ(node_of(plan, "two").action, Action::kDynamic) << "the other is untouched";
}

TEST(Demote, NobodyAndNothing) {
  Plan plan = planned(kTwo, {});
  EXPECT_THAT(demote(plan, "ghost", "why"), IsEmpty());
  Plan empty;
  EXPECT_THAT(demote(empty, "one", "why"), IsEmpty());
}

TEST(Demote, TakesAllReadersOfATensorAlong) {
  Plan plan = planned(
      "g (int64[n] i) => (float[n,20] y) <float[20,96] w> { [emb] a = Gather(w, i) h = Relu(a) [t] t = Transpose<perm "
      "= [1, 0]>(w) [head] y = MatMul(h, t) }",
      weights_options());
  EXPECT_THAT(demote(plan, "emb", "it drifted"), ElementsAre("emb", "head"));
  EXPECT_TRUE(plan.tensors.empty());
  EXPECT_EQ(node_of(plan, "head").action, Action::kKeep);
}

TEST(Demote, AnLstmGoesBackAsAWhole) {
  Plan plan = planned(
      "g (float[t,2,8] x) => (float[t,1,2,16] y) <float[1,64,8] w, float[1,64,16] r> { [rnn] y = LSTM<hidden_size = "
      "16>(x, w, r) }",
      {});
  EXPECT_EQ(node_of(plan, "rnn").action, Action::kDynamic);
  EXPECT_THAT(demote(plan, "rnn", "why"), ElementsAre("rnn"));
  EXPECT_EQ(node_of(plan, "rnn").form, Form::kFold);
  EXPECT_THAT(demote(plan, "rnn", "why"), ElementsAre("rnn"));
  EXPECT_TRUE(plan.tensors.empty());
}

TEST(TurnScales, OnlyAMatrixOfItsOwn) {
  Plan own = planned(kTwo, weights_options());
  EXPECT_TRUE(turn_scales(own, "one"));
  EXPECT_FALSE(turn_scales(own, "one")) << "turned already";
  EXPECT_FALSE(turn_scales(own, "ghost"));
  Plan shared =
      planned("g (float[n,32] x) => (float[n,32] y) <float[32,32] w> { [one] a = MatMul(x, w) [two] y = MatMul(a, w) }",
              weights_options());
  EXPECT_FALSE(turn_scales(shared, "one"));
  Plan whole = planned(kTwo, weights_options());
  whole.tensors[0].axis.reset();
  EXPECT_FALSE(turn_scales(whole, "one"));
  Plan integers = planned(kTwo, {});
  EXPECT_FALSE(turn_scales(integers, "one"));
}

class Retreat : public testing::TestWithParam<pictures::RewriteModel> {};

// Whatever is demoted, however often and in whatever order, the plan can be applied and ends in float.
TEST_P(Retreat, EveryStepCanBeApplied) {
  for (const Target target : {Target::kAny, Target::kX64}) {
    for (const PlanOptions& base :
         {PlanOptions{}, weights_options(), weights_options(Target::kX64, QuantType::kInt4)}) {
      PlanOptions options = base;
      options.target = target;
      const Quantizer quantizer(pictures::model_of(GetParam().text, GetParam().opset), options);
      for (const bool backwards : {false, true}) {
        Plan plan = quantizer.plan();
        std::vector<std::string> names;
        for (const NodePlan& node : plan.nodes) names.push_back(node.node);
        if (backwards) std::reverse(names.begin(), names.end());
        for (const std::string& name : names) {
          for (int step = 0; step < 5; ++step) {
            if (demote(plan, name, "it drifted").empty()) break;
            Model model = quantizer.apply(plan);
            pictures::expect_sound(model);
          }
          EXPECT_THAT(demote(plan, name, "it drifted"), IsEmpty()) << name << " never gets to float";
        }
        EXPECT_TRUE(plan.tensors.empty()) << picture(plan);
      }
    }
  }
}

TEST_P(Retreat, AnyNodeAlone) {
  for (const PlanOptions& options : {PlanOptions{}, weights_options(Target::kX64)}) {
    const Quantizer quantizer(pictures::model_of(GetParam().text, GetParam().opset), options);
    for (const NodePlan& node : quantizer.plan().nodes) {
      Plan plan = quantizer.plan();
      while (!demote(plan, node.node, "it drifted").empty()) {
        Model model = quantizer.apply(plan);
        pictures::expect_sound(model);
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Models, Retreat, testing::ValuesIn(pictures::rewrite_models()),
                         [](const auto& at) { return at.param.name; });

TEST(CheckOptions, RefusesWhatContradictsItself) {
  const auto refused = [](const std::function<void(PlanOptions&)>& change) {
    PlanOptions options;
    change(options);
    return message_of(ErrorCode::kUsage, [&] { check_options(options); });
  };
  EXPECT_THAT(refused([](PlanOptions& o) { o.weight_type = QuantType::kInt4; }), HasSubstr("--weight-type qint4"));
  EXPECT_THAT(refused([](PlanOptions& o) { o.weight_type = QuantType::kUint16; }), HasSubstr("--weight-type quint16"));
  EXPECT_THAT(refused([](PlanOptions& o) { o.block_size = 32; }), HasSubstr("--mode weights"));
  for (const int size : {-32, 1, 8, 24, 1 << 17}) {
    EXPECT_THAT(refused([&](PlanOptions& o) { o.mode = Mode::kWeights, o.block_size = size; }),
                HasSubstr("--block-size " + std::to_string(size)));
  }
  EXPECT_THAT(
      refused([](PlanOptions& o) { o.mode = Mode::kWeights, o.weight_type = QuantType::kInt16, o.block_size = 32; }),
      HasSubstr("4 or 8 bits"));
  EXPECT_THAT(
      refused([](PlanOptions& o) { o.mode = Mode::kWeights, o.weight_type = QuantType::kInt4, o.reduce_range = true; }),
      HasSubstr("--reduce-range"));
}

TEST(CheckOptions, TakesWhatTheHelpOffers) {
  EXPECT_NO_THROW(check_options({}));
  for (const QuantType type : {QuantType::kInt4, QuantType::kUint4, QuantType::kInt8, QuantType::kUint8,
                               QuantType::kInt16, QuantType::kUint16})
    EXPECT_NO_THROW(check_options(weights_options(Target::kAny, type)));
  EXPECT_NO_THROW(check_options(weights_options(Target::kAny, QuantType::kInt8, 128)));
  EXPECT_NO_THROW(check_options(weights_options(Target::kAny, QuantType::kUint4, 16)));
}

}  // namespace
}  // namespace octet
