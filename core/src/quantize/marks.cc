#include "quantize/marks.h"

#include <algorithm>

#include "model/graph_view.h"

namespace octet {
namespace {

void clear_nodes(google::protobuf::RepeatedPtrField<onnx::NodeProto>& nodes) {
  for (auto& node : nodes) {
    auto& props = *node.mutable_metadata_props();
    props.erase(std::remove_if(props.begin(), props.end(),
                               [](const auto& entry) {
                                 return entry.key() == kExcludeMark || entry.key() == kIncludeMark ||
                                        entry.key() == kTypeMark;
                               }),
                props.end());
    for (onnx::GraphProto* inner : subgraphs(node)) clear_nodes(*inner->mutable_node());
  }
}

}  // namespace

void set_mark(onnx::NodeProto& node, const std::string& mark) {
  if (has_mark(node, mark)) return;
  auto& entry = *node.add_metadata_props();
  entry.set_key(mark);
  entry.set_value("1");
}

bool has_mark(const onnx::NodeProto& node, std::string_view mark) {
  return std::any_of(node.metadata_props().begin(), node.metadata_props().end(),
                     [&](const auto& entry) { return entry.key() == mark; });
}

void clear_marks(onnx::ModelProto& model) {
  clear_nodes(*model.mutable_graph()->mutable_node());
  for (auto& function : *model.mutable_functions()) clear_nodes(*function.mutable_node());
}

}  // namespace octet
