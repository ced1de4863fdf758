#include "search/plan_edits.h"

#include <algorithm>
#include <iterator>

#include "octet/quantizer.h"

namespace octet {
namespace {

bool is_product(const std::string& op) {
  return op == "Conv" || op == "ConvTranspose" || op == "MatMul" || op == "Gemm";
}

bool is_active(const NodePlan& node) {
  // A product whose weight is small has none in the list.
  const bool between = node.action == Action::kStatic && node.weights.empty() && !is_product(node.op);
  return node.action != Action::kKeep && !between;
}

NodePlan* node_of(Plan& plan, const std::string& name) { return const_cast<NodePlan*>(find_node(plan, name)); }

struct Crossings {
  std::set<std::string> reads, writes;  // of static nodes
};

Crossings crossings(const Plan& plan) {
  Crossings found;
  for (const NodePlan& node : plan.nodes) {
    if (node.action != Action::kStatic) continue;
    found.reads.insert(node.reads.begin(), node.reads.end());
    found.writes.insert(node.writes.begin(), node.writes.end());
  }
  return found;
}

}  // namespace

std::vector<std::string> active_nodes(const Plan& plan) {
  std::vector<std::string> nodes;
  for (const NodePlan& node : plan.nodes) {
    if (is_active(node)) nodes.push_back(node.node);
  }
  return nodes;
}

const NodePlan* find_node(const Plan& plan, const std::string& name) {
  const auto found =
      std::find_if(plan.nodes.begin(), plan.nodes.end(), [&](const NodePlan& node) { return node.node == name; });
  return found == plan.nodes.end() ? nullptr : &*found;
}

std::vector<std::string> retreat_node(Plan& plan, const std::string& node, int steps, const std::string& why) {
  std::vector<std::string> changed;
  for (int step = 0; step < steps; ++step) {
    auto now = demote(plan, node, why);
    if (now.empty()) break;
    changed = std::move(now);
  }
  return changed;
}

Plan only(const Plan& plan, const std::set<std::string>& nodes) {
  std::set<std::string> tensors;
  for (const NodePlan& node : plan.nodes) {
    if (nodes.contains(node.node)) tensors.insert(node.weights.begin(), node.weights.end());
  }
  Plan alone = plan;
  for (const NodePlan& other : plan.nodes) {
    const bool shares = std::any_of(other.weights.begin(), other.weights.end(),
                                    [&](const auto& weight) { return tensors.contains(weight); });
    if (!nodes.contains(other.node) && !shares) to_float(alone, other.node, "");
  }
  return alone;
}

void to_float(Plan& plan, const std::string& node, const std::string& why) {
  while (!demote(plan, node, why).empty()) {
  }
}

void to_weights(Plan& plan, const std::string& node, bool folded, const std::string& why) {
  const NodePlan* entry = find_node(plan, node);
  const auto stored = [&] {
    return entry->action == Action::kWeights && !(folded && entry->form == Form::kDequantize);
  };
  while (entry && entry->action != Action::kKeep && !stored()) demote(plan, node, why);
}

bool to_dynamic(Plan& plan, const std::string& node, const std::string& why) {
  const NodePlan* before = find_node(plan, node);
  if (!before || (before->op != "MatMul" && before->op != "Gemm") || before->weights.size() != 1) return false;
  if (before->action == Action::kStatic) demote(plan, node, why);
  NodePlan* entry = node_of(plan, node);
  if (entry->action != Action::kWeights || entry->form == Form::kBlocks) return false;
  const auto tensor = std::find_if(plan.tensors.begin(), plan.tensors.end(),
                                   [&](const TensorPlan& one) { return one.tensor == entry->weights[0]; });
  if (tensor == plan.tensors.end() || tensor->across || tensor->block_size > 0) return false;
  entry->action = Action::kDynamic;
  entry->form = Form::kNone;
  entry->why = why;
  return true;
}

std::vector<std::string> take_dynamic(Plan& plan, const Plan& dynamic, const std::vector<std::string>& but) {
  std::vector<std::string> taken;
  for (const NodePlan& other : dynamic.nodes) {
    NodePlan* node = node_of(plan, other.node);
    if (other.action != Action::kDynamic || !node || node->action == Action::kStatic ||
        node->action == Action::kDynamic || node->form == Form::kBlocks ||
        std::find(but.begin(), but.end(), other.node) != but.end())
      continue;
    const auto is_of = [&](const auto& tensor) {
      return std::find(other.weights.begin(), other.weights.end(), tensor.tensor) != other.weights.end();
    };
    const bool shared = std::any_of(plan.nodes.begin(), plan.nodes.end(), [&](const NodePlan& one) {
      return one.node != other.node && std::any_of(one.weights.begin(), one.weights.end(), [&](const auto& weight) {
               return std::find(other.weights.begin(), other.weights.end(), weight) != other.weights.end();
             });
    });
    if (shared) continue;
    std::erase_if(plan.tensors, is_of);
    std::erase_if(plan.kept, is_of);
    std::copy_if(dynamic.tensors.begin(), dynamic.tensors.end(), std::back_inserter(plan.tensors), is_of);
    *node = other;
    taken.push_back(other.node);
  }
  return taken;
}

std::size_t static_products(const Plan& plan) {
  return static_cast<std::size_t>(std::count_if(plan.nodes.begin(), plan.nodes.end(), [](const NodePlan& node) {
    return node.action == Action::kStatic && is_product(node.op);
  }));
}

Plan all_float(Plan plan) {
  for (NodePlan& node : plan.nodes) {
    node.action = Action::kKeep;
    node.form = Form::kNone;
    node.reads.clear();
    node.writes.clear();
    node.absorbs.clear();
    node.why = "float";
  }
  for (const TensorPlan& tensor : plan.tensors) plan.kept.push_back({tensor.tensor, tensor.bytes, "float"});
  plan.tensors.clear();
  plan.activations.clear();
  plan.corrections.clear();
  return plan;
}

int conversions(const Plan& plan) {
  const Crossings all = crossings(plan);
  const auto outside = [](const std::set<std::string>& names, const std::set<std::string>& others) {
    return std::count_if(names.begin(), names.end(), [&](const auto& name) { return !others.contains(name); });
  };
  return static_cast<int>(outside(all.reads, all.writes) + outside(all.writes, all.reads));
}

std::vector<std::string> lone_products(const Plan& plan) {
  const Crossings all = crossings(plan);
  std::vector<std::string> lone;
  for (const NodePlan& node : plan.nodes) {
    if (node.action != Action::kStatic || !is_product(node.op)) continue;
    const auto none = [](const std::vector<std::string>& names, const std::set<std::string>& in) {
      return std::none_of(names.begin(), names.end(), [&](const auto& name) { return in.contains(name); });
    };
    // A matrix that gives float pays nothing for that.
    if (!node.writes.empty() && none(node.reads, all.writes) && none(node.writes, all.reads)) lone.push_back(node.node);
  }
  return lone;
}

Plan with_method(Plan plan, const Ranges& ranges, RangeMethod method, const std::string& value) {
  for (ActivationPlan& activation : plan.activations) {
    if (!value.empty() && activation.tensor != value) continue;
    const auto found = ranges.tensors.find(activation.tensor);
    if (!activation.range || found == ranges.tensors.end() || !found->second.seen()) continue;
    const ChosenRange chosen =
        choose_range(found->second, {method, activation.percentile, activation.type, activation.symmetric});
    activation.range = chosen.range;
    activation.method = chosen.method;
  }
  return plan;
}

std::size_t share_scales(Plan& plan) {
  std::set<std::string> either;
  for (const NodePlan& node : plan.nodes) {
    if (node.action == Action::kStatic || node.action == Action::kDynamic || node.form == Form::kGather)
      either.insert(node.weights.begin(), node.weights.end());
  }
  std::size_t shared = 0;
  for (TensorPlan& tensor : plan.tensors) {
    if (!tensor.axis || tensor.axes != 1 || tensor.block_size > 0 || !either.contains(tensor.tensor)) continue;
    tensor.axis.reset();
    ++shared;
  }
  return shared;
}

}  // namespace octet
