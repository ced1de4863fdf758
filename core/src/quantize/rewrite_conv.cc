// y = Conv(x, w, b)   →   q, s, z = DynamicQuantizeLinear(x); y = Add(Mul(Cast(ConvInteger(q, qw, z)), Mul(s, sw)), b)
#include "model/tensor_access.h"
#include "quantize/rewriter.h"

namespace octet {
namespace {

using onnx::TensorProto;

// A vector over output channels as [channels, 1, …], to broadcast over the spatial axes.
std::string by_channel(Rewriter& rewriter, const NodeAt& at, const std::string& vector, int spatial,
                       const std::string& wish) {
  std::vector<std::uint8_t> shape(8 * (static_cast<std::size_t>(spatial) + 1), 0);
  for (int i = 0; i < 8; ++i) shape[static_cast<std::size_t>(i)] = 0xff;  // -1: the channels
  for (int i = 1; i <= spatial; ++i) shape[static_cast<std::size_t>(8 * i)] = 1;
  const std::string dims =
      rewriter.add_tensor(*at.scope, wish + "_shape", TensorProto::INT64, {spatial + 1}, std::move(shape));
  return rewriter.before(at, "Reshape", {vector, dims}, wish);
}

}  // namespace

void rewrite_conv_dynamic(Rewriter& rewriter, const NodeAt& at) {
  const onnx::NodeProto& node = *at.node;
  Quantized& weight = *rewriter.quantized(at, 1);
  const int type = weight.source.data_type();
  const int spatial = weight.source.dims_size() - 2;
  const std::string wish = node.output(0);
  const auto activation = rewriter.activation(at, node.input(0), type);
  const std::string integers = rewriter.fresh(wish + "_integer");
  std::vector<std::string> inputs = {activation.data, rewriter.data(weight), activation.zero_point};
  if (rewriter.has_zero_point(weight)) inputs.push_back(rewriter.zero_point(weight));
  *rewriter.node_before(at, "ConvInteger", inputs, {integers}).mutable_attribute() = node.attribute();
  const std::string cast = rewriter.cast_before(at, integers, TensorProto::FLOAT, wish + "_cast");
  std::string weight_scale = rewriter.flat_scale(weight);
  if (type != TensorProto::FLOAT)
    weight_scale = rewriter.cast_before(at, weight_scale, TensorProto::FLOAT, weight_scale + "_float");
  if (weight.plan->axis) weight_scale = by_channel(rewriter, at, weight_scale, spatial, wish + "_weight_scale");
  const std::string scale = rewriter.before(at, "Mul", {activation.scale, weight_scale}, wish + "_scale");
  std::string result = rewriter.before(at, "Mul", {cast, scale}, wish + "_scaled");
  if (type != TensorProto::FLOAT) result = rewriter.cast_before(at, result, type, wish + "_back");
  if (node.input_size() > 2 && !node.input(2).empty()) {
    const std::string bias = by_channel(rewriter, at, node.input(2), spatial, wish + "_bias");
    rewriter.node_before(at, "Add", {result, bias}, {wish});
  } else {
    rewriter.rename_last(at, wish);
  }
  rewriter.remove(at);
}

}  // namespace octet
