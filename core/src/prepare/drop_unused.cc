// Nodes whose outputs nobody reads, then stored tensors nobody reads, then descriptions of values that are gone.
#include <algorithm>

#include "model/graph_view.h"
#include "prepare/analysis.h"
#include "prepare/pass.h"

namespace octet {
namespace {

// What dead nodes read counts no more: readers left, by value.
class Readers {
 public:
  explicit Readers(const GraphView& view) : view_(view) {}

  // A node without outputs was put there for a reason we do not know.
  bool wanted(const NodeAt& at) const {
    bool named = false;
    for (const auto& output : at.node->output()) {
      if (output.empty()) continue;
      named = true;
      const Value* value = view_.find(*at.scope, output);
      if (!value || value->graph_outputs > 0) return true;
      const auto gone = gone_.find(value);
      if (value->uses.size() > (gone == gone_.end() ? 0 : gone->second)) return true;
    }
    return !named;
  }

  void drop_reads_of(const NodeAt& at) {
    for (const auto& input : at.node->input()) {
      if (const Value* value = view_.find(*at.scope, input)) ++gone_[value];
    }
  }

 private:
  const GraphView& view_;
  std::unordered_map<const Value*, std::size_t> gone_;
};

int drop_nodes(Model& model) {
  const auto analysis = analyze(model);
  const GraphView& view = analysis->view;
  const auto& nodes = view.nodes();
  Readers readers(view);
  std::unordered_set<const onnx::NodeProto*> dead;
  // Readers come after what they read, and the nodes of subgraphs after the node that holds them.
  for (std::size_t i = nodes.size(); i-- > 0;) {
    if (readers.wanted(nodes[i])) continue;
    dead.insert(nodes[i].node);
    readers.drop_reads_of(nodes[i]);
    for (std::size_t inner = i + 1; inner < nodes.size() && nodes[inner].scope->depth > nodes[i].scope->depth;
         ++inner) {
      if (dead.insert(nodes[inner].node).second) readers.drop_reads_of(nodes[inner]);
    }
  }
  remove_nodes(view, dead);
  return static_cast<int>(dead.size());
}

}  // namespace

void run_drop_unused(Model& model, PassReport& report) {
  report.changes += drop_nodes(model);
  const auto analysis = analyze(model);
  const GraphView& view = analysis->view;
  for (const auto& scope : view.scopes()) {
    auto& tensors = *scope->graph->mutable_initializer();
    const auto unused = [&](const onnx::TensorProto& tensor) {
      const Value& value = scope->values.at(tensor.name());
      // The default of an input: without it the caller would have to give one.
      return value.uses.empty() && value.graph_outputs == 0 && !value.graph_input;
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
