#include "prepare/described.h"

namespace octet {
namespace {

// Type and rank; nothing where not even the type is told.
onnx::TypeProto without_sizes(onnx::TypeProto type) {
  if (!type.has_tensor_type()) return type;
  auto& tensor = *type.mutable_tensor_type();
  if (tensor.elem_type() == 0) return {};
  if (tensor.has_shape()) {
    for (auto& dim : *tensor.mutable_shape()->mutable_dim()) dim.Clear();
  }
  return type;
}

}  // namespace

Described::Types& Described::types(onnx::GraphProto& graph) {
  const auto [entry, added] = graphs_.try_emplace(&graph);
  if (added) {
    for (auto& info : *graph.mutable_value_info()) entry->second.emplace(info.name(), info.mutable_type());
    for (auto& info : *graph.mutable_output()) entry->second[info.name()] = info.mutable_type();
  }
  return entry->second;
}

const onnx::TypeProto* Described::of(onnx::GraphProto& graph, const std::string& name) {
  const Types& known = types(graph);
  const auto found = known.find(name);
  return found == known.end() ? nullptr : found->second;
}

void Described::say(onnx::GraphProto& graph, const std::string& name, const onnx::TypeProto& type) {
  const onnx::TypeProto said = without_sizes(type);
  if (said.value_case() == onnx::TypeProto::VALUE_NOT_SET) return;
  onnx::TypeProto*& known = types(graph)[name];
  if (!known) {
    auto& info = *graph.add_value_info();
    info.set_name(name);
    known = info.mutable_type();
    *known = said;
  } else if (said.has_tensor_type() && said.tensor_type().has_shape() && known->has_tensor_type() &&
             !known->tensor_type().has_shape() && known->tensor_type().elem_type() == said.tensor_type().elem_type()) {
    *known->mutable_tensor_type()->mutable_shape() = said.tensor_type().shape();
  }
}

}  // namespace octet
