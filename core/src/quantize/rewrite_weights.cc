// y = MatMul(x, w)   →   w' = Mul(Cast(q), s);            y = MatMul(x, w')      fold: other operators, other targets
//                    →   w' = DequantizeLinear(q, s);     y = MatMul(x, w')      dequantize: natively, fused by the
//                    runtime
// y = Gather(w, i)   →   y = Mul(Cast(Gather(q, i)), s)                          gather, one scale
//                    →   y = Mul(Cast(Gather(q, i)), Gather(s, i))               gather, a scale per row
#include "model/tensor_access.h"
#include "quantize/rewriter.h"

namespace octet {
namespace {

constexpr const char* kMicrosoft = "com.microsoft";

void swap_gemm_operand(onnx::NodeProto& gemm) {
  set_attribute(gemm, "transB", std::int64_t{int_attribute(gemm, "transB", 0) == 0});
}

void use_folded(Rewriter& rewriter, const NodeAt& at, int input, Quantized& tensor) {
  const StoredWeight weight = stored_weight(rewriter.view(), at, input);
  const std::string& folded = rewriter.folded(tensor);
  if (weight.transpose) {
    rewriter.reroute(*weight.transpose, 0, folded);
    return;
  }
  std::string name = folded;
  if (tensor.plan->transposed && is_op(*at.node, "Gemm")) {
    swap_gemm_operand(*at.node);
  } else if (tensor.plan->transposed) {
    std::vector<std::int64_t> perm;
    for (int i = 0; i < tensor.source.dims_size(); ++i) perm.push_back(i);
    std::swap(perm[perm.size() - 1], perm[perm.size() - 2]);
    name = rewriter.fresh(folded + "_transposed");
    set_attribute(rewriter.node_before(at, "Transpose", {folded}, {name}), "perm", perm);
  }
  rewriter.reroute(*at.node, input, name);
}

// The stored matrix as the node sees it, [K, N], still in integers.
std::string integer_matrix(Rewriter& rewriter, const NodeAt& at, Quantized& tensor, bool turned) {
  if (!turned) return rewriter.data(tensor);
  return rewriter.before(at, "Transpose", {rewriter.data(tensor)}, tensor.value->name + "_transposed");
}

void use_dequantized(Rewriter& rewriter, const NodeAt& at, int input, Quantized& tensor) {
  bool through_transpose = false;
  rewriter.quantized(at, input, &through_transpose);
  bool turned = through_transpose;
  bool channels_last = tensor.plan->axis == tensor.source.dims_size() - 1;
  if (through_transpose) channels_last = !channels_last;
  if (is_op(*at.node, "Gemm") && int_attribute(*at.node, "transB", 0) != 0) {
    // The fusion knows only the plain orientation.
    swap_gemm_operand(*at.node);
    turned = turned == tensor.plan->transposed;
    channels_last = !channels_last;
  }
  const std::string matrix = integer_matrix(rewriter, at, tensor, turned);
  const std::string output = rewriter.fresh(tensor.value->name + "_dequantized");
  const bool standard = rewriter.opset() >= (tensor.plan->axis ? 13 : 10);
  std::vector<std::string> inputs = {matrix, rewriter.flat_scale(tensor)};
  // The contributed operator serves any opset, but wants its zero point spelt out.
  if (!standard || rewriter.has_zero_point(tensor)) inputs.push_back(rewriter.zero_point(tensor));
  onnx::NodeProto& node = rewriter.node_before(at, "DequantizeLinear", inputs, {output});
  if (!standard) node.set_domain(kMicrosoft);
  if (tensor.plan->axis) set_attribute(node, "axis", std::int64_t{channels_last ? 1 : 0});
  rewriter.reroute(*at.node, input, output);
}

void gather_then_dequantize(Rewriter& rewriter, const NodeAt& at, Quantized& tensor) {
  const onnx::NodeProto& gather = *at.node;
  const TensorPlan& plan = *tensor.plan;
  const std::string wish = gather.output(0);
  const int type = tensor.source.data_type();
  const auto gathered = [&](const std::string& table, const std::string& name) {
    const std::string output = rewriter.fresh(name);
    onnx::NodeProto& node = rewriter.node_before(at, "Gather", {table, gather.input(1)}, {output});
    *node.mutable_attribute() = gather.attribute();
    return output;
  };
  const std::string rows = gathered(rewriter.data(tensor), wish + "_quantized");
  // Not DequantizeLinear: ONNX Runtime 1.30 moves one past a Transpose behind it and then computes something else.
  std::string value = rewriter.cast_before(at, rows, type, wish + "_cast");
  const bool per_row = plan.axis.has_value();
  if (rewriter.has_zero_point(tensor)) {
    const std::string& all = rewriter.column_zero_point(tensor);
    value =
        rewriter.before(at, "Sub", {value, per_row ? gathered(all, wish + "_zero_point") : all}, wish + "_centered");
  }
  const std::string& scales = rewriter.column_scale(tensor);
  rewriter.node_before(at, "Mul", {value, per_row ? gathered(scales, wish + "_scale") : scales}, {wish});
  rewriter.remove(at);
}

}  // namespace

void rewrite_weights(Rewriter& rewriter, const NodeAt& at, Form form) {
  if (form == Form::kGather && is_op(*at.node, "Gather")) {
    bool through_transpose = false;
    Quantized* table = rewriter.quantized(at, 0, &through_transpose);
    const bool by_row = table && (!table->plan->axis || (*table->plan->axis == 0 && table->plan->axes == 1 &&
                                                         int_attribute(*at.node, "axis", 0) == 0));
    if (by_row && !through_transpose && !table->plan->transposed) return gather_then_dequantize(rewriter, at, *table);
  }
  for (int input = 0; input < at.node->input_size(); ++input) {
    Quantized* tensor = rewriter.quantized(at, input);
    if (!tensor) continue;
    const bool matrix = tensor->source.dims_size() == 2 && tensor->plan->axes == 1 &&
                        bit_width(tensor->plan->type) == 8 && tensor->source.data_type() == onnx::TensorProto::FLOAT;
    // The runtime's fusion fails on a weight of an outer graph; a retreat does not know where weights stand.
    if (form == Form::kDequantize && matrix && tensor->value->scope == at.scope)
      use_dequantized(rewriter, at, input, *tensor);
    else
      use_folded(rewriter, at, input, *tensor);
  }
}

}  // namespace octet
