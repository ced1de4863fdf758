// Steps of a planned node towards float, when its integers cost too much.
#include <algorithm>
#include <map>
#include <set>

#include "octet/quantizer.h"
#include "quantize/rules.h"

namespace octet {
namespace {

bool turn_scales_of(Plan& plan, const NodePlan& node) {
  if (node.form != Form::kFold || (node.op != "MatMul" && node.op != "Gemm") || node.weights.size() != 1) return false;
  const auto tensor = std::find_if(plan.tensors.begin(), plan.tensors.end(),
                                   [&](const TensorPlan& entry) { return entry.tensor == node.weights[0]; });
  const auto readers = std::count_if(plan.nodes.begin(), plan.nodes.end(), [&](const NodePlan& entry) {
    return std::find(entry.weights.begin(), entry.weights.end(), node.weights[0]) != entry.weights.end();
  });
  if (tensor == plan.tensors.end() || tensor->across || tensor->axes != 1 || !tensor->axis || *tensor->axis > 1 ||
      tensor->rank != 2 || readers != 1)
    return false;
  tensor->axis = 1 - *tensor->axis;
  tensor->across = true;
  return true;
}

// Activations that a static node reads or writes, and those whose parameters they share.
void drop_unused_activations(Plan& plan) {
  std::set<std::string> wanted;
  for (const NodePlan& node : plan.nodes) {
    if (node.action != Action::kStatic) continue;
    wanted.insert(node.reads.begin(), node.reads.end());
    wanted.insert(node.writes.begin(), node.writes.end());
  }
  std::map<std::string, std::string> same_as;
  for (const ActivationPlan& activation : plan.activations) same_as[activation.tensor] = activation.same_as;
  const std::set<std::string> direct = wanted;
  for (std::string name : direct) {
    while (same_as.contains(name) && !same_as[name].empty() && wanted.insert(same_as[name]).second)
      name = same_as[name];
  }
  std::erase_if(plan.activations, [&](const ActivationPlan& entry) { return !wanted.contains(entry.tensor); });
}

bool is_static_product(const std::string& op) {
  return op == "Conv" || op == "ConvTranspose" || op == "MatMul" || op == "Gemm";
}

void leave_integers(Plan& plan, NodePlan& node, const std::string& why) {
  const bool stored = std::any_of(plan.tensors.begin(), plan.tensors.end(), [&](const TensorPlan& tensor) {
    return std::find(node.weights.begin(), node.weights.end(), tensor.tensor) != node.weights.end();
  });
  // A matrix behind a DequantizeLinear, reading what another static node writes in integers: the runtime's own pattern
  // of an integer product. Folded, it stays in float.
  const bool rounded = std::any_of(plan.nodes.begin(), plan.nodes.end(), [&](const NodePlan& other) {
    return std::any_of(other.writes.begin(), other.writes.end(), [&](const std::string& value) {
      return std::find(node.reads.begin(), node.reads.end(), value) != node.reads.end();
    });
  });
  const bool matrix = !rounded && (node.op == "MatMul" || node.op == "Gemm");
  // Its bias made up for rounding that is no longer there.
  std::erase_if(plan.corrections, [&](const BiasCorrection& entry) { return entry.node == node.node; });
  node.action = stored ? Action::kWeights : Action::kKeep;
  node.form = stored ? weights_form(matrix ? Family::kMatMul : Family::kTable, plan.target) : Form::kNone;
  node.why = stored ? "weights only: " + why : why;
  node.reads.clear();
  node.writes.clear();
  node.absorbs.clear();
}

// Static nodes other than products with no static node before them or none behind: alone they only round.
std::set<std::string> lonely_nodes(const Plan& plan) {
  std::set<std::string> reads, writes, lonely;
  for (const NodePlan& node : plan.nodes) {
    if (node.action != Action::kStatic) continue;
    reads.insert(node.reads.begin(), node.reads.end());
    writes.insert(node.writes.begin(), node.writes.end());
  }
  const auto any = [](const std::vector<std::string>& names, const std::set<std::string>& in) {
    return std::any_of(names.begin(), names.end(), [&](const auto& name) { return in.contains(name); });
  };
  for (const NodePlan& node : plan.nodes) {
    if (node.action != Action::kStatic || is_static_product(node.op)) continue;
    if (!any(node.reads, writes) || !(node.writes.empty() || any(node.writes, reads))) lonely.insert(node.node);
  }
  return lonely;
}

// What lay between static products leaves integers with the last of them before or behind it. What stood alone before,
// since it was asked for, stays.
void drop_lonely_nodes(Plan& plan, const std::set<std::string>& before, const std::string& why) {
  for (bool changed = true; changed;) {
    changed = false;
    const std::set<std::string> lonely = lonely_nodes(plan);
    for (NodePlan& node : plan.nodes) {
      if (!lonely.contains(node.node) || before.contains(node.node)) continue;
      leave_integers(plan, node, why);
      changed = true;
    }
  }
}

// Matrices that give integers which no integer node reads.
std::set<std::string> unread_matrices(const Plan& plan) {
  std::set<std::string> reads, unread;
  for (const NodePlan& node : plan.nodes) {
    if (node.action == Action::kStatic) reads.insert(node.reads.begin(), node.reads.end());
  }
  for (const NodePlan& node : plan.nodes) {
    const bool matrix = node.op == "MatMul" || node.op == "Gemm";
    if (node.action == Action::kStatic && matrix && !node.writes.empty() && !reads.contains(node.writes.front()))
      unread.insert(node.node);
  }
  return unread;
}

// A matrix that no integer node reads any more gives float, as it does for nothing, and the clamp behind it is back.
// What nothing read before either was asked for, and stays.
void release_outputs(Plan& plan, const std::set<std::string>& before) {
  const std::set<std::string> unread = unread_matrices(plan);
  std::set<std::string> clamps;
  for (NodePlan& node : plan.nodes) {
    if (!unread.contains(node.node) || before.contains(node.node)) continue;
    node.writes.clear();
    if (!node.absorbs.empty()) clamps.insert(node.absorbs);
    node.absorbs.clear();
  }
  for (NodePlan& node : plan.nodes) {
    if (clamps.contains(node.node)) node.why = "its neighbours are in float";
  }
}

// Out of integers, and with it the nodes and values that were there for it alone.
void demote_static(Plan& plan, NodePlan& node, const std::string& why) {
  const std::set<std::string> lonely = lonely_nodes(plan), unread = unread_matrices(plan);
  leave_integers(plan, node, why);
  drop_lonely_nodes(plan, lonely, "its neighbours are in float");
  release_outputs(plan, unread);
  drop_unused_activations(plan);
}

}  // namespace

bool turn_scales(Plan& plan, const std::string& name) {
  const auto node =
      std::find_if(plan.nodes.begin(), plan.nodes.end(), [&](const NodePlan& entry) { return entry.node == name; });
  if (node == plan.nodes.end() || node->action != Action::kWeights ||
      (node->form != Form::kFold && node->form != Form::kDequantize))
    return false;
  node->form = Form::kFold;
  return turn_scales_of(plan, *node);
}

std::vector<std::string> demote(Plan& plan, const std::string& name, const std::string& why) {
  const auto node =
      std::find_if(plan.nodes.begin(), plan.nodes.end(), [&](const NodePlan& entry) { return entry.node == name; });
  if (node == plan.nodes.end() || node->action == Action::kKeep) return {};
  if (node->action == Action::kDynamic) {
    node->action = Action::kWeights;
    node->form =
        weights_form(node->op == "MatMul" || node->op == "Gemm" ? Family::kMatMul : Family::kTable, plan.target);
    node->why = "weights only: " + why;
    return {name};
  }
  if (node->action == Action::kStatic) {
    demote_static(plan, *node, why);
    return {name};
  }
  if (node->form == Form::kDequantize) {
    // The runtime's fused kernel quantizes activations as well; folded weights leave the arithmetic in float.
    node->form = Form::kFold;
    node->why = "weights only, arithmetic in float: " + why;
    return {name};
  }
  if (turn_scales_of(plan, *node)) {
    node->why = "weights only, a scale per row summed over: " + why;
    return {name};
  }
  // The tensors go back to float, and with them everyone who reads one.
  std::set<std::string> freed;
  for (const std::string& tensor : node->weights) {
    const auto planned = std::find_if(plan.tensors.begin(), plan.tensors.end(),
                                      [&](const TensorPlan& entry) { return entry.tensor == tensor; });
    if (planned == plan.tensors.end()) continue;
    plan.kept.push_back({tensor, planned->bytes, why});
    plan.tensors.erase(planned);
    freed.insert(tensor);
  }
  std::set<std::string> planned;
  for (const TensorPlan& tensor : plan.tensors) planned.insert(tensor.tensor);
  std::vector<std::string> changed;
  for (NodePlan& reader : plan.nodes) {
    const auto reads = [&](const std::set<std::string>& tensors) {
      return std::any_of(reader.weights.begin(), reader.weights.end(),
                         [&](const auto& weight) { return tensors.contains(weight); });
    };
    if (reader.action == Action::kKeep || !reads(freed)) continue;
    const bool partly = reads(planned);  // an LSTM may keep one of its two weights in few bits
    reader.action = partly ? Action::kWeights : Action::kKeep;
    reader.form = partly ? Form::kFold : Form::kNone;
    reader.why = why;
    changed.push_back(reader.node);
  }
  return changed;
}

}  // namespace octet
