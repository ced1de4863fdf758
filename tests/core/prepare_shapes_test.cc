// What shape inference tells of values, as text: types, sizes by name, contents of shape tensors.
#include <gmock/gmock.h>

#include "graph_pictures.h"
#include "prepare/shapes.h"

namespace octet {
namespace {

using pictures::model_of;
using testing::HasSubstr;
using testing::IsEmpty;

std::string text(const Dims& dims) {
  std::string out = "[";
  for (const Dim& dim : dims) out += (out.size() > 1 ? ", " : "") + dim.text();
  return out + "]";
}

// "FLOAT[batch, 3]", with " = [1, seq]" behind it where the contents are known; of the first value of the name.
std::string told(const std::string& graph, const std::string& name, int opset = 17) {
  Model model = model_of(graph, opset);
  const GraphView view(model.proto());
  const Shapes shapes(model, view);
  for (const auto& scope : view.scopes()) {
    const auto found = scope->values.find(name);
    if (found == scope->values.end()) continue;
    const ShapeFacts& facts = shapes.of(&found->second);
    return type_name(facts.type) + (facts.dims ? text(*facts.dims) : "?") +
           (facts.data ? " = " + text(*facts.data) : "");
  }
  return "no such value";
}

TEST(Shapes, NamesGoThroughArithmetic) {
  EXPECT_EQ(told(R"(g (float[batch,3,h,w] x) => (float[n] y) <float[8,3,3,3] k> {
    y = Conv<pads = [1,1,1,1], strides = [2,2]>(x, k) })",
                 "y"),
            "FLOAT[batch, 8, floor((h - 1)/2) + 1, floor((w - 1)/2) + 1]");
  EXPECT_EQ(told(R"(g (float[n,t,4] a, float[n,2,4] b) => (float[n] y) { y = Concat<axis = 1>(a, b) })", "y"),
            "FLOAT[n, t + 2, 4]");
  EXPECT_EQ(told(R"(g (float[n,t,4] a) => (float[n] y) { y = Flatten<axis = 1>(a) })", "y"), "FLOAT[n, 4*t]");
  EXPECT_EQ(told(R"(g (float[n,8,t] x) => (float[m] y) <float[8,2,4] k> {
    y = ConvTranspose<strides = [2], pads = [1,1]>(x, k) })",
                 "y"),
            "FLOAT[n, 2, 2*t]");
  EXPECT_EQ(told(R"(g (float[n,c,h] x) => (float[m] y) {
    y = MaxPool<kernel_shape = [2], strides = [2]>(x) })",
                 "y"),
            "FLOAT[n, c, floor((h - 2)/2) + 1]");
}

TEST(Shapes, ReshapeByComputedSizes) {
  const char* graph = R"(g (float[batch,seq,12] x) => (float[n] y) <int64[1] last = {-1}, int64 zero = {0}> {
    s = Shape(x) b = Gather<axis = 0>(s, zero) axes = Constant<value = int64[1] {0}>() bb = Unsqueeze(b, axes)
    shape = Concat<axis = 0>(bb, last) y = Reshape(x, shape) })";
  EXPECT_EQ(told(graph, "s"), "INT64[3] = [batch, seq, 12]");
  EXPECT_EQ(told(graph, "b"), "INT64[] = [batch]");
  EXPECT_EQ(told(graph, "shape"), "INT64[2] = [batch, -1]");
  EXPECT_EQ(told(graph, "y"), "FLOAT[batch, 12*seq]");
}

TEST(Shapes, ContentsThroughTheUsualChains) {
  EXPECT_EQ(told(R"(g (float[n,6] x) => (int64[1] y) <int64[1] two = {2}> {
    s = Shape(x) a = Slice(s, two, two) m = ReduceProd<keepdims = 1>(s) y = Div(m, two) })",
                 "y"),
            "INT64[1] = [3*n]");
  EXPECT_EQ(
      told(R"(g (float[n,6] x) => (bool[2] y) <int64[1] minus = {-1}> { s = Shape(x) y = Equal(s, minus) })", "y"),
      "BOOL[2] = [0, 0]")
      << "a size is never -1";
  EXPECT_EQ(told(R"(g (float[n,6] x) => (bool[2] y) <int64[1] six = {6}> { s = Shape(x) y = Equal(s, six) })", "y"),
            "BOOL[2]")
      << "n may be 6 or not";
  EXPECT_EQ(told("g (float[n,6] x) => (int64[1] y) { y = Shape<start = -1>(x) }", "y"), "INT64[1] = [6]");
  EXPECT_EQ(told(R"(g (float[n] x) => (int64[1] y) <int64 zero = {0}, int64 one = {1}> {
    s = Size(x) y = Range(zero, s, one) })",
                 "y"),
            "INT64[n]");
}

TEST(Shapes, SlicesStayInside) {
  EXPECT_EQ(told(R"(g (float[n,10] x) => (float[m] y) {
    a = Constant<value = int64[2] {0, 2}>() b = Constant<value = int64[2] {9223372036854775807, -1}>()
    y = Slice(x, a, b) })",
                 "y"),
            "FLOAT[n, 7]");
  EXPECT_EQ(told(R"(g (float[n,10] x) => (float[m] y) {
    a = Constant<value = int64[1] {0}>() b = Constant<value = int64[1] {4}>() y = Slice(x, a, b) })",
                 "y"),
            "FLOAT[min(4, n), 10]");
}

TEST(Shapes, QuestionMarksAreNoNames) {
  Model model = model_of("g (float[N,4] x) => (float[N,4] y) { y = Relu(x) }");
  auto& proto = model.proto();
  proto.mutable_graph()
      ->mutable_input(0)
      ->mutable_type()
      ->mutable_tensor_type()
      ->mutable_shape()
      ->mutable_dim(0)
      ->set_dim_param("?");
  const GraphView view(proto);
  const Shapes shapes(model, view);
  const auto* x = view.find(view.main(), "x");
  EXPECT_THAT(shapes.of(x).dims->front().text(), testing::StartsWith("?"));
  EXPECT_EQ(cover_shapes(model).ranked, 1);
  EXPECT_EQ(cover_shapes(model).shaped, 0);
}

TEST(Shapes, BranchesAndLoops) {
  EXPECT_EQ(told(R"(g (float[n,4] x, bool c) => (float[m] y) {
    y = If(c) <then_branch = t () => (float[a] z) { z = Relu(x) }, else_branch = e () => (float[a] w) { w = Neg(x) }> })",
                 "y"),
            "FLOAT[n, 4]");
  EXPECT_EQ(told(R"(g (float[n,4] x, bool c) => (float[m] y) {
    y = If(c) <then_branch = t () => (float[a] z) { z = Relu(x) },
               else_branch = e () => (float[a] w) { w = Flatten<axis = 0>(x) }> })",
                 "y"),
            "FLOAT[?0, ?1]");
  const char* loop = R"(g (float[n,4] x, int64 count, bool go) => (float[m] y, float[m] all) {
    y, all = Loop(count, go, x) <body = b (int64 i, bool c, float[p,q] s) => (bool c2, float[p,q] s2, float[r] out) {
      c2 = Identity(c) s2 = Relu(s) out = Neg(s2) }> })";
  EXPECT_EQ(told(loop, "y"), "FLOAT[n, 4]");
  EXPECT_THAT(told(loop, "all"), HasSubstr(", n, 4]"));
  EXPECT_THAT(told(R"(g (float[n,4] x, int64 count, bool go) => (float[m] y) {
    y = Loop(count, go, x) <body = b (int64 i, bool c, float[p,q] s) => (bool c2, float[p,q] s2) {
      c2 = Identity(c) s2 = Concat<axis = 0>(s, s) }> })",
                   "y"),
              testing::MatchesRegex("FLOAT\\[\\?[0-9]+, 4\\]"))
      << "what grows each time round has no size of its own";
}

TEST(Shapes, ContributedOperators) {
  EXPECT_EQ(told(R"(g (float[n,t,16] x) => (float[m] y) <uint8[16,8] w, float[1] s, uint8[1] z> {
    y = com.microsoft.DynamicQuantizeMatMul(x, w, s, z) })",
                 "y"),
            "FLOAT[n, t, 8]");
  EXPECT_EQ(told("g (float[n,t,16] x) => (float[m] y) { y = com.microsoft.Gelu(x) }", "y"), "FLOAT[n, t, 16]");
  EXPECT_EQ(told("g (float[n,t,16] x) => (float[m] y) { a = com.microsoft.Unheard(x) y = Relu(a) }", "a"), "type 0?");
}

TEST(Shapes, SaysWhatIsMissing) {
  Model model = model_of(R"(g (float[n,t] x) => (float[m] y) {
    a = com.microsoft.Unheard(x) b = Relu(a) c = Squeeze(x) y = Add(b, c) })");
  const ShapeCoverage coverage = cover_shapes(model);
  EXPECT_EQ(coverage.values, 4);
  EXPECT_THAT(coverage.missing, testing::Contains(HasSubstr("type of 'a' (Unheard)")));
  EXPECT_THAT(coverage.missing, testing::Contains(HasSubstr("rank of 'c' (Squeeze)")));
}

TEST(Shapes, NonsenseIsSurvived) {
  for (const char* node : {"y = Reshape(x)",
                           "y = Conv(x)",
                           "y = Concat<axis = 9>(x)",
                           "y = Slice(x, x, x)",
                           "y = Gather(x)",
                           "y = Split<axis = -7>(x)",
                           "y = Pad(x)",
                           "y = Resize(x)",
                           "y = Tile(x, x)",
                           "y = Flatten<axis = 99>(x)",
                           "y = DepthToSpace<blocksize = 0>(x)",
                           "y = MaxPool<kernel_shape = [0]>(x)",
                           "y = Range(x, x, x)",
                           "y = Expand(x, x)",
                           "y = com.microsoft.MatMulNBits(x)",
                           "y = Loop(x)",
                           "y = If(x)",
                           "y = Transpose<perm = [9]>(x)",
                           "y = LSTM(x)",
                           "y = Einsum<equation = \"->\">(x)",
                           "y = TopK(x)",
                           "y = Shape<start = 9, end = -9>(x)"}) {
    Model model = model_of(std::string("g (float[n,4] x) => (float[m] y) { ") + node + " }");
    EXPECT_NO_THROW(cover_shapes(model)) << node;
  }
}

TEST(Shapes, AreWrittenIntoTheFileOnRequest) {
  Model model = model_of("g (float[n,20] x) => (float[n,30] y) <float[20,30] w> { a = MatMul(x, w) y = Relu(a) }");
  EXPECT_THAT(model.proto().graph().value_info(), IsEmpty());
  describe_values(model);
  ASSERT_EQ(model.proto().graph().value_info_size(), 1);
  const auto& shape = model.proto().graph().value_info(0).type().tensor_type().shape();
  EXPECT_EQ(shape.dim(0).dim_param(), "n");
  EXPECT_EQ(shape.dim(1).dim_value(), 30);
}

}  // namespace
}  // namespace octet
