// What an operator gives for inputs that are known: the runtime's result, computed here with kernels that give the same
// bits on every platform. Whatever could differ between platforms, or fail in the runtime, is declined.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "octet/tensor.h"
#include "onnx/onnx_pb.h"

namespace octet {

// A known input. `type` 0: the node does not have it.
struct Operand {
  int type = 0;
  std::vector<std::int64_t> dims;
  std::span<const std::uint8_t> bytes;  // aligned for the type
};

// Whether evaluate() knows the operator at all.
bool can_evaluate(const onnx::NodeProto& node, std::int64_t opset);

// Whether the result depends on the inputs' dims alone; then operands need no bytes.
bool reads_dims_only(const onnx::NodeProto& node);

// One tensor per output of the node. Nothing when the operator, a type or an edge case is not covered, when the node is
// not valid, or when an output would have more than `max_bytes`.
std::optional<std::vector<Tensor>> evaluate(const onnx::NodeProto& node, std::int64_t opset,
                                            std::span<const Operand> inputs, std::uint64_t max_bytes);

}  // namespace octet
