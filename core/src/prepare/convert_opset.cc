// onnx's own converter, with what it drops put back: metadata of the model and of its nodes, quantization annotations.
// It sees the skeleton only; stored tensors pass through as markers.
#include <unordered_map>

#include "model/graph_view.h"
#include "octet/error.h"
#include "octet/prepare.h"
#include "onnx/version_converter/convert.h"

namespace octet {
namespace {

using Metadata = google::protobuf::RepeatedPtrField<onnx::StringStringEntryProto>;

std::string key_of(const onnx::NodeProto& node) {
  for (const auto& output : node.output()) {
    if (!output.empty()) return output;
  }
  return {};
}

void collect_metadata(onnx::GraphProto& graph, std::unordered_map<std::string, Metadata>& found) {
  for (auto& node : *graph.mutable_node()) {
    if (node.metadata_props_size() > 0) found[key_of(node)] = node.metadata_props();
    for (onnx::GraphProto* inner : subgraphs(node)) collect_metadata(*inner, found);
  }
}

void restore_metadata(onnx::GraphProto& graph, const std::unordered_map<std::string, Metadata>& found) {
  for (auto& node : *graph.mutable_node()) {
    const auto at = found.find(key_of(node));
    if (at != found.end() && node.metadata_props_size() == 0) *node.mutable_metadata_props() = at->second;
    for (onnx::GraphProto* inner : subgraphs(node)) restore_metadata(*inner, found);
  }
}

}  // namespace

void convert_opset(Model& model, int version) {
  auto& proto = model.proto();
  const auto from = opset_of(proto);
  if (from == version) return;
  if (proto.ir_version() < 4) proto.set_ir_version(4);
  std::unordered_map<std::string, Metadata> metadata;
  collect_metadata(*proto.mutable_graph(), metadata);
  onnx::ModelProto converted;
  try {
    converted = onnx::version_conversion::ConvertVersion(proto, version);
  } catch (const std::exception& fault) {
    throw Error(
        ErrorCode::kUnsupported, model.name,
        "opset " + std::to_string(from) + " cannot be converted to " + std::to_string(version) + ": " + fault.what(),
        "export the model with opset " + std::to_string(version));
  }
  restore_metadata(*converted.mutable_graph(), metadata);
  *converted.mutable_metadata_props() = proto.metadata_props();
  *converted.mutable_graph()->mutable_quantization_annotation() = proto.graph().quantization_annotation();
  proto.Swap(&converted);
}

}  // namespace octet
