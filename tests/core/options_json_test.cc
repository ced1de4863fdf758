// Options as JSON: every key reaches its field, and what is unknown or unfit is refused by name.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "octet/error.h"
#include "octet/options.h"

namespace octet {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

Error refusal(const std::string& json) {
  try {
    options_from_json(json, Target::kWasm);
  } catch (const Error& error) {
    return error;
  }
  ADD_FAILURE() << json << " was accepted";
  return {ErrorCode::kInternal, "", ""};
}

TEST(OptionsJson, NothingGivenTakesTheDefaults) {
  const GivenOptions given = options_from_json("{}", Target::kWasm);
  EXPECT_EQ(given.plan_options.mode, Mode::kDynamic);
  EXPECT_EQ(given.plan_options.target, Target::kWasm);
  EXPECT_EQ(given.plan_options.weight_type, QuantType::kInt8);
  EXPECT_FALSE(given.plan_options.per_channel.has_value());
  EXPECT_FALSE(given.plan.has_value());
  EXPECT_FALSE(given.external_data);
}

TEST(OptionsJson, EveryKeyReachesItsField) {
  const GivenOptions given = options_from_json(
      R"({"mode": "weights", "target": "arm64", "weight_type": "quint4", "per_channel": false, "reduce_range": true,
          "block_size": 64, "nodes_to_quantize": ["a", "op:MatMul"], "nodes_to_exclude": ["b*"], "op_types": ["Conv"],
          "round_outputs": true, "equalize": true, "smooth_quant": 0.25, "bias_correction": true, "min_sqnr": -3.5,
          "prepare": false, "external_data": true, "plan": {"octet_plan": 1, "nodes": [], "tensors": []}})",
      Target::kWasm);
  const PlanOptions& options = given.plan_options;
  EXPECT_EQ(options.mode, Mode::kWeights);
  EXPECT_EQ(options.target, Target::kArm64);
  EXPECT_EQ(options.weight_type, QuantType::kUint4);
  EXPECT_EQ(options.per_channel, std::optional(false));
  EXPECT_TRUE(options.reduce_range);
  EXPECT_EQ(options.block_size, 64);
  EXPECT_THAT(options.nodes_to_quantize, ElementsAre("a", "op:MatMul"));
  EXPECT_THAT(options.nodes_to_exclude, ElementsAre("b*"));
  EXPECT_THAT(options.op_types, ElementsAre("Conv"));
  EXPECT_TRUE(options.round_outputs);
  EXPECT_TRUE(options.equalize);
  EXPECT_EQ(options.smooth_quant, 0.25);
  EXPECT_TRUE(options.bias_correction);
  EXPECT_EQ(given.min_sqnr, -3.5);
  EXPECT_FALSE(options.prepare);
  EXPECT_TRUE(given.external_data);
  EXPECT_TRUE(given.plan.has_value());
}

TEST(OptionsJson, KnowWhichOnesTakeASearch) {
  const auto key = [](const char* json) { return options_from_json(json, Target::kAny).search_key(); };
  EXPECT_EQ(key(R"({"equalize": false, "smooth_quant": 0, "bias_correction": false, "min_sqnr": null})"), "");
  EXPECT_EQ(key(R"({"equalize": true})"), "equalize");
  EXPECT_EQ(key(R"({"smooth_quant": 1})"), "smooth_quant");
  EXPECT_EQ(key(R"({"bias_correction": true})"), "bias_correction");
  EXPECT_EQ(key(R"({"min_sqnr": 0})"), "min_sqnr");
}

TEST(OptionsJson, OfPreparation) {
  const PrepareOptions options = prepare_options_from_json(
      R"({"fixed": {"sr": 16000, "g": "1,2"}, "dims": {"batch": 1}, "opset": 18, "to_float32": true, "passes": ["a"]})");
  EXPECT_EQ(options.fixed.at("sr"), "16000");
  EXPECT_EQ(options.fixed.at("g"), "1,2");
  EXPECT_EQ(options.dims.at("batch"), 1);
  EXPECT_EQ(options.opset, 18);
  EXPECT_TRUE(options.to_float32);
  EXPECT_THAT(options.passes, ElementsAre("a"));
  for (const char* text : {R"({"opset": 99})", R"({"dims": {"n": 1.5}})", R"({"fixed": []})", R"({"more": 1})", "[]"})
    EXPECT_THROW(prepare_options_from_json(text), Error) << text;
}

TEST(OptionsJson, NullIsAsGoodAsAbsent) {
  const GivenOptions given = options_from_json(R"({"target": null, "per_channel": null, "plan": null})", Target::kAny);
  EXPECT_EQ(given.plan_options.target, Target::kAny);
  EXPECT_FALSE(given.plan_options.per_channel.has_value());
}

TEST(OptionsJson, RefusesWhatItCannotTakeAndNamesIt) {
  const std::pair<const char*, const char*> cases[] = {
      {R"([])", "options"},
      {R"(nonsense)", "options"},
      {R"({"mod": "weights"})", "option mod"},
      {R"({"mode": "fast"})", "option mode"},
      {R"({"mode": 3})", "option mode"},
      {R"({"target": ["wasm"]})", "option target"},
      {R"({"weight_type": "int8"})", "option weight_type"},
      {R"({"per_channel": 1})", "option per_channel"},
      {R"({"block_size": 1.5})", "option block_size"},
      {R"({"block_size": -1})", "option block_size"},
      {R"({"block_size": 1e30})", "option block_size"},
      {R"({"op_types": "Conv"})", "option op_types"},
      {R"({"op_types": [1]})", "option op_types"},
  };
  for (const auto& [json, where] : cases) {
    const Error error = refusal(json);
    EXPECT_EQ(error.code(), ErrorCode::kUsage) << json;
    EXPECT_EQ(error.where(), where) << json;
  }
  EXPECT_THAT(refusal(R"({"mod": 1})").next(), HasSubstr("mode, target, weight_type"));
  EXPECT_EQ(refusal(R"({"plan": {}})").code(), ErrorCode::kMalformed);
}

}  // namespace
}  // namespace octet
