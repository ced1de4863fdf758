// What static nodes become in either format.
#include <gmock/gmock.h>

#include "static_pictures.h"

namespace octet {
namespace {

using namespace pictures;

const char* const kPair =
    "g (float[1,4,9,9] x) => (float[a,b,c,d] y) <float[8,4,3,3] w, float[8] b, float[4,8,3,3] v> { p = Conv(x, w, b) q "
    "= "
    "Relu(p) y = Conv(q, v) }";

TEST(StaticRewrite, QAndDqStandOnBothSidesOfConvolutions) {
  EXPECT_EQ(picture(statically(kPair, static_options(), 0, 4)), lines(R"(
    x_quantized = QuantizeLinear(x, x_scale, x_zero_point)
    x_dequantized = DequantizeLinear(x_quantized, x_scale, x_zero_point)
    w_dequantized = DequantizeLinear<axis=0>(w_quantized, w_scale, w_zero_point)
    p_bias = DequantizeLinear<axis=0>(p_bias_quantized, p_bias_scale)
    q_unrounded = Conv(x_dequantized, w_dequantized, p_bias)
    q_quantized = QuantizeLinear(q_unrounded, q_scale, q_zero_point)
    q = DequantizeLinear(q_quantized, q_scale, q_zero_point)
    v_dequantized = DequantizeLinear<axis=0>(v_quantized, v_scale, v_zero_point)
    y_unrounded = Conv(q, v_dequantized)
    y_quantized = QuantizeLinear(y_unrounded, y_scale, y_zero_point)
    y = DequantizeLinear(y_quantized, y_scale, y_zero_point))"));
}

TEST(StaticRewrite, OperatorsOnIntegersWithFloatsAtTheEnds) {
  EXPECT_EQ(picture(statically(kPair, static_options(Format::kQOperator), 0, 4)), lines(R"(
    x_quantized = QuantizeLinear(x, x_scale, x_zero_point)
    q_quantized = QLinearConv(x_quantized, x_scale, x_zero_point, w_quantized, w_scale, w_zero_point, q_scale, q_zero_point, p_bias_quantized)
    y_quantized = QLinearConv(q_quantized, q_scale, q_zero_point, v_quantized, v_scale, v_zero_point, y_scale, y_zero_point)
    y = DequantizeLinear(y_quantized, y_scale, y_zero_point))"));
}

TEST(StaticRewrite, AClampThatItsRangeDoesNotHoldStays) {
  // The range goes below 0, as only a hand can write it: rounding does not clamp there.
  for (const Format format : {Format::kQdq, Format::kQOperator}) {
    const std::string graph = picture(statically(kPair, static_options(format), -1, 4));
    EXPECT_THAT(graph, testing::HasSubstr("= Relu(")) << graph;
  }
  EXPECT_THAT(picture(statically(kPair, static_options(), 0, 4)), testing::Not(testing::HasSubstr("Relu")));
}

TEST(StaticRewrite, AClipWhoseBoundLiesInsideItsRangeStays) {
  const char* text =
      "g (float[1,4,9,9] x) => (float[a,b,c,d] y) <float[8,4,3,3] w, float[4,8,3,3] v, float zero = {0}, float six = "
      "{6}> { p = Conv(x, w) q = Clip(p, zero, six) y = Conv(q, v) }";
  EXPECT_THAT(picture(statically(text, static_options(), 0, 6)), testing::Not(testing::HasSubstr("Clip")));
  EXPECT_THAT(picture(statically(text, static_options(), 0, 5)), testing::Not(testing::HasSubstr("Clip")));
  EXPECT_THAT(picture(statically(text, static_options(), 0, 6.5f)), testing::HasSubstr("Clip"));
}

// Calibration saw nothing but zeros, so the scale is 1: what other samples make may lie anywhere.
TEST(StaticRewrite, AClampSeenAsZeroAloneStaysWhereRoundingDoesNotClamp) {
  PlanOptions options = static_options();
  EXPECT_THAT(picture(statically(kPair, options, 0, 0)), testing::Not(testing::HasSubstr("Relu")));
  options.activation_type = QuantType::kInt8;
  EXPECT_THAT(picture(statically(kPair, options, 0, 4)), testing::Not(testing::HasSubstr("Relu")));
  EXPECT_THAT(picture(statically(kPair, options, 0, 0)), testing::HasSubstr("Relu"));
}

TEST(StaticRewrite, ARoundedReluIsReadByAllAndCanBeAnOutput) {
  EXPECT_EQ(
      picture(statically("g (float[1,4,9,9] x) => (float[a,b,c,d] y, float[a,b,c,d] q, float[a,b,c,d] t) "
                         "<float[4,4,1,1] w, float[4,4,1,1] v> { p = Conv(x, w) q = Relu(p) t = Tanh(q) y = Conv(q, "
                         "v) }",
                         static_options(Format::kQOperator), 0, 4)),
      lines(R"(
    x_quantized = QuantizeLinear(x, x_scale, x_zero_point)
    q_quantized = QLinearConv(x_quantized, x_scale, x_zero_point, w_quantized, w_scale, w_zero_point, q_scale, q_zero_point)
    q = DequantizeLinear(q_quantized, q_scale, q_zero_point)
    t = Tanh(q)
    y_quantized = QLinearConv(q_quantized, q_scale, q_zero_point, v_quantized, v_scale, v_zero_point, y_scale, y_zero_point)
    y = DequantizeLinear(y_quantized, y_scale, y_zero_point))"));
}

TEST(StaticRewrite, MatricesThatGiveFloats) {
  const char* text = "g (float[5,32] x) => (float[a,b] y) <float[32,48] w> { y = MatMul(x, w) }";
  EXPECT_EQ(picture(statically(text, static_options())), lines(R"(
    x_quantized = QuantizeLinear(x, x_scale, x_zero_point)
    x_dequantized = DequantizeLinear(x_quantized, x_scale, x_zero_point)
    w_dequantized = DequantizeLinear<axis=1>(w_quantized, w_scale, w_zero_point)
    y = MatMul(x_dequantized, w_dequantized))"));
  EXPECT_EQ(picture(statically(text, static_options(Format::kQOperator))), lines(R"(
    x_quantized = QuantizeLinear(x, x_scale, x_zero_point)
    y = com.microsoft.MatMulIntegerToFloat(x_quantized, w_quantized, x_scale, w_scale, x_zero_point, w_zero_point))"));
}

TEST(StaticRewrite, MatricesWhoseOutputsAreRoundedBecauseSomeoneAsked) {
  const char* text =
      "g (float[5,32] x) => (float[a,b] y) <float[32,48] w, float[48,32] v, float[32] c> { p = MatMul(x, w) t = "
      "Tanh(p) "
      "y = Gemm(t, v, c) }";
  PlanOptions options = static_options();
  options.round_outputs = true;
  EXPECT_EQ(picture(statically(text, options)), lines(R"(
    x_quantized = QuantizeLinear(x, x_scale, x_zero_point)
    x_dequantized = DequantizeLinear(x_quantized, x_scale, x_zero_point)
    w_dequantized = DequantizeLinear<axis=1>(w_quantized, w_scale, w_zero_point)
    p_unrounded = MatMul(x_dequantized, w_dequantized)
    p_quantized = QuantizeLinear(p_unrounded, p_scale, p_zero_point)
    p = DequantizeLinear(p_quantized, p_scale, p_zero_point)
    t = Tanh(p)
    t_quantized = QuantizeLinear(t, t_scale, t_zero_point)
    t_dequantized = DequantizeLinear(t_quantized, t_scale, t_zero_point)
    v_dequantized = DequantizeLinear<axis=1>(v_quantized, v_scale, v_zero_point)
    y_bias = DequantizeLinear<axis=0>(y_bias_quantized, y_bias_scale)
    y_unrounded = Gemm<alpha=1, beta=1>(t_dequantized, v_dequantized, y_bias)
    y_quantized = QuantizeLinear(y_unrounded, y_scale, y_zero_point)
    y = DequantizeLinear(y_quantized, y_scale, y_zero_point))"));
  options.format = Format::kQOperator;
  EXPECT_EQ(picture(statically(text, options)), lines(R"(
    x_quantized = QuantizeLinear(x, x_scale, x_zero_point)
    p_quantized = QLinearMatMul(x_quantized, x_scale, x_zero_point, w_quantized, w_scale, w_zero_point, p_scale, p_zero_point)
    p = DequantizeLinear(p_quantized, p_scale, p_zero_point)
    t = Tanh(p)
    t_quantized = QuantizeLinear(t, t_scale, t_zero_point)
    y_quantized = com.microsoft.QGemm<transB=0>(t_quantized, t_scale, t_zero_point, v_quantized, v_scale, v_zero_point, y_bias_quantized, y_scale, y_zero_point)
    y = DequantizeLinear(y_quantized, y_scale, y_zero_point))"));
}

TEST(StaticRewrite, GemmInAllItsForms) {
  const auto graph = [](const std::string& call, const std::string& more, Format format) {
    return picture(statically("g (float[5,32] x" + more +
                                  ") => (float[a,b] y) <float[48,32] w, float[48] c, float s = " +
                                  "{3}, float[5,48] m> { y = Gemm<transB = 1" + call + ") }",
                              static_options(format)));
  };
  EXPECT_EQ(graph(", alpha = 0.5, beta = 2.0>(x, w, c", "", Format::kQdq), lines(R"(
    x_quantized = QuantizeLinear(x, x_scale, x_zero_point)
    x_dequantized = DequantizeLinear(x_quantized, x_scale, x_zero_point)
    w_dequantized = DequantizeLinear<axis=0>(w_quantized, w_scale, w_zero_point)
    y_bias = DequantizeLinear<axis=0>(y_bias_quantized, y_bias_scale)
    y = Gemm<alpha=1, beta=1, transB=1>(x_dequantized, w_dequantized, y_bias))"));
  EXPECT_EQ(graph(">(x, w, c", "", Format::kQOperator), lines(R"(
    x_quantized = QuantizeLinear(x, x_scale, x_zero_point)
    y = com.microsoft.QGemm<transB=1>(x_quantized, x_scale, x_zero_point, w_quantized, w_scale, w_zero_point, y_bias_quantized))"));
  EXPECT_EQ(graph(", beta = 0.0>(x, w, c", "", Format::kQdq), lines(R"(
    x_quantized = QuantizeLinear(x, x_scale, x_zero_point)
    x_dequantized = DequantizeLinear(x_quantized, x_scale, x_zero_point)
    w_dequantized = DequantizeLinear<axis=0>(w_quantized, w_scale, w_zero_point)
    y = Gemm<alpha=1, beta=1, transB=1>(x_dequantized, w_dequantized, -))"))
      << "beta takes the bias away";
  EXPECT_THAT(
      graph(", beta = 0.5>(x, w, m", "", Format::kQdq),
      testing::AllOf(testing::HasSubstr("y_bias = Mul(m, y_bias_beta)"),
                     testing::HasSubstr("y_product = Gemm<alpha=1, beta=1, transB=1>(x_dequantized, w_dequantized, -)"),
                     testing::HasSubstr("y = Add(y_product, y_bias)")))
      << "a bias that is no vector over the channels is added behind";
  EXPECT_THAT(graph(", beta = 0.5>(x, w, d", ", float[48] d", Format::kQOperator),
              testing::AllOf(testing::HasSubstr("y_bias = Mul(d, y_bias_beta)"),
                             testing::HasSubstr("y_product = com.microsoft.QGemm<transB=1>("),
                             testing::HasSubstr("y = Add(y_product, y_bias)")));
}

TEST(StaticRewrite, AComputedBiasIsRoundedWhileTheModelRuns) {
  EXPECT_EQ(
      picture(statically("g (float[1,4,9,9] x, float[8] c) => (float[a,b,e,d] y) <float[8,4,3,3] w> { k = Tanh(c) y "
                         "= Conv(x, w, k) }",
                         static_options(Format::kQOperator))),
      lines(R"(
    x_quantized = QuantizeLinear(x, x_scale, x_zero_point)
    k = Tanh(c)
    y_bias_steps = Div(k, y_bias_scale)
    y_bias_rounded = Round(y_bias_steps)
    y_bias_quantized = Cast<to=6>(y_bias_rounded)
    y_quantized = QLinearConv(x_quantized, x_scale, x_zero_point, w_quantized, w_scale, w_zero_point, y_scale, y_zero_point, y_bias_quantized)
    y = DequantizeLinear(y_quantized, y_scale, y_zero_point))"));
}

TEST(StaticRewrite, AWeightReadInIntegersAndInFloatIsStoredOnce) {
  const Model model = statically(
      "g (float[5,32] x, bool c) => (float[a,b] y, float[a,b] z) <float[32,32] w> { y = MatMul(x, w) z = If(c) "
      "<then_branch "
      "= t () => (float[5,32] q) { q = MatMul(x, w) }, else_branch = e () => (float[5,32] q) { q = Neg(x) }> }",
      static_options());
  EXPECT_EQ(picture(model), lines(R"(
    x_quantized = QuantizeLinear(x, x_scale, x_zero_point)
    x_dequantized = DequantizeLinear(x_quantized, x_scale, x_zero_point)
    w_cast = Cast<to=1>(w_quantized)
    w_dequantized_1 = Mul(w_cast, w_scale)
    w_dequantized = DequantizeLinear<axis=1>(w_quantized, w_scale, w_zero_point)
    y = MatMul(x_dequantized, w_dequantized)
    z = If(c)
      then_branch:
        q = MatMul(x, w_dequantized_1)
      else_branch:
        q = Neg(x))"));
}

TEST(StaticRewrite, WhatIsCarriedOnSharesItsScale) {
  const char* text =
      "g (float[1,4,8,8] x) => (float[a,b,c,d] y) <float[4,4,1,1] u, float[4,4,1,1] v> { p = Conv(x, u) q = "
      "MaxPool<kernel_shape = [2, 2]>(p) y = Conv(q, v) }";
  EXPECT_EQ(picture(statically(text, static_options())), lines(R"(
    x_quantized = QuantizeLinear(x, x_scale, x_zero_point)
    x_dequantized = DequantizeLinear(x_quantized, x_scale, x_zero_point)
    u_dequantized = DequantizeLinear(u_quantized, u_scale, u_zero_point)
    p_unrounded = Conv(x_dequantized, u_dequantized)
    p_quantized = QuantizeLinear(p_unrounded, p_scale, p_zero_point)
    p = DequantizeLinear(p_quantized, p_scale, p_zero_point)
    q_unrounded = MaxPool<kernel_shape=[2,2]>(p)
    q_quantized = QuantizeLinear(q_unrounded, p_scale, p_zero_point)
    q = DequantizeLinear(q_quantized, p_scale, p_zero_point)
    v_dequantized = DequantizeLinear(v_quantized, v_scale, v_zero_point)
    y_unrounded = Conv(q, v_dequantized)
    y_quantized = QuantizeLinear(y_unrounded, y_scale, y_zero_point)
    y = DequantizeLinear(y_quantized, y_scale, y_zero_point))"));
  EXPECT_THAT(picture(statically(text, static_options(Format::kQOperator))),
              testing::HasSubstr("q_quantized = MaxPool<kernel_shape=[2,2]>(p_quantized)"));
}

TEST(StaticRewrite, WhatIsCarriedOnAndGivenAnotherRangeIsRoundedAgain) {
  const Quantizer quantizer(
      model_of("g (float[1,4,8,8] x) => (float[a,b,c,d] y) <float[4,4,1,1] u, float[4,4,1,1] v> { p = Conv(x, u) q = "
               "MaxPool<kernel_shape = [2, 2]>(p) y = Conv(q, v) }"),
      static_options(Format::kQOperator));
  Plan plan = quantizer.plan();
  for (ActivationPlan& entry : plan.activations) {
    if (entry.tensor == "q") entry.same_as.clear();
  }
  plan = with_ranges(plan, -1, 1);
  Model model = quantizer.apply(plan);
  expect_sound(model);
  EXPECT_THAT(picture(model), testing::AllOf(testing::HasSubstr("MaxPool<kernel_shape=[2,2]>(p)"),
                                             testing::HasSubstr("QuantizeLinear(q_unrounded, q_scale, q_zero_point)")));
}

TEST(StaticRewrite, SixteenBitsStandInTheDomainThatHasThem) {
  PlanOptions options = static_options();
  options.activation_type = QuantType::kUint16;
  const char* text =
      "g (float[5,32] x) => (float[a,b] y) <float[32,48] w, float[48] c, float[48,32] v> { a1 = MatMul(x, w) s = "
      "Add(a1, "
      "c) y = MatMul(s, v) }";
  EXPECT_THAT(picture(statically(text, options)),
              testing::AllOf(testing::HasSubstr("= com.microsoft.QuantizeLinear(x,"),
                             testing::HasSubstr("= com.microsoft.DequantizeLinear(c_quantized,"),
                             testing::HasSubstr("= DequantizeLinear<axis=1>(w_quantized,")));
  EXPECT_THAT(picture(statically(text, options, -2, 2, 21)), testing::Not(testing::HasSubstr("com.microsoft")));
}

TEST(StaticRewrite, TypesWithoutAnOperatorStayInQAndDq) {
  PlanOptions options = static_options(Format::kQOperator);
  options.activation_type = QuantType::kInt8;
  options.weight_type = QuantType::kUint8;
  EXPECT_THAT(picture(statically(kPair, options)), testing::Not(testing::HasSubstr("QLinear")));
  // Two types at one operator.
  const Quantizer quantizer(
      model_of("g (float[1,4,8,8] x) => (float[a,b,c,d] y) <float[4,4,1,1] u, float[4,4,1,1] v> { p "
               "= Conv(x, u) s = Sigmoid(p) q = Add(p, s) y = Conv(q, v) }"),
      static_options(Format::kQOperator));
  Plan plan = with_ranges(quantizer.plan(), 0, 4);
  for (ActivationPlan& entry : plan.activations) {
    if (entry.tensor == "s") entry.type = QuantType::kInt8;
  }
  const std::string graph = picture(quantizer.apply(plan));
  EXPECT_THAT(graph, testing::Not(testing::HasSubstr("QLinearAdd")));
  EXPECT_THAT(graph, testing::Not(testing::HasSubstr("QLinearSigmoid")));
  EXPECT_THAT(graph, testing::HasSubstr("QLinearConv"));
}

// The runtime would round the weights of a node between a DQ and a Q by itself.
TEST(StaticRewrite, WhatIsLeftInFloatBetweenIntegersIsGuarded) {
  PlanOptions options = static_options(Format::kQOperator);
  options.nodes_to_exclude = {"it"};
  const std::string begin =
      "g (float[1,4,8,8] x) => (float[a,b,c,d] y) <float[4,4,1,1] u, float[4,4,1,1] w, float[4,4,1,1] v> { ";
  EXPECT_EQ(picture(statically(begin + "p = Conv(x, u) [it] q = Conv(p, w) r = Relu(q) y = Conv(r, v) }", options)),
            lines(R"(
    x_quantized = QuantizeLinear(x, x_scale, x_zero_point)
    p_quantized = QLinearConv(x_quantized, x_scale, x_zero_point, u_quantized, u_scale, u_zero_point, p_scale, p_zero_point)
    p = DequantizeLinear(p_quantized, p_scale, p_zero_point)
    q = Conv(p, w)
    r = Relu(q)
    r_guarded = Max(r, r_lowest)
    r_quantized = QuantizeLinear(r_guarded, r_scale, r_zero_point)
    y_quantized = QLinearConv(r_quantized, r_scale, r_zero_point, v_quantized, v_scale, v_zero_point, y_scale, y_zero_point)
    y = DequantizeLinear(y_quantized, y_scale, y_zero_point))"));
  const std::string first = picture(statically(begin + "[it] q = Conv(x, w) r = Tanh(q) y = Conv(r, v) }", options));
  EXPECT_THAT(first, testing::Not(testing::HasSubstr("Max"))) << "what comes in was not rounded";
}

TEST(StaticRewrite, OlderModelsAreRaisedToScalesPerChannel) {
  for (const int opset : {9, 10, 11, 12, 13, 17, 21}) {
    const Model model = statically(kPair, static_options(), 0, 4, opset);
    EXPECT_EQ(opset_of(model.proto()), std::max(opset, 13));
    EXPECT_THAT(picture(model), testing::HasSubstr("DequantizeLinear<axis=0>(w_quantized"));
  }
}

TEST(StaticRewrite, NamesThatAreTakenAreNotTakenTwice) {
  const Model model = statically(
      "g (float[1,4,9,9] x, float[1,4,9,9] x_quantized) => (float[a,b,c,d] y, float[a,b,c,d] y_unrounded) "
      "<float[4,4,1,1] "
      "w, float[1] x_scale> { p = Mul(x_quantized, x_scale) y = Conv(x, w) y_unrounded = Conv(p, w) }",
      static_options());
  EXPECT_THAT(picture(model), testing::HasSubstr("y_unrounded = DequantizeLinear("));
}

TEST(StaticRewrite, TheSameBytesEveryTime) {
  for (const Format format : {Format::kQdq, Format::kQOperator}) {
    const auto bytes = fixtures::save(statically(kPair, static_options(format), 0, 4));
    const Quantizer quantizer(model_of(kPair), static_options(format));
    const std::string json = plan_to_json(with_ranges(quantizer.plan(), 0, 4));
    EXPECT_EQ(fixtures::save(quantizer.apply(plan_from_json(json))), bytes) << "from the plan's JSON";
  }
}

}  // namespace
}  // namespace octet
