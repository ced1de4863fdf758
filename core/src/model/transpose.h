// Stored matrices turned over, lazily for large ones.
#pragma once

#include "model/tensor_access.h"

namespace octet {

// Swaps the axes of a rank-2 tensor in place. Element types of 1, 2, 4 or 8 bytes.
void transpose_matrix(Model& model, onnx::TensorProto& tensor);

// `in` is rows × cols, `out` cols × rows, elements of `width` bytes.
void transpose_elements(std::span<const std::uint8_t> in, std::uint64_t rows, std::uint64_t cols, std::size_t width,
                        std::span<std::uint8_t> out);

}  // namespace octet
