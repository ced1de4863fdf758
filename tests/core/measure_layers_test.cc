// Which values and weights of a float model are found again in a quantized one.
#include <gmock/gmock.h>

#include "graph_pictures.h"
#include "measure/layer_names.h"
#include "octet/layers.h"

namespace octet {
namespace {

using pictures::dynamic_options;
using pictures::lines;
using pictures::model_of;
using pictures::quantized;
using pictures::weights_options;
using testing::ElementsAre;
using testing::SizeIs;

// One line per pair: value < before → after [low, high], and how many roundings were found.
std::string pairs(const std::string& reference, const std::string& candidate) {
  Model a = model_of(reference), b = model_of(candidate);
  const LayerPairs found = match_values(a, b);
  std::string text = "\n";
  for (const ValuePair& pair : found.values) {
    text += pair.op.empty() ? "input " : pair.op + " ";
    text += pair.name;
    if (pair.before.empty())
      text += " = " + pair.after;
    else
      text += ": " + pair.before + " → " + pair.after;
    if (pair.low) text += " from " + std::to_string(static_cast<int>(*pair.low));
    if (pair.high) text += " to " + std::to_string(static_cast<int>(*pair.high));
    text += "\n";
  }
  return text + std::to_string(found.rounded_matched) + " of " + std::to_string(found.rounded) + "\n";
}

const char* const kFloat2 = R"(g (float[4,8] x) => (float[4,8] y) <float[8,8] w> {
  a = MatMul(x, w)
  b = Relu(a)
  c = Neg(b)
  y = MatMul(c, w) })";

TEST(OriginalNames, TakeOffWhatToolsAdd) {
  EXPECT_THAT(original_names("x"), ElementsAre("x"));
  EXPECT_THAT(original_names("x_dequantized"), ElementsAre("x_dequantized", "x"));
  EXPECT_THAT(original_names("x_2_DequantizeLinear_Output_1"), ElementsAre("x_2_DequantizeLinear_Output_1", "x_2"));
  EXPECT_THAT(original_names("_dequantized"), ElementsAre("_dequantized"));
  EXPECT_THAT(original_names("x_7"), ElementsAre("x_7"));
}

TEST(MatchValues, InOctetsForm) {
  EXPECT_EQ(pairs(kFloat2, R"(g (float[4,8] x) => (float[4,8] y) <float s, uint8 z, float[8,8] w> {
    xq = QuantizeLinear(x, s, z)
    x_dequantized = DequantizeLinear(xq, s, z)
    b_unrounded = MatMul(x_dequantized, w)
    bq = QuantizeLinear(b_unrounded, s, z)
    b = DequantizeLinear(bq, s, z)
    c = Neg(b)
    y_unrounded = MatMul(c, w)
    yq = QuantizeLinear(y_unrounded, s, z)
    y = DequantizeLinear(yq, s, z) })"),
            lines(R"(
    input x: x → x_dequantized
    Relu b: b_unrounded → b from 0
    Neg c = c
    MatMul y: y_unrounded → y
    3 of 3)"));
}

TEST(MatchValues, InTheFormOfThePythonTool) {
  EXPECT_EQ(pairs(kFloat2, R"(g (float[4,8] x) => (float[4,8] y) <float s, uint8 z, float[8,8] w> {
    x_QuantizeLinear_Output = QuantizeLinear(x, s, z)
    x_DequantizeLinear_Output = DequantizeLinear(x_QuantizeLinear_Output, s, z)
    a = MatMul(x_DequantizeLinear_Output, w)
    a_QuantizeLinear_Output = QuantizeLinear(a, s, z)
    a_DequantizeLinear_Output = DequantizeLinear(a_QuantizeLinear_Output, s, z)
    a_DequantizeLinear_Output_1 = DequantizeLinear(a_QuantizeLinear_Output, s, z)
    c = Neg(a_DequantizeLinear_Output)
    y_QuantizeLinear_Input = MatMul(c, w)
    y_QuantizeLinear_Output = QuantizeLinear(y_QuantizeLinear_Input, s, z)
    y = DequantizeLinear(y_QuantizeLinear_Output, s, z) })"),
            lines(R"(
    input x: x → x_DequantizeLinear_Output
    MatMul a = a
    Relu b: a → a_DequantizeLinear_Output from 0
    Neg c = c
    MatMul y: y_QuantizeLinear_Input → y
    3 of 3)"));
}

TEST(MatchValues, AClipLeavesItsBoundsAndOneThatStaysNone) {
  const char* const clipped = R"(g (float[4,8] x) => (float[4,8] y)
    <float low = {0}, float high = {6}, float[8,8] w> {
    a = MatMul(x, w)
    y = Clip(a, low, high) })";
  EXPECT_EQ(pairs(clipped, R"(g (float[4,8] x) => (float[4,8] y) <float s, uint8 z, float[8,8] w> {
    y_unrounded = MatMul(x, w)
    yq = QuantizeLinear(y_unrounded, s, z)
    y = DequantizeLinear(yq, s, z) })"),
            lines(R"(
    Clip y: y_unrounded → y from 0 to 6
    1 of 1)"));
  EXPECT_EQ(pairs(clipped, R"(g (float[4,8] x) => (float[4,8] y)
    <float s, uint8 z, float[8,8] w, float low = {0}, float high = {6}> {
    a = MatMul(x, w)
    y_unrounded = Clip(a, low, high)
    yq = QuantizeLinear(y_unrounded, s, z)
    y = DequantizeLinear(yq, s, z) })"),
            lines(R"(
    MatMul a = a
    Clip y: y_unrounded → y
    1 of 1)"));
}

TEST(MatchValues, RoundingsOfOtherValuesAreCounted) {
  EXPECT_EQ(pairs(kFloat2, R"(g (float[4,8] x) => (float[4,8] y) <float s, uint8 z, float[8,8] w> {
    other = Neg(x)
    q = QuantizeLinear(other, s, z)
    d = DequantizeLinear(q, s, z)
    y = MatMul(d, w) })"),
            lines(R"(
    MatMul y = y
    0 of 1)"));
}

// Whatever form weights take, each is found once, with the loss of its type.
TEST(CompareWeights, InEveryFormOctetWrites) {
  const std::string matrices = R"(g (float[4,64] x, int64[3] i) => (float[4,96] y, float[3,64] rows)
    <float[64,64] square, float[64,96] wide, float[96,64] turned, float[200,64] table> {
    a = MatMul(x, square)
    b = MatMul(a, wide)
    t = Gemm<transB = 1>(x, turned)
    y = Add(b, t)
    rows = Gather(table, i) })";
  struct Case {
    PlanOptions options;
    double least, most;  // dB
  };
  std::vector<Case> cases = {{dynamic_options(), 35, 60}};
  for (const Target target : {Target::kX64, Target::kArm64, Target::kWasm, Target::kAny}) {
    for (const QuantType type : {QuantType::kInt8, QuantType::kUint8})
      cases.push_back({weights_options(target, type), 35, 60});
    cases.push_back({weights_options(target, QuantType::kInt16), 80, 110});
  }
  for (Case& one : cases) {
    for (const bool per_channel : {true, false}) {
      one.options.per_channel = per_channel;
      Model a = model_of(matrices), b = quantized(matrices, one.options);
      int unmatched = -1;
      const auto drifts = compare_weights(a, b, &unmatched);
      EXPECT_THAT(drifts, SizeIs(4));
      EXPECT_EQ(unmatched, 0);
      for (const WeightDrift& drift : drifts) {
        EXPECT_GT(drift.sqnr_db, one.least) << drift.name;
        EXPECT_LT(drift.sqnr_db, one.most) << drift.name;
        EXPECT_THAT(drift.nodes, SizeIs(1));
      }
    }
  }
}

TEST(CompareWeights, InBlocks) {
  const std::string matrices = R"(g (float[4,80] x) => (float[4,96] y) <float[80,80] square, float[80,96] wide> {
    a = MatMul(x, square)
    y = MatMul(a, wide) })";
  for (const auto& [type, least, most] :
       {std::tuple{QuantType::kInt4, 15.0, 25.0}, {QuantType::kUint4, 15.0, 25.0}, {QuantType::kInt8, 40.0, 60.0}}) {
    PlanOptions options = weights_options(Target::kX64, type);
    options.block_size = 32;  // 80 leaves a block that is not full
    Model a = model_of(matrices), b = quantized(matrices, options);
    const auto drifts = compare_weights(a, b);
    ASSERT_THAT(drifts, SizeIs(2));
    for (const WeightDrift& drift : drifts) {
      EXPECT_GT(drift.sqnr_db, least) << drift.name;
      EXPECT_LT(drift.sqnr_db, most) << drift.name;
    }
  }
}

TEST(CompareWeights, ByPlaceWhereNamesTellNothing) {
  Model a = model_of(R"(g (float[2] x) => (float[2] y) <float[2,2] w = {1, 2, 3, 4}> { y = MatMul(x, w) })");
  Model b = model_of(R"(g (float[2] x) => (float[2] y)
    <int8[2,2] q = {2, 4, 6, 9}, float s = {0.5}, int8 z = {0}, int8[3] other = {1, 2, 3}> {
    d = DequantizeLinear(q, s, z)
    e = DequantizeLinear(other, s, z)
    y = MatMul(x, d) })");
  int unmatched = 0;
  const auto drifts = compare_weights(a, b, &unmatched);
  ASSERT_THAT(drifts, SizeIs(1));
  EXPECT_EQ(drifts[0].name, "w");
  EXPECT_EQ(drifts[0].stored, "q");
  EXPECT_EQ(drifts[0].type, "INT8");
  EXPECT_EQ(drifts[0].max_abs_error, 0.5);
  EXPECT_NEAR(drifts[0].sqnr_db, 10 * std::log10(30 / 0.25), 1e-6);
  EXPECT_EQ(unmatched, 1) << "'other' is nobody's weight";
}

TEST(CompareWeights, ScalesPerChannelAndPerBlock) {
  const char* const reference = R"(<ir_version: 10, opset_import: ["" : 21]> g (float[1,2] x) => (float[1,4] y)
    <float[2,4] w = {10, 20, 1, 2, 30, 40, 3, 4}> { y = MatMul(x, w) })";
  Model a = model_of(reference);
  Model channel = model_of(R"(<ir_version: 10, opset_import: ["" : 21]> g (float[1,2] x) => (float[1,4] y)
    <int8[2,4] w_quantized = {1, 2, 1, 2, 3, 4, 3, 4}, float[4] s = {10, 10, 1, 1}> {
    d = DequantizeLinear<axis = 1>(w_quantized, s)
    y = MatMul(x, d) })");
  EXPECT_EQ(compare_weights(a, channel).at(0).max_abs_error, 0);
  Model block = model_of(R"(<ir_version: 10, opset_import: ["" : 21]> g (float[1,2] x) => (float[1,4] y)
    <int8[2,4] w_quantized = {1, 2, 1, 2, 3, 4, 3, 4}, float[2,2] s = {10, 1, 10, 1}> {
    d = DequantizeLinear<axis = 1, block_size = 2>(w_quantized, s)
    y = MatMul(x, d) })");
  EXPECT_EQ(compare_weights(a, block).at(0).max_abs_error, 0);
}

}  // namespace
}  // namespace octet
