// fold_known_shapes: sizes that are the same for every input, and targets of Reshape.
#include <gmock/gmock.h>

#include "graph_pictures.h"
#include "prepare/pass.h"

namespace octet {
namespace {

using pictures::lines;
using pictures::model_of;
using pictures::picture;
using pictures::stored;
using Ints = std::vector<std::int64_t>;

int fold(Model& model) {
  PassReport report;
  run_fold_known_shapes(model, report);
  const int changes = report.changes;
  run_drop_unused(model, report);
  pictures::expect_sound(model);
  return changes;
}

Ints ints(const onnx::GraphProto& graph, const Model& model, const std::string& name) {
  for (const auto& tensor : graph.initializer()) {
    if (tensor.name() == name) return tensor_as_int64(model, tensor);
  }
  return {-99};
}
Ints ints(const Model& model, const std::string& name) { return ints(model.proto().graph(), model, name); }

TEST(FoldKnownShapes, StoresASize) {
  Model model = model_of(R"(g (float[2,3,4] x, float[n] z) => (float[a,b] y) {
      s = Shape(x) y = Expand(z, s) })");
  EXPECT_EQ(fold(model), 1);
  EXPECT_EQ(picture(model), "\ny = Expand(z, s)\n");
  EXPECT_EQ(ints(model, "s"), (Ints{2, 3, 4}));
}

TEST(FoldKnownShapes, KeepsANameThatIsAnOutput) {
  Model model =
      model_of("g (float[2,3] x, float[n] z) => (float[a,b] y, int64[2] s) { s = Shape(x) y = Expand(z, s) }");
  EXPECT_EQ(fold(model), 1);
  EXPECT_EQ(picture(model), "\ns = Shape(x)\ny = Expand(z, s_value)\n");
  EXPECT_EQ(ints(model, "s_value"), (Ints{2, 3}));
  EXPECT_EQ(fold(model), 0);
}

TEST(FoldKnownShapes, WorksInSubgraphs) {
  Model model = model_of(R"(g (float[2,3] x, float[n] z, bool c) => (float[a,b] y) {
    y = If(c) <then_branch = t () => (float[k,l] r) { s = Shape(x) r = Expand(z, s) },
               else_branch = e () => (float[k,l] r) { r = Neg(x) }> })");
  EXPECT_EQ(fold(model), 1);
  EXPECT_EQ(picture(model), lines(R"(
    y = If(c)
      then_branch:
        r = Expand(z, s)
      else_branch:
        r = Neg(x))"));
}

TEST(FoldKnownShapes, LeavesSizesThatDiffer) {
  for (const char* text : {
           "g (float[n,3] x, float[m] z) => (float[a,b] y) { s = Shape(x) y = Expand(z, s) }",
           "g (float x, float[m] z) => (float[a,b] y) <int64[2] k = {2, 3}> { y = Expand(z, k) }",
           "g (float[3] x, int64[2] s) => (float[a,b] y) { y = Expand(x, s) }",
       }) {
    Model model = model_of(text);
    EXPECT_EQ(fold(model), 0) << text;
  }
}

const std::string kSizes = R"(<int64 zero = {0}, int64 one = {1}, int64[1] first = {0}, int64[1] twelve = {12},
    int64[1] width = {64}, int64[1] minus = {-1}> {
    s = Shape(x) b0 = Gather(s, zero) s0 = Gather(s, one) b = Unsqueeze(b0, first) l = Unsqueeze(s0, first)
)";

TEST(FoldKnownShapes, CopiesSizesOfTheSameAxis) {
  Model model = model_of("g (float[batch,seq,768] x) => (float[a,b,c,d] y) " + kSizes +
                         "t = Concat<axis = 0>(b, l, twelve, width) y = Reshape(x, t) }");
  EXPECT_EQ(fold(model), 1);
  EXPECT_EQ(picture(model), "\ny = Reshape(x, y_shape)\n");
  EXPECT_EQ(ints(model, "y_shape"), (Ints{0, 0, 12, 64}));
  EXPECT_EQ(stored(model), "\ny_shape: INT64[4]\n");
}

TEST(FoldKnownShapes, KeepsAWrittenMinusOne) {
  Model model = model_of("g (float[batch,seq,12,64] x) => (float[a,b,c] y) " + kSizes +
                         "t = Concat<axis = 0>(b, l, minus) y = Reshape(x, t) }");
  EXPECT_EQ(fold(model), 1);
  EXPECT_EQ(ints(model, "y_shape"), (Ints{0, 0, -1}));
}

TEST(FoldKnownShapes, LeavesTheOneUnknownSizeOpen) {
  // The axis moves: 64 stays, the other follows.
  Model model = model_of("g (float[batch,64] x) => (float[a,b] y) " + kSizes +
                         "t = Concat<axis = 0>(width, b) y = Reshape(x, t) }");
  EXPECT_EQ(fold(model) > 0, true);
  EXPECT_EQ(ints(model, "y_shape"), (Ints{64, -1}));
}

TEST(FoldKnownShapes, DropsAllowZeroWithItsReason) {
  Model model = model_of("g (float[batch,seq,768] x) => (float[a,b,c,d] y) " + kSizes +
                         "t = Concat<axis = 0>(b, l, twelve, width) y = Reshape<allowzero = 1>(x, t) }");
  EXPECT_EQ(fold(model), 1);
  EXPECT_EQ(picture(model), "\ny = Reshape(x, y_shape)\n");
}

TEST(FoldKnownShapes, DeclinesTwoOpenSizesAndNewOnesBesideACopy) {
  for (const char* target : {"Concat<axis = 0>(l, b, width)", "Concat<axis = 0>(l, b, minus)"}) {
    Model model =
        model_of("g (float[batch,seq,64] x) => (float[a,b,c] y) " + kSizes + "t = " + target + " y = Reshape(x, t) }");
    EXPECT_EQ(fold(model), 0) << target;
  }
  // [batch, seq * 64]: with an empty batch nobody could tell what -1 is.
  Model model = model_of("g (float[batch,seq,64] x) => (float[a,b] y) " + kSizes +
                         "m = Mul(l, width) t = Concat<axis = 0>(b, m) y = Reshape(x, t) }");
  EXPECT_EQ(fold(model), 0);
}

}  // namespace
}  // namespace octet
