// How a planned matrix is cut into blocks.
#pragma once

#include "kernels/block_kernels.h"
#include "quantize/weight_params.h"

namespace octet {

// `turned`: the tensor is stored [N, K], as a Gemm with transB reads it. Of rank 2, with a block_size.
inline BlockLayout block_layout(const onnx::TensorProto& tensor, const TensorPlan& plan, bool turned) {
  BlockLayout layout;
  layout.k = static_cast<std::uint64_t>(tensor.dims(turned ? 1 : 0));
  layout.n = static_cast<std::uint64_t>(tensor.dims(turned ? 0 : 1));
  layout.block = static_cast<std::uint64_t>(plan.block_size);
  layout.bits = bit_width(plan.type);
  layout.symmetric = plan.symmetric;
  return layout;
}

}  // namespace octet
