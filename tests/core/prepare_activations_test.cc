// fuse_activations and fuse_pads: what becomes one operator, and what stays as it is.
#include <gmock/gmock.h>

#include "graph_pictures.h"
#include "prepare/pass.h"

namespace octet {
namespace {

using pictures::lines;
using pictures::model_of;
using pictures::picture;
using pictures::run;
using testing::ElementsAre;
using testing::HasSubstr;

std::string after(void (*pass)(Model&, PassReport&), const std::string& text, int opset, int changes = 1) {
  Model model = model_of(text, opset);
  EXPECT_EQ(run(pass, model).changes, changes) << text;
  return picture(model);
}

std::string activations(const std::string& text, int opset = 13, int changes = 1) {
  return after(run_fuse_activations, text, opset, changes);
}
std::string pads(const std::string& text, int opset = 17, int changes = 1) {
  return after(run_fuse_pads, text, opset, changes);
}

const std::string kNumbers = "<float b = {3}, float z = {0}, float m = {6}, float s = {0.16666667}> ";

TEST(FuseActivations, HardSigmoidFromItsParts) {
  const std::string head = "g (float[n] x) => (float[n] y) " + kNumbers;
  const std::string wanted = "\nc = HardSigmoid<alpha=0.166667, beta=0.5>(x)\ny = Mul(x, c)\n";
  EXPECT_EQ(activations(head + "{ a = Add(x, b) c = Clip(a, z, m) d = Mul(x, c) y = Div(d, m) }"), wanted);
  EXPECT_EQ(activations(head + "{ a = Add(b, x) c = Clip(a, z, m) d = Mul(c, x) y = Mul(s, d) }"), wanted);
  EXPECT_EQ(activations(head + "{ a = Add(x, b) c = Clip(a, z, m) d = Div(c, m) y = Mul(x, d) }"), wanted);
  EXPECT_EQ(activations(head + "{ a = Add(x, b) c = Clip(a, z, m) d = Mul(c, s) y = Mul(d, x) }"), wanted);
  EXPECT_EQ(activations(head + "{ a = Add(x, b) c = Clip<min = 0.0, max = 6.0>(a) d = Mul(c, s) y = Mul(d, x) }", 10),
            wanted);
}

TEST(FuseActivations, HardSwishWhereTheOpsetHasIt) {
  const std::string text =
      "g (float[n] x) => (float[n] y) " + kNumbers + "{ a = Add(x, b) c = Clip(a, z, m) d = Mul(x, c) y = Div(d, m) }";
  EXPECT_EQ(activations(text, 14, 2), "\ny = HardSwish(x)\n");
  EXPECT_EQ(activations("g (float[n] x) => (float[n] y) { c = HardSigmoid<alpha = 0.166667>(x) y = Mul(c, x) }", 14),
            "\ny = HardSwish(x)\n");
}

TEST(FuseActivations, ANumberWithAxesNeedsARankToHideIn) {
  const std::string body =
      "<float[1] b = {3}, float z = {0}, float m = {6}> { a = Add(x, b) c = Clip(a, z, m) d = "
      "Mul(x, c) y = Div(d, m) }";
  EXPECT_EQ(activations("g (float[n] x) => (float[n] y) " + body),
            "\nc = HardSigmoid<alpha=0.166667, beta=0.5>(x)\ny = Mul(x, c)\n");
  EXPECT_THAT(activations("g (float x) => (float[1] y) " + body, 13, 0), HasSubstr("Add"));
  EXPECT_THAT(activations("g (float[n] x) => (float[1,n] y) <float[1,1] z = {0}> { y = Max(x, z) }", 13, 0),
              HasSubstr("Max"));
}

TEST(FuseActivations, ReluAndClip) {
  EXPECT_EQ(activations("g (float[n] x) => (float[n] y) <float z = {0}> { y = Max(x, z) }"), "\ny = Relu(x)\n");
  EXPECT_EQ(activations("g (float[n] x) => (float[n] y) <float[1] z = {0}> { y = Max(z, x) }", 9), "\ny = Relu(x)\n");
  EXPECT_EQ(
      activations("g (float[n] x) => (float[n] y) <float z = {0}, float m = {6}> { a = Max(z, x) y = Min(a, m) }"),
      "\ny = Clip(x, z, m)\n");
  EXPECT_EQ(
      activations("g (float[n] x) => (float[n] y) <float z = {0}, float m = {6}> { a = Max(z, x) y = Min(a, m) }", 9),
      "\na = Relu(x)\ny = Min(a, m)\n");
}

TEST(FuseActivations, InsideABranch) {
  EXPECT_EQ(activations(R"(g (float[n] x, bool t) => (float[n] y) <float z = {0}> {
    y = If(t) <then_branch = a () => (float[n] u) { u = Max(x, z) }, else_branch = e () => (float[n] u) { u = Neg(x) }> })"),
            lines(R"(
    y = If(t)
      then_branch:
        u = Relu(x)
      else_branch:
        u = Neg(x))"));
}

TEST(FuseActivations, Declines) {
  const std::string head = "g (float[n] x, float[n] v) => (float[n] y) " + kNumbers;
  for (const std::string& body : std::vector<std::string>{
           "{ a = Add(x, b) c = Clip(a, z, m) d = Mul(v, c) y = Div(d, m) }",  // another factor
           "{ a = Add(x, b) c = Clip(a, z, m) d = Mul(x, c) y = Div(d, b) }",  // no 6
           "{ a = Add(x, b) c = Clip(a, b, m) d = Mul(x, c) y = Div(d, m) }",  // from 3 on
           "{ a = Add(x, b) c = Clip(a, z) d = Mul(x, c) y = Div(d, m) }",     // open above
           "{ a = Add(x, b) c = Clip(a, z, m) d = Mul(x, c) y = Div(m, d) }",
           "{ a = Add(x, b) c = Clip(a, z, m) d = Mul(x, c) e = Div(d, m) y = Add(e, c) }",  // seen
           "{ a = Add(x, v) c = Clip(a, z, m) d = Mul(x, c) y = Div(d, m) }", "{ y = Max(x, b) }",
           "{ y = Max(x, v, z) }", "{ y = Max(x) }",
           "{ a = Max(x, m) y = Min(a, b) }",  // upside down
           "{ c = HardSigmoid(x) y = Mul(c, x) }"}) {
    Model model = model_of(head + body, 14);
    const std::string before = picture(model);
    EXPECT_EQ(run(run_fuse_activations, model).changes, 0) << body;
    EXPECT_EQ(picture(model), before);
  }
  EXPECT_THAT(activations("g (float[n] x, float z = {0}) => (float[n] y) { y = Max(x, z) }", 13, 0), HasSubstr("Max"));
  EXPECT_THAT(activations("g (int64[n] x) => (int64[n] y) <int64 z = {0}> { y = Max(x, z) }", 14, 0), HasSubstr("Max"));
}

TEST(FusePads, IntoAConv) {
  EXPECT_EQ(pads("g (float[1,1,n,n] x) => (float[1,1,n,n] y) <float[1,1,3,3] w, int64[8] p = {0, 0, 1, 2, 0, 0, 3, 4}> "
                 "{ a = Pad(x, p) y = Conv<pads = [1, 0, 0, 1]>(a, w) }"),
            "\ny = Conv<pads=[2,2,3,5]>(x, w)\n");
  EXPECT_EQ(pads("g (float[1,1,n] x) => (float[1,1,n] y) <float[1,1,3] w> { a = Pad<pads = [0, 0, 1, 0, 0, 2]>(x) y = "
                 "Conv<auto_pad = \"VALID\">(a, w) }",
                 10),
            "\ny = Conv<pads=[1,2]>(x, w)\n");
  EXPECT_EQ(pads("g (float[1,1,n] x, float[1,1,3] w) => (float[1,1,n] y) <int64[2] p = {1, 2}, float v = {0}, int64[1] "
                 "axes = {-1}> { a = Pad(x, p, v, axes) y = Conv<kernel_shape = [3]>(a, w) }",
                 18),
            "\ny = Conv<kernel_shape=[3], pads=[1,2]>(x, w)\n");
}

TEST(FusePads, IntoAPoolThatCountsThem) {
  const std::string head = "g (float[1,1,n] x) => (float[1,1,n] y) <int64[6] p = {0, 0, 1, 0, 0, 1}> { a = Pad(x, p) ";
  EXPECT_EQ(pads(head + "y = AveragePool<kernel_shape = [2]>(a) }"),
            "\ny = AveragePool<count_include_pad=1, kernel_shape=[2], pads=[1,1]>(x)\n");
  for (const std::string& pool : std::vector<std::string>{
           "y = AveragePool<kernel_shape = [2], ceil_mode = 1>(a) }", "y = AveragePool<kernel_shape = [1]>(a) }",
           "y = AveragePool<kernel_shape = [3], pads = [1, 1]>(a) }", "y = MaxPool<kernel_shape = [2]>(a) }"})
    EXPECT_THAT(pads(head + pool, 17, 0), HasSubstr("Pad(x, p)"));
}

TEST(FusePads, InsideABranch) {
  EXPECT_EQ(pads(R"(g (float[1,1,n] x, bool t) => (float[1,1,n] y) <float[1,1,3] w, int64[6] p = {0, 0, 1, 0, 0, 1}> {
    y = If(t) <then_branch = a () => (float[1,1,n] u) { c = Pad(x, p) u = Conv(c, w) },
               else_branch = e () => (float[1,1,n] u) { u = Neg(x) }> })"),
            lines(R"(
    y = If(t)
      then_branch:
        u = Conv<pads=[1,1]>(x, w)
      else_branch:
        u = Neg(x))"));
}

TEST(FusePads, Declines) {
  const std::string conv = "y = Conv(a, w) }";
  const auto head = [](const std::string& more) {
    return "g (float[1,1,n] x, int64[6] q) => (float[1,1,n] y) <float[1,1,3] w, " + more + "> ";
  };
  for (const std::string& text : std::vector<std::string>{
           head("int64[6] p = {0, 1, 1, 0, 0, 1}") + "{ a = Pad(x, p) " + conv,   // channels
           head("int64[6] p = {0, 0, -1, 0, 0, 1}") + "{ a = Pad(x, p) " + conv,  // takes away
           head("int64[6] p = {0, 0, 1, 0, 0, 1}, float v = {1}") + "{ a = Pad(x, p, v) " + conv,
           head("int64[6] p = {0, 0, 1, 0, 0, 1}") + "{ a = Pad<mode = \"reflect\">(x, p) " + conv,
           head("int64[5] p = {0, 0, 1, 0, 0}") + "{ a = Pad(x, p) " + conv,
           head("int64[8] p = {0, 0, 1, 0, 0, 1, 0, 0}") + "{ a = Pad(x, p) " + conv,
           head("float z") + "{ a = Pad(x, q) " + conv,  // when it runs
           head("int64[6] p = {0, 0, 9000000000, 0, 0, 1}") + "{ a = Pad(x, p) " + conv,
           head("int64[2] p = {1, 1}, float v = {0}, int64[1] e = {7}") + "{ a = Pad(x, p, v, e) " + conv,
           head("int64[4] p = {1, 1, 1, 1}, float v = {0}, int64[2] e = {2, 2}") + "{ a = Pad(x, p, v, e) " + conv,
           head("int64[6] p = {0, 0, 1, 0, 0, 1}") + "{ a = Pad(x, p) b = Conv(a, w) y = Mul(b, a) }",
           head("int64[6] p = {0, 0, 1, 0, 0, 1}") + "{ a = Pad(x, p) y = Conv<auto_pad = \"SAME_UPPER\">(a, w) }"}) {
    EXPECT_THAT(pads(text, 18, 0), HasSubstr("= Pad"));
  }
}

}  // namespace
}  // namespace octet
