// What static nodes become in either format, and the numbers that are stored for them.
#include <gmock/gmock.h>

#include <cmath>
#include <cstring>

#include "static_pictures.h"

namespace octet {
namespace {

using namespace pictures;
using testing::Each;

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

TEST(StaticRewrite, ABiasBecomesIntegersForEachReader) {
  // One weight and one bias, two inputs with scales of their own.
  const std::string text =
      "g (float[1,4,9,9] x) => (float[a,b,c,d] y) <float[4,4,3,3] w, float[4] b> { p = Conv(x, w, b) y = Conv(p, w, b) "
      "}";
  const Quantizer quantizer(model_of(text), static_options());
  Plan plan = with_ranges(quantizer.plan(), 0, 255);
  plan.activations[1].range = Interval{0, 510};
  Model model = quantizer.apply(plan);
  expect_sound(model);
  const auto weight = values_of(model, "w_scale"), first = values_of(model, "p_bias_scale"),
             second = values_of(model, "y_bias_scale"), one = values_of(model, "p_bias_quantized"),
             two = values_of(model, "y_bias_quantized");
  ASSERT_EQ(weight.size(), 4u);
  const auto bias = tensor_as_float(model_of(text), model_of(text).proto().graph().initializer(1));
  for (std::size_t c = 0; c < 4; ++c) {
    EXPECT_EQ(first[c], weight[c]) << "the input's scale is 1";
    EXPECT_EQ(second[c], 2 * weight[c]);
    EXPECT_EQ(one[c], std::nearbyint(static_cast<double>(bias[c]) / first[c]));
    EXPECT_EQ(two[c], std::nearbyint(static_cast<double>(bias[c]) / second[c]));
  }
}

onnx::ModelProto edited(const std::string& text, const std::string& tensor,
                        const std::function<void(google::protobuf::RepeatedField<float>&)>& edit) {
  onnx::ModelProto proto = proto_of(text);
  for (auto& entry : *proto.mutable_graph()->mutable_initializer()) {
    if (entry.name() == tensor) edit(*entry.mutable_float_data());
  }
  return proto;
}

Model statically_of(const onnx::ModelProto& proto, const PlanOptions& options, float low, float high) {
  const Quantizer quantizer(fixtures::load(proto), options);
  Model model = quantizer.apply(with_ranges(quantizer.plan(), low, high));
  expect_sound(model);
  return model;
}

const char* const kBiased =
    "g (float[1,4,9,9] x) => (float[a,b,c,d] y) <float[8,4,3,3] w, float[8] b> { y = Conv(x, w, b) }";

TEST(StaticRewrite, ABiasTooLargeForInt32WidensTheScaleOfItsChannel) {
  const auto proto = edited(kBiased, "b", [](auto& values) { values.Set(3, 1e6f); });
  const Model model = statically_of(proto, static_options(), 0, 1e-3f);
  const auto bias = values_of(model, "y_bias_quantized"), scale = values_of(model, "y_bias_scale");
  EXPECT_NEAR(bias[3] * scale[3], 1e6, 1e6 * 1e-6);
  EXPECT_LE(std::abs(bias[3]), 0x1p30);
  const Model plain = statically(kBiased, static_options(), 0, 1e-3f);
  for (const std::size_t c : {0u, 1u, 2u, 4u}) {
    EXPECT_EQ(bias[c], values_of(plain, "y_bias_quantized")[c]);
    EXPECT_EQ(values_of(model, "w_scale")[c], values_of(plain, "w_scale")[c]) << "of other channels nothing changes";
  }
  PlanOptions whole = static_options();
  whole.per_channel = false;
  const Model single = statically_of(proto, whole, 0, 1e-3f);
  EXPECT_NEAR(values_of(single, "y_bias_quantized")[3] * values_of(single, "y_bias_scale")[0], 1e6, 1);
}

TEST(StaticRewrite, AChannelOfZerosKeepsItsBias) {
  const Model model = statically_of(edited(kBiased, "w",
                                           [](auto& values) {
                                             for (int i = 0; i < 36; ++i) values.Set(36 + i, 0);
                                           }),
                                    static_options(), -1, 1);
  const auto bias = values_of(model, "y_bias_quantized"), scale = values_of(model, "y_bias_scale");
  const auto stored = tensor_as_float(model_of(kBiased), model_of(kBiased).proto().graph().initializer(1));
  EXPECT_NEAR(bias[1] * scale[1], static_cast<double>(stored[1]), std::abs(static_cast<double>(stored[1])) * 1e-6);
  for (std::size_t i = 36; i < 72; ++i) EXPECT_EQ(values_of(model, "w_quantized")[i], 0);
}

TEST(StaticRewrite, AllZerosAreStood) {
  const auto zero = [](auto& values) { std::fill(values.begin(), values.end(), 0.0f); };
  for (const Format format : {Format::kQdq, Format::kQOperator}) {
    for (const bool per_channel : {true, false}) {
      PlanOptions options = static_options(format);
      options.per_channel = per_channel;
      const Model model = statically_of(edited(kBiased, "w", zero), options, 0, 0);
      EXPECT_THAT(values_of(model, "w_quantized"), Each(0));
      for (const double scale : values_of(model, "w_scale")) EXPECT_TRUE(std::isfinite(scale) && scale > 0);
      EXPECT_THAT(values_of(statically_of(edited(kBiased, "b", zero), options, 0, 0), "y_bias_quantized"), Each(0));
    }
  }
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

TEST(StaticRewrite, WeightsPerTensorUnsignedAndReduced) {
  PlanOptions options = static_options();
  options.per_channel = false;
  EXPECT_EQ(values_of(statically(kBiased, options), "w_scale").size(), 1u);
  EXPECT_THAT(picture(statically(kBiased, options)), testing::HasSubstr("y_bias = DequantizeLinear(y_bias_quantized"));
  options.weight_type = QuantType::kUint8;
  const Model whole = statically(kBiased, options);
  EXPECT_THAT(values_of(whole, "w_quantized"), testing::AllOf(testing::Contains(0), testing::Contains(255)))
      << "a zero point that uses the whole type";
  options.per_channel = true;
  EXPECT_THAT(values_of(statically(kBiased, options), "w_zero_point"), testing::AllOf(testing::SizeIs(8), Each(128)));
  options.weight_type = QuantType::kInt8;
  options.reduce_range = true;
  for (const double value : values_of(statically(kBiased, options), "w_quantized")) EXPECT_LE(std::abs(value), 64);
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

// The plan decides: what is edited into it is what is stored.
TEST(StaticRewrite, EditedTypesAndRangesGiveExactlyThatScale) {
  const Quantizer quantizer(model_of(kPair), static_options());
  Plan plan = with_ranges(quantizer.plan(), 0, 4);
  plan.activations[0].range = Interval{-1, 3};
  plan.activations[1].type = QuantType::kUint16;
  plan.activations[2].symmetric = true;
  plan.activations[2].type = QuantType::kInt8;
  plan.activations[2].range = Interval{-2, 1};
  Model model = quantizer.apply(plan_from_json(plan_to_json(plan)));
  EXPECT_EQ(values_of(model, "x_scale")[0], static_cast<double>(static_cast<float>(4.0 / 255)));
  EXPECT_EQ(values_of(model, "x_zero_point")[0], std::nearbyint(255.0 / 4));
  EXPECT_EQ(values_of(model, "q_scale")[0], static_cast<double>(static_cast<float>(4.0 / 65535)));
  EXPECT_EQ(values_of(model, "q_zero_point")[0], 0);
  EXPECT_EQ(values_of(model, "y_scale")[0], static_cast<double>(static_cast<float>(4.0 / 254)));
  EXPECT_EQ(values_of(model, "y_zero_point")[0], 0);
  EXPECT_THAT(picture(model), testing::HasSubstr("q = com.microsoft.DequantizeLinear(q_quantized, q_scale"));
}

TEST(StaticRewrite, ZeroIsAlwaysInTheRange) {
  const Model model = statically(kBiased, static_options(), 2, 4);
  EXPECT_EQ(values_of(model, "x_zero_point")[0], 0);
  EXPECT_EQ(values_of(model, "x_scale")[0], static_cast<double>(static_cast<float>(4.0 / 255)));
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
