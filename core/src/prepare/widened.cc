#include "prepare/widened.h"

#include <algorithm>
#include <map>

#include "model/graph_view.h"

namespace octet {
namespace {

constexpr const char* kTypeKey = "octet.narrow_type";
constexpr const char* kIdKey = "octet.narrow_id";

const std::string* marker_value(const onnx::TensorProto& tensor, const char* key) {
  for (const auto& entry : tensor.metadata_props()) {
    if (entry.key() == key) return &entry.value();
  }
  return nullptr;
}

void add_entry(onnx::TensorProto& tensor, const char* key, std::uint64_t value) {
  auto& entry = *tensor.add_metadata_props();
  entry.set_key(key);
  entry.set_value(std::to_string(value));
}

// Most models have none: then nobody need look at names and scopes.
bool any_widened(const onnx::GraphProto& graph) {
  for (const auto& tensor : graph.initializer()) {
    if (marker_value(tensor, kTypeKey)) return true;
  }
  for (const auto& node : graph.node()) {
    for (const auto& attribute : node.attribute()) {
      if (attribute.has_g() && any_widened(attribute.g())) return true;
      for (const auto& inner : attribute.graphs()) {
        if (any_widened(inner)) return true;
      }
    }
  }
  return false;
}

}  // namespace

void mark_widened(onnx::TensorProto& tensor, int narrow_type, TensorStore::Id narrow) {
  add_entry(tensor, kTypeKey, static_cast<std::uint64_t>(narrow_type));
  add_entry(tensor, kIdKey, narrow);
}

void unmark_widened(onnx::TensorProto& tensor) {
  auto& props = *tensor.mutable_metadata_props();
  props.erase(std::remove_if(props.begin(), props.end(),
                             [](const auto& entry) { return entry.key() == kTypeKey || entry.key() == kIdKey; }),
              props.end());
}

namespace {

void unmark_graph(onnx::GraphProto& graph) {
  for (auto& tensor : *graph.mutable_initializer()) unmark_widened(tensor);
  for (auto& node : *graph.mutable_node()) {
    for (onnx::GraphProto* inner : subgraphs(node)) unmark_graph(*inner);
  }
}

}  // namespace

void unmark_all(onnx::ModelProto& model) { unmark_graph(*model.mutable_graph()); }

std::optional<onnx::TensorProto> narrow_form(const onnx::TensorProto& tensor) {
  const auto* type = stored_id(tensor) ? marker_value(tensor, kTypeKey) : nullptr;
  if (!type) return std::nullopt;
  onnx::TensorProto narrow;
  narrow.set_data_type(std::stoi(*type));
  *narrow.mutable_dims() = tensor.dims();
  set_stored_id(narrow, static_cast<TensorStore::Id>(std::stoul(*marker_value(tensor, kIdKey))));
  return narrow;
}

int restore_casts(Model& model) {
  if (!any_widened(model.proto().graph())) return 0;
  NameSet names(model.proto());
  int restored = 0;
  GraphView view(model.proto());
  for (const auto& scope : view.scopes()) {
    auto& tensors = *scope->graph->mutable_initializer();
    // The narrow tensor may be there still, for other readers.
    std::map<std::string, std::string> stored;
    const auto key_of = [](onnx::TensorProto tensor) {
      tensor.clear_name();
      return tensor.SerializeAsString();
    };
    for (const auto& tensor : tensors) {
      if (stored_id(tensor) && !narrow_form(tensor)) stored.emplace(key_of(tensor), tensor.name());
    }
    google::protobuf::RepeatedPtrField<onnx::NodeProto> nodes;
    std::unordered_set<const onnx::TensorProto*> gone;
    for (auto& tensor : tensors) {
      auto narrow = narrow_form(tensor);
      if (!narrow) continue;
      onnx::NodeProto& cast = *nodes.Add();
      cast.set_op_type("Cast");
      cast.set_name(names.fresh(tensor.name() + "_cast"));
      cast.add_output(tensor.name());
      set_attribute(cast, "to", static_cast<std::int64_t>(tensor.data_type()));
      const auto known = stored.find(key_of(*narrow));
      if (known != stored.end()) {
        cast.add_input(known->second);
        gone.insert(&tensor);
      } else {
        cast.add_input(names.fresh(tensor.name() + "_stored"));
        narrow->set_name(cast.input(0));
        tensor.Swap(&*narrow);
      }
    }
    if (nodes.empty()) continue;
    restored += nodes.size();
    tensors.erase(
        std::remove_if(tensors.begin(), tensors.end(), [&](const auto& tensor) { return gone.contains(&tensor); }),
        tensors.end());
    for (auto& node : *scope->graph->mutable_node()) nodes.Add()->Swap(&node);
    scope->graph->mutable_node()->Swap(&nodes);
  }
  return restored;
}

}  // namespace octet
