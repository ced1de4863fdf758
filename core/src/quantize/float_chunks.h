// A stored weight read as float32, a piece at a time: in place where it stands aligned in memory, else through one
// small buffer. Keeps memory flat, and a weight that stands unaligned in its file from being copied whole.
#pragma once

#include <algorithm>
#include <cstring>
#include <vector>

#include "kernels/quantize_kernels.h"
#include "model/tensor_access.h"

namespace octet {

class FloatChunks {
 public:
  FloatChunks(const TensorStore& store, const onnx::TensorProto& tensor);

  // Calls visit(row, offset in the row, values) over `rows` rows of `length` elements each, in order. Rows longer than
  // a chunk come in several pieces.
  template <class Visit>
  void for_each_row(std::uint64_t rows, std::uint64_t length, Visit visit) {
    const std::uint64_t step = in_place_ ? std::max<std::uint64_t>(length, 1) : kChunk;
    for (std::uint64_t row = 0; row < rows; ++row) {
      for (std::uint64_t at = 0; at < length; at += step) {
        visit(row, at, values(row * length + at, std::min(step, length - at)));
      }
    }
  }

 private:
  static constexpr std::uint64_t kChunk = 1 << 14;
  std::span<const float> values(std::uint64_t first, std::uint64_t count);

  TensorBytes bytes_;
  int type_;
  bool in_place_;
  std::vector<std::uint64_t> raw_;  // aligned for every element type
  std::vector<float> buffer_;
};

}  // namespace octet
