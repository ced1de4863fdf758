#include "prepare/node_metadata.h"

#include <charconv>
#include <string_view>

#include "model/graph_view.h"

namespace octet {
namespace {

constexpr std::string_view kNote = "octet.metadata:";

}  // namespace

NodeMetadata::NodeMetadata(onnx::ModelProto& model) {
  take(*model.mutable_graph()->mutable_node());
  for (auto& function : *model.mutable_functions()) take(*function.mutable_node());
}

void NodeMetadata::restore(onnx::ModelProto& model) const {
  give(*model.mutable_graph()->mutable_node());
  for (auto& function : *model.mutable_functions()) give(*function.mutable_node());
}

void NodeMetadata::take(Nodes& nodes) {
  for (auto& node : nodes) {
    // Notes that a file brings along are taken as well: what is read back is always ours.
    if (node.metadata_props_size() > 0 || node.doc_string().starts_with(kNote)) {
      entries_.push_back({node.metadata_props(), node.doc_string()});
      node.clear_metadata_props();
      node.set_doc_string(std::string(kNote) + std::to_string(entries_.size() - 1));
    }
    for (onnx::GraphProto* inner : subgraphs(node)) take(*inner->mutable_node());
  }
}

void NodeMetadata::give(Nodes& nodes) const {
  for (auto& node : nodes) {
    for (onnx::GraphProto* inner : subgraphs(node)) give(*inner->mutable_node());
    const std::string_view text = node.doc_string();
    if (!text.starts_with(kNote)) continue;
    std::size_t index = 0;
    std::from_chars(text.data() + kNote.size(), text.data() + text.size(), index);
    const Entry& entry = entries_.at(index);
    *node.mutable_metadata_props() = entry.metadata;
    if (entry.documentation.empty()) {
      node.clear_doc_string();
    } else {
      node.set_doc_string(entry.documentation);
    }
  }
}

}  // namespace octet
