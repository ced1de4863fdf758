// fold_constant_casts, and the Casts that come back where the weight stays in float after all.
#include <gmock/gmock.h>

#include "graph_pictures.h"
#include "prepare/pass.h"
#include "prepare/widened.h"

namespace octet {
namespace {

using pictures::lines;
using pictures::model_of;
using pictures::picture;
using pictures::stored;

int fold(Model& model) {
  PassReport report;
  run_fold_constant_casts(model, report);
  return report.changes;
}

const onnx::TensorProto& tensor(const Model& model, const std::string& name) {
  for (const auto& candidate : model.proto().graph().initializer()) {
    if (candidate.name() == name) return candidate;
  }
  throw std::runtime_error("no tensor " + name);
}

TEST(FoldConstantCasts, AppliesACastOfAStoredTensor) {
  Model model = model_of("g (float[4] x) => (float[4] y) <float16[4] w> { v = Cast<to=1>(w) y = Add(x, v) }");
  const auto before = tensor_as_float(model, tensor(model, "w"));
  EXPECT_EQ(fold(model), 1);
  EXPECT_EQ(picture(model), "\ny = Add(x, v)\n");
  EXPECT_EQ(tensor(model, "v").data_type(), onnx::TensorProto::FLOAT);
  EXPECT_EQ(tensor_as_float(model, tensor(model, "v")), before);
}

TEST(FoldConstantCasts, FollowsAChain) {
  Model model = model_of(
      "g (double[4] x) => (double[4] y) <int32[4] w = {1, -2, 3, 4}> { a = Cast<to=6>(w) b = Cast<to=1>(a) v = "
      "Cast<to=11>(b) y = Add(x, v) }");
  EXPECT_EQ(fold(model), 3);
  EXPECT_EQ(tensor_as_float(model, tensor(model, "v")), (std::vector<float>{1, -2, 3, 4}));
}

TEST(FoldConstantCasts, DeclinesWhatWouldRoundTwiceOrPlatformsDisagreeOn) {
  for (const char* text :
       {"g (float16[4] x) => (float16[4] y) <double[4] w> { v = Cast<to=10>(w) y = Add(x, v) }",    // double → half
        "g (float16[4] x) => (float16[4] y) <bfloat16[4] w> { v = Cast<to=10>(w) y = Add(x, v) }",  // bfloat16 → half
        "g (float16[4] x) => (float16[4] y) <int32[4] w> { v = Cast<to=10>(w) y = Add(x, v) }",  // int → half, by way
                                                                                                 // of float
        "g (int32[4] x) => (int32[4] y) <float[4] w> { v = Cast<to=6>(w) y = Add(x, v) }",  // out of range: anything
        "g (float[4] x) => (float[4] y) <uint64[4] w = {1, 2, 3, 4}> { v = Cast<to=1>(w) y = Add(x, v) }",
        "g (string[1] x) => (string[1] y) <float[1] w = {1.5}> { y = Cast<to=8>(w) }"}) {
    Model model = model_of(text);
    EXPECT_EQ(fold(model), 0) << text;
  }
}

TEST(FoldConstantCasts, DeclinesOutputsAndWhatTheCallerMayReplace) {
  Model output =
      model_of("g (float[4] x) => (float[4] v, float[4] y) <float16[4] w> { v = Cast<to=1>(w) y = Add(x, v) }");
  EXPECT_EQ(fold(output), 0);
  Model input = model_of("g (float[2] x, float16[2] w = {1, 2}) => (float[2] y) { v = Cast<to=1>(w) y = Add(x, v) }");
  EXPECT_EQ(fold(input), 0);
}

TEST(FoldConstantCasts, ReachesIntoSubgraphsAndStoresBesideTheSource) {
  Model model = model_of(R"(g (float[4] x, bool c) => (float[4] y) <float16[4] w> {
    y = If(c) <then_branch = t () => (float[4] z) { v = Cast<to=1>(w) z = Add(x, v) }, else_branch = e () => (float[4] z) { z = Neg(x) }> })");
  EXPECT_EQ(fold(model), 1);
  EXPECT_EQ(stored(model), lines(R"(
    w: FLOAT16[4]
    v_1: FLOAT[4])"));
}

// Larger than what stays inline: these weights live in the store.
constexpr const char* kWide =
    R"(g (float[n,32] x) => (float[n,64] y) <float16[32,64] w> { v = Cast<to=1>(w) y = MatMul(x, v) })";

TEST(RestoreCasts, GivesAWeightThatStaysInFloatItsCastBack) {
  Model model = model_of(kWide);
  const auto bytes = fixtures::save(model).size();
  EXPECT_EQ(fold(model), 1);
  EXPECT_EQ(picture(model), "\ny = MatMul(x, v)\n");
  EXPECT_EQ(tensor_as_float(model, tensor(model, "v")), tensor_as_float(model, tensor(model, "w")));
  PassReport report;
  run_drop_unused(model, report);
  EXPECT_EQ(stored(model), "\nv: FLOAT[32,64]\n");
  EXPECT_EQ(restore_casts(model), 1);
  EXPECT_EQ(picture(model), lines(R"(
    v = Cast<to=1>(v_stored)
    y = MatMul(x, v))"));
  EXPECT_EQ(stored(model), "\nv_stored: FLOAT16[32,64]\n");
  pictures::expect_sound(model);
  EXPECT_LE(fixtures::save(model).size(), bytes + 64);
}

TEST(RestoreCasts, IsNotNeededWhereTheWeightIsQuantized) {
  Model model = pictures::quantized(kWide, pictures::weights_options());
  EXPECT_EQ(picture(model), lines(R"(
    v_cast = Cast<to=1>(v_quantized)
    v_dequantized = Mul(v_cast, v_scale)
    y = MatMul(x, v_dequantized))"));
  EXPECT_EQ(stored(model), lines(R"(
    v_quantized: INT8[32,64]
    v_scale: FLOAT[64])"));
}

TEST(RestoreCasts, WritesTheFileNoLargerThanItCame) {
  PlanOptions options = pictures::weights_options();
  options.nodes_to_exclude = {"op:MatMul"};
  Model model = pictures::quantized(kWide, options);
  EXPECT_EQ(stored(model), "\nv_stored: FLOAT16[32,64]\n");
}

TEST(RestoreCasts, StoresATableOnceHoweverOftenItIsCast) {
  PlanOptions options = pictures::weights_options();
  options.nodes_to_exclude = {"op:MatMul"};
  Model model = pictures::quantized(
      R"(g (float[n,32] x) => (float[n,64] y, float[n,64] z) <float16[32,64] w> {
        v = Cast<to=1>(w) y = MatMul(x, v) u = Cast<to=1>(w) z = MatMul(x, u) })",
      options);
  EXPECT_EQ(model.proto().graph().initializer_size(), 1) << stored(model);
  Model small = pictures::quantized(
      R"(g (float[n,32] x) => (float[n,64] y, float[n,64] z) <float16[32,64] w> {
        v = Cast<to=1>(w) y = MatMul(x, v) u = Cast<to=1>(w) z = MatMul(x, u) })",
      pictures::weights_options());
  EXPECT_EQ(small.proto().graph().initializer_size(), 2) << stored(small);
}

}  // namespace
}  // namespace octet
