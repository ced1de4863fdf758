// com.microsoft.Attention(x, w, b, mask, past)   →   com.microsoft.QAttention(q, qw, b, s, sw, mask, z, zw, past)
#include "quantize/rewriter.h"

namespace octet {

void rewrite_attention_dynamic(Rewriter& rewriter, const NodeAt& at) {
  const onnx::NodeProto& node = *at.node;
  Quantized& weight = *rewriter.quantized(at, 1);
  const auto activation = rewriter.activation(at, node.input(0), onnx::TensorProto::FLOAT);
  const auto input = [&](int index) { return index < node.input_size() ? node.input(index) : std::string(); };
  std::string bias = input(2);
  if (bias.empty()) {  // the integer operator reads one without looking whether it is there
    const auto width = weight.source.dims(1);
    bias = rewriter.add_floats(*at.scope, node.output(0) + "_bias", onnx::TensorProto::FLOAT, {width},
                               std::vector<float>(static_cast<std::size_t>(width)));
  }
  const std::vector<std::string> inputs = {activation.data,       rewriter.data(weight),       bias,
                                           activation.scale,      rewriter.flat_scale(weight), input(3),
                                           activation.zero_point, rewriter.zero_point(weight), input(4)};
  onnx::NodeProto& quantized =
      rewriter.node_before(at, "QAttention", inputs, {node.output().begin(), node.output().end()});
  quantized.set_domain("com.microsoft");
  *quantized.mutable_attribute() = node.attribute();
  rewriter.remove(at);
}

}  // namespace octet
