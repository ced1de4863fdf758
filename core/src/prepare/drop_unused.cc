// Nodes whose outputs nobody reads, then stored tensors nobody reads, then descriptions of values that are gone.
#include <algorithm>

#include "model/graph_view.h"
#include "prepare/pass.h"

namespace octet {
namespace {

bool is_read(const GraphView& view, const NodeAt& at) {
  bool named = false;
  for (const auto& output : at.node->output()) {
    if (output.empty()) continue;
    named = true;
    const Value* value = view.find(*at.scope, output);
    if (!value || !value->uses.empty() || value->graph_outputs > 0) return true;
  }
  return !named;  // a node without outputs was put there for a reason we do not know
}

int drop_nodes(onnx::ModelProto& model) {
  GraphView view(model);
  std::unordered_set<const onnx::NodeProto*> dead;
  for (const NodeAt& at : view.nodes()) {
    if (!is_read(view, at)) dead.insert(at.node);
  }
  if (dead.empty()) return 0;
  remove_nodes(view, dead);
  return static_cast<int>(dead.size());
}

}  // namespace

void run_drop_unused(Model& model, PassReport& report) {
  auto& proto = model.proto();
  while (const int dropped = drop_nodes(proto)) report.changes += dropped;
  GraphView view(proto);
  for (const auto& scope : view.scopes()) {
    auto& tensors = *scope->graph->mutable_initializer();
    const auto unused = [&](const onnx::TensorProto& tensor) {
      const Value& value = scope->values.at(tensor.name());
      return value.uses.empty() && value.graph_outputs == 0;
    };
    const auto last = std::remove_if(tensors.begin(), tensors.end(), unused);
    report.changes += static_cast<int>(tensors.end() - last);
    tensors.erase(last, tensors.end());
    // Shapes told for values that are gone, or that became stored tensors of another type, mislead the runtime.
    auto& infos = *scope->graph->mutable_value_info();
    infos.erase(std::remove_if(infos.begin(), infos.end(),
                               [&](const onnx::ValueInfoProto& info) {
                                 const auto found = scope->values.find(info.name());
                                 return found == scope->values.end() || !found->second.producer;
                               }),
                infos.end());
  }
}

}  // namespace octet
