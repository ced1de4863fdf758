// Whether a node may be shown to onnx's own inference, whose functions trust what a checker would have checked.
#pragma once

#include "onnx/defs/schema.h"
#include "prepare/shapes.h"

namespace octet {

// As many inputs and outputs as the operator takes, tensors and sequences where it takes such, every attribute it needs
// there, and each of the type it has. Attributes that the operator does not know are no fault: exporters write them.
bool fits_schema(const onnx::OpSchema& schema, const NodeAt& at, const GraphView& view, const Shapes& shapes);

}  // namespace octet
