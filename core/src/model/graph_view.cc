#include "model/graph_view.h"

#include <set>

#include "octet/error.h"

namespace octet {
namespace {

std::string describe(const onnx::NodeProto& node) {
  if (!node.name().empty()) return node.op_type() + " '" + node.name() + "'";
  return node.op_type() + (node.output_size() > 0 ? " of '" + node.output(0) + "'" : "");
}

}  // namespace

GraphView::GraphView(onnx::ModelProto& model) { add_scope(*model.mutable_graph(), nullptr, nullptr); }

void GraphView::add_scope(onnx::GraphProto& graph, Scope* parent, onnx::NodeProto* owner) {
  scopes_.push_back(std::make_unique<Scope>());
  Scope& scope = *scopes_.back();
  scope.graph = &graph;
  scope.parent = parent;
  scope.owner = owner;
  scope.depth = parent ? parent->depth + 1 : 0;
  const auto define = [&](const std::string& name) -> Value& {
    Value& value = scope.values[name];
    value.name = name;
    value.scope = &scope;
    return value;
  };
  for (const auto& input : graph.input()) define(input.name()).graph_input = true;
  for (auto& tensor : *graph.mutable_initializer()) define(tensor.name()).initializer = &tensor;
  for (const auto& sparse : graph.sparse_initializer()) define(sparse.values().name());
  for (auto& node : *graph.mutable_node()) {
    nodes_.push_back({&node, &scope});
    for (int i = 0; i < node.input_size(); ++i) {
      if (node.input(i).empty()) continue;
      Value* value = find(scope, node.input(i));
      if (!value) {
        throw Error(ErrorCode::kMalformed, describe(node),
                    "reads '" + node.input(i) + "', which nothing defines before it",
                    "export the model again, or check it with onnx.checker");
      }
      value->uses.push_back({&node, &scope, i});
    }
    // Subgraphs see what is defined so far, not the outputs of their own node.
    for (onnx::GraphProto* inner : subgraphs(node)) add_scope(*inner, &scope, &node);
    for (const auto& output : node.output()) {
      if (output.empty()) continue;
      Value& value = define(output);
      if (value.producer || value.initializer || value.graph_input) {
        throw Error(ErrorCode::kMalformed, describe(node), "defines '" + output + "' a second time",
                    "export the model again");
      }
      value.producer = &node;
    }
  }
  for (const auto& output : graph.output()) {
    Value* value = find(scope, output.name());
    if (!value)
      throw Error(ErrorCode::kMalformed, "output '" + output.name() + "'", "nothing defines it",
                  "export the model again");
    ++value->graph_outputs;
  }
}

Value* GraphView::find(const Scope& scope, const std::string& name) const {
  if (name.empty()) return nullptr;
  for (const Scope* at = &scope; at; at = at->parent) {
    const auto found = at->values.find(name);
    if (found != at->values.end()) return const_cast<Value*>(&found->second);
  }
  return nullptr;
}

Value* GraphView::input(const NodeAt& at, int index) const {
  return index < at.node->input_size() ? find(*at.scope, at.node->input(index)) : nullptr;
}

NodeIds::NodeIds(const GraphView& view) {
  for (const NodeAt& at : view.nodes()) ++count_[at.node->name()];
}

std::string NodeIds::of(const onnx::NodeProto& node) const {
  const auto found = count_.find(node.name());
  if (!node.name().empty() && found != count_.end() && found->second == 1) return node.name();
  for (const auto& output : node.output()) {
    if (!output.empty()) return node.op_type() + "(" + output + ")";
  }
  return node.op_type() + "()";
}

}  // namespace octet
