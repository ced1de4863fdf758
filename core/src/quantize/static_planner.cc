#include "quantize/static_planner.h"

#include <algorithm>
#include <cmath>

#include "model/graph_match.h"
#include "prepare/blocks.h"
#include "quantize/marks.h"
#include "quantize/static_clamp.h"

namespace octet {
namespace {

using onnx::TensorProto;

// How many nodes that only pass values on lie between two integer nodes at most.
constexpr int kMaxDepth = 64;

// Blocks that lose more by rounding between their steps than integers gain.
bool is_spared(BlockKind kind) { return kind != BlockKind::kSilu && kind != BlockKind::kHardSwish; }

bool is_product_with_float_output(const onnx::NodeProto& node) { return is_op(node, "MatMul") || is_op(node, "Gemm"); }

bool has_finite_values(const Model& model, const TensorProto& tensor) {
  const auto values = tensor_as_float(model, tensor);
  return std::all_of(values.begin(), values.end(), [](float value) { return std::isfinite(value); });
}

}  // namespace

StaticPlanner::StaticPlanner(const Model& model, const GraphView& view, const PlanOptions& options,
                             const Blocked& blocked, const WhyNot& why_not)
    : model_(model), view_(view), options_(options), blocked_(blocked), weight_refusal_(why_not), shapes_(model, view) {
  find_blocks_to_spare();
  choose_products();
  if (options_.op_types.empty()) grow_chains();
  for (const NodeAt& at : view_.nodes()) {
    if (chosen_.contains(at.node)) add(at, *find_static_rule(*at.node));
  }
}

std::string StaticPlanner::why_not(const onnx::NodeProto& node) const {
  const auto found = refused_.find(&node);
  return found == refused_.end() ? "" : found->second;
}

bool StaticPlanner::is_activation(const Value* value) const {
  return value && !value->constant() && value->scope == &view_.main() && shapes_.of(value).type == TensorProto::FLOAT;
}

void StaticPlanner::find_blocks_to_spare() {
  for (const Block& block : find_blocks(model_, view_)) {
    if (is_spared(block.kind)) spared_.insert(block.nodes.begin(), block.nodes.end());
  }
}

// Inputs in integers that are made while the model runs.
std::vector<const Value*> StaticPlanner::read_by(const NodeAt& at, const StaticRule& rule) const {
  std::vector<const Value*> values;
  for (int input = 0; input < at.node->input_size(); ++input) {
    const Value* value = view_.input(at, input);
    if (rule.takes(input) && is_activation(value) && std::find(values.begin(), values.end(), value) == values.end())
      values.push_back(value);
  }
  return values;
}

std::string StaticPlanner::refusal(const NodeAt& at, const StaticRule& rule) const {
  const onnx::NodeProto& node = *at.node;
  if (at.scope != &view_.main()) return "inside a subgraph only weights are stored in integers";
  if (read_by(at, rule).empty()) return "no float32 value made by the model goes into it";
  for (int input = 0; input < node.input_size(); ++input) {
    const Value* value = view_.input(at, input);
    if (!rule.takes(input) || !value || is_activation(value)) continue;
    if (!value->constant() || value->initializer->data_type() != TensorProto::FLOAT)
      return "its input '" + value->name + "' is no float32 tensor";
    if (!has_finite_values(model_, *value->initializer))
      return "its constant '" + value->name + "' holds NaN or infinity";
  }
  for (int output = 0; output < node.output_size(); ++output) {
    const Value* value = view_.find(view_.main(), node.output(output));
    const bool indices = is_op(node, "ArgMax") || (is_op(node, "TopK") && output == 1);
    if (value && !indices && !is_activation(value)) return "its output is no float32 tensor";
  }
  if (rule.kind == StaticKind::kProduct) {
    if (is_op(node, "Gemm") && (int_attribute(node, "transA", 0) != 0 || !(float_attribute(node, "alpha", 1) > 0)))
      return "the integer Gemm takes neither transA nor an alpha below zero";
    return weight_refusal_(at);
  }
  if (is_op(node, "MaxPool") && node.output_size() > 1) return "it gives indices, which the integer kernel does not";
  if (is_op(node, "Resize")) {
    const auto* mode = find_attribute(node, "mode");
    if (mode && mode->s() != "nearest") return "interpolation in integers cuts fractions off";
  }
  return {};
}

void StaticPlanner::choose_products() {
  const bool asked = !options_.op_types.empty();
  for (const NodeAt& at : view_.nodes()) {
    const StaticRule* rule = find_static_rule(*at.node);
    if (!rule || rule->kind == StaticKind::kClamp || blocked_(at)) continue;
    if (asked ? !has_mark(*at.node, kTypeMark) : rule->kind != StaticKind::kProduct || !rule->joins) continue;
    const std::string why = refusal(at, *rule);
    if (why.empty())
      chosen_.emplace(at.node, at);
    else
      refused_.emplace(at.node, why);
  }
}

// The clamp that alone reads a value and that rounding to integers will replace: its bounds lie around zero, so that
// the range of what it lets through, zero included, ends where they are or before.
const onnx::NodeProto* StaticPlanner::clamp_behind(const Value& value) const {
  const Use* use = only_use(value);
  if (!use || use->scope != &view_.main() || options_.symmetric_activations) return nullptr;
  const NodeAt at{use->node, use->scope};
  const auto clamp = clamp_of(model_, view_, at);
  if (!clamp || clamp->input != use->input || clamp->low.value_or(0) > 0 || clamp->high.value_or(0) < 0) return nullptr;
  if (blocked_(at) || chosen_.contains(use->node)) return nullptr;
  return is_activation(view_.find(view_.main(), use->node->output(0))) ? use->node : nullptr;
}

bool StaticPlanner::fed(const Value* value, const std::set<const onnx::NodeProto*>& chain) const {
  const onnx::NodeProto* producer = value->producer;
  if (!producer) return false;
  if (chosen_.contains(producer) || chain.contains(producer)) return true;
  const auto clamp = clamp_of(model_, view_, {const_cast<onnx::NodeProto*>(producer), value->scope});
  const Value* before = clamp ? view_.find(view_.main(), producer->input(clamp->input)) : nullptr;
  return before && before->producer && clamp_behind(*before) == producer && fed(before, chain);
}

bool StaticPlanner::leads_on(const Value& value, const std::set<const onnx::NodeProto*>& chain, int depth) const {
  return std::any_of(value.uses.begin(), value.uses.end(), [&](const Use& use) {
    const auto found = chosen_.find(use.node);
    const StaticRule* rule = find_static_rule(*use.node);
    if (found != chosen_.end() || chain.contains(use.node)) {
      const auto reads = read_by({use.node, use.scope}, *rule);
      return std::find(reads.begin(), reads.end(), &value) != reads.end();
    }
    if (depth > kMaxDepth || clamp_behind(value) != use.node) return false;
    return leads_on(*view_.find(view_.main(), use.node->output(0)), chain, depth + 1);
  });
}

// Nodes between integer nodes join them: what has all its inputs from there and goes on to one.
void StaticPlanner::grow_chains() {
  std::map<const onnx::NodeProto*, NodeAt> candidates;
  std::set<const onnx::NodeProto*> chain;
  for (const NodeAt& at : view_.nodes()) {
    const StaticRule* rule = find_static_rule(*at.node);
    if (!rule || !rule->joins || rule->kind == StaticKind::kClamp || rule->kind == StaticKind::kProduct ||
        blocked_(at) || spared_.contains(at.node) || !refusal(at, *rule).empty())
      continue;
    candidates.emplace(at.node, at);
    chain.insert(at.node);
  }
  for (bool changed = true; changed;) {
    changed = false;
    for (const NodeAt& at : view_.nodes()) {
      if (!chain.contains(at.node)) continue;
      const auto reads = read_by(at, *find_static_rule(*at.node));
      const bool all_fed = std::all_of(reads.begin(), reads.end(), [&](const Value* v) { return fed(v, chain); });
      const bool goes_on = std::any_of(at.node->output().begin(), at.node->output().end(), [&](const auto& name) {
        const Value* value = view_.find(view_.main(), name);
        return value && leads_on(*value, chain);
      });
      if (all_fed && goes_on) continue;
      chain.erase(at.node);
      changed = true;
    }
  }
  for (const auto* node : chain) chosen_.emplace(node, candidates.at(node));
}

void StaticPlanner::add(const NodeAt& at, const StaticRule& rule) {
  StaticNode entry;
  entry.rule = &rule;
  entry.reads = read_by(at, rule);
  for (const auto& name : at.node->output()) {
    const Value* value = view_.find(view_.main(), name);
    if (!value || !is_activation(value)) continue;
    // Products that give float for nothing keep it, unless an integer node goes on from there.
    if (is_product_with_float_output(*at.node) && !options_.round_outputs && !leads_on(*value, {})) continue;
    if (rule.kind != StaticKind::kCarry) entry.absorbs = clamp_behind(*value);
    entry.writes.push_back(entry.absorbs ? view_.find(view_.main(), entry.absorbs->output(0)) : value);
  }
  nodes_.emplace(at.node, std::move(entry));
}

std::vector<ActivationPlan> StaticPlanner::activations() const {
  std::vector<ActivationPlan> plans;
  std::set<const Value*> seen;
  const auto include = [&](const Value* value) -> ActivationPlan* {
    if (!seen.insert(value).second) return nullptr;
    ActivationPlan plan;
    plan.tensor = value->name;
    plan.type = options_.activation_type;
    plan.symmetric = options_.symmetric_activations;
    plan.method = options_.method;
    plan.percentile = options_.percentile;
    plans.push_back(std::move(plan));
    return &plans.back();
  };
  for (const NodeAt& at : view_.nodes()) {
    const auto found = nodes_.find(at.node);
    if (found == nodes_.end()) continue;
    for (const Value* value : found->second.reads) include(value);
    for (const Value* value : found->second.writes) {
      ActivationPlan* plan = include(value);
      if (!plan) continue;
      if (found->second.rule->kind == StaticKind::kCarry) plan->same_as = found->second.reads.front()->name;
      if (is_op(*at.node, "Softmax")) {
        plan->range = Interval{0, 1};
        plan->method = RangeMethod::kMinMax;
      }
    }
  }
  return plans;
}

}  // namespace octet
