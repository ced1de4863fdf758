// fold_constants: nodes of stored tensors alone.
#include <gmock/gmock.h>

#include "graph_pictures.h"
#include "prepare/pass.h"

namespace octet {
namespace {

using pictures::lines;
using pictures::model_of;
using pictures::picture;
using pictures::stored;

int fold(Model& model) {
  PassReport report;
  for (int before = -1; report.changes > before;) {  // as preparation does: what one round frees, the next one counts
    before = report.changes;
    run_fold_constants(model, report);
  }
  const int changes = report.changes;
  run_drop_unused(model, report);
  pictures::expect_sound(model);
  return changes;
}

const onnx::TensorProto& tensor(const Model& model, const std::string& name) {
  for (const auto& tensor : model.proto().graph().initializer()) {
    if (tensor.name() == name) return tensor;
  }
  throw std::runtime_error("no tensor " + name);
}

TEST(FoldConstants, ComputesAChainInOneGo) {
  Model model = model_of(R"(g (float[n,4] x) => (float[a,b] y)
    <float[2,3,4] w, int64 i = {1}, int64[1] axes = {0}, int64[1] minus = {-1}> {
      shape = Shape(w)
      rows = Gather(shape, i)
      list = Unsqueeze(rows, axes)
      target = Concat<axis = 0>(minus, list)
      y = Reshape(x, target) })");
  EXPECT_EQ(fold(model), 4);
  EXPECT_EQ(picture(model), "\ny = Reshape(x, target)\n");
  EXPECT_EQ(stored(model), "\ntarget: INT64[2]\n");
  EXPECT_EQ(tensor_as_int64(model, tensor(model, "target")), (std::vector<std::int64_t>{-1, 3}));
}

TEST(FoldConstants, CutsALargeMaskToItsPart) {
  Model model = model_of(R"(g (float[1,1,8,8] x) => (float[1,1,8,8] y)
    <bool[1,1,64,64] mask, int64[2] s = {0, 0}, int64[2] e = {40, 40}, int64[2] axes = {2, 3}, float low = {-1}> {
      part = Slice(mask, s, e, axes)
      small = Slice(mask, s, axes, axes)
      y = Where(small, x, low)
      z = Cast<to = 7>(part) })");
  EXPECT_EQ(fold(model), 2);  // 1.6 kB, once nothing else reads the 4 kB it is cut from
  EXPECT_EQ(picture(model), "\ny = Where(small, x, low)\n");
  EXPECT_EQ(stored(model), "\nlow: FLOAT[]\nsmall: BOOL[1,1,2,3]\n");
}

TEST(FoldConstants, MakesLargeResultsWhenTheyAreRead) {
  Model model = model_of(R"(g (float[n,200] x) => (float[n,300] y) <float[3,100,200] w, float scale = {0.5}> {
      half = Mul(w, scale)
      turned = Transpose<perm = [2, 0, 1]>(half)
      flat = Flatten(turned)
      y = MatMul(x, flat) })");
  const auto before = tensor_as_float(model, tensor(model, "w"));
  EXPECT_EQ(fold(model), 3);
  EXPECT_EQ(stored(model), "\nflat: FLOAT[200,300]\n");
  const auto after = tensor_as_float(model, tensor(model, "flat"));
  for (std::size_t row = 0; row < 200; ++row) {
    for (std::size_t col = 0; col < 300; ++col) ASSERT_EQ(after[row * 300 + col], before[col * 200 + row] * 0.5f);
  }
}

TEST(FoldConstants, SplitsWeights) {
  Model model = model_of(R"(g (float[n,64] x) => (float[n,32] y, float[n,32] z) <float[64,64] w> {
      a, b = Split<axis = 1>(w) y = MatMul(x, a) z = MatMul(x, b) })");
  EXPECT_EQ(fold(model), 1);
  EXPECT_EQ(stored(model), "\na: FLOAT[64,32]\nb: FLOAT[64,32]\n");
}

TEST(FoldConstants, FoldsInSubgraphs) {
  Model model = model_of(R"(g (float[n] x, bool c) => (float[m] y) <int64 one = {1}> {
    y = If(c) <then_branch = t () => (float[k] z) { two = Add(one, one) r = Range(one, two, one) f = Cast<to = 1>(r) z = Add(x, f) },
               else_branch = e () => (float[k] z) { z = Neg(x) }> })");
  EXPECT_EQ(fold(model), 3);
  EXPECT_EQ(picture(model), lines(R"(
    y = If(c)
      then_branch:
        z = Add(x, f)
      else_branch:
        z = Neg(x))"));
  EXPECT_EQ(stored(model), "\n  f: FLOAT[1]\n");
}

TEST(FoldConstants, SeesNamesOfTheirOwnGraph) {
  // In the branch `a` is the sum of an input, outside it is stored.
  Model model = model_of(R"(g (float x, bool c) => (float y) <float a = {1}> {
    b = Add(a, a)
    y = If(c) <then_branch = t () => (float z) { a = Add(x, x) s = Add(a, a) z = Add(s, b) },
               else_branch = e () => (float z) { z = Add(x, b) }> })");
  EXPECT_EQ(fold(model), 1);
  EXPECT_EQ(stored(model), "\nb: FLOAT[]\n");
}

TEST(FoldConstants, DeclinesWhatWouldGrow) {
  for (const char* text : {
           "g (float[64,64] x) => (float[64,64] y) <int64[2] s = {64, 64}> { a = ConstantOfShape(s) y = Add(x, a) }",
           "g (float[64,64] x) => (float[64,64] y) <float[64] w, int64[2] s = {64, 64}> { a = Expand(w, s) y = Add(x, "
           "a) }",
           "g (float[64,64] x) => (float[64,64] y) <float[64,64] w> { t = Transpose(w) a = MatMul(x, t) y = MatMul(a, "
           "w) "
           "}",
           // 8-bit weights that the graph turns to float.
           "g (float[64,64] x) => (float[64,64] y) <int8[64,64] w, float s = {0.01}> { f = Cast<to = 1>(w) d = Mul(f, "
           "s) "
           "y = MatMul(x, d) }",
           "g (float[64,64] x) => (float[64,64] y) <uint8[64,64] w, float s = {0.01}, uint8 z = {7}> { d = "
           "DequantizeLinear(w, s, z) t = Transpose(d) y = MatMul(x, t) }",
           "g (float x) => (float y) <float s = {0.01}, uint8 w = {7}> { d = DequantizeLinear(w, s) a = Mul(d, s) y = "
           "Mul(x, a) }",
       }) {
    Model model = model_of(text);
    EXPECT_EQ(fold(model), 0) << text;
  }
}

// The Cast is folded by a pass of its own, which can take it back; what comes after it would be wider for good.
TEST(FoldConstants, LeavesWidenedWeights) {
  Model model = model_of(R"(g (float[64,64] x) => (float[64,64] y) <int8[64,64] w, float s = {0.01}> {
    f = Cast<to = 1>(w) d = Mul(f, s) y = MatMul(x, d) })");
  PassReport report;
  run_fold_constant_casts(model, report);
  EXPECT_EQ(report.changes, 1);
  report.changes = 0;
  run_fold_constants(model, report);
  EXPECT_EQ(report.changes, 0);
}

TEST(FoldConstants, DeclinesWhatIsSeenOrReplaceable) {
  for (
      const char* text : {
          "g (float x) => (float y, float b) <float a = {1}> { b = Add(a, a) y = Add(x, b) }",
          "g (float x, float a = {1}) => (float y) { b = Add(a, a) y = Add(x, b) }",
          "g (float x) => (float y) <float a = {1}> { b = Exp(a) y = Add(x, b) }",
          "g (float x) => (float y) <float a = {1}> { b = com.microsoft.Gelu(a) y = Add(x, b) }",
          "g (float[2] x) => (float[2] y) <float[2] a = {1, 2}> { b = RandomNormalLike(a) y = Add(x, b) }",
          "g (float[2] x) => (float[2] y) <float[2] a = {1, 2}, int64 i = {3}> { b = Gather(a, i) y = Add(x, b) }",
          R"(g (string[2] x) => (bool[2] y) <string[2] a = {"a", "b"}, int64[2] i = {1, 0}> { b = Gather(a, i) y = Equal(x, b) })",
      }) {
    Model model = model_of(text);
    EXPECT_EQ(fold(model), 0) << text;
  }
}

// A tensor read twice by one node vanishes once; one that another node reads does not.
TEST(FoldConstants, CountsReadersOfAWeight) {
  Model twice = model_of("g (float[64,64] x) => (float[64,64] y) <float[64,64] w> { a = Add(w, w) y = MatMul(x, a) }");
  EXPECT_EQ(fold(twice), 1);
  Model pair = model_of(
      "g (float[64,64] x) => (float[64,128] y) <float[64,64] w> { a = Concat<axis = 1>(w, w) y = MatMul(x, a) }");
  EXPECT_EQ(fold(pair), 0);
  // The second reader frees what the first could not.
  Model parts = model_of(
      R"(g (float[n,256] x) => (float[n,1] y, float[n,256] z) <float[256,256] w, int64[1] a = {0}, int64[1] b = {1}, int64[1] c = {1}> {
      p = Slice(w, a, b, c) q = Neg(w) y = MatMul(x, p) z = MatMul(x, q) })");
  EXPECT_EQ(fold(parts), 2);
  EXPECT_EQ(stored(parts), "\np: FLOAT[256,1]\nq: FLOAT[256,256]\n");
}

// However the weights are combined, reading the result must not mean reading each of them twice as often per step.
TEST(FoldConstants, StandsAChainOfComputedTensors) {
  std::string text = "g (float[200,200] x) => (float[200,200] y) <float[200,200] w0, float[200,200] w1> {\n";
  for (int i = 2; i < 60; ++i) {
    text += "w" + std::to_string(i) + " = Max(w" + std::to_string(i - 1) + ", w" + std::to_string(i - 2) + ")\n";
  }
  Model model = model_of(text + "y = Add(x, w59) }");
  PassReport report;
  EXPECT_GT(fold(model), 50);
}

TEST(FoldConstants, StandsBrokenNodes) {
  for (const char* text : {"g (float x) => (float y) { a = Add() y = Add(x, a) }",
                           "g (float x) => (float y) <float w = {1}> { a, b = Add(w, w) y = Add(x, b) }",
                           "g (float x) => (float y) <float w = {1}> { a = Add(w) y = Add(x, a) }",
                           "g (float x) => (float y) <float w = {1}> { a = Add(w, ) y = Add(x, a) }"}) {
    Model model = model_of(text);
    PassReport report;
    EXPECT_NO_THROW(run_fold_constants(model, report)) << text;
    EXPECT_EQ(report.changes, 0) << text;
  }
}

}  // namespace
}  // namespace octet
