// Small edits and look-ups on the skeleton that need no view.
#include <algorithm>
#include <functional>
#include <queue>

#include "model/graph_view.h"
#include "octet/error.h"

namespace octet {
namespace {

constexpr std::string_view kStandardAlias = "ai.onnx";

void collect_outer_reads(onnx::GraphProto& graph, std::unordered_set<std::string>& reads) {
  std::unordered_set<std::string> own;
  for (const auto& input : graph.input()) own.insert(input.name());
  for (const auto& tensor : graph.initializer()) own.insert(tensor.name());
  for (const auto& node : graph.node()) own.insert(node.output().begin(), node.output().end());
  for (auto& node : *graph.mutable_node()) {
    for (const auto& input : node.input()) {
      if (!own.contains(input)) reads.insert(input);
    }
    for (onnx::GraphProto* inner : subgraphs(node)) {
      std::unordered_set<std::string> deeper;
      collect_outer_reads(*inner, deeper);
      for (const auto& name : deeper) {
        if (!own.contains(name)) reads.insert(name);
      }
    }
  }
  for (const auto& output : graph.output()) {
    if (!own.contains(output.name())) reads.insert(output.name());
  }
}

void sort_graph(onnx::GraphProto& graph) {
  for (auto& node : *graph.mutable_node()) {
    for (onnx::GraphProto* inner : subgraphs(node)) sort_graph(*inner);
  }
  const int count = graph.node_size();
  std::unordered_map<std::string, int> producer;
  for (int i = 0; i < count; ++i) {
    for (const auto& output : graph.node(i).output()) {
      if (!output.empty()) producer.emplace(output, i);
    }
  }
  std::vector<std::vector<int>> readers(static_cast<std::size_t>(count));
  std::vector<int> waiting(static_cast<std::size_t>(count), 0);
  bool sorted = true;
  for (int i = 0; i < count; ++i) {
    std::unordered_set<std::string> reads(graph.node(i).input().begin(), graph.node(i).input().end());
    for (onnx::GraphProto* inner : subgraphs(*graph.mutable_node(i))) collect_outer_reads(*inner, reads);
    for (const auto& name : reads) {
      const auto found = producer.find(name);
      if (found == producer.end()) continue;
      sorted = sorted && found->second < i;
      readers[static_cast<std::size_t>(found->second)].push_back(i);
      ++waiting[static_cast<std::size_t>(i)];
    }
  }
  if (sorted) return;
  // Kahn's algorithm; the smallest index first keeps the given order where it can be kept.
  std::priority_queue<int, std::vector<int>, std::greater<>> ready;
  for (int i = 0; i < count; ++i) {
    if (waiting[static_cast<std::size_t>(i)] == 0) ready.push(i);
  }
  google::protobuf::RepeatedPtrField<onnx::NodeProto> ordered;
  while (!ready.empty()) {
    const int i = ready.top();
    ready.pop();
    ordered.Add()->CopyFrom(graph.node(i));
    for (int reader : readers[static_cast<std::size_t>(i)]) {
      if (--waiting[static_cast<std::size_t>(reader)] == 0) ready.push(reader);
    }
  }
  if (ordered.size() != count) {
    for (int i = 0; i < count; ++i) {
      if (waiting[static_cast<std::size_t>(i)] > 0) {
        const auto& node = graph.node(i);
        throw Error(ErrorCode::kMalformed, node.op_type() + " '" + node.name() + "'",
                    "the graph is cyclic: this node depends on its own output", "export the model again");
      }
    }
  }
  graph.mutable_node()->Swap(&ordered);
}

void collect_names(const onnx::GraphProto& graph, std::unordered_set<std::string>& names) {
  for (const auto& value : graph.input()) names.insert(value.name());
  for (const auto& value : graph.output()) names.insert(value.name());
  for (const auto& value : graph.value_info()) names.insert(value.name());
  for (const auto& tensor : graph.initializer()) names.insert(tensor.name());
  for (const auto& sparse : graph.sparse_initializer()) names.insert(sparse.values().name());
  for (const auto& node : graph.node()) {
    names.insert(node.name());
    names.insert(node.input().begin(), node.input().end());
    names.insert(node.output().begin(), node.output().end());
    for (const auto& attribute : node.attribute()) {
      if (attribute.has_g()) collect_names(attribute.g(), names);
      for (const auto& inner : attribute.graphs()) collect_names(inner, names);
    }
  }
}

}  // namespace

void remove_nodes(const GraphView& view, const std::unordered_set<const onnx::NodeProto*>& nodes) {
  // Inner graphs first: a node takes its subgraphs along.
  for (auto scope = view.scopes().rbegin(); scope != view.scopes().rend(); ++scope) {
    auto& list = *(*scope)->graph->mutable_node();
    list.erase(std::remove_if(list.begin(), list.end(), [&](const auto& node) { return nodes.contains(&node); }),
               list.end());
  }
}

void sort_nodes(onnx::ModelProto& model) { sort_graph(*model.mutable_graph()); }

NameSet::NameSet(const onnx::ModelProto& model) { collect_names(model.graph(), names_); }

std::string NameSet::fresh(const std::string& wish) {
  std::string name = wish;
  for (int i = 1; !names_.insert(name).second; ++i) name = wish + "_" + std::to_string(i);
  return name;
}

std::vector<onnx::GraphProto*> subgraphs(onnx::NodeProto& node) {
  std::vector<onnx::GraphProto*> found;
  for (auto& attribute : *node.mutable_attribute()) {
    if (attribute.has_g()) found.push_back(attribute.mutable_g());
    for (auto& inner : *attribute.mutable_graphs()) found.push_back(&inner);
  }
  return found;
}

const onnx::AttributeProto* find_attribute(const onnx::NodeProto& node, std::string_view name) {
  for (const auto& attribute : node.attribute()) {
    if (attribute.name() == name) return &attribute;
  }
  return nullptr;
}

std::int64_t int_attribute(const onnx::NodeProto& node, std::string_view name, std::int64_t otherwise) {
  const auto* attribute = find_attribute(node, name);
  return attribute ? attribute->i() : otherwise;
}

float float_attribute(const onnx::NodeProto& node, std::string_view name, float otherwise) {
  const auto* attribute = find_attribute(node, name);
  return attribute ? attribute->f() : otherwise;
}

void drop_attribute(onnx::NodeProto& node, std::string_view name) {
  auto& list = *node.mutable_attribute();
  list.erase(std::remove_if(list.begin(), list.end(), [&](const auto& attribute) { return attribute.name() == name; }),
             list.end());
}

void set_attribute(onnx::NodeProto& node, const std::string& name, std::int64_t value) {
  drop_attribute(node, name);
  auto& attribute = *node.add_attribute();
  attribute.set_name(name);
  attribute.set_type(onnx::AttributeProto::INT);
  attribute.set_i(value);
}

void set_attribute(onnx::NodeProto& node, const std::string& name, const std::vector<std::int64_t>& values) {
  drop_attribute(node, name);
  auto& attribute = *node.add_attribute();
  attribute.set_name(name);
  attribute.set_type(onnx::AttributeProto::INTS);
  for (auto value : values) attribute.add_ints(value);
}

void set_attribute(onnx::NodeProto& node, const std::string& name, const std::string& value) {
  drop_attribute(node, name);
  auto& attribute = *node.add_attribute();
  attribute.set_name(name);
  attribute.set_type(onnx::AttributeProto::STRING);
  attribute.set_s(value);
}

void set_float_attribute(onnx::NodeProto& node, const std::string& name, float value) {
  drop_attribute(node, name);
  auto& attribute = *node.add_attribute();
  attribute.set_name(name);
  attribute.set_type(onnx::AttributeProto::FLOAT);
  attribute.set_f(value);
}

bool is_standard(const onnx::NodeProto& node) { return node.domain().empty() || node.domain() == kStandardAlias; }

bool is_op(const onnx::NodeProto& node, std::string_view op, std::string_view domain) {
  return node.op_type() == op && (domain.empty() ? is_standard(node) : node.domain() == domain);
}

std::int64_t opset_of(const onnx::ModelProto& model, std::string_view domain) {
  const bool standard = domain.empty() || domain == kStandardAlias;
  for (const auto& opset : model.opset_import()) {
    const bool same = standard ? opset.domain().empty() || opset.domain() == kStandardAlias : opset.domain() == domain;
    if (same) return opset.version();
  }
  return 0;
}

void require_domain(onnx::ModelProto& model, const std::string& domain, std::int64_t version) {
  if (opset_of(model, domain) > 0) return;
  auto& opset = *model.add_opset_import();
  opset.set_domain(domain);
  opset.set_version(version);
}

}  // namespace octet
