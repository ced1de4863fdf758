// Passes inside a branch of an If: what is fused there, and what stays because it begins outside. Passes that have such
// a test beside their others are not here.
#include <gmock/gmock.h>

#include "graph_pictures.h"
#include "prepare/pass.h"

namespace octet {
namespace {

using pictures::lines;
using pictures::model_of;
using pictures::picture;
using pictures::run;
using pictures::stored;

// y is `then` of x where c, else -x; `weights` are those of the outer graph, `before` its other nodes.
Model branched(const std::string& type, const std::string& weights, const std::string& then, int opset,
               const std::string& before = "") {
  return model_of("g (" + type + " x, bool c) => (" + type + " y) <" + weights + "> { " + before +
                      "y = If(c) <then_branch = t () => (" + type + " z) { " + then + " }, else_branch = e () => (" +
                      type + " o) { o = Neg(x) }> }",
                  opset);
}

std::string one_node(const std::string& node) {
  return lines("y = If(c)\n  then_branch:\n    " + node + "\n  else_branch:\n    o = Neg(x)");
}

constexpr char kGelu[] = "float root2 = {1.4142135}, float one = {1}, float half = {0.5}";

TEST(InBranches, FuseGelu) {
  const std::string end = "e = Erf(d) s = Add(e, one) p = Mul(x, s) z = Mul(p, half)";
  Model inside = branched("float[n,8]", kGelu, "d = Div(x, root2) " + end, 20);
  EXPECT_EQ(run(run_fuse_gelu, inside).changes, 1);
  EXPECT_EQ(picture(inside), one_node("z = Gelu(x)"));
  pictures::expect_sound(inside);
  // What begins outside runs whichever branch is taken.
  Model across = branched("float[n,8]", kGelu, end, 20, "d = Div(x, root2) ");
  EXPECT_EQ(run(run_fuse_gelu, across).changes, 0);
}

TEST(InBranches, FuseSoftmax) {
  const std::string end = "d = Sub(x, m) e = Exp(d) s = ReduceSum(e, axes) z = Div(e, s)", axes = "int64[1] axes = {1}";
  Model inside = branched("float[a,b,k]", axes, "m = ReduceMax<axes = [1]>(x) " + end, 17);
  EXPECT_EQ(run(run_fuse_softmax, inside).changes, 1);
  EXPECT_EQ(picture(inside), one_node("z = Softmax<axis=1>(x)"));
  pictures::expect_sound(inside);
  Model across = branched("float[a,b,k]", axes, end, 17, "m = ReduceMax<axes = [1]>(x) ");
  EXPECT_EQ(run(run_fuse_softmax, across).changes, 0);
}

TEST(InBranches, FuseChannelConstants) {
  const std::string weights = "float[2,2,1] w = {1, 2, 3, 4}, float[2,1] f = {2, 3}";
  Model inside = branched("float[1,2,n]", weights, "d = Conv(x, w) z = Mul(d, f)", 17);
  EXPECT_EQ(run(run_fuse_channel_constants, inside).changes, 1);
  EXPECT_EQ(inside.proto().graph().node(0).attribute(0).g().node_size(), 1) << picture(inside);
  pictures::expect_sound(inside);
  Model across = branched("float[1,2,n]", weights, "z = Mul(d, f)", 17, "d = Conv(x, w) ");
  EXPECT_EQ(run(run_fuse_channel_constants, across).changes, 0);
  // The other branch wants the weight as it is.
  Model shared = model_of(R"(g (float[1,2,n] x, bool c) => (float[1,2,n] y) <)" + weights + R"(> {
    y = If(c) <then_branch = t () => (float[1,2,n] z) { d = Conv(x, w) z = Mul(d, f) },
               else_branch = e () => (float[1,2,n] o) { o = Conv(x, w) }> })");
  EXPECT_EQ(run(run_fuse_channel_constants, shared).changes, 0);
}

TEST(InBranches, FoldConstantViews) {
  Model own = model_of(R"(g (float[n,2] x, bool c) => (float[n,2] y) {
    y = If(c) <then_branch = t () => (float[n,2] z) <float[2,2] w = {1, 2, 3, 4}> { v = Transpose(w) z = MatMul(x, v) },
               else_branch = e () => (float[n,2] o) { o = Neg(x) }> })");
  EXPECT_EQ(run(run_fold_constant_views, own).changes, 1);
  EXPECT_EQ(picture(own), one_node("z = MatMul(x, v)"));
  EXPECT_EQ(stored(own), "\n  v: FLOAT[2,2]\n");
  pictures::expect_sound(own);
}

TEST(InBranches, ShareEqualTensors) {
  Model outer = model_of(R"(g (float[2] x, bool c) => (float[2] y) <float[2] a = {1, 2}, float[2] b = {1, 2}> {
    p = Add(x, a)
    y = If(c) <then_branch = t () => (float[2] z) { z = Add(p, b) }, else_branch = e () => (float[2] o) { o = Neg(x) }> })");
  EXPECT_EQ(run(run_share_equal_tensors, outer).changes, 1);
  EXPECT_THAT(picture(outer), testing::HasSubstr("z = Add(p, a)"));
  pictures::expect_sound(outer);
}

}  // namespace
}  // namespace octet
