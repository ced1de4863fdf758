#include "model/graph_match.h"

#include <algorithm>

namespace octet {
namespace {

constexpr std::uint64_t kMaxInts = 1024;

}  // namespace

bool is_integer_type(int type) {
  using onnx::TensorProto;
  return type == TensorProto::INT64 || type == TensorProto::INT32 || type == TensorProto::BOOL ||
         type == TensorProto::INT8 || type == TensorProto::UINT8 || type == TensorProto::INT16 ||
         type == TensorProto::UINT16 || type == TensorProto::UINT32;
}

const Use* only_use(const Value& value) {
  return value.uses.size() == 1 && value.graph_outputs == 0 ? &value.uses.front() : nullptr;
}

std::optional<NodeAt> producer_of(const Value* value) {
  if (!value || !value->producer) return std::nullopt;
  return NodeAt{value->producer, value->scope};
}

std::optional<NodeAt> producer_of(const GraphView& view, const NodeAt& at, int input, std::string_view op) {
  const auto producer = producer_of(view.input(at, input));
  if (!producer || producer->scope != at.scope || !is_op(*producer->node, op)) return std::nullopt;
  return producer;
}

std::optional<double> scalar_of(const Model& model, const Value* value) {
  if (!value || !value->constant() || element_count(*value->initializer) != 1) return std::nullopt;
  const int type = value->initializer->data_type();
  if (is_float_type(type)) return static_cast<double>(tensor_as_float(model, *value->initializer)[0]);
  if (is_integer_type(type)) return static_cast<double>(tensor_as_int64(model, *value->initializer)[0]);
  return std::nullopt;
}

std::optional<std::vector<std::int64_t>> constant_ints(const Model& model, const Value* value) {
  if (!value || !value->constant() || !is_integer_type(value->initializer->data_type()) ||
      element_count(*value->initializer) > kMaxInts)
    return std::nullopt;
  return tensor_as_int64(model, *value->initializer);
}

std::optional<std::vector<std::int64_t>> constant_ints(const Model& model, const GraphView& view, const NodeAt& at,
                                                       int input, std::string_view attribute) {
  if (!attribute.empty()) {
    if (const auto* listed = find_attribute(*at.node, attribute)) {
      if (static_cast<std::uint64_t>(listed->ints_size()) > kMaxInts) return std::nullopt;
      return std::vector<std::int64_t>(listed->ints().begin(), listed->ints().end());
    }
  }
  return constant_ints(model, view.input(at, input));
}

bool redirect(const GraphView& view, const Value& from, const Value& to) {
  for (const Use& use : from.uses) {
    if (view.find(*use.scope, to.name) != &to) return false;
  }
  for (const Use& use : from.uses) use.node->set_input(use.input, to.name);
  return true;
}

void rename_reads(onnx::NodeProto& node, const Renamed& names) {
  for (auto& input : *node.mutable_input()) {
    if (const auto found = names.find(input); found != names.end()) input = found->second;
  }
  for (onnx::GraphProto* graph : subgraphs(node)) {
    Renamed seen = names;
    for (const auto& input : graph->input()) seen.erase(input.name());
    for (const auto& tensor : graph->initializer()) seen.erase(tensor.name());
    for (const auto& inner : graph->node()) {
      for (const auto& output : inner.output()) seen.erase(output);
    }
    if (seen.empty()) continue;
    for (auto& inner : *graph->mutable_node()) rename_reads(inner, seen);
    for (auto& output : *graph->mutable_output()) {
      if (const auto found = seen.find(output.name()); found != seen.end()) output.set_name(found->second);
    }
  }
}

bool Touched::any(std::initializer_list<const onnx::NodeProto*> nodes) const {
  return std::any_of(nodes.begin(), nodes.end(), [this](const auto* node) { return has(node); });
}

void become(onnx::NodeProto& node, std::string_view op, const std::vector<std::string>& inputs,
            std::string_view domain) {
  node.set_op_type(std::string(op));
  node.set_domain(std::string(domain));
  node.clear_overload();
  node.clear_attribute();
  node.clear_input();
  for (const auto& input : inputs) node.add_input(input);
}

void inherit_marks(const onnx::NodeProto& from, onnx::NodeProto& to) {
  for (const auto& entry : from.metadata_props()) {
    const auto& own = to.metadata_props();
    const bool known =
        std::any_of(own.begin(), own.end(), [&](const auto& other) { return other.key() == entry.key(); });
    if (!known) *to.add_metadata_props() = entry;
  }
}

}  // namespace octet
