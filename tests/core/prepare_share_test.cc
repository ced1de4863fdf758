// share_equal_nodes: what counts as equal, and what is left alone.
#include <gmock/gmock.h>

#include "graph_pictures.h"
#include "prepare/pass.h"

namespace octet {
namespace {

using pictures::lines;
using pictures::model_of;
using pictures::picture;

int share(Model& model) { return pictures::run_and_sweep(run_share_equal_nodes, model); }

TEST(ShareEqualNodes, AChainInOneSweep) {
  Model model = model_of(R"(g (float[n] x) => (float[n] y) {
    a = Relu(x) b = Relu(x) c = Neg(a) d = Neg(b) e = Exp(c) f = Exp(d) y = Add(e, f) })");
  EXPECT_EQ(share(model), 3);
  EXPECT_EQ(picture(model), lines(R"(
    a = Relu(x)
    c = Neg(a)
    e = Exp(c)
    y = Add(e, e))"));
}

TEST(ShareEqualNodes, AttributesInWhateverOrder) {
  Model model = model_of(R"(g (float[n,4] x) => (float[n,4] y) {
    a = Softmax<axis = 1>(x) b = Softmax<axis = 1>(x) c = Softmax<axis = 0>(x)
    d = LeakyRelu<alpha = 0.5>(a) e = LeakyRelu<alpha = 0.5>(b) y = Sum(c, d, e) })");
  EXPECT_EQ(share(model), 2);
  EXPECT_EQ(picture(model), lines(R"(
    a = Softmax<axis=1>(x)
    c = Softmax<axis=0>(x)
    d = LeakyRelu<alpha=0.5>(a)
    y = Sum(c, d, d))"));
}

TEST(ShareEqualNodes, AnOutputKeepsItsName) {
  Model model = model_of("g (float[n] x) => (float[n] y, float[n] z) { a = Relu(x) y = Relu(x) z = Neg(a) }");
  EXPECT_EQ(share(model), 1);
  EXPECT_EQ(picture(model), lines(R"(
    y = Relu(x)
    z = Neg(y))"));
  Model both = model_of("g (float[n] x) => (float[n] y, float[n] z) { y = Relu(x) z = Relu(x) }");
  EXPECT_EQ(share(both), 1);
  EXPECT_EQ(picture(both), lines(R"(
    y = Relu(x)
    z = Identity(y))"));
}

TEST(ShareEqualNodes, AllOutputsOfANode) {
  Model model = model_of(R"(g (float[4] x) => (float[2] y, float[2] z) <int64[2] s = {2, 2}> {
    a, b = Split(x, s) c, d = Split(x, s) y = Add(a, c) z = Add(b, d) })");
  EXPECT_EQ(share(model), 1);
  EXPECT_EQ(picture(model), lines(R"(
    a, b = Split(x, s)
    y = Add(a, a)
    z = Add(b, b))"));
  Model seen = model_of(R"(g (float[4] x) => (float[2] y, float[2] d) <int64[2] s = {2, 2}> {
    a, b = Split(x, s) c, d = Split(x, s) y = Add(b, c) })");
  EXPECT_EQ(share(seen), 0) << "an output of the graph among several";
}

TEST(ShareEqualNodes, ABranchUsesWhatStandsAround) {
  Model model = model_of(R"(g (float[n] x, bool c) => (float[n] y) { a = Relu(x)
    z = If(c) <then_branch = t () => (float[n] u) { p = Relu(x) u = Neg(p) },
               else_branch = e () => (float[n] v) { q = Neg(x) v = Exp(q) }>
    r = Neg(x) y = Add(z, r) w = Add(a, r) })");
  EXPECT_EQ(share(model), 1) << "the Neg after the If comes too late for the branch";
  EXPECT_EQ(picture(model).find("p = Relu"), std::string::npos) << picture(model);
}

TEST(ShareEqualNodes, NamesInABranchMeanWhatTheyMeanThere) {
  // `x` is another value in the branch; `a` is, in the second one.
  Model model = model_of(R"(g (float[n] x, bool c) => (float[n] y) { a = Relu(x) b = Neg(x)
    z = If(c) <then_branch = t () => (float[n] u) { x = Exp(b) p = Relu(x) u = Neg(p) },
               else_branch = e () => (float[n] v) { a = Exp(b) q = Relu(x) v = Add(a, q) }>
    y = Add(z, a) })");
  EXPECT_EQ(share(model), 0);
}

TEST(ShareEqualNodes, DeclinesWhatDiffers) {
  for (const char* text : {
           "g (float[n] x) => (float[n] y) { a = Relu(x) b = Neg(x) y = Add(a, b) }",
           "g (float[n] x) => (float[n] y) { a = RandomNormalLike(x) b = RandomNormalLike(x) y = Add(a, b) }",
           "g (float[n] x, bool t) => (float[n] y) <float r = {0.5}> { a = Dropout(x, r, t) b = Dropout(x, r, t) y = "
           "Add(a, b) }",
           "g (float[n] x) => (float[n] y) { a = com.microsoft.Gelu(x) b = com.microsoft.Gelu(x) y = Add(a, b) }",
           "g (int8[n] x) => (float[n] y) <float s = {2}> { a = DequantizeLinear(x, s) b = DequantizeLinear(x, s) y = "
           "Add(a, b) }",
           "g (float[n] x, float[n] z) => (float[n] y) { a = Sub(x, z) b = Sub(z, x) y = Add(a, b) }",
           "g (float[n] x) => (float[n] y) <float lo = {0}> { a = Clip(x, lo) b = Clip(x, , lo) y = Add(a, b) }",
       }) {
    Model model = model_of(text);
    EXPECT_EQ(share(model), 0) << text;
  }
}

TEST(ShareEqualNodes, MarksAreInherited) {
  Model model = model_of("g (float[n] x) => (float[n] y) { a = Relu(x) b = Relu(x) y = Add(a, b) }");
  auto& mark = *model.proto().mutable_graph()->mutable_node(1)->add_metadata_props();
  mark.set_key("octet.exclude");
  share(model);
  ASSERT_EQ(model.proto().graph().node(0).metadata_props_size(), 1);
}

}  // namespace
}  // namespace octet
