// fold_constant_views: Transpose, Reshape, Squeeze, Unsqueeze and Flatten of a stored tensor.
#include <gmock/gmock.h>

#include "graph_pictures.h"
#include "prepare/pass.h"
#include "prepare/widened.h"

namespace octet {
namespace {

using pictures::lines;
using pictures::model_of;
using pictures::picture;
using pictures::stored;

int fold(Model& model) {
  PassReport report;
  run_fold_constant_views(model, report);
  return report.changes;
}

TEST(FoldConstantViews, TurnsAMatrixOver) {
  Model model = model_of(
      "g (float[n,3] x) => (float[n,2] y) <float[2,3] w = {1, 2, 3, 4, 5, 6}> { t = Transpose(w) y = MatMul(x, t) }");
  EXPECT_EQ(fold(model), 1);
  EXPECT_EQ(picture(model), "\ny = MatMul(x, t)\n");
  EXPECT_EQ(stored(model), "\nt: FLOAT[3,2]\n");
  EXPECT_EQ(tensor_as_float(model, model.proto().graph().initializer(0)), (std::vector<float>{1, 4, 2, 5, 3, 6}));
}

TEST(FoldConstantViews, TurnsALargeMatrixWhenItIsRead) {
  const std::string text =
      "g (float[n,40] x) => (float[n,30] y) <float[30,40] w> { t = Transpose<perm = [1, 0]>(w) y = MatMul(x, t) }";
  Model model = model_of(text);
  const auto before = tensor_as_float(model, model.proto().graph().initializer(0));
  EXPECT_EQ(fold(model), 1);
  const auto after = tensor_as_float(model, model.proto().graph().initializer(0));
  for (std::size_t row = 0; row < 30; ++row) {
    for (std::size_t col = 0; col < 40; ++col) ASSERT_EQ(after[col * 30 + row], before[row * 40 + col]);
  }
}

TEST(FoldConstantViews, FollowsAChainInOneGo) {
  Model model = model_of(R"(g (float[1,6] x) => (float[1,6] y)
    <float[2,3] w = {1, 2, 3, 4, 5, 6}, int64[1] shape = {-1}, int64[1] axes = {0}, int64[1] none = {0}> {
      a = Transpose(w) b = Reshape(a, shape) c = Unsqueeze(b, axes) d = Squeeze(c, none) e = Unsqueeze(d, axes) f = Flatten(e) y = Add(x, f) })");
  EXPECT_EQ(fold(model), 6);
  EXPECT_EQ(picture(model), "\ny = Add(x, f)\n");
  EXPECT_EQ(model.proto().graph().initializer(0).name(), "f");
  EXPECT_EQ(tensor_as_float(model, model.proto().graph().initializer(0)), (std::vector<float>{1, 4, 2, 5, 3, 6}));
}

TEST(FoldConstantViews, KnowsTheAttributesOfOlderOpsets) {
  Model model = model_of(
      "g (float[1,4] x) => (float[1,4] y) <float[4] w = {1, 2, 3, 4}> { a = Unsqueeze<axes = [0, 2]>(w) b = "
      "Squeeze<axes = [-1]>(a) y = Add(x, b) }",
      11);
  EXPECT_EQ(fold(model), 2);
  EXPECT_NE(stored(model).find("b: FLOAT[1,4]"), std::string::npos) << stored(model);
}

TEST(FoldConstantViews, ComputesTheOpenDimension) {
  Model model = model_of(
      "g (float[2,6] x) => (float[2,6] y) <float[2,2,3] w = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12}, int64[2] s = {0, "
      "-1}> { a = Reshape(w, s) y = Add(x, a) }");
  EXPECT_EQ(fold(model), 1);
  EXPECT_NE(stored(model).find("a: FLOAT[2,6]"), std::string::npos) << stored(model);
}

TEST(FoldConstantViews, DeclinesWhatIsSharedOrSeen) {
  for (const char* text :
       {// A tied table: its other reader wants it as it is.
        "g (float[n,4] x, int64[n] i) => (float[n,4] y, float[n,4] z) <float[4,4] w> { z = Gather(w, i) t = "
        "Transpose(w) y = MatMul(x, t) }",
        "g (float[n,4] x) => (float[n,4] y, float[4,4] t) <float[4,4] w> { t = Transpose(w) y = MatMul(x, t) }",
        "g (float[n,4] x) => (float[n,4] y, float[4,4] w) <float[4,4] w> { t = Transpose(w) y = MatMul(x, t) }",
        "g (float[n,4] x, float[1,2] w = {1, 2}) => (float[n,4] y) { t = Transpose(w) y = MatMul(x, t) }"}) {
    Model model = model_of(text);
    EXPECT_EQ(fold(model), 0) << text;
  }
  // Stored outside the branch that turns it: its own graph may read it too, one day.
  Model branch = model_of(R"(g (float[n,4] x, bool c) => (float[n,4] y) <float[4,4] w> {
    y = If(c) <then_branch = t () => (float[n,4] z) { u = Transpose(w) z = MatMul(x, u) }, else_branch = e () => (float[n,4] z) { z = Neg(x) }> })");
  EXPECT_EQ(fold(branch), 0);
}

TEST(FoldConstantViews, DeclinesWhatItCannotTell) {
  for (
      const char* text :
      {"g (float[4,4] x, int64[2] s) => (float[4,4] y) <float[16] w> { a = Reshape(w, s) y = Add(x, a) }",  // shape
                                                                                                            // comes
                                                                                                            // at
                                                                                                            // run
                                                                                                            // time
       "g (float[4,4] x) => (float[4,4] y) <float[16] w, int64[2] s = {-1, 5}> { a = Reshape(w, s) y = Add(x, "
       "a) }",  // 16 / 5
       "g (float[4,4] x) => (float[4,4] y) <float[16] w, int64[2] s = {-1, -1}> { a = Reshape(w, s) y = Add(x, "
       "a) }",  // two open
       "g (float[4,4] x) => (float[4,4] y) <float[16] w, int64[2] s = {4, 5}> { a = Reshape(w, s) y = Add(x, a) "
       "}",  // too many
       "g (float[4,4] x) => (float[4,4] y) <float[16] w, int64[3] s = {4, 4, 0}> { a = Reshape(w, s) y = Add(x, "
       "a) }",  // copies no axis
       "g (float[4,4] x) => (float[4,4] y) <float[16] w, int64[2] s = {4611686018427387904, 8}> { a = "
       "Reshape(w, s) y = Add(x, a) }",
       "g (float[4,4] x) => (float[4,4] y) <float[4,4] w> { a = Flatten<axis = 7>(w) y = Add(x, a) }",
       "g (float[4,4] x) => (float[4,4] y) <float[4,4] w, int64[1] s = {1}> { a = Squeeze(w, s) y = Add(x, a) }",  // not
                                                                                                                   // 1
       "g (float[4,4] x) => (float[4,4] y) <float[4,4] w> { a = Squeeze(w) y = Add(x, a) }",  // whatever is 1
       "g (float[4,4] x) => (float[4,4] y) <float[4,4] w, int64[2] s = {0, 0}> { a = Unsqueeze(w, s) y = Add(x, "
       "a) }",  // twice the same
       "g (float[4,4] x) => (float[4,4] y) <float[4,4] w, int64[1] s = {9}> { a = Unsqueeze(w, s) y = Add(x, a) "
       "}",
       "g (float[4,4] x) => (float[4,4] y) <float[4,4] w> { a = Transpose<perm = [0, 1]>(w) y = Add(x, a) }",
       "g (float[4,4] x) => (float[4,4] y) <float[4,4] w> { a = Transpose<perm = [5, -3]>(w) y = Add(x, a) }",
       "g (float[2,2,2] x) => (float[2,2,2] y) <float[2,2,2] w> { a = Transpose(w) y = Add(x, a) }",
       R"(g (string[2,2] x) => (bool[2,2] y) <string[2,2] w = {"a", "b", "c", "d"}> { a = Transpose(w) y = Equal(x, a) })"}) {
    Model model = model_of(text);
    EXPECT_EQ(fold(model), 0) << text;
  }
}

TEST(FoldConstantViews, DeclinesNibbles) {
  auto proto = pictures::proto_of(
      "g (float[2,3] x) => (float[2,3] y) { a = Transpose(w) b = Cast<to = 1>(a) y = Add(x, b) }", 21);
  *proto.mutable_graph()->add_initializer() =
      fixtures::raw_tensor("w", onnx::TensorProto::INT4, {3, 2}, {0x21, 0x43, 0x65});
  Model model = fixtures::load(proto);
  EXPECT_EQ(fold(model), 0);
}

TEST(FoldConstantViews, StandsDimensionsThatNoProductHolds) {
  // An empty tensor may have any other dimensions.
  for (const char* node :
       {"a = Flatten<axis = 2>(w)", "a = Flatten<axis = 3>(w)", "a = Reshape(w, s)", "a = Transpose(w)"}) {
    auto proto = pictures::proto_of(std::string("g (float[n] x) => (float[m] y) <int64[1] s = {-1}> { ") + node +
                                    " b = Identity(a) y = Concat<axis = 0>(x, b) }");
    *proto.mutable_graph()->add_initializer() =
        fixtures::raw_tensor("w", onnx::TensorProto::FLOAT, {std::int64_t{1} << 62, std::int64_t{1} << 62, 0}, {});
    Model model = fixtures::load(proto);
    EXPECT_NO_THROW(fold(model)) << node;
  }
}

TEST(FoldConstantViews, StandsAShapeOfAMillionNumbers) {
  auto proto = pictures::proto_of(
      "g (float[4] x) => (float[4] y) <float[4] w, int64[1000000] s> { a = Unsqueeze(w, s) b = Reshape(a, s) y = "
      "Add(x, b) }");
  Model model = fixtures::load(proto);
  EXPECT_EQ(fold(model), 0);
}

TEST(FoldConstantViews, StandsALongChain) {
  auto proto = pictures::proto_of(
      "g (float[4] x) => (float[4] y) <float[4] w = {1, 2, 3, 4}, int64[1] s = {-1}> { v0 = Reshape(w, s) y = Add(x, "
      "v0) }");
  auto& graph = *proto.mutable_graph();
  const auto last = graph.node(1);
  graph.mutable_node()->RemoveLast();
  constexpr int kLength = 20000;
  for (int i = 1; i < kLength; ++i) {
    *graph.add_node() = graph.node(0);
    auto& node = *graph.mutable_node(graph.node_size() - 1);
    node.set_input(0, "v" + std::to_string(i - 1));
    node.set_output(0, "v" + std::to_string(i));
  }
  *graph.add_node() = last;
  graph.mutable_node(graph.node_size() - 1)->set_input(1, "v" + std::to_string(kLength - 1));
  Model model = fixtures::load(proto);
  EXPECT_EQ(fold(model), kLength);
}

// A widened weight that was turned over and stays in float after all must come back turned over.
TEST(FoldConstantViews, TurnsTheNarrowFormOfAWidenedWeightToo) {
  const std::string text =
      "g (float[n,32] x) => (float[n,64] y) <float16[64,32] w> { v = Cast<to = 1>(w) t = Transpose(v) y = MatMul(x, t) "
      "}";
  Model original = model_of(text);
  const auto w = tensor_as_float(original, original.proto().graph().initializer(0));
  PlanOptions options = pictures::weights_options();
  options.nodes_to_exclude = {"op:MatMul"};
  Model model = pictures::quantized(text, options);
  EXPECT_EQ(picture(model), lines(R"(
    t = Cast<to=1>(t_stored)
    y = MatMul(x, t))"));
  EXPECT_EQ(stored(model), "\nt_stored: FLOAT16[32,64]\n");
  const auto turned = tensor_as_float(model, model.proto().graph().initializer(0));
  for (std::size_t row = 0; row < 64; ++row) {
    for (std::size_t col = 0; col < 32; ++col) ASSERT_EQ(turned[col * 64 + row], w[row * 32 + col]);
  }
}

}  // namespace
}  // namespace octet
