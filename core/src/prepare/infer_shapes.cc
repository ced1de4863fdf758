// Types, ranks and shapes of every value, found on the skeleton: stored tensors take part with their type and dims
// only.
#include "model/graph_view.h"
#include "octet/prepare.h"
#include "onnx/shape_inference/implementation.h"

namespace octet {

PassReport infer_shapes(Model& model) {
  PassReport report{"infer_shapes", 0, {}};
  auto& proto = model.proto();
  const int before = proto.graph().value_info_size();
  try {
    const onnx::ShapeInferenceOptions options(/*check_type=*/false, /*error_mode=*/0, /*data_prop=*/true);
    onnx::shape_inference::InferShapes(proto, onnx::OpSchemaRegistry::Instance(), options);
  } catch (const std::exception& fault) {
    report.notes.push_back(std::string("shape inference stopped: ") + fault.what());
  }
  report.changes = proto.graph().value_info_size() - before;
  return report;
}

}  // namespace octet
