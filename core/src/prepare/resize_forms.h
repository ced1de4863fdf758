// The forms that Resize had: Upsample up to opset 9, Resize of opset 10, Resize since then.
#pragma once

#include <string>

#include "model/graph_match.h"

namespace octet {

// How an older form rounds to the nearest element, as an attribute of the newer one: it takes the lower one where it
// enlarges, the upper one where it shrinks. Nothing when some axes do this and others that, or when it cannot be told.
std::optional<std::string> nearest_mode_of(const Model& model, const GraphView& view, const NodeAt& resize);

// An Upsample becomes a Resize of `opset`, which is 10 or more. False, and nothing changed, when it has no scales.
bool upsample_to_resize(Model& model, onnx::GraphProto& graph, onnx::NodeProto& node, std::int64_t opset,
                        NameSet& names);

// A Resize of opset 10 becomes one of `opset`, which is 11 or more.
void renew_resize(Model& model, onnx::GraphProto& graph, onnx::NodeProto& node, std::int64_t opset,
                  const std::string& nearest_mode, NameSet& names);

}  // namespace octet
