// What static mode asks of calibration, and what it makes of the answer.
#include <algorithm>
#include <set>

#include "octet/error.h"
#include "octet/quantizer.h"
#include "prepare/shapes.h"
#include "quantize/static_rules.h"

namespace octet {

std::vector<std::string> Quantizer::taps(bool all) const {
  std::vector<std::string> names;
  if (!all) {
    for (const ActivationPlan& activation : plan_.activations) {
      if (activation.same_as.empty() && !activation.range) names.push_back(activation.tensor);
    }
    return names;
  }
  Model copy = normalized_.clone();
  const GraphView view(copy.proto());
  const Shapes shapes(copy, view);
  std::set<const Value*> seen;
  const auto add = [&](const std::string& name) {
    const Value* value = view.find(view.main(), name);
    if (value && !value->constant() && shapes.of(value).type == onnx::TensorProto::FLOAT && seen.insert(value).second)
      names.push_back(name);
  };
  for (const NodeAt& at : view.nodes()) {
    if (at.scope != &view.main() || !find_static_rule(*at.node)) continue;
    for (const auto& name : at.node->input()) add(name);
    for (const auto& name : at.node->output()) add(name);
  }
  return names;
}

void Quantizer::set_ranges(const Ranges& ranges) {
  if (!ranges.model.empty() && ranges.model != fingerprint()) {
    throw Error(ErrorCode::kUsage, "ranges", "they were learned from another model",
                "calibrate this one, with the same --no-prepare or without it");
  }
  std::vector<std::string> unseen;
  for (ActivationPlan& activation : plan_.activations) {
    if (!activation.same_as.empty() || activation.range) continue;
    const auto found = ranges.tensors.find(activation.tensor);
    if (found == ranges.tensors.end()) {
      throw Error(ErrorCode::kUsage, "ranges", "they lack the value '" + activation.tensor + "'",
                  "calibrate with the same options");
    }
    if (!found->second.seen()) {
      unseen.push_back(activation.tensor);
      continue;
    }
    const ChosenRange chosen =
        choose_range(found->second, {activation.method, activation.percentile, activation.type, activation.symmetric});
    activation.range = chosen.range;
    activation.method = chosen.method;
  }
  for (const std::string& value : unseen) {
    const auto touches = [&](const NodePlan& node) {
      return node.action == Action::kStatic &&
             (std::find(node.reads.begin(), node.reads.end(), value) != node.reads.end() ||
              std::find(node.writes.begin(), node.writes.end(), value) != node.writes.end());
    };
    std::vector<std::string> nodes;
    for (const NodePlan& node : plan_.nodes) {
      if (touches(node)) nodes.push_back(node.node);
    }
    for (const std::string& node : nodes) demote(plan_, node, "no sample gave '" + value + "' a finite value");
  }
}

}  // namespace octet
