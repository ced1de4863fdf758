// Known branches, fixed inputs and sizes, wider floats: what the caller of prepare asks for.
#include <gmock/gmock.h>

#include "graph_pictures.h"
#include "prepare/pass.h"

namespace octet {
namespace {

using pictures::lines;
using pictures::message_of;
using pictures::model_of;
using pictures::picture;
using pictures::run;
using pictures::stored;
using testing::HasSubstr;

TEST(InlineKnownBranches, TheBranchTakesThePlaceOfTheIf) {
  Model model = model_of(R"(g (float[n,4] x) => (float[n,4] y) <bool c = {1}> {
    a = Relu(x)
    b = If(c) <then_branch = t () => (float[n,4] z) { u = Neg(a) z = Add(u, x) },
               else_branch = e () => (float[n,4] z) { z = Abs(a) }>
    y = Sqrt(b) })");
  EXPECT_EQ(run(run_inline_known_branches, model).changes, 1);
  EXPECT_EQ(picture(model), lines(R"(
    a = Relu(x)
    u = Neg(a)
    z_1 = Add(u, x)
    b = Identity(z_1)
    y = Sqrt(b))"));
}

TEST(InlineKnownBranches, ConditionsThatFollowFromShapes) {
  Model model = model_of(R"(g (float[1,n] x) => (float[n] y) <int64 zero = {0}, int64 one = {1}, int64[1] axes = {0}> {
    s = Shape(x) d = Gather<axis = 0>(s, zero) c = Equal(d, one)
    y = If(c) <then_branch = t () => (float[n] z) { z = Squeeze(x, axes) },
               else_branch = e () => (float[1,n] w) { w = Identity(x) }> })");
  EXPECT_EQ(run(run_inline_known_branches, model).changes, 1);
  EXPECT_THAT(picture(model), HasSubstr("z = Squeeze(x, axes)\ny = Identity(z)"));
}

TEST(InlineKnownBranches, NestedOnesAndTheirNames) {
  // The name u is defined in both inner branches and in the outer graph's other branch: each becomes a value of its
  // own.
  Model model = model_of(R"(g (float[n] x, bool d) => (float[n] y, float[n] v) <bool c = {0}> {
    y = If(c) <then_branch = t () => (float[n] u) { u = Neg(x) },
               else_branch = e () => (float[n] w) {
                 w = If(d) <then_branch = p () => (float[n] u) { u = Abs(x) },
                            else_branch = q () => (float[n] u) { k = If(c) <
                              then_branch = r () => (float[n] m) { m = Sqrt(x) },
                              else_branch = s () => (float[n] m) { m = Exp(x) }> u = Relu(k) }> }>
    v = If(c) <then_branch = t2 () => (float[n] o) { o = Neg(x) }, else_branch = e2 () => (float[n] w) { w = Tanh(x) }> })");
  const PassReport report = run(run_inline_known_branches, model);
  EXPECT_EQ(report.changes, 3);
  EXPECT_THAT(report.notes, testing::ElementsAre(HasSubstr("1 If nodes stay")));
  const std::string after = picture(model);
  EXPECT_THAT(after, HasSubstr("Exp(x)"));
  EXPECT_THAT(after, testing::Not(HasSubstr("Sqrt(x)")));
  EXPECT_THAT(after, HasSubstr("Tanh(x)"));
}

TEST(InlineKnownBranches, AnInputIsNoKnownCondition) {
  const char* text = R"(g (float[n] x, bool c) => (float[n] y) {
    y = If(c) <then_branch = t () => (float[n] z) { z = Neg(x) }, else_branch = e () => (float[n] z) { z = Abs(x) }> })";
  Model model = model_of(text);
  const std::string before = picture(model);
  EXPECT_EQ(run(run_inline_known_branches, model).changes, 0);
  EXPECT_EQ(picture(model), before);
}

TEST(InlineKnownBranches, OutputsFromOutsideTheBranch) {
  Model model = model_of(R"(g (float[n] x) => (float[n] y, float[n] v) <bool c = {1}, float[2] k> {
    y, v = If(c) <then_branch = t () => (float[n] x, float[2] k) { unused = Neg(x) },
                  else_branch = e () => (float[n] z, float[n] z2) { z = Abs(x) z2 = Neg(x) }> })");
  EXPECT_EQ(run(run_inline_known_branches, model).changes, 1);
  EXPECT_THAT(picture(model), HasSubstr("y = Identity(x)\nv = Identity(k)"));
}

const onnx::TypeProto* described(const Model& model, const std::string& name) {
  for (const auto& info : model.proto().graph().value_info()) {
    if (info.name() == name) return &info.type();
  }
  return nullptr;
}

TEST(InlineKnownBranches, WhatIsSaidOfValuesGoesAlong) {
  // Nobody can tell what the custom operator gives; the branch says it, and of `v` the If does.
  Model model = model_of(R"(g (float[n] x) => (float[n,1] y, float[n,1,1] v) <bool c = {1}> {
    y, b = If(c) <then_branch = t () => (float[n,4] z, float o) { u = my.Op(x) z = my.Op(u) o = my.Op(u) },
                  else_branch = e () => (float[n,4] z, float p) { z = Abs(x) p = Neg(x) }>
    v = my.Op(b) })");
  auto& graph = *model.proto().mutable_graph();
  auto& branch = *graph.mutable_node(0)->mutable_attribute(0)->mutable_g();
  branch.mutable_output(1)->mutable_type()->mutable_tensor_type()->clear_shape();
  auto& inner = *branch.add_value_info();
  inner.set_name("u");
  inner.mutable_type()->mutable_tensor_type()->set_elem_type(onnx::TensorProto::FLOAT16);
  auto& outer = *graph.add_value_info();
  outer.set_name("b");
  outer.mutable_type()->mutable_tensor_type()->set_elem_type(onnx::TensorProto::FLOAT);
  outer.mutable_type()->mutable_tensor_type()->mutable_shape()->add_dim()->set_dim_value(3);
  EXPECT_EQ(run(run_inline_known_branches, model).changes, 1);
  ASSERT_TRUE(described(model, "u") && described(model, "z_1") && described(model, "o"));
  EXPECT_EQ(described(model, "u")->tensor_type().elem_type(), onnx::TensorProto::FLOAT16);
  EXPECT_EQ(described(model, "z_1")->tensor_type().shape().dim_size(), 2);
  EXPECT_EQ(described(model, "o")->tensor_type().shape().dim_size(), 1);
  EXPECT_FALSE(described(model, "o")->tensor_type().shape().dim(0).has_dim_value()) << "a size may be stale";
}

TEST(InlineKnownBranches, MarksGoAlong) {
  Model model = model_of(R"(g (float[n] x) => (float[n] y) <bool c = {1}> {
    y = If(c) <then_branch = t () => (float[n] z) { z = Neg(x) }, else_branch = e () => (float[n] z) { z = Abs(x) }> })");
  auto& mark = *model.proto().mutable_graph()->mutable_node(0)->add_metadata_props();
  mark.set_key("octet.exclude");
  run(run_inline_known_branches, model);
  EXPECT_EQ(model.proto().graph().node(0).metadata_props(0).key(), "octet.exclude");
}

TEST(FixInputs, BecomeStoredTensors) {
  Model model = model_of("g (float[n] x, int64 sr, float[1,2] g) => (float[n] y) { y = Relu(x) }");
  PassReport report;
  fix_inputs(model, {{"sr", "16000"}, {"g", "0.5"}}, report);
  EXPECT_EQ(report.changes, 2);
  ASSERT_EQ(model.proto().graph().input_size(), 1);
  EXPECT_EQ(stored(model), lines(R"(
    g: FLOAT[1,2]
    sr: INT64[])"));
  EXPECT_EQ(tensor_as_int64(model, model.proto().graph().initializer(1))[0], 16000);
  EXPECT_EQ(tensor_as_float(model, model.proto().graph().initializer(0))[1], 0.5F);
}

TEST(FixInputs, ListsFillOpenSizes) {
  Model model = model_of("g (int64[k] sizes, float[n] x) => (float[n] y) { y = Relu(x) }");
  PassReport report;
  fix_inputs(model, {{"sizes", "1, 2,3"}}, report);
  EXPECT_EQ(stored(model), "\nsizes: INT64[3]\n");
}

TEST(FixInputs, WhatDoesNotFitIsRefused) {
  const auto fix = [](const char* name, const char* value) {
    return message_of(ErrorCode::kUsage, [&] {
      Model model = model_of("g (float[2] x, float[n,m] z) => (float[2] y) { y = Relu(x) }");
      PassReport report;
      fix_inputs(model, {{name, value}}, report);
    });
  };
  EXPECT_THAT(fix("w", "1"), HasSubstr("no such input"));
  EXPECT_THAT(fix("x", "many"), HasSubstr("no number"));
  EXPECT_THAT(fix("x", "1,2,3"), HasSubstr("it holds 2"));
  EXPECT_THAT(fix("x", ""), HasSubstr("no number"));
  EXPECT_THAT(fix("z", "1"), HasSubstr("--dim"));
}

TEST(FixDims, ByNameEverywhereAndByAxis) {
  Model model = model_of("g (float[batch,t] x, float[batch,3] z) => (float[batch,t] y) { y = Relu(x) }");
  PassReport report;
  fix_dims(model, {{"batch", 1}, {"x:1", 512}}, report);
  const auto size = [&](const onnx::ValueInfoProto& value, int axis) {
    return value.type().tensor_type().shape().dim(axis).dim_value();
  };
  EXPECT_EQ(size(model.proto().graph().input(0), 0), 1);
  EXPECT_EQ(size(model.proto().graph().input(1), 0), 1);
  EXPECT_EQ(size(model.proto().graph().input(0), 1), 512);
  EXPECT_EQ(size(model.proto().graph().output(0), 1), 512) << "the name of the axis stood here too";
}

TEST(FixDims, WhatIsNotThereIsRefused) {
  const auto fix = [](const char* name, std::int64_t size) {
    return message_of(ErrorCode::kUsage, [&] {
      Model model = model_of("g (float[n,4] x) => (float[n,4] y) { y = Relu(x) }");
      PassReport report;
      fix_dims(model, {{name, size}}, report);
    });
  };
  EXPECT_THAT(fix("m", 1), HasSubstr("no input"));
  EXPECT_THAT(fix("x:7", 1), HasSubstr("no such axis"));
  EXPECT_THAT(fix("x:one", 1), HasSubstr("whole number"));
  EXPECT_THAT(fix("x:1", 5), HasSubstr("fixes this size to 4"));
  EXPECT_THAT(fix("n", -1), HasSubstr("from 0"));
}

TEST(ConvertToFloat32, InsideButNotAtTheEdges) {
  Model model = model_of(R"(g (float16[n,4] x, bool c) => (float16[n,4] y) <float16[4,600] w, float16[600,4] v> {
    a = MatMul(x, w) b = MatMul(a, v) d = Cast<to = 10>(b)
    y = If(c) <then_branch = t () => (float16[n,4] z) { z = Add(d, x) }, else_branch = e () => (float16[n,4] z) { z = Neg(d) }> })");
  PassReport report;
  convert_to_float32(model, report);
  EXPECT_GE(report.changes, 3);
  EXPECT_EQ(picture(model), lines(R"(
    x_float32 = Cast<to=1>(x)
    a = MatMul(x_float32, w)
    b = MatMul(a, v)
    d = Cast<to=1>(b)
    y_float32 = If(c)
      then_branch:
        z = Add(d, x_float32)
      else_branch:
        z = Neg(d)
    y = Cast<to=10>(y_float32))"));
  EXPECT_EQ(stored(model), lines(R"(
    w: FLOAT[4,600]
    v: FLOAT[600,4])"));
  EXPECT_EQ(model.proto().graph().output(0).type().tensor_type().elem_type(), onnx::TensorProto::FLOAT16);
  pictures::expect_sound(model);
}

TEST(CorrectDeclarations, OnlyWhatTheGraphContradicts) {
  Model model = model_of(R"(g (float[n,4] x, bool c) => (float[n] y, float[m,4] z, float[n,5] w, float[k] v) {
    y = Relu(x) z = Neg(x) w = Abs(x)
    v = If(c) <then_branch = t () => (float[k] a) { a = Sqrt(x) }, else_branch = e () => (float[n,4] b) { b = Exp(x) }> })");
  const PassReport report = run(run_correct_declarations, model);
  EXPECT_EQ(report.changes, 4) << "y, w, v and the output of a branch";
  const auto shape = [&](int output) {
    std::string text;
    for (const auto& dim : model.proto().graph().output(output).type().tensor_type().shape().dim())
      text += (dim.has_dim_value() ? std::to_string(dim.dim_value()) : dim.dim_param()) + " ";
    return text;
  };
  EXPECT_EQ(shape(0), "n 4 ");
  EXPECT_EQ(shape(1), "m 4 ") << "a name of its own is no contradiction";
  EXPECT_EQ(shape(2), "n 4 ");
  EXPECT_EQ(shape(3), "n 4 ");
}

TEST(Prepare, FixedRateLeavesAnOrdinaryGraph) {
  Model model = model_of(R"(g (float[n,4] x, int64 sr) => (float[n,4] y) <int64 wide = {16000}> {
    c = Equal(sr, wide)
    y = If(c) <then_branch = t () => (float[n,4] z) { z = Neg(x) }, else_branch = e () => (float[n,4] z) { z = Abs(x) }> })");
  PrepareOptions options;
  options.fixed["sr"] = "16000";
  prepare(model, options);
  EXPECT_EQ(picture(model), "\ny = Neg(x)\n");
  EXPECT_EQ(stored(model), "\n");
}

TEST(Prepare, SinglePassesByName) {
  Model model = model_of("g (float[n] x) => (float[n] y) { a = Identity(x) y = Relu(a) unused = Neg(x) }");
  PrepareOptions options;
  options.passes = {"remove_identities"};
  const auto reports = prepare(model, options);
  ASSERT_EQ(reports.size(), 1U);
  EXPECT_EQ(reports[0].changes, 1);
  EXPECT_EQ(picture(model), "\ny = Relu(x)\nunused = Neg(x)\n");
  options.passes = {"remove_everything"};
  EXPECT_THAT(message_of(ErrorCode::kUsage, [&] { prepare(model, options); }), HasSubstr("--list-passes"));
  PrepareOptions newer;
  newer.opset = 99;
  EXPECT_THAT(message_of(ErrorCode::kUsage, [&] { prepare(model, newer); }), HasSubstr("from 1 to 26"));
}

TEST(Prepare, FoldedCastsDoNotGrowTheFile) {
  Model model = model_of(R"(g (float[n,64] x) => (float[n,64] y) <float16[64,64] w> {
    f = Cast<to = 1>(w) a = Identity(x) b = Identity(a) m = MatMul(b, f) y = Relu(m) })");
  prepare(model);
  EXPECT_THAT(stored(model), HasSubstr("FLOAT16[64,64]"));
  EXPECT_THAT(picture(model), HasSubstr("Cast<to=1>"));
  pictures::expect_sound(model);
}

}  // namespace
}  // namespace octet
