// Every operator that static mode knows, in every format and type: calibrated on its own samples, run with the
// runtime's optimizations on and off, against the float model as written.
#include <gmock/gmock.h>

#include "engine/calibrate.h"
#include "engine/engine.h"
#include "engine/integer_share.h"
#include "graph_pictures.h"
#include "listed_samples.h"
#include "octet/measure.h"
#include "static_models.h"
#include "tiny_models.h"

namespace octet {
namespace {

using pictures::StaticModel;

// 8 bits each for activations on both sides and for weights lose about 40 dB per step; a wrong scale, zero point, axis
// or bias leaves 15 or less.
constexpr double kMinSqnr = 25;
// Symmetric activations leave half of the range unused where values have one sign: a bit, 6 dB.
constexpr double kMinSqnrSymmetric = kMinSqnr - 6;
// The runtime's kernels round once where Q and DQ round twice.
constexpr double kMinAgreement = 30;
// Of integer outputs: values so close that rounding decides between them are rare.
constexpr double kMinEqual = 0.8;
constexpr int kSamples = 4;

struct Way {
  std::string name;
  PlanOptions options;
};

std::vector<Way> ways() {
  std::vector<Way> all;
  const auto add = [&](Format format, QuantType activations, QuantType weights, bool symmetric = false) {
    for (const bool per_channel : {true, false}) {
      Way way;
      way.options.mode = Mode::kStatic;
      way.options.target = Target::kX64;
      way.options.prepare = false;
      way.options.method = RangeMethod::kMinMax;  // what is tested is what becomes of a range, not how it is read
      way.options.format = format;
      way.options.activation_type = activations;
      way.options.weight_type = weights;
      way.options.symmetric_activations = symmetric;
      way.options.per_channel = per_channel;
      way.name = std::string(name_of(format)) + " " + std::string(name_of(activations)) + "/" +
                 std::string(name_of(weights)) + (symmetric ? " symmetric" : "") +
                 (per_channel ? " per channel" : " per tensor");
      all.push_back(way);
    }
  };
  for (const Format format : {Format::kQdq, Format::kQOperator}) {
    for (const QuantType activations : {QuantType::kUint8, QuantType::kInt8}) {
      for (const QuantType weights : {QuantType::kInt8, QuantType::kUint8}) add(format, activations, weights);
      add(format, activations, QuantType::kInt8, true);
    }
  }
  add(Format::kQdq, QuantType::kUint16, QuantType::kInt8);
  add(Format::kQdq, QuantType::kInt16, QuantType::kInt8);
  add(Format::kQdq, QuantType::kInt16, QuantType::kInt16);
  return all;
}

std::vector<Sample> samples_of(const onnx::ModelProto& model) {
  std::uint32_t state = 99;
  const auto next = [&] { return static_cast<float>((state = state * 1664525u + 1013904223u) >> 8) / 16777216.0f; };
  std::vector<Sample> samples(kSamples);
  for (int i = 0; i < kSamples; ++i) {
    for (const auto& input : model.graph().input()) {
      Tensor& tensor = samples[static_cast<std::size_t>(i)][input.name()];
      tensor.type = input.type().tensor_type().elem_type();
      for (const auto& dim : input.type().tensor_type().shape().dim()) tensor.dims.push_back(dim.dim_value());
      std::vector<float> values(element_count(tensor.dims));
      for (float& value : values) value = 2 * next() - 1 + next();
      if (tensor.type == kFloat) {
        tensor = tiny::floats(tensor.dims, values);
      } else if (tensor.type == kBool) {
        tensor.bytes.push_back(static_cast<std::uint8_t>(i % 2));
      } else {
        ADD_FAILURE() << "no values for type " << tensor.type;
      }
    }
  }
  return samples;
}

double worst_agreement(const std::vector<Sample>& wanted, const std::vector<Sample>& found) {
  DriftMeter meter;
  for (std::size_t i = 0; i < wanted.size(); ++i) meter.add(wanted[i], found[i]);
  double worst = meter.worst_sqnr_db();
  for (const OutputDrift& output : meter.result()) {
    EXPECT_TRUE(output.comparable) << output.name << ": " << output.why_not;
    const int type = wanted.front().at(output.name).type;
    if (type == kInt64) {
      EXPECT_GE(output.top1_agreement.value_or(0), kMinEqual) << output.name;
    }
  }
  return worst;
}

class StaticRuns : public testing::TestWithParam<StaticModel> {
 protected:
  void SetUp() override {
    const auto proto = pictures::proto_of(GetParam().text, GetParam().opset);
    samples_ = samples_of(proto);
    original_ = fixtures::to_bytes(proto);
    wanted_ = run(original_, false);
  }

  std::vector<Sample> run(const fixtures::Bytes& model, bool optimize) {
    const Session session = Session::from_bytes(model, {.optimize = optimize});
    std::vector<Sample> outputs;
    for (const Sample& sample : samples_) outputs.push_back(session.run(sample));
    return outputs;
  }

  Quantizer calibrated(PlanOptions options) {
    options.op_types = GetParam().op_types;
    Quantizer quantizer(fixtures::load(original_), options);
    if (ranges_.tensors.empty()) {
      ListedSamples samples(samples_);
      ranges_ = run_calibration(quantizer.model(), quantizer.taps(true), samples).ranges;
    }
    quantizer.set_ranges(ranges_);
    return quantizer;
  }

  fixtures::Bytes original_;
  std::vector<Sample> samples_, wanted_;
  Ranges ranges_;
};

TEST_P(StaticRuns, NearTheFloatModelInEveryWay) {
  for (const Way& way : ways()) {
    SCOPED_TRACE(way.name);
    try {
      const Quantizer quantizer = calibrated(way.options);
      const bool linear = GetParam().name.starts_with("Resize_linear_alone");
      EXPECT_EQ(quantizer.plan().activations.empty(), linear) << pictures::picture(quantizer.plan());
      Model model = quantizer.apply(quantizer.plan());
      pictures::expect_sound(model);
      const auto bytes = fixtures::save(model);
      const auto plain = run(bytes, false), optimized = run(bytes, true);
      const double least = way.options.symmetric_activations ? kMinSqnrSymmetric : kMinSqnr;
      EXPECT_GT(worst_agreement(wanted_, plain), least) << "plain" << pictures::picture(model);
      EXPECT_GT(worst_agreement(wanted_, optimized), least) << "optimized" << pictures::picture(model);
      EXPECT_GT(worst_agreement(plain, optimized), kMinAgreement) << pictures::picture(model);
    } catch (const std::exception& fault) {
      ADD_FAILURE() << fault.what();
    }
  }
}

// Each node out of integers by itself, and one after the other.
TEST_P(StaticRuns, WhateverIsDemoted) {
  for (const Way& way : ways()) {
    if (!way.name.ends_with("uint8/qint8 per channel")) continue;
    const Quantizer quantizer = calibrated(way.options);
    for (const bool alone : {false, true}) {
      Plan plan = quantizer.plan();
      for (const NodePlan& node : quantizer.plan().nodes) {
        if (alone) plan = quantizer.plan();
        while (!demote(plan, node.node, "for the test").empty()) {
          SCOPED_TRACE(way.name + pictures::picture(plan));
          try {
            Model model = quantizer.apply(plan);
            pictures::expect_sound(model);
            EXPECT_GT(worst_agreement(wanted_, run(fixtures::save(model), true)), kMinSqnr) << pictures::picture(model);
          } catch (const std::exception& fault) {
            ADD_FAILURE() << fault.what();
          }
        }
      }
    }
  }
}

// What the runtime makes of a model with Q and DQ in the default types, when it optimizes.
IntegerShare share_of(const std::string& name, QuantType activations) {
  for (const StaticModel& model : pictures::static_models()) {
    if (model.name != name) continue;
    const auto proto = pictures::proto_of(model.text, model.opset);
    PlanOptions options = ways().front().options;
    options.activation_type = activations;
    options.op_types = model.op_types;
    Quantizer quantizer(fixtures::load(proto), options);
    ListedSamples samples(samples_of(proto));
    quantizer.set_ranges(run_calibration(quantizer.model(), quantizer.taps(), samples).ranges);
    const tiny::Folder folder;
    const auto bytes = fixtures::save(quantizer.apply(quantizer.plan()));
    Session::from_bytes(bytes, {.optimized_file = folder / "optimized.onnx"});
    return integer_share(folder / "optimized.onnx");
  }
  ADD_FAILURE() << "no model is named " << name;
  return {};
}

// A model with the middle node left in float, which reads and whose output is read in integers; its weights are such
// that one scale for all of them would lose most channels.
TEST(StaticKernels, WhatIsLeftInFloatBetweenIntegersStaysInFloat) {
  const std::string begin =
      "g (float[1,4,8,8] x) => (float[a,b,c,d] y) <float[4,4,1,1] u, float[4,4,1,1] w, float[4] k";
  const std::string rows = "g (float[5,32] x) => (float[a,b] y) <float[32,32] u, float[32,32] w, float[32] k";
  const std::map<std::string, std::string> models = {
      {"Conv", begin + ", float[4,4,1,1] v> { p = Conv(x, u) [it] q = Conv(p, w) y = Conv(q, v) }"},
      {"biased", begin + ", float[4,4,1,1] v> { p = Conv(x, u) [it] q = Conv(p, w, k) y = Conv(q, v) }"},
      {"Relu", begin + ", float[4,4,1,1] v> { p = Conv(x, u) [it] q = Conv(p, w, k) r = Relu(q) y = Conv(r, v) }"},
      {"transposed", begin + ", float[4,4,1,1] v> { p = Conv(x, u) [it] q = ConvTranspose(p, w, k) y = Conv(q, v) }"},
      {"pooled before", begin + ", float[4,4,1,1] v> { p = Conv(x, u) [pool] m = MaxPool<kernel_shape = [2, 2]>(p) "
                                "[it] q = Conv(m, w, k) y = Conv(q, v) }"},
      {"pooled behind", begin + ", float[4,4,1,1] v> { p = Conv(x, u) [it] q = Conv(p, w, k) [pool] m = "
                                "MaxPool<kernel_shape = [2, 2]>(q) y = Conv(m, v) }"},
      {"turned behind", begin + ", float[4,4,1,1] v> { p = Conv(x, u) [it] q = Conv(p, w) [pool] m = Transpose<perm = "
                                "[0, 1, 3, 2]>(q) y = Conv(m, v) }"},
      {"Gemm", rows + ", float[32,32] v> { p = Gemm(x, u) [it] q = Gemm(p, w, k) y = Gemm(q, v) }"},
      {"MatMul", rows + ", float[32,32] v> { p = MatMul(x, u) [it] q = MatMul(p, w) y = MatMul(q, v) }"},
  };
  for (const auto& [name, text] : models) {
    onnx::ModelProto proto = pictures::proto_of(text);
    auto& weight = *proto.mutable_graph()->mutable_initializer(1)->mutable_float_data();
    weight.Set(0, 1000);
    const auto samples = samples_of(proto);
    for (const Format format : {Format::kQdq, Format::kQOperator}) {
      for (const bool excluded : {true, false}) {
        SCOPED_TRACE(name + (excluded ? " excluded " : " demoted ") + std::string(name_of(format)));
        PlanOptions options = ways().front().options;
        options.format = format;
        if (excluded) options.nodes_to_exclude = {"it"};
        if (excluded && text.find("[pool]") != std::string::npos) options.nodes_to_exclude.push_back("pool");
        Quantizer quantizer(fixtures::load(proto), options);
        ListedSamples reader(samples);
        quantizer.set_ranges(run_calibration(quantizer.model(), quantizer.taps(true), reader).ranges);
        Plan plan = quantizer.plan();
        if (!excluded && name != "transposed") {
          EXPECT_FALSE(demote(plan, "it", "for the test").empty());
        }
        const Model model = quantizer.apply(plan);
        const auto bytes = fixtures::save(model);
        const tiny::Folder folder;
        const Session plain = Session::from_bytes(bytes, {.optimize = false});
        const Session optimized = Session::from_bytes(bytes, {.optimized_file = folder / "optimized.onnx"});
        const IntegerShare share = integer_share(folder / "optimized.onnx");
        EXPECT_EQ(share.integer_products(), 2) << pictures::picture(model);
        EXPECT_EQ(share.float_products(), 1) << pictures::picture(model);
        EXPECT_GT(worst_agreement({plain.run(samples[0])}, {optimized.run(samples[0])}), kMinAgreement);
      }
    }
  }
}

TEST(StaticKernels, TheRuntimeRecognizesQAndDqAroundEveryOperatorThatItHasInIntegers) {
  const std::map<std::string, std::map<std::string, int>> expected = {
      {"conv_relu_conv", {{"QLinearConv", 2}}},
      {"conv_relu6_conv", {{"QLinearConv", 2}}},
      {"conv_1d", {{"QLinearConv", 1}}},
      {"conv_transpose_grouped_between", {{"QLinearConv", 2}}},
      {"matmul_twice", {{"QLinearMatMul", 1}, {"MatMulIntegerToFloat", 1}}},
      {"matmul_add_matmul", {{"QLinearMatMul", 1}, {"QLinearAdd", 1}, {"MatMulIntegerToFloat", 1}}},
      {"gemm_then_gemm", {{"QGemm", 2}}},
      {"conv_residual", {{"QLinearConv", 3}, {"QLinearAdd", 1}}},
      {"conv_silu_conv", {{"QLinearConv", 2}, {"QLinearSigmoid", 1}, {"QLinearMul", 1}}},
      {"Mul_between", {{"QLinearConv", 2}, {"QLinearMul", 1}}},
      {"Add_of_a_table_between", {{"QLinearConv", 2}, {"QLinearAdd", 1}}},
      {"Sigmoid_between", {{"QLinearConv", 2}, {"QLinearSigmoid", 1}}},
      {"LeakyRelu_between", {{"QLinearConv", 2}, {"QLinearLeakyRelu", 1}}},
      {"GlobalAveragePool_between", {{"QLinearConv", 2}, {"QLinearGlobalAveragePool", 1}}},
      {"AveragePool_between", {{"QLinearConv", 2}, {"QLinearAveragePool", 1}}},
      {"Concat_between", {{"QLinearConv", 2}, {"QLinearSigmoid", 1}, {"QLinearConcat", 1}, {"QLinearLeakyRelu", 1}}},
      {"Concat_with_a_constant", {{"QLinearConv", 2}, {"QLinearConcat", 1}}},
      {"Softmax_between", {{"QLinearConv", 2}, {"QLinearSoftmax", 1}}},
      {"Where_between", {{"QLinearConv", 2}, {"QLinearSigmoid", 1}, {"QLinearWhere", 1}}},
      {"MaxPool_between", {{"QLinearConv", 2}}},
      {"Resize_between", {{"QLinearConv", 2}}},
      {"Split_between", {{"QLinearConv", 2}, {"QLinearAdd", 1}}},
  };
  for (const auto& [name, operators] : expected) {
    SCOPED_TRACE(name);
    EXPECT_THAT(share_of(name, QuantType::kUint8).integer, testing::ContainerEq(operators));
  }
}

INSTANTIATE_TEST_SUITE_P(Models, StaticRuns, testing::ValuesIn(pictures::static_models()),
                         [](const auto& at) { return at.param.name; });

}  // namespace
}  // namespace octet
