// What a plan may ask of a model. Plans come from files and people too: what does not fit is refused in words, before
// any rewrite relies on it.
#pragma once

#include "quantize/rewriter.h"

namespace octet {

// Throws Error(kUsage).
void check_tensor_plan(const TensorPlan& plan, const onnx::TensorProto& tensor);
void check_node_plan(Rewriter& rewriter, const NodeAt& at, const NodePlan& plan);

}  // namespace octet
