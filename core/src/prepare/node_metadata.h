// Metadata of nodes on its way through onnx's converter, which drops it. Names and outputs of nodes repeat, in sibling
// graphs and in functions called twice; the one thing that the converter hands on untouched is a node's documentation.
#pragma once

#include <vector>

#include "onnx/onnx_pb.h"

namespace octet {

class NodeMetadata {
 public:
  // Takes the metadata off every node, of functions too, and leaves a note in its documentation.
  explicit NodeMetadata(onnx::ModelProto& model);
  // Puts it back, on every copy of a node that was made meanwhile.
  void restore(onnx::ModelProto& model) const;

 private:
  struct Entry {
    google::protobuf::RepeatedPtrField<onnx::StringStringEntryProto> metadata;
    std::string documentation;
  };
  using Nodes = google::protobuf::RepeatedPtrField<onnx::NodeProto>;
  void take(Nodes& nodes);
  void give(Nodes& nodes) const;

  std::vector<Entry> entries_;
};

}  // namespace octet
