// remove_no_ops: each operator where it changes nothing, and the nearest case where it does.
#include <gmock/gmock.h>

#include "graph_pictures.h"
#include "prepare/pass.h"

namespace octet {
namespace {

using pictures::lines;
using pictures::model_of;
using pictures::picture;

int remove_no_ops(Model& model) {
  PassReport report;
  run_remove_no_ops(model, report);
  EXPECT_NO_THROW(GraphView{model.proto()}) << picture(model);
  const int changes = report.changes;
  report = {};
  run_remove_no_ops(model, report);
  EXPECT_EQ(report.changes, 0) << "twice: " << picture(model);
  return changes;
}

// Of `text`, in which y is the Sin of a, and a is made of x.
bool vanishes(const std::string& text, int opset = 17) {
  Model model = model_of("g " + text, opset);
  const int changes = remove_no_ops(model);
  PassReport report;
  run_remove_identities(model, report);
  run_drop_unused(model, report);
  EXPECT_EQ(changes == 1, picture(model) == "\ny = Sin(x)\n") << text << picture(model);
  return changes == 1;
}

TEST(RemoveNoOps, ViewsOfTheSameShape) {
  EXPECT_TRUE(vanishes("(float[2,3] x) => (float[2,3] y) <int64[2] s = {2, 3}> { a = Reshape(x, s) y = Sin(a) }"));
  EXPECT_TRUE(vanishes("(float[n,3] x) => (float[n,3] y) <int64[2] s = {0, 3}> { a = Reshape(x, s) y = Sin(a) }"));
  EXPECT_FALSE(vanishes("(float[2,3] x) => (float[3,2] y) <int64[2] s = {3, 2}> { a = Reshape(x, s) y = Sin(a) }"));
  EXPECT_FALSE(vanishes("(float[n] x, int64[1] s) => (float[m] y) { a = Reshape(x, s) y = Sin(a) }"));
  EXPECT_TRUE(vanishes("(float[n,3] x) => (float[n,3] y) { a = Flatten(x) y = Sin(a) }"));
  EXPECT_FALSE(vanishes("(float[n,3] x) => (float[k,1] y) { a = Flatten<axis = 2>(x) y = Sin(a) }"));
  EXPECT_TRUE(vanishes("(float[n,3] x) => (float[n,3] y) <int64[2] s = {1, 1}> { a = Tile(x, s) y = Sin(a) }"));
  EXPECT_FALSE(vanishes("(float[n,3] x) => (float[n,6] y) <int64[2] s = {1, 2}> { a = Tile(x, s) y = Sin(a) }"));
  EXPECT_TRUE(vanishes("(float[4,3] x) => (float[4,3] y) <int64[2] s = {1, 3}> { a = Expand(x, s) y = Sin(a) }"));
  EXPECT_FALSE(vanishes("(float[1,3] x) => (float[4,3] y) <int64[2] s = {4, 3}> { a = Expand(x, s) y = Sin(a) }"));
  EXPECT_TRUE(vanishes("(float[n,3] x) => (float[n,3] y) { a = Transpose<perm = [0, 1]>(x) y = Sin(a) }"));
  EXPECT_TRUE(vanishes("(float[n] x) => (float[n] y) { a = Transpose(x) y = Sin(a) }"));
  EXPECT_FALSE(vanishes("(float[3,3] x) => (float[3,3] y) { a = Transpose(x) y = Sin(a) }"));
  EXPECT_TRUE(vanishes("(float[n,4,2,2] x) => (float[n,4,2,2] y) { a = DepthToSpace<blocksize = 1>(x) y = Sin(a) }"));
}

TEST(RemoveNoOps, PiecesThatAreTheWhole) {
  EXPECT_TRUE(
      vanishes("(float[n,3] x) => (float[n,3] y) <int64[2] b = {0, 0}, int64[2] e = {9223372036854775807, "
               "2147483647}> { a = Slice(x, b, e) y = Sin(a) }"));
  EXPECT_TRUE(
      vanishes("(float[n,3] x) => (float[n,3] y) <int64[1] b = {-3}, int64[1] e = {3}, int64[1] k = {1}> { a = "
               "Slice(x, b, e, k) y = Sin(a) }"));
  EXPECT_TRUE(vanishes(
      "(float[n,3] x) => (float[n,3] y) { a = Slice<starts = [0], ends = [7], axes = [1]>(x) y = Sin(a) }", 9));
  EXPECT_FALSE(
      vanishes("(float[n,3] x) => (float[n,2] y) <int64[1] b = {1}, int64[1] e = {3}, int64[1] k = {1}> { a = "
               "Slice(x, b, e, k) y = Sin(a) }"));
  EXPECT_FALSE(
      vanishes("(float[n,3] x) => (float[n,3] y) <int64[1] b = {-1}, int64[1] e = {-9}, int64[1] k = {1}, "
               "int64[1] t = {-1}> { a = Slice(x, b, e, k, t) y = Sin(a) }"))
      << "turned round";
  EXPECT_TRUE(vanishes("(float[n,3] x) => (float[n,3] y) <int64[1] s = {3}> { a = Split<axis = 1>(x, s) y = Sin(a) }"));
  EXPECT_TRUE(
      vanishes("(float[n,3] x) => (float[n,3] y) <int64[3] i = {0, 1, 2}> { a = Gather<axis = -1>(x, i) y = Sin(a) }"));
  EXPECT_FALSE(
      vanishes("(float[n,3] x) => (float[n,3] y) <int64[3] i = {0, 2, 1}> { a = Gather<axis = 1>(x, i) y = Sin(a) }"));
  EXPECT_FALSE(
      vanishes("(float[n,3] x) => (float[n,2] y) <int64[2] i = {0, 1}> { a = Gather<axis = 1>(x, i) y = Sin(a) }"));
  EXPECT_TRUE(vanishes("(float[n,3] x) => (float[n,3] y) { a = Concat<axis = 0>(x) y = Sin(a) }"));
  EXPECT_TRUE(vanishes("(float[n,3] x) => (float[n,3] y) { a = Max(x) y = Sin(a) }"));
  EXPECT_FALSE(vanishes("(float[n,3] x) => (float[m,3] y) { a = Concat<axis = 0>(x, x) y = Sin(a) }"));
  EXPECT_TRUE(vanishes("(float[n,3] x) => (float[n,3] y) <int64[4] p = {0, 0, 0, 0}> { a = Pad(x, p) y = Sin(a) }"));
  EXPECT_TRUE(vanishes("(float[n,3] x) => (float[n,3] y) { a = Pad<pads = [0, 0, 0, 0]>(x) y = Sin(a) }", 10));
  EXPECT_FALSE(vanishes("(float[n,3] x) => (float[n,3] y) <int64[4] p = {0, 1, 0, -1}> { a = Pad(x, p) y = Sin(a) }"));
}

// onnx's own rules of opset 10 say otherwise: they keep the name of a size that is cut, and take the first branch's
// shape.
TEST(RemoveNoOps, WhatOldOpsetsSayOfShapes) {
  for (const int opset : {10, 11}) {
    EXPECT_FALSE(
        vanishes("(float[3,n] x) => (float[3,k] y) <int64[1] b = {1}, int64[1] e = {9223372036854775807}, int64[1] k = "
                 "{1}> { a = Slice(x, b, e, k) y = Sin(a) }",
                 opset));
    Model model = model_of(R"(g (float[1] x, bool c) => (float[1,1] y) {
      u = If(c) <then_branch = t () => (float[1,1] d) { d = Unsqueeze<axes = [0]>(x) }, else_branch = e () => (float[1] d) { d = Neg(x) }>
      y = Flatten(u) })",
                           opset);
    EXPECT_EQ(remove_no_ops(model), 0) << picture(model);
  }
}

TEST(RemoveNoOps, TypesAndRanks) {
  EXPECT_TRUE(vanishes("(float[n,3] x) => (float[n,3] y) { a = Cast<to = 1>(x) y = Sin(a) }"));
  EXPECT_FALSE(vanishes("(double[n,3] x) => (float[n,3] y) { a = Cast<to = 1>(x) y = Sin(a) }"));
  EXPECT_TRUE(vanishes("(float[n,3] x, float z) => (float[n,3] y) { a = CastLike(x, z) y = Sin(a) }"));
  EXPECT_FALSE(vanishes("(float[n,3] x, double z) => (double[n,3] y) { a = CastLike(x, z) y = Sin(a) }"));
  EXPECT_TRUE(vanishes("(float[n,1] x) => (float[n,1] y) <int64[1] k = {1}> { a = ReduceSum(x, k) y = Sin(a) }"));
  EXPECT_TRUE(vanishes("(float[n,1] x) => (float[n,1] y) { a = ReduceMax<axes = [1]>(x) y = Sin(a) }"));
  EXPECT_FALSE(vanishes("(float[n,1] x) => (float[n] y) { a = ReduceMax<axes = [1], keepdims = 0>(x) y = Sin(a) }"));
  EXPECT_FALSE(vanishes("(float[n,1] x) => (float[n,1] y) { a = ReduceL1<axes = [1]>(x) y = Sin(a) }"));
  EXPECT_FALSE(vanishes("(float[n,2] x) => (float[n,1] y) { a = ReduceMax<axes = [1]>(x) y = Sin(a) }"));
}

TEST(RemoveNoOps, NeutralElements) {
  EXPECT_TRUE(vanishes("(float[n,3] x) => (float[n,3] y) <float[3] c = {0, 0, 0}> { a = Add(x, c) y = Sin(a) }"));
  EXPECT_TRUE(vanishes("(float[n,3] x) => (float[n,3] y) <float[1] c = {0}> { a = Add(c, x) y = Sin(a) }"));
  EXPECT_TRUE(vanishes("(float[n,3] x) => (float[n,3] y) <float c = {0}> { a = Sub(x, c) y = Sin(a) }"));
  EXPECT_TRUE(vanishes("(float[n,3] x) => (float[n,3] y) <float c = {1}> { a = Mul(x, c) y = Sin(a) }"));
  EXPECT_TRUE(vanishes("(float[n,3] x) => (float[n,3] y) <float c = {1}> { a = Div(x, c) y = Sin(a) }"));
  EXPECT_TRUE(vanishes("(float[n,3] x) => (float[n,3] y) <int64 c = {1}> { a = Pow(x, c) y = Sin(a) }"));
  EXPECT_FALSE(vanishes("(float[n,3] x) => (float[n,3] y) <float[3] c = {0, 0, 1}> { a = Add(x, c) y = Sin(a) }"));
  EXPECT_FALSE(vanishes("(float[n,3] x) => (float[n,3] y) <float c = {0}> { a = Sub(c, x) y = Sin(a) }"));
  EXPECT_FALSE(vanishes("(float[n,3] x) => (float[n,3] y) <float c = {1}> { a = Div(c, x) y = Sin(a) }"));
  EXPECT_FALSE(vanishes("(float[n,3] x) => (float[n,3] y) <float c = {1}> { a = Add(x, c) y = Sin(a) }"));
  EXPECT_FALSE(vanishes("(float[1,3] x) => (float[2,3] y) <float[2,1] c = {0, 0}> { a = Add(x, c) y = Sin(a) }"))
      << "it broadcasts";
  EXPECT_FALSE(vanishes("(float[n] x) => (float[m,n] y) <float[1,1] c = {0}> { a = Add(x, c) y = Sin(a) }"))
      << "it adds an axis";
  EXPECT_FALSE(vanishes("(float[n,3] x, float c = {0}) => (float[n,3] y) { a = Add(x, c) y = Sin(a) }"))
      << "the caller may give another number";
  EXPECT_FALSE(vanishes("(double[n,3] x) => (double[n,3] y) <double c = {1.0000000001}> { a = Mul(x, c) y = Sin(a) }"))
      << "no float is that near to 1";
  EXPECT_TRUE(vanishes("(float[n] x, float[n] z) => (float[n] y) <bool c = {1}> { a = Where(c, x, z) y = Sin(a) }"));
  EXPECT_TRUE(vanishes("(float[n] x, float[n] z) => (float[n] y) <bool c = {0}> { a = Where(c, z, x) y = Sin(a) }"));
  EXPECT_FALSE(vanishes("(float[1] x, float[n] z) => (float[n] y) <bool c = {1}> { a = Where(c, x, z) y = Sin(a) }"));
}

TEST(RemoveNoOps, PoolsAndScales) {
  EXPECT_TRUE(
      vanishes("(float[n,3,4,4] x) => (float[n,3,4,4] y) { a = MaxPool<kernel_shape = [1, 1]>(x) y = Sin(a) }"));
  EXPECT_FALSE(
      vanishes("(float[n,3,4,4] x) => (float[n,3,2,2] y) { a = MaxPool<kernel_shape = [1, 1], strides = [2, 2]>(x) y = "
               "Sin(a) }"));
  EXPECT_FALSE(
      vanishes("(float[n,3,4,4] x) => (float[n,3,6,6] y) { a = AveragePool<kernel_shape = [1, 1], pads = [1, 1, 1, "
               "1]>(x) y = Sin(a) }"));
  EXPECT_TRUE(
      vanishes("(float[n,3,4,4] x) => (float[n,3,4,4] y) <float[4] s = {1, 1, 1, 1}> { a = Resize<mode = "
               "\"linear\">(x, , s) y = Sin(a) }"));
  EXPECT_TRUE(vanishes(
      "(float[1,3,4,4] x) => (float[1,3,4,4] y) <int64[4] s = {1, 3, 4, 4}> { a = Resize(x, , , s) y = Sin(a) }"));
  EXPECT_TRUE(vanishes(
      "(float[n,3,4,4] x) => (float[n,3,4,4] y) <float[4] s = {1, 1, 1, 1}> { a = Upsample(x, s) y = Sin(a) }", 9));
  EXPECT_FALSE(vanishes(
      "(float[n,3,4,4] x) => (float[n,3,4,4] y) <float[4] s = {1, 1, 1, 1.1}> { a = Resize(x, , s) y = Sin(a) }"))
      << "the same size, other places";
  EXPECT_FALSE(
      vanishes("(float[n,3,4,4] x) => (float[n,3,4,4] y) <float[8] r, float[4] s = {1, 1, 1, 1}> { a = "
               "Resize<coordinate_transformation_mode = \"tf_crop_and_resize\">(x, r, s) y = Sin(a) }"));
}

TEST(RemoveNoOps, PairsOfOperators) {
  const auto picture_of = [](const std::string& text) {
    Model model = model_of(text);
    remove_no_ops(model);
    PassReport report;
    run_remove_identities(model, report);
    run_drop_unused(model, report);
    return picture(model);
  };
  EXPECT_EQ(picture_of("g (float[n] x) => (float[n] y) { a = Relu(x) b = Relu(a) y = Sin(b) }"),
            "\na = Relu(x)\ny = Sin(a)\n");
  EXPECT_EQ(picture_of("g (float[n] x) => (float[n] y) { a = Neg(x) b = Neg(a) y = Sin(b) }"), "\ny = Sin(x)\n");
  EXPECT_EQ(picture_of("g (float[n] x) => (float[n] y) { a = Neg(x) b = Neg(a) c = Neg(b) y = Sin(c) }"),
            "\nc = Neg(x)\ny = Sin(c)\n");
  EXPECT_EQ(picture_of("g (float[n] x) => (float[n] y) { a = Neg(x) b = Abs(a) y = Sin(b) }"),
            "\na = Neg(x)\nb = Abs(a)\ny = Sin(b)\n");
}

TEST(RemoveNoOps, InsideBranchesAndAtOutputs) {
  Model model = model_of(R"(g (float[n,3] x, bool c) => (float[n,3] y, float[n,3] o) <float z = {0}> {
    y = If(c) <then_branch = t () => (float[n,3] u) { p = Add(x, z) u = Neg(p) },
               else_branch = e () => (float[n,3] v) { z = Exp(x) v = Add(x, z) }>
    o = Add(x, z) })");
  EXPECT_EQ(remove_no_ops(model), 2) << "the z of the second branch is no zero";
  PassReport report;
  run_remove_identities(model, report);
  EXPECT_EQ(picture(model).find("p ="), std::string::npos) << picture(model);
  EXPECT_NE(picture(model).find("o = Identity(x)"), std::string::npos) << picture(model);
}

TEST(RemoveNoOps, StandsNodesThatAreNone) {
  for (const char* node : {"a = Reshape(x)",  "a = Slice(x)",
                           "a = Pad(x)",      "a = Transpose<perm = [0, 7]>(x)",
                           "a = Cast(x)",     "a = Tile(x)",
                           "a = Resize(x)",   "a = Upsample(x)",
                           "a = Add(x)",      "a = Where(x)",
                           "a = Gather(x)",   "a = Gather<axis = -9>(x, i)",
                           "a = Concat()",    "a = Split()",
                           "a = MaxPool(x)",  "a = Relu()",
                           "a = CastLike(x)", "a = Flatten<axis = 99>(x)",
                           "a = Neg(x)",      "a = Squeeze()"}) {
    Model model =
        model_of(std::string("g (float[2] x) => (float[2] y) <int64[2] i = {0, 1}> { ") + node + " y = Sin(a) }");
    EXPECT_EQ(remove_no_ops(model), 0) << node;
  }
}

}  // namespace
}  // namespace octet
