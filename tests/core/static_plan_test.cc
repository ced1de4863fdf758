// Which nodes compute in integers in static mode, and which values between them need ranges.
#include <gmock/gmock.h>

#include "graph_pictures.h"
#include "static_pictures.h"

namespace octet {
namespace {

using namespace pictures;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::UnorderedElementsAre;

TEST(StaticPlan, ConvolutionsReadAndWriteIntegersAndTheClampBetweenGoesAway) {
  const Plan plan = planned(kPair, static_options());
  EXPECT_EQ(static_picture(plan), lines(R"(
    first: x → q, absorbs act
    second: q → y
    x q y)"));
  EXPECT_EQ(plan.nodes[1].why, "rounding to integers clamps as it does");
  EXPECT_EQ(plan.nodes[1].action, Action::kKeep);
  EXPECT_EQ(plan.mode, Mode::kStatic);
}

TEST(StaticPlan, NodesBetweenIntegerNodesJoin) {
  for (const char* nodes :
       {"[it] q = Sigmoid(p)", "[it] q = LeakyRelu(p)", "[it] q = MaxPool<kernel_shape = [2, 2]>(p)",
        "[it] q = AveragePool<kernel_shape = [2, 2]>(p)", "[it] q = GlobalAveragePool(p)", "[it] q = Add(p, p)",
        "[it] q = Mul(p, p)", "[it] q = Add(p, k)", "[it] q = Concat<axis = 2>(p, p)",
        "[it] q = Transpose<perm = [0, 1, 3, 2]>(p)", "[it] q = Resize<mode = \"nearest\">(p, , f)"}) {
    const Plan plan = planned(between(nodes, ", float[4,1,1] k, float[4] f = {1, 1, 2, 2}"), static_options());
    EXPECT_EQ(static_picture(plan), lines(R"(
      first: x → p
      it: p → q
      last: q → y
      x p q y)"))
        << nodes << picture(plan);
  }
}

TEST(StaticPlan, WholeBlocksOfAConvolutionalNetworkJoin) {
  EXPECT_EQ(static_picture(planned(between("[s] s = Sigmoid(p) [m] m = Mul(p, s) [c] q = Concat<axis = 2>(m, p)"),
                                   static_options())),
            lines(R"(
    first: x → p
    s: p → s
    m: p s → m
    c: m p → q
    last: q → y
    x p s m q y)"));
}

TEST(StaticPlan, NothingJoinsAtTheEdges) {
  // Before the first product, behind the last, and beside a value that is in float.
  const Plan plan = planned(
      "g (float[1,4,8,8] x) => (float[a,b,c,d] y) <float[4,4,1,1] u, float[4,4,1,1] v> { [head] h = Sigmoid(x) [first] "
      "p = Conv(h, u) [side] s = Tanh(p) [sum] t = Add(p, s) [last] q = Conv(t, v) [tail] y = Sigmoid(q) }",
      static_options());
  EXPECT_EQ(static_picture(plan), lines(R"(
    first: h → p
    last: t → q
    h p t q)"));
}

TEST(StaticPlan, ABranchThatLeadsNowhereStays) {
  const Plan plan = planned(
      "g (float[1,4,8,8] x) => (float[a,b,c,d] y, float[a,b,c,d] z) <float[4,4,1,1] u, float[4,4,1,1] v> { [first] p = "
      "Conv(x, u) [last] y = Conv(p, v) [dead] z = Sigmoid(p) }",
      static_options());
  EXPECT_EQ(static_picture(plan), lines(R"(
    first: x → p
    last: p → y
    x p y)"));
}

TEST(StaticPlan, BlocksThatAreOneOperationStayWhole) {
  // A LayerNormalization and a GELU written out, each between products.
  const std::string begin = "g (float[2,5,32] x) => (float[a,b,c] y) <float[32,32] u, float[32,32] v";
  const std::string norm =
      begin +
      ", float two = {2}, float[1] tiny = {0.00001}, float[32] scale, float[32] bias> { [first] p = MatMul(x, u) m = "
      "ReduceMean<axes = [-1]>(p) d = Sub(p, m) s = Pow(d, two) n = ReduceMean<axes = [-1]>(s) e = Add(n, tiny) r = "
      "Sqrt(e) o = Div(d, r) t = Mul(o, scale) q = Add(t, bias) [last] y = MatMul(q, v) }";
  const std::string gelu =
      begin +
      ", float root = {1.4142135}, float one = {1}, float half = {0.5}> { [first] p = MatMul(x, u) "
      "d = Div(p, root) e = Erf(d) a1 = Add(e, one) m = Mul(p, a1) q = Mul(m, half) [last] y = "
      "MatMul(q, v) }";
  for (const std::string& text : {norm, gelu}) {
    EXPECT_EQ(static_picture(planned(text, static_options())), lines(R"(
      first: x →
      last: q →
      x q)"));
  }
  const std::string softmax = begin + "> { [first] p = MatMul(x, u) q = Softmax(p) [last] y = MatMul(q, v) }";
  EXPECT_EQ(static_picture(planned(softmax, static_options())), lines(R"(
      first: x →
      last: q →
      x q)"));
}

TEST(StaticPlan, ProductsOfTwoComputedValuesStayInFloat) {
  EXPECT_EQ(static_picture(planned("g (float[2,5,32] x) => (float[a,b,c] y) <float[32,32] u, float[32,32] v, "
                                   "float[32,32] w> { [left] p = MatMul(x, u) [right] r = MatMul(x, v) t = "
                                   "Transpose<perm = [0, 2, 1]>(r) [scores] s = MatMul(p, t) o = Softmax(s) [mix] m = "
                                   "MatMul(o, r) [last] y = MatMul(m, w) }",
                                   static_options())),
            lines(R"(
    left: x →
    right: x →
    last: m →
    x m)"));
}

TEST(StaticPlan, ProductsWithoutAnIntegerReaderKeepFloatOutputs) {
  EXPECT_EQ(
      static_picture(planned("g (float[5,32] x) => (float[a,b] y, float[a,b] z) <float[32,48] u, float[48,32] v, "
                             "float[48,32] w, float[32] c> { [mm] p = MatMul(x, u) [next] y = MatMul(p, v) [gemm] z = "
                             "Gemm(p, w, c) }",
                             static_options())),
      lines(R"(
    mm: x → p
    next: p →
    gemm: p →
    x p)"));
}

TEST(StaticPlan, ProductsWithoutAnIntegerReaderGiveIntegersWhereAsked) {
  // As ProductsWithoutAnIntegerReaderKeepFloatOutputs, and a clamp that rounding then replaces.
  PlanOptions options = static_options();
  options.round_outputs = true;
  EXPECT_EQ(
      static_picture(planned("g (float[5,32] x) => (float[a,b] y, float[a,b] t) <float[32,48] u, float[48,32] v, "
                             "float[48,32] w, float[32] c> { [mm] p = MatMul(x, u) [next] y = MatMul(p, v) [gemm] z = "
                             "Gemm(p, w, c) [act] r = Relu(z) [tail] t = Tanh(r) }",
                             options)),
      lines(R"(
    mm: x → p
    next: p → y
    gemm: p → r, absorbs act
    x p y r)"));
}

std::string clamp_of(const std::string& clamp, PlanOptions options = static_options(), const std::string& more = "") {
  const Plan plan = planned("g (float[1,4,8,8] x) => (float[a,b,c,d] y" + more +
                                ") <float[4,4,1,1] u, float[4,4,1,1] v, float zero = {0}, float one = {1}, float minus "
                                "= {-1}, float six = {6}, float ninth = {-0.0}> { [first] p = Conv(x, u) [it] q = " +
                                clamp + " [last] y = Conv(q, v) }",
                            options);
  return plan.nodes[0].absorbs;
}

TEST(StaticPlan, AClampIsAbsorbedWhereItsBoundsLieAroundZero) {
  EXPECT_EQ(clamp_of("Relu(p)"), "it");
  EXPECT_EQ(clamp_of("Clip(p, zero, six)"), "it");
  EXPECT_EQ(clamp_of("Clip(p, zero)"), "it");
  EXPECT_EQ(clamp_of("Clip(p, minus, one)"), "it");
  EXPECT_EQ(clamp_of("Clip(p, , six)"), "it");
  EXPECT_EQ(clamp_of("Clip(p)"), "it");
  EXPECT_EQ(clamp_of("Max(p, minus)"), "it");
  EXPECT_EQ(clamp_of("Min(six, p)"), "it");
  EXPECT_EQ(clamp_of("Clip(p, one, six)"), "") << "zero is rounded as zero, not as one";
  EXPECT_EQ(clamp_of("Max(p, one)"), "");
  EXPECT_EQ(clamp_of("Max(p, x)"), "");
  EXPECT_EQ(clamp_of("Relu(p)", symmetric()), "");
  EXPECT_EQ(clamp_of("Clip(p, zero, six)", symmetric()), "");
  EXPECT_EQ(clamp_of("Relu(p)", static_options(), ", float[a,b,c,d] q"), "it") << "rounded, it is an output as well";
  EXPECT_EQ(clamp_of("Relu(p)", static_options(), ", float[a,b,c,d] p"), "") << "someone wants what it clamps";
  EXPECT_EQ(clamp_of("Relu(p) z = Tanh(q)", static_options(), ", float[a,b,c,d] z"), "it");
  EXPECT_EQ(clamp_of("Relu(p) z = Tanh(p)", static_options(), ", float[a,b,c,d] z"), "");
  PlanOptions excluded = static_options();
  excluded.nodes_to_exclude = {"it"};
  EXPECT_EQ(clamp_of("Relu(p)", excluded), "");
}

TEST(StaticPlan, BoundsThatAreComputedAreNone) {
  EXPECT_EQ(planned("g (float[1,4,8,8] x, float top) => (float[a,b,c,d] y) <float[4,4,1,1] u, float[4,4,1,1] v, float "
                    "zero = {0}> { p = Conv(x, u) q = Clip(p, zero, top) y = Conv(q, v) }",
                    static_options())
                .nodes[0]
                .absorbs,
            "");
}

TEST(StaticPlan, WhatOnlyCarriesElementsOnHasTheRangeOfWhatGoesIn) {
  const Plan plan = planned(between("[one] o = MaxPool<kernel_shape = [2, 2]>(p) [two] t = Transpose<perm = [0, 1, 3, "
                                    "2]>(o) m, n = Split<axis = 2>(t, at) [four] q = Add(m, n)",
                                    ", int64[2] at = {3, 4}"),
                            static_options());
  std::map<std::string, std::string> same;
  for (const ActivationPlan& activation : plan.activations) same[activation.tensor] = activation.same_as;
  EXPECT_EQ(same, (std::map<std::string, std::string>{
                      {"x", ""}, {"p", ""}, {"o", "p"}, {"t", "o"}, {"m", "t"}, {"n", "t"}, {"q", ""}, {"y", ""}}));
  const Quantizer quantizer(model_of(between("[one] q = MaxPool<kernel_shape = [2, 2]>(p)")), static_options());
  EXPECT_THAT(quantizer.taps(), ElementsAre("x", "p", "y")) << "calibration need not see it";
  EXPECT_THAT(quantizer.taps(true), UnorderedElementsAre("x", "p", "q", "y"));
}

TEST(StaticPlan, SoftmaxNeedsNoSamples) {
  PlanOptions options = static_options();
  options.op_types = {"Softmax", "Conv"};
  const Quantizer quantizer(model_of(between("[it] q = Softmax(p)")), options);
  EXPECT_THAT(quantizer.taps(), ElementsAre("x", "p", "y"));
  ASSERT_TRUE(activation(quantizer.plan(), "q").range);
  EXPECT_EQ(activation(quantizer.plan(), "q").range->high, 1);
}

TEST(StaticPlan, OnlyWhatOpTypesNameIsTouched) {
  PlanOptions options = static_options();
  options.op_types = {"Sigmoid"};
  EXPECT_EQ(static_picture(planned(between("[it] q = Sigmoid(p)"), options)), lines(R"(
    it: p → q
    p q)"));
  options.op_types = {"Conv"};
  EXPECT_EQ(static_picture(planned(between("[it] q = Sigmoid(p)"), options)), lines(R"(
    first: x → p
    last: q → y
    x p q y)"));
}

TEST(StaticPlan, ListsOfNodesAreKept) {
  PlanOptions options = static_options();
  options.nodes_to_exclude = {"last"};
  EXPECT_EQ(static_picture(planned(between("[it] q = Sigmoid(p)"), options)), lines(R"(
    first: x → p
    x p)"));
  options.nodes_to_exclude = {"it"};
  EXPECT_EQ(static_picture(planned(between("[it] q = Sigmoid(p)"), options)), lines(R"(
    first: x → p
    last: q → y
    x p q y)"));
  options.nodes_to_exclude.clear();
  options.nodes_to_quantize = {"f*", "it"};
  EXPECT_EQ(static_picture(planned(between("[it] q = Sigmoid(p)"), options)), lines(R"(
    first: x → p
    x p)"));
  options.nodes_to_quantize = {"op:Conv"};
  EXPECT_EQ(static_picture(planned(between("[it] q = Sigmoid(p)"), options)), lines(R"(
    first: x → p
    last: q → y
    x p q y)"));
}

TEST(StaticPlan, InSubgraphsOnlyWeightsAreStored) {
  const Plan plan = planned(R"(g (float[n,32] x, bool c) => (float[n,48] y) {
      [choice] y = If(c) <
        then_branch = t () => (float[n,48] z) <float[32,48] w> { [left] z = MatMul(x, w) },
        else_branch = e () => (float[n,48] z) <float[32,48] v> { a = Neg(x) [right] z = MatMul(a, v) }
      > })",
                            static_options());
  EXPECT_TRUE(plan.activations.empty());
  for (const NodePlan& node : plan.nodes) EXPECT_NE(node.action, Action::kStatic) << node.node;
  EXPECT_EQ(plan.tensors.size(), 2u);
}

TEST(StaticPlan, WhatCannotComputeInIntegersSaysWhy) {
  const auto why = [](const std::string& text, PlanOptions options = static_options()) {
    const Plan plan = planned(text, options);
    EXPECT_NE(plan.nodes.back().action, Action::kStatic) << picture(plan);
    return plan.nodes.back().why;
  };
  EXPECT_THAT(why("g (float16[5,32] x) => (float16[a,b] y) <float16[32,48] w> { y = MatMul(x, w) }"),
              HasSubstr("no float32"));
  EXPECT_THAT(why("g (float[32,5] x) => (float[a,b] y) <float[32,48] w> { y = Gemm<transA = 1>(x, w) }"),
              HasSubstr("transA"));
  EXPECT_THAT(why("g (float[5,32] x) => (float[a,b] y) <float[32,48] w> { y = Gemm<alpha = -1.0>(x, w) }"),
              HasSubstr("alpha below zero"));
  // A number of samples that is no number: nothing is known of the input's type.
  EXPECT_EQ(planned("g (float[5,32] x, float[32,48] w) => (float[a,b] y) { y = MatMul(x, w) }", static_options())
                .nodes[0]
                .action,
            Action::kKeep);
}

TEST(StaticPlan, WeightsPerChannelPerTensorUnsignedAndReduced) {
  const auto weight = [](PlanOptions options) {
    const Plan plan = planned(kPair, options);
    EXPECT_EQ(plan.tensors.size(), 2u);
    return plan.tensors.front();
  };
  EXPECT_EQ(weight(static_options()).axis, 0);
  EXPECT_TRUE(weight(static_options()).symmetric);
  PlanOptions options = static_options();
  options.per_channel = false;
  EXPECT_EQ(weight(options).axis, std::nullopt);
  options.weight_type = QuantType::kUint8;
  EXPECT_FALSE(weight(options).symmetric) << "one zero point, wherever it is";
  options.per_channel = true;
  EXPECT_TRUE(weight(options).symmetric) << "kernels take one zero point for all channels";
  EXPECT_FALSE(weight(options).reduce_range);
  options.target = Target::kX64NoVnni;
  EXPECT_TRUE(weight(options).reduce_range);
  options.target = Target::kX64;
  options.reduce_range = true;
  EXPECT_TRUE(weight(options).reduce_range);
}

}  // namespace
}  // namespace octet
