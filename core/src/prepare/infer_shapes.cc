// Types, ranks and shapes of every value, found on the skeleton: stored tensors take part with their type and dims
// only.
#include "onnx/shape_inference/implementation.h"

#include <algorithm>

#include "model/graph_view.h"
#include "octet/prepare.h"

namespace octet {
namespace {

bool is_named(const onnx::TensorShapeProto::Dimension& dim) { return dim.has_dim_value() || !dim.dim_param().empty(); }

void count(const onnx::GraphProto& graph, ShapeCoverage& coverage) {
  std::unordered_map<std::string, const onnx::TypeProto*> types;
  for (const auto& info : graph.value_info()) types[info.name()] = &info.type();
  for (const auto& info : graph.output()) types[info.name()] = &info.type();
  for (const auto& node : graph.node()) {
    for (const auto& output : node.output()) {
      if (output.empty()) continue;
      ++coverage.values;
      const auto found = types.find(output);
      if (found == types.end()) continue;
      const onnx::TypeProto& type = *found->second;
      if (!type.has_tensor_type()) {
        coverage.typed += type.value_case() != onnx::TypeProto::VALUE_NOT_SET;
        continue;
      }
      coverage.typed += type.tensor_type().elem_type() != onnx::TensorProto::UNDEFINED;
      if (!type.tensor_type().has_shape()) continue;
      ++coverage.ranked;
      const auto& dims = type.tensor_type().shape().dim();
      coverage.shaped += std::all_of(dims.begin(), dims.end(), is_named);
    }
    for (const auto& attribute : node.attribute()) {
      if (attribute.has_g()) count(attribute.g(), coverage);
      for (const auto& inner : attribute.graphs()) count(inner, coverage);
    }
  }
}

}  // namespace

ShapeCoverage infer_shapes(Model& model) {
  ShapeCoverage coverage;
  auto& proto = model.proto();
  try {
    const onnx::ShapeInferenceOptions options(/*check_type=*/false, /*error_mode=*/0, /*data_prop=*/true);
    onnx::shape_inference::InferShapes(proto, onnx::OpSchemaRegistry::Instance(), options);
  } catch (const std::exception& fault) {
    coverage.note = std::string("shape inference stopped: ") + fault.what();
  }
  count(proto.graph(), coverage);
  return coverage;
}

}  // namespace octet
