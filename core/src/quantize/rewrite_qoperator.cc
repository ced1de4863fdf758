// The QOperator half of StaticRewrite: operators on integers, most of them contributed ones.
#include <algorithm>

#include "octet/error.h"
#include "quantize/rewrite_static.h"
#include "quantize/weight_params.h"

namespace octet {
namespace {

constexpr const char* kMicrosoft = "com.microsoft";

// Attributes that the integer form has too.
void copy_attributes(const onnx::NodeProto& from, onnx::NodeProto& to) { *to.mutable_attribute() = from.attribute(); }

}  // namespace

// Whether the runtime has a kernel on integers for the types at hand; where it has none, Q and DQ stand around the
// node.
bool StaticRewrite::has_operator(const NodeAt& at, const NodePlan& plan, const StaticRule& rule) const {
  const ActivationPlan& x = *values_.plan_of(plan.reads.front());
  for (const auto* names : {&plan.reads, &plan.writes}) {
    for (const std::string& name : *names) {
      if (values_.plan_of(name)->type != x.type) return false;
      // The elements go on as they are: what reads them must find the same scale and zero point.
      if (rule.kind == StaticKind::kCarry && !values_.share_params(name, x.tensor)) return false;
    }
  }
  if (rule.kind == StaticKind::kCarry) return rule.integer_kernel;
  if (rule.qlinear.empty() || bit_width(x.type) != 8) return false;
  if (rule.kind != StaticKind::kProduct) return true;
  const QuantType weight = rewriter_.quantized(at, 1)->plan->type;
  return bit_width(weight) == 8 && (!is_signed(x.type) || is_signed(weight));
}

std::vector<std::string> StaticRewrite::operand(const NodeAt& at, int input, const NodePlan& plan) {
  const std::string& name = at.node->input(input);
  if (values_.plan_of(name)) {
    const StoredParams params = values_.params(name);
    return {values_.integers_of(name), params.scale_name, params.zero_point_name};
  }
  const auto constant = values_.constant(at, input, *values_.plan_of(plan.reads.front()));
  return {constant.data, constant.params.scale_name, constant.params.zero_point_name};
}

void StaticRewrite::rewrite_qoperator(const NodeAt& at, const NodePlan& plan, const StaticRule& rule) {
  if (rule.kind == StaticKind::kCarry) return carry_qoperator(at, plan);
  const Output output = output_of(at, plan);
  if (output.clamp && !clamp_is_exact(*output.clamp, output.value)) return rewrite_qdq(at, plan, rule);
  if (rule.kind == StaticKind::kProduct) {
    product_qoperator(at, output);
  } else if (output.value.empty()) {
    return rewrite_qdq(at, plan, rule);  // integers in, float out: no operator does that
  } else {
    compute_qoperator(at, plan, rule, output);
  }
}

// The same operator on integers.
void StaticRewrite::carry_qoperator(const NodeAt& at, const NodePlan& plan) {
  rewriter_.reroute(*at.node, 0, values_.integers_of(at.node->input(0)));
  for (int index = 0; index < at.node->output_size(); ++index) {
    const std::string name = at.node->output(index);
    if (std::find(plan.writes.begin(), plan.writes.end(), name) == plan.writes.end()) continue;
    rewriter_.rename_output(*at.node, index, values_.integers_of(name));
    values_.restore_output(at.node, name);
  }
}

void StaticRewrite::product_qoperator(const NodeAt& at, const Output& output) {
  const onnx::NodeProto& node = *at.node;
  const ProductWeight weight = product_weight(rewriter_, at);
  const ProductBias bias = product_bias(rewriter_, at, weight, values_.params(node.input(0)).scale);
  const StoredParams own = values_.params(node.input(0));
  const std::vector<std::string> x = {values_.integers_of(node.input(0)), own.scale_name, own.zero_point_name};
  std::vector<std::string> inputs = x;
  const bool added_behind = !bias.behind.empty();
  const bool in_integers = !output.value.empty() && !added_behind;
  const std::string product = in_integers    ? values_.integers_of(output.value)
                              : added_behind ? rewriter_.fresh(node.output(0) + "_product")
                                             : node.output(0);
  const auto append = [&](std::initializer_list<std::string> more) { inputs.insert(inputs.end(), more); };
  std::string y_scale, y_zero_point;
  if (in_integers) {
    const StoredParams y = values_.params(output.value);
    y_scale = y.scale_name;
    y_zero_point = y.zero_point_name;
  }
  if (is_op(node, "Gemm")) {
    append({weight.data, weight.scale_name, weight.zero_point_name, bias.data, y_scale, y_zero_point});
    while (inputs.back().empty()) inputs.pop_back();
    auto& gemm = rewriter_.node_before(at, "QGemm", inputs, {product});
    gemm.set_domain(kMicrosoft);
    set_attribute(gemm, "transB", int_attribute(node, "transB", 0));
  } else if (is_op(node, "MatMul") && !in_integers) {
    auto& matmul =
        rewriter_.node_before(at, "MatMulIntegerToFloat",
                              {x[0], weight.data, x[1], weight.scale_name, x[2], weight.zero_point_name}, {product});
    matmul.set_domain(kMicrosoft);
  } else {
    append({weight.data, weight.scale_name, weight.zero_point_name, y_scale, y_zero_point});
    if (!bias.data.empty()) inputs.push_back(bias.data);
    auto& op = rewriter_.node_before(at, is_op(node, "Conv") ? "QLinearConv" : "QLinearMatMul", inputs, {product});
    copy_attributes(node, op);
  }
  rewriter_.remove(at);
  if (added_behind) return add_behind(at, product, bias.behind, output);
  if (!in_integers) return;
  if (output.clamp) rewriter_.remove({output.clamp, at.scope});
  values_.restore_output(at.node, output.value);
}

void StaticRewrite::compute_qoperator(const NodeAt& at, const NodePlan& plan, const StaticRule& rule,
                                      const Output& output) {
  const onnx::NodeProto& node = *at.node;
  const StoredParams y = values_.params(output.value);
  std::vector<std::string> inputs;
  if (is_op(node, "Concat")) inputs = {y.scale_name, y.zero_point_name};
  for (int input = 0; input < node.input_size(); ++input) {
    if (!rule.takes(input)) {
      inputs.push_back(node.input(input));
      continue;
    }
    for (const std::string& part : operand(at, input, plan)) inputs.push_back(part);
  }
  if (!is_op(node, "Concat")) {
    inputs.push_back(y.scale_name);
    inputs.push_back(y.zero_point_name);
  }
  auto& op = rewriter_.node_before(at, std::string(rule.qlinear).c_str(), inputs, {values_.integers_of(output.value)});
  op.set_domain(kMicrosoft);
  copy_attributes(node, op);
  if (is_op(node, "Softmax")) {
    set_attribute(op, "opset", rewriter_.opset());
    if (!find_attribute(node, "axis")) set_attribute(op, "axis", std::int64_t{rewriter_.opset() < 13 ? 1 : -1});
  }
  rewriter_.remove(at);
  if (output.clamp) rewriter_.remove({output.clamp, at.scope});
  values_.restore_output(at.node, output.value);
}

}  // namespace octet
