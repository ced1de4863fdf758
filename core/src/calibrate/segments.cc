// Segments are runs of the main graph's nodes. A value lives from the node that makes it to the last that reads it, or,
// when it is wanted, to the end of its segment.
#include "octet/segments.h"

#include <algorithm>
#include <limits>
#include <optional>
#include <unordered_map>
#include <unordered_set>

#include "model/graph_view.h"
#include "model/tensor_access.h"
#include "octet/error.h"
#include "octet/synthetic.h"
#include "prepare/shapes.h"

namespace octet {
namespace {

// A value that a node of the main graph makes and that is wanted or read.
struct Made {
  std::string name;
  int at = 0, last = 0;  // nodes that make it and read it last, by position
  bool wanted = false;
  onnx::TypeProto type;

  // A segment can be given it: it is a tensor whose type can be declared.
  bool crosses() const { return type.has_tensor_type() && type.tensor_type().elem_type() != 0; }
};

struct NodeRange {
  int begin = 0, end = 0;
};

std::uint64_t size_of(const std::map<std::string, std::uint64_t>& bytes, const std::string& name) {
  const auto found = bytes.find(name);
  return found == bytes.end() ? 0 : found->second;
}

// Names of dimensions mean nothing at the border of a segment; numbers help the runtime.
void forget_names(onnx::TypeProto& type) {
  if (!type.has_tensor_type() || !type.tensor_type().has_shape()) return;
  for (auto& dim : *type.mutable_tensor_type()->mutable_shape()->mutable_dim()) dim.clear_dim_param();
}

}  // namespace

std::vector<std::string> float_values(const Model& model) {
  Model copy = model.clone();
  const GraphView view(copy.proto());
  const Shapes shapes(copy, view);
  std::vector<std::string> names;
  const auto add = [&](const std::string& name) {
    const onnx::TypeProto& type = shapes.type_of(view.find(view.main(), name));
    const bool unknown = type.value_case() == onnx::TypeProto::VALUE_NOT_SET;
    if (!name.empty() && (unknown || (type.has_tensor_type() && is_float_type(type.tensor_type().elem_type()))))
      names.push_back(name);
  };
  for (const ValueInfo& input : inputs_of(model)) add(input.name);
  for (const auto& node : copy.proto().graph().node()) {
    for (const auto& output : node.output()) add(output);
  }
  return names;
}

struct SegmentedModel::Impl {
  Model model;             // without the nodes that lead to nothing wanted
  std::vector<Made> made;  // in node order
  std::unordered_map<std::string, std::size_t> made_by_name;
  std::vector<std::vector<std::string>> reads;  // by node: values of the main graph, stored ones too; each once
  std::unordered_set<std::string> inputs;       // that whoever runs the model gives
  std::vector<NodeRange> ranges;
  std::vector<Segment> segments;

  int nodes() const { return model.proto().graph().node_size(); }
  void keep_needed(const std::vector<std::string>& wanted);
  void look(const std::vector<std::string>& wanted);
  void describe_segments();
};

namespace {

// For each node of the main graph: the values of that graph that it or its subgraphs read.
std::vector<std::vector<std::string>> reads_of(const GraphView& view) {
  std::vector<std::vector<std::string>> reads;
  std::unordered_map<const onnx::NodeProto*, std::size_t> at;
  std::vector<std::unordered_set<std::string>> seen;
  const auto add = [&](std::size_t node, const Scope& scope, const std::string& name) {
    const Value* value = view.find(scope, name);
    if (value && value->scope == &view.main() && seen[node].insert(name).second) reads[node].push_back(name);
  };
  for (const NodeAt& node : view.nodes()) {
    if (node.scope->depth == 0) {
      reads.emplace_back();
      seen.emplace_back();
    }
    at[node.node] = reads.size() - 1;
    for (const auto& input : node.node->input()) add(reads.size() - 1, *node.scope, input);
  }
  for (const auto& scope : view.scopes()) {
    if (scope->depth == 0) continue;
    for (const auto& output : scope->graph->output()) add(at.at(scope->owner), *scope, output.name());
  }
  return reads;
}

}  // namespace

void SegmentedModel::Impl::keep_needed(const std::vector<std::string>& wanted) {
  const GraphView view(model.proto());
  reads = reads_of(view);
  auto& graph = *model.proto().mutable_graph();
  std::unordered_set<std::string> needed(wanted.begin(), wanted.end());
  std::unordered_set<const onnx::NodeProto*> dead;
  std::vector<std::vector<std::string>> kept;
  for (int i = graph.node_size(); i-- > 0;) {
    const auto& node = graph.node(i);
    const bool used = std::any_of(node.output().begin(), node.output().end(),
                                  [&](const std::string& output) { return needed.contains(output); });
    if (!used) {
      dead.insert(&node);
      continue;
    }
    auto& names = reads[static_cast<std::size_t>(i)];
    needed.insert(names.begin(), names.end());
    kept.push_back(std::move(names));
  }
  std::reverse(kept.begin(), kept.end());
  reads = std::move(kept);
  for (const ValueInfo& input : inputs_of(model)) inputs.insert(input.name);
  // Outputs of the model as it was are values like others.
  graph.clear_output();
  remove_nodes(view, dead);
}

void SegmentedModel::Impl::look(const std::vector<std::string>& wanted) {
  const std::unordered_set<std::string> wanted_names(wanted.begin(), wanted.end());
  const GraphView view(model.proto());
  const Shapes shapes(model, view);
  const auto& graph = model.proto().graph();
  for (int i = 0; i < graph.node_size(); ++i) {
    for (const auto& output : graph.node(i).output()) {
      if (output.empty()) continue;
      made_by_name.emplace(output, made.size());
      made.push_back({output, i, i, wanted_names.contains(output), shapes.type_of(view.find(view.main(), output))});
      forget_names(made.back().type);
    }
    for (const auto& name : reads[static_cast<std::size_t>(i)]) {
      if (const auto found = made_by_name.find(name); found != made_by_name.end()) made[found->second].last = i;
    }
  }
  for (const auto& name : wanted) {
    const Value* value = view.find(view.main(), name);
    if (!made_by_name.contains(name) && !(value && value->graph_input && value->initializer))
      throw Error(ErrorCode::kUsage, "value '" + name + "'", "no node of the main graph makes it",
                  "octet inspect --nodes lists them");
  }
}

void SegmentedModel::Impl::describe_segments() {
  segments.clear();
  for (const NodeRange& range : ranges) {
    Segment segment;
    std::unordered_set<std::string> seen;
    for (int i = range.begin; i < range.end; ++i) {
      for (const auto& name : reads[static_cast<std::size_t>(i)]) {
        const auto found = made_by_name.find(name);
        const bool from_before =
            found != made_by_name.end() ? made[found->second].at < range.begin : inputs.contains(name);
        if (from_before && seen.insert(name).second) segment.inputs.push_back(name);
      }
    }
    for (const Made& value : made) {
      if (value.at >= range.end) break;
      const bool here = value.at >= range.begin;
      if (here && value.wanted) segment.observed.push_back(value.name);
      if (here && (value.wanted || value.last >= range.end)) segment.outputs.push_back(value.name);
      const bool kept_so_far = here ? value.wanted || value.last >= range.end : value.last >= range.begin;
      if (kept_so_far && value.last < range.end) segment.dropped.push_back(value.name);
    }
    segments.push_back(std::move(segment));
  }
}

SegmentedModel::SegmentedModel(const Model& model, const std::vector<std::string>& wanted)
    : impl_(std::make_unique<Impl>()) {
  impl_->model = model.clone();
  impl_->keep_needed(wanted);
  impl_->look(wanted);
  if (impl_->nodes() > 0) impl_->ranges = {{0, impl_->nodes()}};
  impl_->describe_segments();
}

SegmentedModel::~SegmentedModel() = default;
SegmentedModel::SegmentedModel(SegmentedModel&&) noexcept = default;
SegmentedModel& SegmentedModel::operator=(SegmentedModel&&) noexcept = default;

std::map<std::string, std::uint64_t> SegmentedModel::estimate(
    const std::map<std::string, std::vector<std::int64_t>>& inputs) const {
  Model sized = impl_->model.clone();
  for (auto& input : *sized.proto().mutable_graph()->mutable_input()) {
    const auto found = inputs.find(input.name());
    if (found == inputs.end() || !input.type().has_tensor_type()) continue;
    auto& shape = *input.mutable_type()->mutable_tensor_type()->mutable_shape();
    shape.clear_dim();
    for (const std::int64_t size : found->second) shape.add_dim()->set_dim_value(size);
  }
  const GraphView view(sized.proto());
  const Shapes shapes(sized, view);
  std::map<std::string, std::uint64_t> bytes;
  const auto known = [&](const std::string& name) -> std::optional<std::uint64_t> {
    const ShapeFacts& facts = shapes.of(view.find(view.main(), name));
    const auto shape = facts.shape();
    if (!shape || facts.type == 0) return std::nullopt;
    std::uint64_t elements = 1;
    for (const std::int64_t size : *shape) {
      if (size < 0 || (size > 0 && elements > (std::uint64_t{1} << 48) / static_cast<std::uint64_t>(size)))
        return std::nullopt;
      elements *= static_cast<std::uint64_t>(size);
    }
    return bytes_for(facts.type, elements);
  };
  for (const auto& name : impl_->inputs) bytes[name] = known(name).value_or(0);
  const auto& graph = sized.proto().graph();
  for (int i = 0; i < graph.node_size(); ++i) {
    std::uint64_t largest = 0;
    for (const auto& name : impl_->reads[static_cast<std::size_t>(i)])
      largest = std::max(largest, size_of(bytes, name));
    for (const auto& output : graph.node(i).output()) {
      if (!output.empty()) bytes[output] = known(output).value_or(largest);
    }
  }
  return bytes;
}

void SegmentedModel::cut(const std::map<std::string, std::uint64_t>& bytes, std::uint64_t budget) {
  const int count = impl_->nodes();
  // Of a cut before node c: bytes that cross it, and whether all of them can.
  std::vector<std::int64_t> crossing(static_cast<std::size_t>(count) + 1, 0);
  std::vector<int> barred(static_cast<std::size_t>(count) + 1, 0);
  std::vector<std::uint64_t> wanted(static_cast<std::size_t>(count), 0);
  for (const Made& value : impl_->made) {
    const std::uint64_t size = size_of(bytes, value.name);
    if (value.wanted) wanted[static_cast<std::size_t>(value.at)] += size;
    if (value.last <= value.at) continue;
    crossing[static_cast<std::size_t>(value.at) + 1] += static_cast<std::int64_t>(size);
    crossing[static_cast<std::size_t>(value.last) + 1] -= static_cast<std::int64_t>(size);
    if (value.crosses()) continue;
    ++barred[static_cast<std::size_t>(value.at) + 1];
    --barred[static_cast<std::size_t>(value.last) + 1];
  }
  for (std::size_t c = 1; c < crossing.size(); ++c) {
    crossing[c] += crossing[c - 1];
    barred[c] += barred[c - 1];
  }
  impl_->ranges.clear();
  for (int begin = 0; begin < count;) {
    std::uint64_t held = static_cast<std::uint64_t>(crossing[static_cast<std::size_t>(begin)]);
    int end = count, best = 0;
    bool best_is_early = true;
    std::int64_t best_crossing = std::numeric_limits<std::int64_t>::max();
    for (int i = begin; i < count; ++i) {
      held += wanted[static_cast<std::size_t>(i)];
      const auto next = static_cast<std::size_t>(i) + 1;
      if (held > budget && best > 0) {
        end = best;
        break;
      }
      if (barred[next] > 0) continue;
      // Among the cuts in the second half of the budget, the one that the least has to cross.
      if (best_is_early || crossing[next] <= best_crossing) {
        best = i + 1;
        best_crossing = crossing[next];
        best_is_early = held < budget / 2;
      }
      if (held > budget) {
        end = best;
        break;
      }
    }
    impl_->ranges.push_back({begin, end});
    begin = end;
  }
  impl_->describe_segments();
}

const std::vector<Segment>& SegmentedModel::segments() const { return impl_->segments; }

Model SegmentedModel::model_of(std::size_t index) const {
  const NodeRange range = impl_->ranges.at(index);
  const Segment& segment = impl_->segments.at(index);
  Model result = impl_->model.clone();
  auto& graph = *result.proto().mutable_graph();
  graph.mutable_node()->DeleteSubrange(range.end, graph.node_size() - range.end);
  graph.mutable_node()->DeleteSubrange(0, range.begin);

  std::unordered_set<std::string> read;
  for (int i = range.begin; i < range.end; ++i) {
    const auto& names = impl_->reads[static_cast<std::size_t>(i)];
    read.insert(names.begin(), names.end());
  }
  auto& tensors = *graph.mutable_initializer();
  tensors.erase(std::remove_if(tensors.begin(), tensors.end(),
                               [&](const onnx::TensorProto& tensor) { return !read.contains(tensor.name()); }),
                tensors.end());
  auto& inputs = *graph.mutable_input();
  inputs.erase(std::remove_if(inputs.begin(), inputs.end(),
                              [&](const onnx::ValueInfoProto& input) { return !read.contains(input.name()); }),
               inputs.end());
  const auto declare = [&](const std::string& name, onnx::ValueInfoProto& value) {
    value.set_name(name);
    *value.mutable_type() = impl_->made[impl_->made_by_name.at(name)].type;
  };
  for (const auto& name : segment.inputs) {
    if (impl_->made_by_name.contains(name)) declare(name, *graph.add_input());
  }
  for (const auto& name : segment.outputs) declare(name, *graph.add_output());
  // What the file says of values is not needed to run, and can be wrong.
  graph.clear_value_info();
  graph.clear_quantization_annotation();
  return result;
}

}  // namespace octet
