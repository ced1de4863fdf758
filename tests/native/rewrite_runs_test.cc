// Every kind of rewrite, run: the float model as written against each rewritten one, with the runtime's own
// optimizations off and on.
#include <gmock/gmock.h>

#include <map>

#include "engine/engine.h"
#include "graph_pictures.h"
#include "octet/measure.h"
#include "rewrite_models.h"

namespace octet {
namespace {

using pictures::RewriteModel;

// Weights and activations in 8 bits each lose about 40 dB per product of random values; a wrong axis, scale, zero point
// or orientation leaves 10 or less.
constexpr double kMinSqnr8 = 25;
constexpr double kMinSqnr7 = 20;  // reduce-range
constexpr double kMinSqnr4 = 8;   // a recurrence amplifies what 4 bits lose

struct Way {
  std::string name;
  PlanOptions options;
  double min_sqnr_db = kMinSqnr8;
};

std::vector<Way> ways() {
  const auto dynamic = [](Target target, QuantType type) {
    PlanOptions options;
    options.target = target;
    options.weight_type = type;
    return options;
  };
  std::vector<Way> all = {
      {"dynamic any", dynamic(Target::kAny, QuantType::kInt8)},
      {"dynamic x64", dynamic(Target::kX64, QuantType::kInt8)},
      {"dynamic quint8", dynamic(Target::kX64, QuantType::kUint8)},
      {"dynamic x64-novnni", dynamic(Target::kX64NoVnni, QuantType::kInt8), kMinSqnr7},
      {"weights any", pictures::weights_options()},
      {"weights x64", pictures::weights_options(Target::kX64)},
      {"weights quint8 any", pictures::weights_options(Target::kAny, QuantType::kUint8)},
      {"weights quint8 x64", pictures::weights_options(Target::kX64, QuantType::kUint8)},
      {"weights qint16", pictures::weights_options(Target::kX64, QuantType::kInt16)},
      {"weights quint16", pictures::weights_options(Target::kX64, QuantType::kUint16)},
      {"weights qint4", pictures::weights_options(Target::kX64, QuantType::kInt4), kMinSqnr4},
      {"weights quint4", pictures::weights_options(Target::kX64, QuantType::kUint4, 16), kMinSqnr4},
      {"weights qint8 blocks", pictures::weights_options(Target::kX64, QuantType::kInt8, 32)},
      {"weights quint8 blocks", pictures::weights_options(Target::kX64, QuantType::kUint8, 16)},
  };
  for (const Way& way : std::vector<Way>(all.begin(), all.begin() + 8)) {
    Way whole = way;
    whole.name += " per tensor";
    whole.options.per_channel = false;
    all.push_back(whole);
  }
  Way convolutions{"dynamic Conv", dynamic(Target::kX64, QuantType::kInt8)};
  convolutions.options.op_types = {"Conv"};
  all.push_back(convolutions);
  convolutions.name += " quint8";
  convolutions.options.weight_type = QuantType::kUint8;
  all.push_back(convolutions);
  return all;
}

Sample inputs_of(const onnx::ModelProto& model) {
  std::uint32_t state = 99;
  const auto next = [&] { return (state = state * 1664525u + 1013904223u) >> 8; };
  Sample sample;
  for (const auto& input : model.graph().input()) {
    Tensor& tensor = sample[input.name()];
    tensor.type = input.type().tensor_type().elem_type();
    for (const auto& dim : input.type().tensor_type().shape().dim())
      tensor.dims.push_back(dim.has_dim_value() ? dim.dim_value() : 4);
    const auto put = [&](auto value) {
      const auto* bytes = reinterpret_cast<const std::uint8_t*>(&value);
      tensor.bytes.insert(tensor.bytes.end(), bytes, bytes + sizeof value);
    };
    for (std::uint64_t i = 0; i < element_count(tensor.dims); ++i) {
      const float value = static_cast<float>(next()) / 8388608.0f - 1 + static_cast<float>(next()) / 16777216.0f;
      switch (tensor.type) {
        case kFloat:
          put(value);
          break;
        case kDouble:
          put(static_cast<double>(value));
          break;
        case kFloat16:
          put(float_to_half(value));
          break;
        case kInt64:
          put(static_cast<std::int64_t>(next() % 8));
          break;
        case kInt32:
          put(static_cast<std::int32_t>(1 + next() % 4));
          break;  // lengths and masks: at least one
        case kBool:
          put(static_cast<std::uint8_t>(next() % 2));
          break;
        default:
          ADD_FAILURE() << "no values for type " << tensor.type;
      }
    }
  }
  return sample;
}

class RewriteRuns : public testing::TestWithParam<RewriteModel> {
 protected:
  void SetUp() override {
    const RewriteModel& model = GetParam();
    if (!model.runs) GTEST_SKIP() << "the runtime has no float kernel for this model";
    const auto proto = pictures::proto_of(model.text, model.opset);
    inputs_ = inputs_of(proto);
    original_ = fixtures::to_bytes(proto);
    wanted_ = Session::from_bytes(original_, {.optimize = false}).run(inputs_);
  }

  void expect_near(const Model& model, double min_sqnr_db) {
    const auto bytes = fixtures::save(model);
    for (const bool optimize : {false, true}) {
      DriftMeter meter;
      meter.add(wanted_, Session::from_bytes(bytes, {.optimize = optimize}).run(inputs_));
      EXPECT_GT(meter.worst_sqnr_db(), min_sqnr_db) << (optimize ? "optimized" : "plain") << pictures::picture(model);
      for (const OutputDrift& output : meter.result())
        EXPECT_TRUE(output.comparable) << output.name << ": " << output.why_not;
    }
  }

  fixtures::Bytes original_;
  Sample inputs_, wanted_;
};

TEST_P(RewriteRuns, NearTheFloatModel) {
  for (const Way& way : ways()) {
    SCOPED_TRACE(way.name);
    try {
      expect_near(pictures::quantized(fixtures::load(original_), way.options), way.min_sqnr_db);
    } catch (const std::exception& fault) {
      ADD_FAILURE() << fault.what();
    }
  }
}

// Each step on the way back to float is a model of its own: one node after the other, and each node alone.
TEST_P(RewriteRuns, WhateverIsDemoted) {
  for (const Way& way : ways()) {
    if (way.name != "dynamic x64" && way.name != "weights any") continue;
    const Quantizer quantizer(fixtures::load(original_), way.options);
    for (const bool alone : {false, true}) {
      Plan plan = quantizer.plan();
      for (const NodePlan& node : quantizer.plan().nodes) {
        if (alone) plan = quantizer.plan();
        while (!demote(plan, node.node, "for the test").empty()) {
          SCOPED_TRACE(way.name + pictures::picture(plan));
          try {
            expect_near(quantizer.apply(plan), way.min_sqnr_db);
          } catch (const std::exception& fault) {
            ADD_FAILURE() << fault.what();
          }
        }
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Models, RewriteRuns, testing::ValuesIn(pictures::rewrite_models()),
                         [](const auto& at) { return at.param.name; });

}  // namespace
}  // namespace octet
