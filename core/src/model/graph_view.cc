#include "model/graph_view.h"

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
  for (const auto& input : graph.input()) {
    Value& value = define(input.name());
    if (value.graph_input)
      throw Error(ErrorCode::kMalformed, "input '" + input.name() + "'", "the graph lists it a second time",
                  "export the model again");
    value.graph_input = true;
  }
  for (auto& tensor : *graph.mutable_initializer()) {
    Value& value = define(tensor.name());
    if (value.initializer)
      throw Error(ErrorCode::kMalformed, "tensor '" + tensor.name() + "'", "the graph stores two of this name",
                  "export the model again");
    value.initializer = &tensor;
  }
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
  std::unordered_map<std::string, int> count;
  std::unordered_set<std::string> taken;
  for (const NodeAt& at : view.nodes()) ++count[at.node->name()];
  for (const NodeAt& at : view.nodes()) {
    const std::string& name = at.node->name();
    if (name.empty() || count[name] > 1) continue;
    taken.insert(name);
    ids_.emplace(at.node, name);
  }
  std::unordered_map<std::string, int> used;
  for (const NodeAt& at : view.nodes()) {
    if (ids_.contains(at.node)) continue;
    std::string output;
    for (int i = at.node->output_size() - 1; i >= 0; --i) {
      if (!at.node->output(i).empty()) output = at.node->output(i);
    }
    const std::string base = at.node->op_type() + "(" + output + ")";
    std::string id = base;
    int& number = used[base];
    do {
      if (++number > 1) id = base + "#" + std::to_string(number);
    } while (!taken.insert(id).second);
    ids_.emplace(at.node, std::move(id));
  }
}

}  // namespace octet
