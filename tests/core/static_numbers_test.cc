// The numbers that are stored for static nodes: scales, zero points, biases.
#include <gmock/gmock.h>

#include <cmath>

#include "static_pictures.h"

namespace octet {
namespace {

using namespace pictures;
using testing::Each;

const char* const kPair =
    "g (float[1,4,9,9] x) => (float[a,b,c,d] y) <float[8,4,3,3] w, float[8] b, float[4,8,3,3] v> { p = Conv(x, w, b) q "
    "= "
    "Relu(p) y = Conv(q, v) }";

TEST(StaticNumbers, ABiasBecomesIntegersForEachReader) {
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

TEST(StaticNumbers, ABiasTooLargeForInt32WidensTheScaleOfItsChannel) {
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

TEST(StaticNumbers, AChannelOfZerosKeepsItsBias) {
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

TEST(StaticNumbers, AllZerosAreStood) {
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

TEST(StaticNumbers, WeightsPerTensorUnsignedAndReduced) {
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

// The plan decides: what is edited into it is what is stored.
TEST(StaticNumbers, EditedTypesAndRangesGiveExactlyThatScale) {
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

TEST(StaticNumbers, ZeroIsAlwaysInTheRange) {
  const Model model = statically(kBiased, static_options(), 2, 4);
  EXPECT_EQ(values_of(model, "x_zero_point")[0], 0);
  EXPECT_EQ(values_of(model, "x_scale")[0], static_cast<double>(static_cast<float>(4.0 / 255)));
}

}  // namespace
}  // namespace octet
