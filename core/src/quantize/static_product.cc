#include "quantize/static_product.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

#include "model/tensor_access.h"
#include "quantize/weight_params.h"

namespace octet {
namespace {

using onnx::TensorProto;

// Room for the sums of products that the bias is added to.
constexpr double kLargestBias = 0x1p30;

bool has_bias(const onnx::NodeProto& node) {
  return node.op_type() != "MatMul" && node.input_size() > 2 && !node.input(2).empty() &&
         (!is_op(node, "Gemm") || float_attribute(node, "beta", 1) != 0);
}

const TensorProto* stored_bias(const GraphView& view, const NodeAt& at) {
  if (!has_bias(*at.node)) return nullptr;
  const Value* value = view.input(at, 2);
  const bool stored = value && value->constant() && value->initializer->data_type() == TensorProto::FLOAT;
  return stored ? value->initializer : nullptr;
}

std::uint64_t output_channels(const onnx::NodeProto& node, const TensorProto& weight) {
  const auto dim = [&](int axis) {
    return axis < weight.dims_size() ? static_cast<std::uint64_t>(weight.dims(axis)) : 0;
  };
  if (is_op(node, "Conv")) return dim(0);
  if (is_op(node, "ConvTranspose")) return dim(1) * static_cast<std::uint64_t>(int_attribute(node, "group", 1));
  return dim(is_op(node, "Gemm") && int_attribute(node, "transB", 0) != 0 ? 0 : 1);
}

// Whether scales per channel are scales per output. Those of a grouped ConvTranspose run along its input channels.
bool scales_follow_outputs(const onnx::NodeProto& node, std::size_t scales, std::uint64_t channels) {
  const bool grouped = is_op(node, "ConvTranspose") && int_attribute(node, "group", 1) != 1;
  return scales == 1 || (scales == channels && !grouped);
}

// The bias per output channel, beta included; nothing when it is no vector over the channels.
std::optional<std::vector<float>> channel_bias(const TensorStore& store, const NodeAt& at, const TensorProto& bias,
                                               std::uint64_t channels) {
  const std::uint64_t count = element_count(bias);
  if (count == 0 || (count != channels && count != 1)) return std::nullopt;
  if (bias.dims_size() > 0 && static_cast<std::uint64_t>(bias.dims(bias.dims_size() - 1)) != count) return std::nullopt;
  std::vector<float> values = tensor_as_float(store, bias);
  values.resize(channels, values.front());
  const float beta = is_op(*at.node, "Gemm") ? float_attribute(*at.node, "beta", 1) : 1;
  for (float& value : values) value *= beta;
  return values;
}

float alpha_of(const onnx::NodeProto& node) { return is_op(node, "Gemm") ? float_attribute(node, "alpha", 1) : 1; }

// Channels whose stored weights are all zero have a scale of 1 (choose_params).
std::vector<bool> zero_channels(const TensorStore& store, const Quantized& weight) {
  const auto& params = *weight.params;
  std::vector<bool> zero(params.scale.size(), false);
  if (std::find(params.scale.begin(), params.scale.end(), 1.0f) == params.scale.end()) return zero;
  const auto values = tensor_as_float(store, weight.source);
  const ChannelLayout layout = channel_layout(weight.source, *weight.plan);
  std::vector<bool> found(params.scale.size(), false);
  for (std::uint64_t i = 0; i < values.size(); ++i) {
    // Values too small for a scale count as zero: they are stored as such.
    if (std::abs(values[i]) >= 0x1p-100f) found[(i / layout.inner) % layout.channels] = true;
  }
  for (std::size_t c = 0; c < zero.size(); ++c) zero[c] = params.scale[c] == 1.0f && !found[c];
  return zero;
}

std::vector<std::uint8_t> int32_bytes(const std::vector<std::int32_t>& values) {
  std::vector<std::uint8_t> bytes(values.size() * sizeof(std::int32_t));
  std::memcpy(bytes.data(), values.data(), bytes.size());
  return bytes;
}

}  // namespace

ProductWeight product_weight(Rewriter& rewriter, const NodeAt& at) {
  Quantized& weight = *rewriter.quantized(at, 1);
  ProductWeight result;
  result.data = rewriter.data(weight);
  result.zero_point_name = rewriter.zero_point(weight);
  result.scale = weight.params->scale;
  result.axis = weight.plan->axis;
  const float alpha = alpha_of(*at.node);
  if (alpha == 1) {
    result.scale_name = rewriter.flat_scale(weight);
    return result;
  }
  for (float& scale : result.scale) scale *= alpha;
  std::vector<std::int64_t> dims;
  if (result.axis) dims.push_back(static_cast<std::int64_t>(result.scale.size()));
  result.scale_name =
      rewriter.add_floats(*at.scope, weight.value->name + "_scale", TensorProto::FLOAT, dims, result.scale);
  return result;
}

ProductBias product_bias(Rewriter& rewriter, const NodeAt& at, const ProductWeight& weight, float input_scale) {
  ProductBias result;
  if (!has_bias(*at.node)) return result;
  const Quantized& matrix = *rewriter.quantized(at, 1);
  const std::uint64_t channels = output_channels(*at.node, matrix.source);
  const std::string name = at.node->input(2);
  const std::string wish = at.node->output(0) + "_bias";
  const TensorProto* stored = stored_bias(rewriter.view(), at);
  const bool convolution = is_op(*at.node, "Conv") || is_op(*at.node, "ConvTranspose");
  std::vector<float> scales;
  for (const float scale : weight.scale) scales.push_back(scale * input_scale);
  // Then the product runs in float, and any scale will do for all.
  if (!scales_follow_outputs(*at.node, scales.size(), channels))
    scales = {*std::max_element(scales.begin(), scales.end())};
  result.per_channel = scales.size() > 1;
  const auto store_scales = [&] {
    std::vector<std::int64_t> dims;
    if (result.per_channel) dims.push_back(static_cast<std::int64_t>(scales.size()));
    result.scale_name = rewriter.add_floats(*at.scope, wish + "_scale", TensorProto::FLOAT, dims, scales);
  };
  if (stored) {
    if (const auto values = channel_bias(rewriter.model().store(), at, *stored, channels)) {
      std::vector<std::int32_t> integers;
      for (std::size_t c = 0; c < values->size(); ++c) {
        const double exact =
            static_cast<double>((*values)[c]) / static_cast<double>(scales[result.per_channel ? c : 0]);
        constexpr double kMost = std::numeric_limits<std::int32_t>::max();
        integers.push_back(static_cast<std::int32_t>(std::nearbyint(std::clamp(exact, -kMost, kMost))));
      }
      result.data = rewriter.add_tensor(*at.scope, wish + "_quantized", TensorProto::INT32,
                                        {static_cast<std::int64_t>(channels)}, int32_bytes(integers));
      store_scales();
      return result;
    }
  }
  if (convolution) {
    // A convolution's bias is a vector over its channels, whoever makes it.
    store_scales();
    const std::string steps = rewriter.before(at, "Div", {name, result.scale_name}, wish + "_steps");
    const std::string whole = rewriter.before(at, "Round", {steps}, wish + "_rounded");
    result.data = rewriter.cast_before(at, whole, TensorProto::INT32, wish + "_quantized");
    return result;
  }
  result.behind = name;
  const float beta = is_op(*at.node, "Gemm") ? float_attribute(*at.node, "beta", 1) : 1;
  if (beta != 1) {
    const std::string factor = rewriter.add_floats(*at.scope, wish + "_beta", TensorProto::FLOAT, {}, {beta});
    result.behind = rewriter.before(at, "Mul", {name, factor}, wish);
  }
  return result;
}

void fit_scales_to_biases(Rewriter& rewriter, StaticValues& values, const std::vector<NodeAt>& products) {
  for (const NodeAt& at : products) {
    const TensorProto* stored = stored_bias(rewriter.view(), at);
    Quantized& weight = *rewriter.quantized(at, 1);
    if (!stored || !weight.data.empty()) continue;
    const TensorStore& store = rewriter.model().store();
    const std::uint64_t channels = output_channels(*at.node, weight.source);
    const auto bias = channel_bias(store, at, *stored, channels);
    if (!bias || !scales_follow_outputs(*at.node, weight.params->scale.size(), channels)) continue;
    const double input_scale =
        static_cast<double>(values.params(at.node->input(0)).scale) * static_cast<double>(alpha_of(*at.node));
    const std::vector<bool> zero = zero_channels(store, weight);
    auto fitted = std::make_shared<WeightParams>(*weight.params);
    const auto widest = [&](std::size_t c) {
      if (fitted->scale.size() > 1) return static_cast<double>(std::abs((*bias)[c]));
      double most = 0;
      for (const float value : *bias) most = std::max(most, static_cast<double>(std::abs(value)));
      return most;
    };
    bool changed = false;
    for (std::size_t c = 0; c < fitted->scale.size(); ++c) {
      const auto least =
          std::max(static_cast<float>(widest(c) / (input_scale * kLargestBias)), std::numeric_limits<float>::min());
      if (zero[c] ? fitted->scale[c] == least : fitted->scale[c] >= least) continue;
      fitted->scale[c] = least;
      changed = true;
    }
    if (changed) weight.params = std::move(fitted);
  }
}

}  // namespace octet
