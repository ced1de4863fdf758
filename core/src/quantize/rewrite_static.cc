#include "quantize/rewrite_static.h"

#include <algorithm>

#include "model/graph_match.h"
#include "octet/error.h"
#include "quantize/static_clamp.h"
#include "quantize/weight_params.h"

namespace octet {
namespace {

[[noreturn]] void refuse(const NodePlan& plan, const std::string& what) {
  throw Error(ErrorCode::kUsage, "plan: node '" + plan.node + "'", what, "plan the model again");
}

bool reads_value(const NodePlan& plan, const std::string& value) {
  return std::find(plan.reads.begin(), plan.reads.end(), value) != plan.reads.end();
}

}  // namespace

StaticRewrite::StaticRewrite(Rewriter& rewriter, const Plan& plan)
    : rewriter_(rewriter), plan_(plan), values_(rewriter, plan) {}

void StaticRewrite::check(const NodeAt& at, const NodePlan& plan) const {
  const onnx::NodeProto& node = *at.node;
  const StaticRule* rule = find_static_rule(node);
  if (!rule || rule->kind == StaticKind::kClamp) refuse(plan, node.op_type() + " has no static form");
  if (at.scope != &rewriter_.view().main()) refuse(plan, "inside a subgraph only weights are stored in integers");
  for (const std::string& value : plan.reads) {
    bool found = false;
    for (int input = 0; input < node.input_size(); ++input)
      found = found || (node.input(input) == value && rule->takes(input));
    if (!found) refuse(plan, "it does not read '" + value + "' in integers");
  }
  if (plan.reads.empty()) refuse(plan, "it reads nothing in integers");
  if (!plan.absorbs.empty() && (rule->kind == StaticKind::kCarry || plan.writes.size() != 1))
    refuse(plan, "it cannot absorb '" + plan.absorbs + "'");
  for (const std::string& value : plan.writes) {
    if (plan.absorbs.empty() && std::find(node.output().begin(), node.output().end(), value) == node.output().end())
      refuse(plan, "it does not write '" + value + "'");
  }
  for (int input = 0; input < node.input_size(); ++input) {
    const Value* value = rule->takes(input) ? rewriter_.view().input(at, input) : nullptr;
    if (!value || reads_value(plan, value->name)) continue;
    if (!value->constant() || value->initializer->data_type() != onnx::TensorProto::FLOAT)
      refuse(plan, "its input '" + value->name + "' is not planned in integers");
  }
  if (rule->kind != StaticKind::kProduct) return;
  bool through_transpose = false;
  const Quantized* weight = rewriter_.quantized(at, 1, &through_transpose);
  if (!weight || through_transpose || weight->plan->block_size > 0 || weight->plan->transposed || weight->plan->across)
    refuse(plan, "its weight is not planned in a layout that integer kernels read");
  if (weight->source.data_type() != onnx::TensorProto::FLOAT) refuse(plan, "its weight is no float32 tensor");
  if (!weight->plan->axis) return;
  if (weight->plan->axes != 1) refuse(plan, "its weight has scales along several axes");
  if (!weight->plan->symmetric) refuse(plan, "scales per channel need a symmetric weight: kernels take one zero point");
  const std::vector<WeightSlot> slots = find_rule(node)->slots({rewriter_.model(), rewriter_.view(), at, {}});
  const auto slot = std::find_if(slots.begin(), slots.end(), [](const WeightSlot& entry) { return entry.input == 1; });
  if (slot == slots.end() || slot->axis != weight->plan->axis)
    refuse(plan, "the scales of its weight do not run along its outputs");
}

void StaticRewrite::prepare(const std::vector<NodeAt>& nodes) {
  std::vector<NodeAt> products;
  for (const NodeAt& at : nodes) {
    if (find_static_rule(*at.node)->kind == StaticKind::kProduct) products.push_back(at);
  }
  fit_scales_to_biases(rewriter_, values_, products);
}

StaticRewrite::Output StaticRewrite::output_of(const NodeAt& at, const NodePlan& plan) const {
  Output output;
  if (plan.writes.empty()) return output;
  output.value = plan.writes.front();
  if (plan.absorbs.empty()) {
    if (at.node->output(0) != output.value) refuse(plan, "its first output is not '" + output.value + "'");
    return output;
  }
  const Value* own = rewriter_.view().find(*at.scope, at.node->output(0));
  const Use* use = only_use(*own);
  const auto clamp = use ? clamp_of(rewriter_.model(), rewriter_.view(), {use->node, use->scope}) : std::nullopt;
  const bool clamps = clamp && clamp->input == use->input;
  if (!clamps || use->node->output_size() != 1 || use->node->output(0) != output.value ||
      rewriter_.node_ids().of(*use->node) != plan.absorbs)
    refuse(plan, "'" + plan.absorbs + "' is not the one reader of its output");
  output.clamp = use->node;
  return output;
}

bool StaticRewrite::clamp_is_exact(onnx::NodeProto& clamp, const std::string& value) {
  const StoredParams& params = values_.params(value);
  const auto bounds = clamp_of(rewriter_.model(), rewriter_.view(), {&clamp, &rewriter_.view().main()});
  return bounds && is_superfluous(*bounds, params.scale, params.zero_point,
                                  integer_range(values_.plan_of(value)->type, false, false));
}

// A clamp that rounding does not replace stays where it is, behind the node and before the rounding.
void StaticRewrite::settle_clamp(const NodeAt& at, Output& output) {
  if (!output.clamp) return;
  if (clamp_is_exact(*output.clamp, output.value)) return rewriter_.remove({output.clamp, at.scope});
  write_rounded(*output.clamp, 0, output.value);
  output = {};
}

void StaticRewrite::rewrite(const NodeAt& at, const NodePlan& plan) {
  const StaticRule& rule = *find_static_rule(*at.node);
  if (plan_.format == Format::kQOperator && has_operator(at, plan, rule))
    rewrite_qoperator(at, plan, rule);
  else
    rewrite_qdq(at, plan, rule);
}

void StaticRewrite::write_rounded(onnx::NodeProto& node, int index, const std::string& value) {
  const std::string raw = rewriter_.fresh(value + "_unrounded");
  rewriter_.rename_output(node, index, raw);
  values_.round_output(&node, raw, value);
}

void StaticRewrite::add_behind(const NodeAt& at, const std::string& product, const std::string& bias,
                               const Output& output) {
  const bool rounds = !output.value.empty() && !output.clamp;
  const std::string sum = rounds ? rewriter_.fresh(output.value + "_unrounded") : at.node->output(0);
  rewriter_.node_after(at.node, "Add", {product, bias}, {sum});
  if (rounds) values_.round_output(at.node, sum, output.value);
  if (output.clamp) write_rounded(*output.clamp, 0, output.value);
}

std::string StaticRewrite::dequantized_constant(const NodeAt& at, int input, const NodePlan& plan) {
  const ActivationPlan& like = *values_.plan_of(plan.reads.front());
  const auto constant = values_.constant(at, input, like);
  const std::string output = rewriter_.fresh(at.node->input(input) + "_dequantized");
  values_.place(
      rewriter_.node_before(at, "DequantizeLinear",
                            {constant.data, constant.params.scale_name, constant.params.zero_point_name}, {output}),
      false, bit_width(like.type));
  return output;
}

void StaticRewrite::product_qdq(const NodeAt& at, Output& output) {
  onnx::NodeProto& node = *at.node;
  const ProductWeight weight = product_weight(rewriter_, at);
  const ProductBias bias = product_bias(rewriter_, at, weight, values_.params(node.input(0)).scale);
  const Quantized& matrix = *rewriter_.quantized(at, 1);
  const std::string restored = rewriter_.fresh(matrix.value->name + "_dequantized");
  auto& dequantize = rewriter_.node_before(at, "DequantizeLinear",
                                           {weight.data, weight.scale_name, weight.zero_point_name}, {restored});
  if (weight.axis) set_attribute(dequantize, "axis", std::int64_t{*weight.axis});
  values_.place(dequantize, weight.axis.has_value(), bit_width(matrix.plan->type));
  rewriter_.reroute(node, 0, values_.rounded(node.input(0)));
  rewriter_.reroute(node, 1, restored);
  if (!bias.data.empty()) {
    const std::string vector = rewriter_.fresh(node.output(0) + "_bias");
    auto& restore = rewriter_.node_before(at, "DequantizeLinear", {bias.data, bias.scale_name}, {vector});
    if (bias.per_channel) set_attribute(restore, "axis", std::int64_t{0});
    values_.place(restore, bias.per_channel, 8);
    rewriter_.reroute(node, 2, vector);
  }
  if (is_op(node, "Gemm")) {
    set_float_attribute(node, "alpha", 1);
    set_float_attribute(node, "beta", 1);
  }
  // A bias that is no vector is added behind, in float; one that beta takes away is there no more.
  if (bias.data.empty() && node.input_size() > 2) rewriter_.reroute(node, 2, "");
  if (bias.behind.empty()) return;
  const std::string product = rewriter_.fresh(node.output(0) + "_product");
  rewriter_.rename_output(node, 0, product);
  add_behind(at, product, bias.behind, output);
  output = {};
}

void StaticRewrite::rewrite_qdq(const NodeAt& at, const NodePlan& plan, const StaticRule& rule) {
  if (rule.kind == StaticKind::kProduct) {
    Output output = output_of(at, plan);
    product_qdq(at, output);
    settle_clamp(at, output);
    if (!output.value.empty()) write_rounded(*at.node, 0, output.value);
    return;
  }
  for (int input = 0; input < at.node->input_size(); ++input) {
    if (!rule.takes(input) || at.node->input(input).empty()) continue;
    if (reads_value(plan, at.node->input(input)))
      rewriter_.reroute(*at.node, input, values_.rounded(at.node->input(input)));
    else
      rewriter_.reroute(*at.node, input, dequantized_constant(at, input, plan));
  }
  if (rule.kind == StaticKind::kCompute && !plan.writes.empty()) {
    Output output = output_of(at, plan);
    settle_clamp(at, output);
    if (!output.value.empty()) write_rounded(*at.node, 0, output.value);
    return;
  }
  for (int index = 0; index < at.node->output_size(); ++index) {
    const std::string name = at.node->output(index);
    if (std::find(plan.writes.begin(), plan.writes.end(), name) != plan.writes.end())
      write_rounded(*at.node, index, name);
  }
}

}  // namespace octet
