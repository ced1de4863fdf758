#include <unordered_set>

#include "model/graph_view.h"
#include "octet/synthetic.h"

namespace octet {
namespace {

ValueInfo value_info(const onnx::ValueInfoProto& value) {
  ValueInfo info;
  info.name = value.name();
  info.is_tensor = value.type().has_tensor_type();
  if (!info.is_tensor) return info;
  info.type = value.type().tensor_type().elem_type();
  for (const auto& dim : value.type().tensor_type().shape().dim()) {
    info.dims.push_back(dim.has_dim_value() ? dim.dim_value() : -1);
    info.symbols.push_back(dim.dim_param());
  }
  return info;
}

}  // namespace

std::vector<ValueInfo> inputs_of(const Model& model) {
  const onnx::GraphProto& graph = model.proto().graph();
  std::unordered_set<std::string> stored;
  for (const auto& tensor : graph.initializer()) stored.insert(tensor.name());
  std::vector<ValueInfo> infos;
  for (const auto& input : graph.input()) {
    if (!stored.contains(input.name())) infos.push_back(value_info(input));
  }
  return infos;
}

}  // namespace octet
