// LSTM(x, W, R, …)   →   com.microsoft.DynamicQuantizeLSTM(x, qWᵀ, qRᵀ, …, sW, zW, sR, zR)
// The operator wants W and R as [directions, input, 4·hidden], scales and zero points [directions] or [directions,
// 4·hidden].
#include "model/tensor_access.h"
#include "octet/error.h"
#include "quantize/rewriter.h"

namespace octet {

void rewrite_lstm_dynamic(Rewriter& rewriter, const NodeAt& at) {
  const onnx::NodeProto& node = *at.node;
  Quantized* w = rewriter.quantized(at, 1);
  Quantized* r = rewriter.quantized(at, 2);
  if (!w || !r || !w->plan->transposed || !r->plan->transposed || w->plan->axis != 0 || r->plan->axis != 0) {
    throw Error(ErrorCode::kUsage, "plan: node '" + rewriter.node_ids().of(node) + "'",
                "a dynamic LSTM needs both weights planned, transposed, with scales from axis 0",
                "plan the model again");
  }
  std::vector<std::string> inputs(8);
  for (int i = 0; i < node.input_size() && i < 8; ++i) inputs[static_cast<std::size_t>(i)] = node.input(i);
  inputs[1] = rewriter.data(*w);
  inputs[2] = rewriter.data(*r);
  for (Quantized* weight : {w, r}) {
    inputs.push_back(rewriter.flat_scale(*weight));
    inputs.push_back(rewriter.zero_point(*weight));
  }
  onnx::NodeProto& quantized =
      rewriter.node_before(at, "DynamicQuantizeLSTM", inputs, {node.output().begin(), node.output().end()});
  quantized.set_domain("com.microsoft");
  *quantized.mutable_attribute() = node.attribute();
  drop_attribute(quantized, "layout");
  rewriter.remove(at);
}

}  // namespace octet
