#include "prepare/widened.h"

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

}  // namespace

void mark_widened(onnx::TensorProto& tensor, int narrow_type, TensorStore::Id narrow) {
  add_entry(tensor, kTypeKey, static_cast<std::uint64_t>(narrow_type));
  add_entry(tensor, kIdKey, narrow);
}

int restore_casts(Model& model) {
  NameSet names(model.proto());
  GraphView view(model.proto());
  int restored = 0;
  for (const auto& scope : view.scopes()) {
    std::vector<onnx::NodeProto> casts;
    for (auto& tensor : *scope->graph->mutable_initializer()) {
      const auto* type = stored_id(tensor) ? marker_value(tensor, kTypeKey) : nullptr;
      if (!type) continue;
      onnx::NodeProto cast;
      cast.set_op_type("Cast");
      cast.set_name(names.fresh(tensor.name() + "_cast"));
      cast.add_input(names.fresh(tensor.name() + "_stored"));
      cast.add_output(tensor.name());
      set_attribute(cast, "to", static_cast<std::int64_t>(tensor.data_type()));
      const auto id = static_cast<TensorStore::Id>(std::stoul(*marker_value(tensor, kIdKey)));
      tensor.set_name(cast.input(0));
      tensor.set_data_type(std::stoi(*type));
      set_stored_id(tensor, id);
      tensor.clear_metadata_props();
      casts.push_back(std::move(cast));
    }
    if (casts.empty()) continue;
    restored += static_cast<int>(casts.size());
    google::protobuf::RepeatedPtrField<onnx::NodeProto> nodes;
    for (auto& cast : casts) nodes.Add()->Swap(&cast);
    for (auto& node : *scope->graph->mutable_node()) nodes.Add()->Swap(&node);
    scope->graph->mutable_node()->Swap(&nodes);
  }
  return restored;
}

}  // namespace octet
