// onnx's own converter, with what it drops put back: metadata of the model and of its nodes, quantization annotations.
// It sees the skeleton only; stored tensors pass through as markers.
#include "model/graph_view.h"
#include "octet/error.h"
#include "octet/prepare.h"
#include "onnx/version_converter/convert.h"
#include "prepare/check_calls.h"
#include "prepare/node_metadata.h"

namespace octet {

void convert_opset(Model& model, int version) {
  auto& proto = model.proto();
  const auto from = opset_of(proto);
  if (from == version) return;
  check_calls(proto);
  if (proto.ir_version() < 4) proto.set_ir_version(4);
  const NodeMetadata metadata(proto);
  onnx::ModelProto converted;
  try {
    converted = onnx::version_conversion::ConvertVersion(proto, version);
  } catch (const std::exception& fault) {
    metadata.restore(proto);
    throw Error(
        ErrorCode::kUnsupported, model.name,
        "opset " + std::to_string(from) + " cannot be converted to " + std::to_string(version) + ": " + fault.what(),
        "export the model with opset " + std::to_string(version));
  }
  metadata.restore(converted);
  *converted.mutable_metadata_props() = proto.metadata_props();
  *converted.mutable_graph()->mutable_quantization_annotation() = proto.graph().quantization_annotation();
  proto.Swap(&converted);
}

}  // namespace octet
