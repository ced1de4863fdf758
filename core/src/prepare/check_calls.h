// onnx's converter and inliner take graphs on trust: a missing input or an attribute of another kind is a crash there.
// This is asked first.
#pragma once

#include "onnx/onnx_pb.h"

namespace octet {

// Throws Error: kMalformed where names do not resolve or a node of a standard operator is not called as its schema
// says, kUnsupported where the opset has no such operator. Nodes must be sorted.
void check_calls(onnx::ModelProto& model);

// The same for the body of each function, whose nodes are sorted on the way.
void check_function_bodies(onnx::ModelProto& model);

}  // namespace octet
