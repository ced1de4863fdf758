// A plan's JSON form: there and back, and what is refused.
#include <gmock/gmock.h>

#include "graph_pictures.h"

namespace octet {
namespace {

using pictures::message_of;
using testing::HasSubstr;
using testing::Not;

Plan full_plan() {
  Plan plan;
  plan.mode = Mode::kWeights;
  plan.target = Target::kX64NoVnni;
  plan.nodes = {{"a", "MatMul", Action::kWeights, Form::kBlocks, {"w", "v"}, "why \"quoted\"", {}, {}, {}},
                {"b", "Relu", Action::kKeep, Form::kNone, {}, "", {}, {}, {}}};
  TensorPlan tensor;
  tensor.tensor = "w";
  tensor.type = QuantType::kUint4;
  tensor.axis = 1;
  tensor.axes = 2;
  tensor.symmetric = false;
  tensor.reduce_range = true;
  tensor.across = true;
  tensor.transposed = true;
  tensor.block_size = 32;
  tensor.bytes = std::uint64_t{1} << 40;
  tensor.rank = 3;
  TensorPlan plain;
  plain.tensor = "v";
  plan.tensors = {tensor, plain};
  plan.kept = {{"t", 12, "too small"}};
  plan.notes = {"one", "two"};
  plan.equalized = true;
  plan.smoothed = {{"x", {"a"}, {0.5f, 3.25f}}};
  plan.corrections = {{"a", {-1e-3f}}};
  return plan;
}

TEST(PlanJson, ComesBackAsItWas) {
  const Plan plan = full_plan();
  const std::string text = plan_to_json(plan);
  const Plan back = plan_from_json(text);
  EXPECT_EQ(plan_to_json(back), text);
  EXPECT_EQ(back.mode, plan.mode);
  EXPECT_EQ(back.target, plan.target);
  ASSERT_EQ(back.nodes.size(), 2u);
  EXPECT_EQ(back.nodes[0].form, Form::kBlocks);
  EXPECT_EQ(back.nodes[0].weights, plan.nodes[0].weights);
  EXPECT_EQ(back.nodes[0].why, plan.nodes[0].why);
  ASSERT_EQ(back.tensors.size(), 2u);
  const TensorPlan &wanted = plan.tensors[0], &found = back.tensors[0];
  EXPECT_EQ(found.type, wanted.type);
  EXPECT_EQ(found.axis, wanted.axis);
  EXPECT_EQ(found.axes, wanted.axes);
  EXPECT_EQ(found.symmetric, wanted.symmetric);
  EXPECT_EQ(found.reduce_range, wanted.reduce_range);
  EXPECT_EQ(found.across, wanted.across);
  EXPECT_EQ(found.transposed, wanted.transposed);
  EXPECT_EQ(found.block_size, wanted.block_size);
  EXPECT_EQ(found.bytes, wanted.bytes);
  EXPECT_EQ(back.tensors[1].axis, std::nullopt);
  EXPECT_EQ(back.notes, plan.notes);
  EXPECT_TRUE(back.equalized);
  ASSERT_EQ(back.smoothed.size(), 1u);
  EXPECT_EQ(back.smoothed[0].value, "x");
  EXPECT_EQ(back.smoothed[0].products, plan.smoothed[0].products);
  EXPECT_EQ(back.smoothed[0].factors, plan.smoothed[0].factors);
  ASSERT_EQ(back.corrections.size(), 1u);
  EXPECT_EQ(back.corrections[0].node, "a");
  EXPECT_EQ(back.corrections[0].values, plan.corrections[0].values);
  ASSERT_EQ(back.kept.size(), 1u);
  EXPECT_EQ(back.kept[0].why, "too small");
}

TEST(PlanJson, ComesBackFromEveryPlanner) {
  for (const PlanOptions& options : {pictures::dynamic_options(), pictures::weights_options(),
                                     pictures::weights_options(Target::kX64, QuantType::kInt4)}) {
    const Quantizer quantizer(
        pictures::model_of(
            "g (float[n,32] x) => (float[n,48] y) <float[48,32] w, float[48] c> { y = Gemm<transB = 1>(x, w, c) }"),
        options);
    const Plan back = plan_from_json(plan_to_json(quantizer.plan()));
    EXPECT_EQ(fixtures::save(quantizer.apply(back)), fixtures::save(quantizer.apply(quantizer.plan())))
        << "the plan alone decides, not what else the planner knew";
  }
}

TEST(PlanJson, WhatIsLeftOutTakesItsDefault) {
  const Plan plan = plan_from_json(R"({"octet_plan": 1, "nodes": [{"node": "a"}], "tensors": [{"tensor": "w"}]})");
  EXPECT_EQ(plan.mode, Mode::kDynamic);
  EXPECT_EQ(plan.nodes[0].action, Action::kKeep);
  EXPECT_EQ(plan.tensors[0].type, QuantType::kInt8);
  EXPECT_EQ(plan.tensors[0].axes, 1);
}

TEST(PlanJson, NamesSurviveWhateverTheyHold) {
  Plan plan;
  plan.nodes = {{std::string("line\nbreak \"q\" \\ \x01"), "Op", Action::kKeep, Form::kNone, {}, "", {}, {}, {}}};
  EXPECT_EQ(plan_from_json(plan_to_json(plan)).nodes[0].node, plan.nodes[0].node);
  plan.nodes[0].node = "broken \xff utf-8";
  EXPECT_NO_THROW(plan_from_json(plan_to_json(plan)));
}

struct Broken {
  const char *text, *says;
};

TEST(PlanJson, RefusesInWordsOfItsOwn) {
  for (const Broken& broken :
       {Broken{"", ""},
        Broken{"not json", ""},
        Broken{"[]", ""},
        Broken{"null", ""},
        Broken{"7", ""},
        Broken{"{}", "version 1"},
        Broken{R"({"octet_plan": 2, "nodes": [], "tensors": []})", "version 1"},
        Broken{R"({"octet_plan": "1", "nodes": [], "tensors": []})", ""},
        Broken{R"({"octet_plan": 1, "tensors": []})", "nodes"},
        Broken{R"({"octet_plan": 1, "nodes": []})", "tensors"},
        Broken{R"({"octet_plan": 1, "nodes": {}, "tensors": 3})", ""},
        Broken{R"({"octet_plan": 1, "nodes": "abc", "tensors": []})", ""},
        Broken{R"({"octet_plan": 1, "mode": "slow", "nodes": [], "tensors": []})", "slow"},
        Broken{R"({"octet_plan": 1, "mode": 3, "nodes": [], "tensors": []})", ""},
        Broken{R"({"octet_plan": 1, "target": "moon", "nodes": [], "tensors": []})", "moon"},
        Broken{R"({"octet_plan": 1, "nodes": [{}], "tensors": []})", "node"},
        Broken{R"({"octet_plan": 1, "nodes": [{"node": "a", "action": "burn"}], "tensors": []})", "burn"},
        Broken{R"({"octet_plan": 1, "nodes": [{"node": "a", "form": "round"}], "tensors": []})", "round"},
        Broken{R"({"octet_plan": 1, "nodes": [{"node": "a", "weights": "w"}], "tensors": []})", ""},
        Broken{R"({"octet_plan": 1, "nodes": [], "tensors": [{"tensor": "w", "type": "qint3"}]})", "qint3"},
        Broken{R"({"octet_plan": 1, "nodes": [], "tensors": [{"tensor": "w", "axis": "first"}]})", ""},
        Broken{R"({"octet_plan": 1, "nodes": [], "tensors": [{"tensor": "w", "axis": 1e20}]})", ""},
        Broken{R"({"octet_plan": 1, "nodes": [], "tensors": [{"tensor": "w", "axis": 4294967297}]})", ""},
        Broken{R"({"octet_plan": 1, "nodes": [], "tensors": [{"tensor": "w", "axis": 0.5}]})", ""},
        Broken{R"({"octet_plan": 1, "nodes": [], "tensors": [{"tensor": "w", "axes": -99999999999}]})", ""},
        Broken{R"({"octet_plan": 1, "nodes": [], "tensors": [{"tensor": "w", "bytes": -1}]})", ""},
        Broken{R"({"octet_plan": 1, "nodes": [], "tensors": [{"tensor": "w", "block_size": 33}]})", "block_size"},
        Broken{R"({"octet_plan": 1, "nodes": [], "tensors": [{"tensor": "w", "block_size": -16}]})", "block_size"},
        Broken{R"({"octet_plan": 1, "nodes": [], "tensors": [{"tensor": "w", "symmetric": 1}]})", ""}}) {
    const std::string message = message_of(ErrorCode::kMalformed, [&] { plan_from_json(broken.text); });
    EXPECT_THAT(message, HasSubstr("plan")) << broken.text;
    EXPECT_THAT(message, HasSubstr(broken.says)) << broken.text;
    EXPECT_THAT(message, Not(HasSubstr("json.exception"))) << broken.text;
  }
}

TEST(PlanJson, StandsNestingWithoutEnd) {
  const std::string deep(200000, '[');
  message_of(ErrorCode::kMalformed, [&] { plan_from_json(deep); });
  message_of(ErrorCode::kMalformed, [&] { plan_from_json(deep + std::string(200000, ']')); });
}

}  // namespace
}  // namespace octet
