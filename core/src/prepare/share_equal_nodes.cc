// a = F(x), b = F(x)   →   a = F(x), readers of b read a
// Equal nodes have the same operator, attributes and inputs; the first one stands in the same graph or an enclosing
// one. Where a name must stay, a node of one output becomes the Identity of the other's; outputs of a node with several
// stay then. Chains are seen in one sweep: inputs that have become equal count as equal. What may give another result
// each time is left alone, and so are QuantizeLinear and DequantizeLinear: runtimes fold each into the operator beside
// it, and only where it has no other reader.
#include <algorithm>

#include "model/graph_match.h"
#include "prepare/analysis.h"
#include "prepare/described.h"
#include "prepare/pass.h"

namespace octet {
namespace {

bool may_be_shared(const onnx::NodeProto& node) {
  static const std::unordered_set<std::string_view> kNever = {
      "Bernoulli",      "Dropout",      "DequantizeLinear", "Identity",      "Multinomial",
      "QuantizeLinear", "RandomNormal", "RandomNormalLike", "RandomUniform", "RandomUniformLike"};
  if (!is_standard(node) && node.domain() != "ai.onnx.ml") return false;
  if (kNever.contains(node.op_type()) || node.output_size() == 0) return false;
  return std::none_of(node.attribute().begin(), node.attribute().end(), [](const auto& attribute) {
    return attribute.has_g() || attribute.graphs_size() > 0 || !attribute.ref_attr_name().empty();
  });
}

class Sharing {
 public:
  Sharing(const GraphView& view, PassReport& report) : view_(view), report_(report) {}

  void visit(const NodeAt& at) {
    if (!may_be_shared(*at.node)) return;
    std::string key = key_of(at);
    for (const Scope* scope = at.scope; scope; scope = scope->parent) {
      const auto& nodes = nodes_[scope];
      const auto found = nodes.find(key);
      if (found == nodes.end()) continue;
      if (share(at, found->second)) return;
      break;
    }
    nodes_[at.scope].emplace(std::move(key), at);
  }

  void finish() { remove_nodes(view_, dead_); }

 private:
  const Value* first_of(const Value* value) const {
    const auto found = first_.find(value);
    return found == first_.end() ? value : found->second;
  }

  std::string key_of(const NodeAt& at) const {
    const auto& node = *at.node;
    std::string key = node.domain() + "\n" + node.op_type() + "\n" + node.overload() + "\n";
    for (const auto& input : node.input()) {
      const Value* value = first_of(view_.find(*at.scope, input));
      key += std::to_string(reinterpret_cast<std::uintptr_t>(value)) + " ";
    }
    for (const auto& output : node.output()) key += output.empty() ? '-' : '+';
    std::vector<std::string> attributes;
    for (onnx::AttributeProto attribute : node.attribute()) {
      attribute.clear_doc_string();
      attributes.push_back(attribute.SerializeAsString());
    }
    std::sort(attributes.begin(), attributes.end());
    for (const auto& attribute : attributes) key += "\n" + std::to_string(attribute.size()) + " " + attribute;
    return key;
  }

  bool share(const NodeAt& at, const NodeAt& first) {
    std::vector<std::pair<const Value*, const Value*>> outputs;
    for (int i = 0; i < at.node->output_size(); ++i) {
      if (at.node->output(i).empty()) continue;
      const Value* own = view_.find(*at.scope, at.node->output(i));
      const Value* other = view_.find(*first.scope, first.node->output(i));
      if (!own || !other || view_.find(*at.scope, other->name) != other) return false;
      outputs.emplace_back(own, other);
    }
    if (at.node->output_size() == 1) {
      if (outputs.empty()) return false;
      const auto& [own, other] = outputs[0];
      if (own->graph_outputs == 0 && redirect(view_, *own, *other)) {
        keep_description(*own, *other);
        dead_.insert(at.node);
      } else {
        become(*at.node, "Identity", {other->name});
      }
    } else {
      for (const auto& [own, other] : outputs) {
        if (own->graph_outputs > 0) return false;
        for (const Use& use : own->uses) {
          if (view_.find(*use.scope, other->name) != other) return false;
        }
      }
      if (std::all_of(outputs.begin(), outputs.end(), [](const auto& pair) { return pair.first->uses.empty(); }))
        return false;  // dead already
      for (const auto& [own, other] : outputs) redirect(view_, *own, *other);
    }
    for (const auto& [own, other] : outputs) first_[own] = other;
    inherit_marks(*at.node, *first.node);
    ++report_.changes;
    return true;
  }

  void keep_description(const Value& own, const Value& other) {
    const auto* type = other.graph_outputs == 0 ? described_.of(*own.scope->graph, own.name) : nullptr;
    if (type) described_.say(*other.scope->graph, other.name, *type);
  }

  const GraphView& view_;
  PassReport& report_;
  Described described_;
  std::unordered_map<const Scope*, std::unordered_map<std::string, NodeAt>> nodes_;
  std::unordered_set<const onnx::NodeProto*> dead_;
  std::unordered_map<const Value*, const Value*> first_;  // what a value equals, of those that stay
};

}  // namespace

void run_share_equal_nodes(Model& model, PassReport& report) {
  const auto analysis = analyze(model);
  const GraphView& view = analysis->view;
  Sharing sharing(view, report);
  for (const NodeAt& at : view.nodes()) sharing.visit(at);
  sharing.finish();
}

}  // namespace octet
