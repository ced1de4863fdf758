// c = true;  y = If(c) { then: a = F(x), out a · else: … }   →   a = F(x);  y = Identity(a)
// Where the condition is stored or follows from shapes, the branch it chooses takes the If's place; names that
// something else in the model has as well are made new. remove_identities clears what is left. What the branch declares
// of its values goes along: a runtime that cannot tell their rank may need it (Scan does, of all that it carries).
#include <algorithm>

#include "model/graph_match.h"
#include "prepare/analysis.h"
#include "prepare/described.h"
#include "prepare/pass.h"
#include "prepare/shapes.h"

namespace octet {
namespace {

using Nodes = google::protobuf::RepeatedPtrField<onnx::NodeProto>;

// How often each name is defined, or given to a node, in the whole model.
void count_names(const onnx::GraphProto& graph, std::unordered_map<std::string, int>& values,
                 std::unordered_map<std::string, int>& nodes) {
  for (const auto& input : graph.input()) ++values[input.name()];
  for (const auto& tensor : graph.initializer()) ++values[tensor.name()];
  for (const auto& sparse : graph.sparse_initializer()) ++values[sparse.values().name()];
  for (const auto& node : graph.node()) {
    ++nodes[node.name()];
    for (const auto& output : node.output()) ++values[output];
    for (const auto& attribute : node.attribute()) {
      if (attribute.has_g()) count_names(attribute.g(), values, nodes);
      for (const auto& inner : attribute.graphs()) count_names(inner, values, nodes);
    }
  }
}

class BranchInliner {
 public:
  explicit BranchInliner(Model& model) : names_(model.proto()) { count_names(model.proto().graph(), values_, nodes_); }

  // Puts the branch's nodes behind those of `out`, its tensors into `graph`.
  void inline_branch(const onnx::NodeProto& owner, onnx::GraphProto& branch, onnx::GraphProto& graph, Nodes& out) {
    Renamed renamed;
    const auto rename = [&](std::string& name) {
      if (name.empty() || values_[name] <= 1) return;
      std::string& fresh = renamed[name];
      if (fresh.empty()) fresh = names_.fresh(name);
      name = fresh;
    };
    for (auto& tensor : *branch.mutable_initializer()) rename(*tensor.mutable_name());
    for (auto& node : *branch.mutable_node()) {
      for (auto& output : *node.mutable_output()) rename(output);
      if (!node.name().empty() && nodes_[node.name()] > 1) node.set_name(names_.fresh(node.name()));
    }
    for (auto& node : *branch.mutable_node()) {
      rename_reads(node, renamed);
      for (const auto& mark : owner.metadata_props()) add_mark(node, mark);
    }
    keep_descriptions(owner, branch, graph, renamed);
    for (auto& node : *branch.mutable_node()) out.Add()->Swap(&node);
    for (auto& tensor : *branch.mutable_initializer()) graph.add_initializer()->Swap(&tensor);
    for (int i = 0; i < owner.output_size(); ++i) {
      if (owner.output(i).empty()) continue;
      auto& identity = *out.Add();
      identity.set_op_type("Identity");
      identity.add_input(new_name(branch.output(i).name(), renamed));
      identity.add_output(owner.output(i));
      // Nameless where the If was: two outputs cannot share its name.
      if (owner.output_size() == 1) identity.set_name(owner.name());
    }
  }

 private:
  static const std::string& new_name(const std::string& name, const Renamed& renamed) {
    const auto found = renamed.find(name);
    return found == renamed.end() ? name : found->second;
  }

  void keep_descriptions(const onnx::NodeProto& owner, const onnx::GraphProto& branch, onnx::GraphProto& graph,
                         const Renamed& renamed) {
    std::unordered_set<std::string> made;
    for (const auto& node : branch.node()) made.insert(node.output().begin(), node.output().end());
    const auto say = [&](const std::string& old_name, const onnx::TypeProto& type) {
      const std::string& name = new_name(old_name, renamed);
      if (made.contains(name)) described_.say(graph, name, type);
    };
    for (const auto& info : branch.value_info()) say(info.name(), info.type());
    for (int i = 0; i < branch.output_size(); ++i) {
      say(branch.output(i).name(), branch.output(i).type());
      const auto* owners = i < owner.output_size() ? described_.of(graph, owner.output(i)) : nullptr;
      if (owners) say(branch.output(i).name(), *owners);
    }
  }

  static void add_mark(onnx::NodeProto& node, const onnx::StringStringEntryProto& mark) {
    onnx::NodeProto from;
    *from.add_metadata_props() = mark;
    inherit_marks(from, node);
    for (onnx::GraphProto* inner : subgraphs(node)) {
      for (auto& deeper : *inner->mutable_node()) add_mark(deeper, mark);
    }
  }

  NameSet names_;
  Described described_;
  std::unordered_map<std::string, int> values_, nodes_;
};

std::optional<bool> known_condition(const Model& model, const GraphView& view, const Shapes& shapes, const NodeAt& at) {
  const Value* condition = view.input(at, 0);
  if (const auto stored = scalar_of(model, condition)) return *stored != 0;
  const auto& data = shapes.of(condition).data;
  if (!data || data->size() != 1 || !data->front().number()) return std::nullopt;
  return !data->front().is(0);
}

// The branch an If takes, where it is known and fits the node.
onnx::GraphProto* taken_branch(const Model& model, const GraphView& view, const Shapes& shapes, const NodeAt& at) {
  if (!is_op(*at.node, "If") || at.node->input_size() != 1) return nullptr;
  const auto condition = known_condition(model, view, shapes, at);
  if (!condition) return nullptr;
  for (auto& attribute : *at.node->mutable_attribute()) {
    if (attribute.name() != (*condition ? "then_branch" : "else_branch") || !attribute.has_g()) continue;
    auto& graph = *attribute.mutable_g();
    const bool fits = graph.output_size() >= at.node->output_size() && graph.input_size() == 0 &&
                      graph.sparse_initializer_size() == 0;
    return fits ? &graph : nullptr;
  }
  return nullptr;
}

// Ifs within a branch that vanishes, or within another that is inlined, wait for the next sweep.
int sweep(Model& model) {
  std::unordered_map<const onnx::NodeProto*, onnx::GraphProto*> taken;
  std::vector<onnx::GraphProto*> graphs;  // in the view's order, so that new names are the same everywhere
  {
    const auto analysis = analyze(model);
    const GraphView& view = analysis->view;
    const bool any =
        std::any_of(view.nodes().begin(), view.nodes().end(), [](const NodeAt& at) { return is_op(*at.node, "If"); });
    if (!any) return 0;
    const Shapes& shapes = analysis->shapes();
    for (std::size_t i = 0; i < view.nodes().size(); ++i) {
      const NodeAt& at = view.nodes()[i];
      onnx::GraphProto* branch = taken_branch(model, view, shapes, at);
      if (!branch) continue;
      taken.emplace(at.node, branch);
      if (std::find(graphs.begin(), graphs.end(), at.scope->graph) == graphs.end()) graphs.push_back(at.scope->graph);
      while (i + 1 < view.nodes().size() && view.nodes()[i + 1].scope->depth > at.scope->depth) ++i;
    }
  }
  if (taken.empty()) return 0;
  BranchInliner inliner(model);
  for (onnx::GraphProto* graph : graphs) {
    Nodes nodes;
    for (auto& node : *graph->mutable_node()) {
      const auto found = taken.find(&node);
      if (found == taken.end())
        nodes.Add()->Swap(&node);
      else
        inliner.inline_branch(node, *found->second, *graph, nodes);
    }
    graph->mutable_node()->Swap(&nodes);
  }
  return static_cast<int>(taken.size());
}

}  // namespace

void run_inline_known_branches(Model& model, PassReport& report) {
  while (const int inlined = sweep(model)) report.changes += inlined;
  const auto analysis = analyze(model);
  const GraphView& view = analysis->view;
  const auto left =
      std::count_if(view.nodes().begin(), view.nodes().end(), [](const NodeAt& at) { return is_op(*at.node, "If"); });
  if (left > 0)
    report.notes.push_back(std::to_string(left) +
                           " If nodes stay: their conditions depend on input data or open dimensions (--fix, --dim)");
}

}  // namespace octet
