// The smaller passes of normalization, each alone, and what each must leave as it is.
#include <gmock/gmock.h>

#include "graph_pictures.h"
#include "prepare/pass.h"
#include "prepare/shapes.h"

namespace octet {
namespace {

using pictures::lines;
using pictures::message_of;
using pictures::model_of;
using pictures::picture;
using pictures::run;
using pictures::stored;
using testing::ElementsAre;
using testing::HasSubstr;

TEST(LiftConstants, EveryNumericFormBecomesAStoredTensor) {
  Model model = model_of(R"(g (float[2] x) => (float[2] y) {
    a = Constant<value = float[2] {1, 2}>()
    b = Constant<value_float = 1.5>()
    c = Constant<value_floats = [1.0, 2.0]>()
    i = Constant<value_int = 2>()
    j = Constant<value_ints = [1, 2]>()
    p = Add(x, a) q = Add(p, b) r = Add(q, c) k = Add(i, j) f = Cast<to = 1>(k) y = Add(r, f) })");
  EXPECT_EQ(run(run_lift_constants, model).changes, 5);
  EXPECT_EQ(stored(model), lines(R"(
    a: FLOAT[2]
    b: FLOAT[]
    c: FLOAT[2]
    i: INT64[]
    j: INT64[2])"));
  EXPECT_EQ(model.proto().graph().node(0).op_type(), "Add");
}

TEST(LiftConstants, LeavesOutputsAndText) {
  Model model = model_of(R"(g (float[2] x, bool t) => (float[2] y, float[2] a, string b) {
    a = Constant<value = float[2] {1, 2}>()
    s = Constant<value_string = "text">()
    b = Identity(s)
    y = If(t) <then_branch = u () => (float[2] z) { z = Constant<value = float[2] {1, 2}>() },
               else_branch = v () => (float[2] z) { w = Constant<value = float[2] {3, 4}>() z = Add(x, w) }> })");
  EXPECT_EQ(run(run_lift_constants, model).changes, 1);
  EXPECT_EQ(stored(model), "\n  w: FLOAT[2]\n");
}

TEST(LiftConstants, ATensorOfTheSameNameIsRefusedNotChosen) {
  Model model = model_of(
      "g (float[2] x) => (float[2] y) <float[2] a = {1, 2}> { a = Constant<value = float[2] {3, 4}>() y = Add(x, a) }");
  EXPECT_THAT(message_of(ErrorCode::kMalformed, [&] { normalize(model); }), HasSubstr("'a'"));
}

TEST(RemoveIdentities, ReadersReadTheSource) {
  Model model =
      model_of("g (float[n] x) => (float[n] y) { a = Identity(x) b = Identity(a) c = Relu(b) y = Add(c, a) }");
  EXPECT_EQ(run(run_remove_identities, model).changes, 2);
  EXPECT_EQ(picture(model), lines(R"(
    c = Relu(x)
    y = Add(c, x))"));
}

TEST(RemoveIdentities, AnOutputKeepsItsName) {
  Model model = model_of(
      "g (float[n] x) => (float[n] y) { a = Relu(x) b = Neg(a) c = Identity(a) y = Identity(c) z = Add(a, b) }");
  EXPECT_EQ(run(run_remove_identities, model).changes, 2);
  EXPECT_EQ(picture(model), lines(R"(
    y = Relu(x)
    b = Neg(y)
    z = Add(y, b))"));
}

TEST(RemoveIdentities, DeclinesWhereTheOutputHasNoProducerOfItsOwn) {
  for (const char* text :
       {"g (float[n] x) => (float[n] y) { y = Identity(x) }",                             // input to output
        "g (float[n] x) => (float[n] y) <float[2] w = {1, 2}> { y = Identity(w) }",       // stored tensor to output
        "g (float[n] x) => (float[n] y, float[n] a) { a = Relu(x) y = Identity(a) }"}) {  // two outputs of one value
    Model model = model_of(text);
    EXPECT_EQ(run(run_remove_identities, model).changes, 0) << text;
  }
  Model branch = model_of(R"(g (float[n] x, bool c) => (float[n] y) { a = Relu(x)
    y = If(c) <then_branch = t () => (float[n] z) { z = Identity(a) }, else_branch = e () => (float[n] z) { z = Neg(a) }> })");
  EXPECT_EQ(run(run_remove_identities, branch).changes, 0) << "a branch's output must be made in the branch";
}

TEST(RemoveIdentities, DeclinesWhereANameMeansSomethingElseInside) {
  // The branch has an `a` of its own: its reading of `b` cannot become one of the outer `a`.
  Model model = model_of(R"(g (float[n] x, bool c) => (float[n] y) { a = Relu(x) b = Identity(a)
    y = If(c) <then_branch = t () => (float[n] z) { a = Neg(x) z = Add(a, b) }, else_branch = e () => (float[n] z) { z = Neg(x) }> })");
  EXPECT_EQ(run(run_remove_identities, model).changes, 0);
}

TEST(RemoveIdentities, DeclinesWhereTheNameMeantAnOuterValueBefore) {
  Model model = model_of(R"(g (float[2] x, bool c) => (float[2] y) { a = Neg(x)
      y = If(c) <then_branch = t () => (float[2] a) { p = Abs(x) q = Exp(a) r = Mul(p, q) a = Identity(r) },
                 else_branch = e () => (float[2] k) { k = Relu(x) }> })");
  auto& branch = *model.proto().mutable_graph()->mutable_node(1)->mutable_attribute(0)->mutable_g();
  ASSERT_EQ(branch.node(3).op_type(), "Identity");
  PassReport report;
  run_remove_identities(model, report);
  EXPECT_EQ(report.changes, 0);
}

TEST(RemoveIdentities, WhatIsSaidOfTheResultIsSaidOfTheSource) {
  Model model = model_of("g (float[2] x) => (float[2,1] y) { a = my.Op(x) b = Identity(a) y = my.Op(b) }");
  auto& info = *model.proto().mutable_graph()->add_value_info();
  info.set_name("b");
  info.mutable_type()->mutable_tensor_type()->set_elem_type(onnx::TensorProto::FLOAT);
  info.mutable_type()->mutable_tensor_type()->mutable_shape()->add_dim();
  PassReport report;
  run_remove_identities(model, report);
  EXPECT_EQ(picture(model), "\na = my.Op(x)\ny = my.Op(a)\n");
  const GraphView view(model.proto());
  const Shapes shapes(model, view);
  EXPECT_TRUE(shapes.of(view.find(view.main(), "a")).has_rank(1));
}

TEST(RemoveIdentities, DropoutGoesOnlyWhereItDoesNothing) {
  const auto changes = [](const char* text, int opset = 17) {
    Model model = model_of(text, opset);
    return run(run_remove_identities, model).changes;
  };
  EXPECT_EQ(changes("g (float[n] x) => (float[n] y) { a = Dropout(x) y = Relu(a) }"), 1);
  EXPECT_EQ(changes("g (float[n] x) => (float[n] y) { a = Dropout<ratio = 0.5>(x) y = Relu(a) }", 10), 1);
  EXPECT_EQ(changes("g (float[n] x) => (float[n] y) { a, unread = Dropout(x) y = Relu(a) }"), 1);
  EXPECT_EQ(
      changes("g (float[n] x) => (float[n] y) <float r = {0.5}, bool t = {0}> { a = Dropout(x, r, t) y = Relu(a) }"),
      1);
  EXPECT_EQ(changes("g (float[n] x) => (float[n] y, bool[n] m) { a, m = Dropout(x) y = Relu(a) }"), 0)
      << "its mask is an output";
  EXPECT_EQ(changes("g (float[n] x) => (float[n] y, bool[n] k) { a, m = Dropout(x) y = Relu(a) k = Not(m) }"), 0)
      << "its mask is read";
  EXPECT_EQ(
      changes("g (float[n] x) => (float[n] y) <float r = {0.5}, bool t = {1}> { a = Dropout(x, r, t) y = Relu(a) }"), 0)
      << "it trains";
  EXPECT_EQ(changes("g (float[n] x, bool t) => (float[n] y) <float r = {0.5}> { a = Dropout(x, r, t) y = Relu(a) }"), 0)
      << "it may train";
  EXPECT_EQ(
      changes("g (float[n] x, bool t = {0}) => (float[n] y) <float r = {0.5}> { a = Dropout(x, r, t) y = Relu(a) }"), 0)
      << "the caller may let it train";
}

TEST(RemoveInitializerInputs, BeforeIr4EveryWeightWasAnInput) {
  Model model = model_of(
      "<ir_version: 3, opset_import: [\"\" : 8]> g (float[2] x, float[2] w = {1, 2}) => (float[2] y) { y = Add(x, w) "
      "}");
  EXPECT_EQ(run(run_remove_initializer_inputs, model).changes, 1);
  ASSERT_EQ(model.proto().graph().input_size(), 1);
  EXPECT_EQ(model.proto().graph().input(0).name(), "x");
}

TEST(RemoveInitializerInputs, FromIr4SmallOnesStayReplaceable) {
  auto proto = pictures::proto_of(
      "g (float[n,20] x, float[20,20] w, float[2] s = {1, 2}) => (float[n,20] y) <float[20,20] w> { y = MatMul(x, w) "
      "}");
  Model model = fixtures::load(proto);
  const PassReport report = run(run_remove_initializer_inputs, model);
  EXPECT_EQ(report.changes, 1);
  EXPECT_THAT(report.notes, ElementsAre(HasSubstr("1 weights")));
  ASSERT_EQ(model.proto().graph().input_size(), 2);
  EXPECT_EQ(model.proto().graph().input(1).name(), "s");
}

TEST(ShareEqualTensors, CopiesBecomeOne) {
  Model model = model_of(
      "g (float[2] x) => (float[2] y) <float[2] a = {1, 2}, float[2] b = {1, 2}, float[2] c = {1, 3}> { p = Add(x, a) "
      "q = Add(p, b) y = Add(q, c) }");
  EXPECT_EQ(run(run_share_equal_tensors, model).changes, 1);
  EXPECT_EQ(picture(model), lines(R"(
    p = Add(x, a)
    q = Add(p, a)
    y = Add(q, c))"));
}

TEST(ShareEqualTensors, CopiesThatPassesMadeBecomeOne) {
  // Both ways lead to the same 800 bytes, whose source is too large to stand in the skeleton.
  Model model = model_of(R"(g (float[200] x) => (float[200] y) <double[200] w> {
    a = Cast<to=1>(w) b = Cast<to=11>(a) d = Cast<to=1>(b) p = Add(x, a) y = Mul(p, d) })");
  PassReport report;
  run_fold_constant_casts(model, report);
  EXPECT_EQ(report.changes, 3);
  run_share_equal_tensors(model, report);
  EXPECT_EQ(picture(model), "\np = Add(x, a)\ny = Mul(p, a)\n");
}

TEST(ShareEqualTensors, DeclinesOutputsInputsAndHiddenNames) {
  Model output = model_of(
      "g (float[2] x) => (float[2] y, float[2] b) <float[2] a = {1, 2}, float[2] b = {1, 2}> { p = Add(x, a) y = "
      "Add(p, b) }");
  EXPECT_EQ(run(run_share_equal_tensors, output).changes, 0);
  Model input = model_of(
      "g (float[2] x, float[2] b = {1, 2}) => (float[2] y) <float[2] a = {1, 2}> { p = Add(x, a) y = Add(p, b) }");
  EXPECT_EQ(run(run_share_equal_tensors, input).changes, 0);
  Model hidden =
      model_of(R"(g (float[2] x, bool c) => (float[2] y) <float[2] a = {1, 2}, float[2] b = {1, 2}> { p = Add(x, a)
    y = If(c) <then_branch = t () => (float[2] z) { a = Neg(p) z = Add(a, b) }, else_branch = e () => (float[2] z) { z = Neg(p) }> })");
  EXPECT_EQ(run(run_share_equal_tensors, hidden).changes, 0);
}

TEST(DropUnused, TakesWhatReachesNoOutputAndWhatOnlyThatRead) {
  Model model = model_of(R"(g (float[n,4] x, bool c) => (float[n,4] y) <float[4,4] w, float[4,4] v, float[4,4] u> {
    y = MatMul(x, w)
    a = MatMul(x, v)
    b = Relu(a)
    d = If(c) <then_branch = t () => (float[n,4] z) { k = Neg(b) z = MatMul(k, u) }, else_branch = e () => (float[n,4] z) { z = Neg(a) }> })");
  EXPECT_EQ(run(run_drop_unused, model).changes, 8) << "four nodes, the two inside the If's branches, two tensors";
  EXPECT_EQ(picture(model), "\ny = MatMul(x, w)\n");
  EXPECT_EQ(stored(model), "\nw: FLOAT[4,4]\n");
}

TEST(DropUnused, KeepsWhatASubgraphReads) {
  Model model = model_of(R"(g (float[n,4] x, bool c) => (float[n,4] y) <float[4,4] w> {
    a = MatMul(x, w)
    y = If(c) <then_branch = t () => (float[n,4] z) { unread = Relu(a) z = Neg(a) }, else_branch = e () => (float[n,4] z) { z = Abs(x) }> })");
  EXPECT_EQ(run(run_drop_unused, model).changes, 1);
  EXPECT_EQ(picture(model), lines(R"(
    a = MatMul(x, w)
    y = If(c)
      then_branch:
        z = Neg(a)
      else_branch:
        z = Abs(x))"));
}

TEST(DropUnused, KeepsNodesWithOneOutputInUse) {
  Model model = model_of("g (float[4] x) => (float[2] a) { a, b = Split<axis = 0>(x) }");
  EXPECT_EQ(run(run_drop_unused, model).changes, 0);
}

TEST(DropUnused, KeepsTheDefaultOfAnInput) {
  Model model = model_of("g (float[4] x, float[2] c = {1, 2}) => (float[4] y) { y = Neg(x) }");
  EXPECT_EQ(run(run_drop_unused, model).changes, 0);
  EXPECT_EQ(stored(model), "\nc: FLOAT[2]\n");
}

TEST(DropUnused, StandsALongDeadChain) {
  auto proto = pictures::proto_of("g (float[4] x) => (float[4] y) { y = Neg(x) v0 = Relu(x) }");
  auto& graph = *proto.mutable_graph();
  constexpr int kLength = 20000;
  for (int i = 1; i < kLength; ++i) {
    auto& node = *graph.add_node();
    node.set_op_type("Relu");
    node.add_input("v" + std::to_string(i - 1));
    node.add_output("v" + std::to_string(i));
  }
  Model model = fixtures::load(proto);
  EXPECT_EQ(run(run_drop_unused, model).changes, kLength);
}

TEST(DropUnused, ForgetsDescriptionsOfWhatIsGone) {
  auto proto = pictures::proto_of(
      "g (float[n] x) => (float[n] y) <float[n] a, float[n] gone> { a = Relu(x) gone = Neg(x) y = Abs(a) }");
  Model model = fixtures::load(proto);
  run(run_drop_unused, model);
  ASSERT_EQ(model.proto().graph().value_info_size(), 1);
  EXPECT_EQ(model.proto().graph().value_info(0).name(), "a");
}

TEST(Normalize, RunsEveryPassAndReportsEach) {
  Model model = model_of(
      "g (float[n,4] x) => (float[n,4] y) { i = Identity(x) c = Constant<value = float[2,2] {1, 2, 3, 4}>() y = "
      "Relu(i) }");
  const auto reports = normalize(model);
  std::vector<std::string_view> ran, expected;
  for (const auto& report : reports) ran.push_back(report.pass);
  for (const PassInfo& info : list_passes()) {
    if (info.normalizes) expected.push_back(info.name);
  }
  EXPECT_EQ(ran, expected);
  EXPECT_EQ(picture(model), "\ny = Relu(x)\n");
  EXPECT_EQ(stored(model), "\n");
}

TEST(Normalize, BringsVersionsIntoWhatTheRuntimeLoads) {
  Model old = model_of(
      "<ir_version: 3, opset_import: [\"\" : 8]> g (float[2] x, float[2] w = {1, 2}) => (float[2] y) { y = Add(x, w) "
      "}");
  normalize(old);
  EXPECT_EQ(old.proto().ir_version(), 4);
  EXPECT_EQ(opset_of(old.proto()), 8);
  Model fresh =
      model_of("<ir_version: 13, opset_import: [\"\" : 27]> g (float[n,4] x) => (float[n,4] y) { y = Relu(x) }");
  fresh.proto().set_ir_version(14);
  normalize(fresh);
  EXPECT_EQ(fresh.proto().ir_version(), kMaxIrVersion);
  EXPECT_EQ(opset_of(fresh.proto()), kMaxOpset);
}

TEST(ConvertOpset, KeepsWhatTheConverterForgets) {
  auto proto = pictures::proto_of(R"(<ir_version: 8, opset_import: ["" : 9], metadata_props: ["k" : "v"]>
    g (float[n,4,9,9] x) => (float[n,8,7,7] y) <float[8,4,3,3] w, float[8] b> { [conv] y = Conv(x, w, b) })");
  auto& note = *proto.mutable_graph()->mutable_node(0)->add_metadata_props();
  note.set_key("from");
  note.set_value("layer1");
  Model model = fixtures::load(proto);
  const auto before = tensor_as_float(model, model.proto().graph().initializer(0));
  convert_opset(model, 13);
  EXPECT_EQ(opset_of(model.proto()), 13);
  ASSERT_EQ(model.proto().metadata_props_size(), 1);
  ASSERT_EQ(model.proto().graph().node(0).metadata_props_size(), 1);
  EXPECT_EQ(model.proto().graph().node(0).name(), "conv");
  EXPECT_EQ(tensor_as_float(model, model.proto().graph().initializer(0)), before)
      << "a stored tensor passes through as its marker";
  pictures::expect_sound(model);
}

TEST(ConvertOpset, SaysWhichOperatorHasNoConversion) {
  Model model = model_of("g (float[n,4] x) => (float[n,4] y) { y = Gelu(x) }", 20);
  EXPECT_THAT(message_of(ErrorCode::kUnsupported, [&] { convert_opset(model, 13); }), HasSubstr("Gelu"));
}

TEST(InferShapes, FillsInWhatFollowsFromTheSkeleton) {
  Model model = model_of("g (float[n,20] x) => (float[n,30] y) <float[20,30] w> { a = MatMul(x, w) y = Relu(a) }");
  const ShapeCoverage coverage = cover_shapes(model);
  EXPECT_EQ(coverage.values, 2);
  EXPECT_EQ(coverage.typed, 2);
  EXPECT_EQ(coverage.ranked, 2);
  EXPECT_EQ(coverage.shaped, 2);
  EXPECT_EQ(coverage.note, "");
  EXPECT_THAT(coverage.missing, testing::IsEmpty());
  describe_values(model);
  const auto& info = model.proto().graph().value_info(0);
  EXPECT_EQ(info.name(), "a");
  EXPECT_EQ(info.type().tensor_type().shape().dim(1).dim_value(), 30) << "the stored weight took part with its dims";
}

}  // namespace
}  // namespace octet
