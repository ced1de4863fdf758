// y = Identity(x), z = F(y)   →   z = F(x)
// Dropout is an Identity when the model runs for inference and nobody reads its mask.
#include "model/graph_match.h"
#include "model/tensor_access.h"
#include "octet/error.h"
#include "prepare/analysis.h"
#include "prepare/described.h"
#include "prepare/pass.h"

namespace octet {
namespace {

bool is_identity(const Model& model, const GraphView& view, const NodeAt& at) {
  const auto& node = *at.node;
  if (node.input_size() == 0 || node.output_size() == 0 || node.input(0).empty() || node.output(0).empty())
    return false;
  if (is_op(node, "Identity")) return true;
  if (!is_op(node, "Dropout")) return false;
  if (node.output_size() > 1 && !node.output(1).empty()) {
    const Value* mask = view.find(*at.scope, node.output(1));
    if (mask && (!mask->uses.empty() || mask->graph_outputs > 0)) return false;
  }
  if (node.input_size() > 2 && !node.input(2).empty()) {  // training_mode
    const Value* training = view.input(at, 2);
    if (!training || !training->constant()) return false;
    const auto value = tensor_as_int64(model, *training->initializer);
    return value.size() == 1 && value[0] == 0;
  }
  return true;
}

// Values that one round has changed: what the view says of their readers, or of their existence, is no longer true.
struct Changed {
  std::unordered_set<const Value*> readers, gone;
};

void keep_description(Described& described, const Value& gone, const Value& stays) {
  if (gone.scope != stays.scope || !gone.producer) return;
  const auto* type = described.of(*gone.scope->graph, gone.name);
  // What the model's own outputs look like is not ours to say.
  if (type && (stays.graph_outputs == 0 || stays.scope->parent)) described.say(*stays.scope->graph, stays.name, *type);
}

bool remove_one(const Model& model, const GraphView& view, const NodeAt& at, Described& described, Changed& changed) {
  if (!is_identity(model, view, at)) return false;
  Value* source = view.find(*at.scope, at.node->input(0));
  Value* result = view.find(*at.scope, at.node->output(0));
  if (!source || !result || changed.gone.contains(source) || changed.readers.contains(result)) return false;
  Value &in = *source, &out = *result;
  if (out.graph_outputs == 0) {
    if (!redirect(view, out, in)) return false;
    changed.readers.insert(&in);
    changed.gone.insert(&out);
    if (in.producer) keep_description(described, out, in);
    return true;
  }
  if (changed.readers.contains(&in)) return false;
  // The output's name must live on: give it to the producer, if that is a node beside this one whose own name is free.
  if (!in.producer || in.scope != at.scope || in.graph_outputs > 0 || out.graph_outputs != 1) return false;
  // Before the Identity, the name may mean something of an enclosing graph.
  if (at.scope->parent && view.find(*at.scope->parent, out.name)) return false;
  for (const Use& use : in.uses) {
    if (use.node != at.node && view.find(*use.scope, out.name) != &out) return false;
  }
  for (auto& name : *in.producer->mutable_output()) {
    if (name == in.name) name = out.name;
  }
  for (const Use& use : in.uses) use.node->set_input(use.input, out.name);
  changed.gone.insert(&in);
  changed.readers.insert(&out);
  keep_description(described, in, out);
  return true;
}

}  // namespace

void run_remove_identities(Model& model, PassReport& report) {
  // One view serves many removals; those that need what it no longer tells wait for the next round.
  for (bool again = true; again;) {
    again = false;
    const auto analysis = analyze(model);
    GraphView& view = analysis->view;
    std::unordered_set<const onnx::NodeProto*> dead;
    Changed changed;
    Described described;
    for (const NodeAt& at : view.nodes()) {
      if (!remove_one(model, view, at, described, changed)) continue;
      dead.insert(at.node);
      ++report.changes;
      again = true;
    }
    remove_nodes(view, dead);
  }
}

}  // namespace octet
