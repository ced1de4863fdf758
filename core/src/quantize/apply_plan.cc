#include <algorithm>
#include <optional>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

#include "model/tensor_access.h"
#include "octet/error.h"
#include "octet/plan.h"
#include "octet/prepare.h"
#include "prepare/pass.h"
#include "prepare/widened.h"
#include "quantize/block_layout.h"
#include "quantize/check_plan.h"
#include "quantize/correct_biases.h"
#include "quantize/marks.h"
#include "quantize/rewrite_static.h"
#include "quantize/rewriter.h"

namespace octet {
namespace {

// DynamicQuantizeLinear came with opset 11. Matrices have a contributed operator for older models, convolutions do not.
constexpr int kDynamicConvOpset = 11;
constexpr int kStaticOpset = 13;

[[noreturn]] void refuse(const NodePlan& plan, const std::string& what) {
  throw Error(ErrorCode::kUsage, "plan: node '" + plan.node + "'", what, "plan the model again");
}

void rewrite_dynamic(Rewriter& rewriter, const NodeAt& at, const NodePlan& plan) {
  const auto& op = at.node->op_type();
  if (op == "LSTM") return rewrite_lstm_dynamic(rewriter, at);
  if (op == "MatMul" || op == "Gemm") return rewrite_matmul_dynamic(rewriter, at);
  if (op == "Conv") return rewrite_conv_dynamic(rewriter, at);
  if (op == "Attention") return rewrite_attention_dynamic(rewriter, at);
  refuse(plan, op + " has no integer form in dynamic mode");
}

bool uses_domain(const onnx::GraphProto& graph, const std::string& domain) {
  for (const auto& node : graph.node()) {
    if (node.domain() == domain) return true;
    for (const auto& attribute : node.attribute()) {
      if (attribute.has_g() && uses_domain(attribute.g(), domain)) return true;
      for (const auto& inner : attribute.graphs()) {
        if (uses_domain(inner, domain)) return true;
      }
    }
  }
  return false;
}

// Scales per channel in DequantizeLinear came with opset 13. Where a model cannot be converted, the contributed
// operators serve.
void raise_opset(Model& model, const Plan& plan) {
  const bool any = std::any_of(plan.nodes.begin(), plan.nodes.end(),
                               [](const NodePlan& node) { return node.action == Action::kStatic; });
  if (!any || opset_of(model.proto()) >= kStaticOpset) return;
  Model raised = model.clone();
  try {
    convert_opset(raised, kStaticOpset);
  } catch (const Error&) {
    return;
  }
  model = std::move(raised);
}

}  // namespace

void apply_plan(Model& model, const Plan& plan) {
  correct_biases(model, plan);
  raise_opset(model, plan);
  for (const NodePlan& node : plan.nodes) {
    if (node.action == Action::kDynamic && node.op == "Conv" && opset_of(model.proto()) < kDynamicConvOpset) {
      convert_opset(model, kDynamicConvOpset);
      break;
    }
  }
  {
    Rewriter rewriter(model, plan);
    std::unordered_map<std::string, const NodePlan*> by_id;
    for (const NodePlan& node : plan.nodes) by_id.emplace(node.node, &node);
    std::vector<std::pair<const NodeAt*, const NodePlan*>> work;
    for (const NodeAt& at : rewriter.view().nodes()) {
      const auto entry = by_id.find(rewriter.node_ids().of(*at.node));
      if (entry == by_id.end()) continue;
      work.emplace_back(&at, entry->second);
      check_node_plan(rewriter, at, *entry->second);
    }
    if (work.size() < by_id.size()) {
      std::unordered_set<std::string> known;
      for (const auto& [at, node] : work) known.insert(node->node);
      for (const NodePlan& node : plan.nodes) {
        if (!known.contains(node.node)) refuse(node, "the model has no such node");
      }
    }
    std::optional<StaticRewrite> fixed;
    std::vector<NodeAt> fixed_nodes;
    for (const auto& [place, node] : work) {
      if (node->action != Action::kStatic) continue;
      if (!fixed) fixed.emplace(rewriter, plan);
      fixed->check(*place, *node);
      fixed_nodes.push_back(*place);
    }
    if (fixed) fixed->prepare(fixed_nodes);
    // Rewrites read the view, which the edits leave as it was until finish().
    for (const auto& [place, entry] : work) {
      const NodeAt& at = *place;
      const NodePlan& node = *entry;
      if (node.action == Action::kDynamic)
        rewrite_dynamic(rewriter, at, node);
      else if (node.action == Action::kStatic)
        fixed->rewrite(at, node);
      else if (node.action == Action::kWeights && node.form == Form::kBlocks && rewriter.quantized(at, 1))
        rewrite_blocks(rewriter, at);
      else if (node.action == Action::kWeights)
        rewrite_weights(rewriter, at, node.form);
    }
    rewriter.finish();
  }
  PassReport report;
  run_drop_unused(model, report);
  restore_casts(model);
  clear_marks(model.proto());
  if (uses_domain(model.proto().graph(), "com.microsoft")) require_domain(model.proto(), "com.microsoft", 1);
}

PlanSizes plan_sizes(Model& model, const Plan& plan) {
  PlanSizes sizes;
  GraphView view(model.proto());
  const TensorIds ids(view);
  for (const Value* value : ids.tensors()) {
    if (is_float_type(value->initializer->data_type())) sizes.float_bytes += tensor_byte_size(*value->initializer);
  }
  for (const TensorPlan& tensor : plan.tensors) {
    const Value* value = ids.find(tensor.tensor);
    if (!value) continue;
    const auto& source = *value->initializer;
    check_tensor_plan(tensor, source);
    sizes.planned_bytes += tensor_byte_size(source);
    const std::uint64_t scale_bytes = bytes_for(source.data_type(), 1);
    if (tensor.block_size > 0) {
      const BlockLayout layout = block_layout(source, tensor, tensor.axis.value_or(1) == 0);
      sizes.stored_bytes += layout.packed_bytes() + layout.zero_point_bytes() + layout.scale_count() * scale_bytes;
    } else {
      sizes.stored_bytes += bytes_for(element_type(tensor.type), element_count(source)) +
                            channel_layout(source, tensor).channels * scale_bytes;
    }
  }
  return sizes;
}

}  // namespace octet
