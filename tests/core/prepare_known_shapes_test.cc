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
    int64[1] width = {64}, int64[1] minus = {-1},
    int64[1] two = {2}, int64[1] four = {4}, int64[1] c1 = {1}, float[1,512,8] table> {
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

// A model that divides by the batch already fails on an empty one, so a second -1 takes nothing away.
TEST(FoldKnownShapes, OpensASizeBesideACopyThatCannotBeZero) {
  const std::string first = "m = Mul(l, width) t = Concat<axis = 0>(b, m) y = Reshape(x, t) ";
  Model model = model_of("g (float[batch,seq,64] x) => (float[a,b] y, float[c,d] z) " + kSizes + first +
                         "u = Concat<axis = 0>(b, minus) z = Reshape(x, u) }");
  EXPECT_GT(fold(model), 0);
  EXPECT_EQ(ints(model, "y_shape"), (Ints{0, -1}));
  Model dead = model_of("g (float[batch,seq,64] x) => (float[a,b] y) " + kSizes + first +
                        "u = Concat<axis = 0>(b, minus) z = Reshape(x, u) }");
  PassReport report;
  run_fold_known_shapes(dead, report);
  EXPECT_EQ(ints(dead, "y_shape"), (Ints{-99}));
}

TEST(FoldKnownShapes, SharesEqualSizes) {
  Model model = model_of("g (float[batch,seq,64] x, float[n] v) => (float[a,b] y, float[c,d] z) " + kSizes + R"(
      p = Relu(x) ps = Shape(p) pb = Gather(ps, zero) pl = Gather(ps, one)
      pb1 = Unsqueeze(pb, first) pl1 = Unsqueeze(pl, first)
      t = Concat<axis = 0>(b, l) y = Expand(v, t)
      u = Concat<axis = 0>(pb1, pl1) z = Expand(v, u) })");
  EXPECT_GT(fold(model), 0);
  EXPECT_EQ(picture(model), lines(R"(
    s = Shape(x)
    b0 = Gather(s, zero)
    s0 = Gather(s, one)
    b = Unsqueeze(b0, first)
    l = Unsqueeze(s0, first)
    t = Concat<axis=0>(b, l)
    y = Expand(v, t)
    z = Expand(v, t))"));
}

TEST(FoldKnownShapes, SharesOnlyWhatIsSeen) {
  // The sizes that one branch computes are no other branch's.
  const std::string branch = "() => (float[k] r) { s = Shape(x) r = Expand(v, s) }";
  Model model = model_of("g (float[n] x, float[1] v, bool c) => (float[m] y) { y = If(c) <then_branch = t " + branch +
                         ", else_branch = e " + branch + "> }");
  EXPECT_EQ(fold(model), 0);
  Model outer = model_of(
      "g (float[n] x, float[1] v, bool c) => (float[m] y, float[o] w) { o = Shape(x) w = Expand(v, o) y = "
      "If(c) <then_branch = t " +
      branch + ", else_branch = e " + branch + "> }");
  EXPECT_EQ(fold(outer), 2);
  EXPECT_EQ(picture(outer), lines(R"(
    o = Shape(x)
    w = Expand(v, o)
    y = If(c)
      then_branch:
        r = Expand(v, o)
      else_branch:
        r = Expand(v, o))"));
}

// A table of 512 positions cut to the length of the input: added to it, it has that length.
TEST(FoldKnownShapes, SeesThroughATableOfPositions) {
  Model model = model_of("g (float[batch,seq,8] x) => (float[a,b,c,d] y) " + kSizes + R"(
      p = Slice(table, first, l, c1) q = Add(x, p)
      t = Concat<axis = 0>(b, l, two, four) y = Reshape(q, t) })");
  EXPECT_GT(fold(model), 0);
  EXPECT_EQ(ints(model, "y_shape"), (Ints{0, 0, 2, 4}));
}

}  // namespace
}  // namespace octet
