// What the file says of values between nodes (value_info, outputs): kept when one value takes another's place, since
// where inference finds nothing it is all that is known. Only type and rank go along: sizes are often stale.
#pragma once

#include <string>
#include <unordered_map>

#include "onnx/onnx_pb.h"

namespace octet {

class Described {
 public:
  // Null when nothing is said of the value.
  const onnx::TypeProto* of(onnx::GraphProto& graph, const std::string& name);

  // Says it of a value that nodes of the graph make, unless as much is said of it already.
  void say(onnx::GraphProto& graph, const std::string& name, const onnx::TypeProto& type);

 private:
  using Types = std::unordered_map<std::string, onnx::TypeProto*>;
  Types& types(onnx::GraphProto& graph);
  std::unordered_map<const onnx::GraphProto*, Types> graphs_;
};

}  // namespace octet
