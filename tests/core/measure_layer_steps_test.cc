// Steps of comparing layers: what runs are to show, and what is made of what they showed.
#include <gmock/gmock.h>

#include <cstring>

#include "graph_pictures.h"
#include "octet/error.h"
#include "octet/layer_steps.h"
#include "octet/report.h"

namespace octet {
namespace {

using pictures::model_of;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::SizeIs;

const char* const kFloatModel =
    "g (float[n,4] x) => (float[n,4] y) <float[4,4] w> { a = MatMul(x, w) b = Relu(a) y = Neg(b) }";
// The Relu is left to rounding.
const char* const kRoundedModel =
    "g (float[n,4] x) => (float[n,4] y) <float[4,4] w, float s = {1}, uint8 z = {0}> { a = MatMul(x, w) "
    "q = QuantizeLinear(a, s, z) b = DequantizeLinear(q, s, z) y = Neg(b) }";

LayerSteps steps() {
  return LayerSteps([] { return model_of(kFloatModel); }, model_of(kRoundedModel));
}

Tensor row(const std::vector<float>& values) {
  Tensor tensor{kFloat, {1, static_cast<std::int64_t>(values.size())}, {}};
  tensor.bytes.resize(values.size() * sizeof(float));
  std::memcpy(tensor.bytes.data(), values.data(), tensor.bytes.size());
  return tensor;
}

const Sample kInput = {{"x", row({1, 2, 3, 4})}};

TEST(LayerSteps, ShowWhatIsCompared) {
  LayerSteps made = steps();
  const auto& slices = made.cut(kInput);
  ASSERT_THAT(slices, SizeIs(1));
  EXPECT_THAT(slices[0].reference, ElementsAre("a", "b", "y"));
  EXPECT_THAT(slices[0].candidate, ElementsAre("a", "b", "y"));
  EXPECT_THAT(made.cut(kInput, 1), SizeIs(3)) << "at least one value each";
  EXPECT_THAT(made.slices()[1].candidate, ElementsAre("b", "a"));
}

TEST(LayerSteps, MeasureRoundingAloneAndAllLoss) {
  LayerSteps made = steps();
  made.cut(kInput);
  const Sample in_float = {{"a", row({-1, 2, 3, 0})}, {"b", row({0, 2, 3, 0})}, {"y", row({0, -2, -3, 0})}};
  // 0.5 too much before rounding, which takes it away again.
  const Sample rounded = {{"a", row({-1, 2.5f, 3, 0})}, {"b", row({0, 2, 3, 0})}, {"y", row({0, -2, -3, 0})}};
  made.add(0, kInput, in_float, rounded);
  const LayersResult result = made.result();
  EXPECT_EQ(result.samples, 1u);
  EXPECT_EQ(result.rounded_matched, 1);
  ASSERT_THAT(result.layers, SizeIs(3));
  const LayerDrift& relu = result.layers[0];
  EXPECT_EQ(relu.pair.name, "b") << "what is rounded comes first";
  EXPECT_EQ(relu.model.sqnr_db, kSqnrEqual);
  ASSERT_TRUE(relu.rounding);
  EXPECT_FLOAT_EQ(static_cast<float>(relu.rounding->max_abs_error), 0.5f) << "negatives are left to the rounding";
  EXPECT_EQ(result.layers[1].pair.name, "a");
  EXPECT_EQ(result.layers[1].model.max_abs_error, 0.5);
  EXPECT_FALSE(result.layers[1].rounding);
}

TEST(LayerSteps, PassOverWhatIsNotThere) {
  LayerSteps made = steps();
  made.cut(kInput, 1);
  made.add(0, kInput, {{"a", row({1, 2, 3, 4})}, {"b", row({1, 2, 3, 4})}}, {{"b", row({1, 2, 3, 4})}});
  EXPECT_THAT(made.result().layers, SizeIs(0)) << "b is of another slice, and a is missing on one side";
  EXPECT_EQ(made.samples(0), 1u);
  EXPECT_EQ(made.samples(1), 0u);
  made.cut(kInput);
  EXPECT_EQ(made.result().samples, 0u);
}

TEST(LayerSteps, RefuseOtherSlices) {
  LayerSteps made = steps();
  EXPECT_THAT(made.slices(), SizeIs(0));
  made.cut(kInput);
  try {
    made.candidate_model(1);
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::kUsage);
    EXPECT_THAT(error.problem(), HasSubstr("there are 1"));
  }
}

TEST(LayerSteps, HaveAJsonForm) {
  LayerSteps made = steps();
  made.cut(kInput);
  made.add(0, kInput, {{"b", row({0, 2, 3, 0})}}, {{"a", row({-1, 2, 3, 0})}, {"b", row({0, 2, 3, 0})}});
  LayersResult result = made.result();
  result.samples_description = "one";
  EXPECT_EQ(
      layers_to_json(result),
      R"J({"names_of_prepared_model":true,"samples":1,"samples_description":"one","float_values":4,"rounded":1,)J"
      R"J("rounded_matched":1,"weights_unmatched":0,"runs":1,"values":[{"value":"b","node":"Relu(b)","op":"Relu",)J"
      R"J("quantized":"b","xmodel_err":{"comparable":true,"finite":true,"sqnr_db":200.0,"cosine":1.0,)J"
      R"J("max_abs_error":0.0,"max_abs":3.0,"elements":4,"top1_agreement":1.0},"unrounded":"a","qdq_err":)J"
      R"J({"comparable":true,"finite":true,"sqnr_db":200.0,"cosine":1.0,"max_abs_error":0.0,"max_abs":3.0,)J"
      R"J("elements":4,"top1_agreement":1.0}}],"weights":[]})J");
}

}  // namespace
}  // namespace octet
