#include "model/transpose.h"

#include <algorithm>
#include <cstring>

#include "octet/error.h"

namespace octet {
namespace {

template <std::size_t kWidth>
void transpose_tiles(const std::uint8_t* in, std::uint64_t rows, std::uint64_t cols, std::uint8_t* out) {
  constexpr std::uint64_t kTile = 32;  // a tile of both sides stays in the first-level cache
  for (std::uint64_t r0 = 0; r0 < rows; r0 += kTile) {
    for (std::uint64_t c0 = 0; c0 < cols; c0 += kTile) {
      const std::uint64_t r1 = std::min(rows, r0 + kTile), c1 = std::min(cols, c0 + kTile);
      for (std::uint64_t c = c0; c < c1; ++c) {
        for (std::uint64_t r = r0; r < r1; ++r)
          std::memcpy(out + (c * rows + r) * kWidth, in + (r * cols + c) * kWidth, kWidth);
      }
    }
  }
}

}  // namespace

void transpose_elements(std::span<const std::uint8_t> in, std::uint64_t rows, std::uint64_t cols, std::size_t width,
                        std::span<std::uint8_t> out) {
  switch (width) {
    case 1:
      return transpose_tiles<1>(in.data(), rows, cols, out.data());
    case 2:
      return transpose_tiles<2>(in.data(), rows, cols, out.data());
    case 4:
      return transpose_tiles<4>(in.data(), rows, cols, out.data());
    case 8:
      return transpose_tiles<8>(in.data(), rows, cols, out.data());
    default:
      throw Error(ErrorCode::kInternal, {}, "cannot transpose elements of " + std::to_string(width) + " bytes");
  }
}

void transpose_matrix(Model& model, onnx::TensorProto& tensor) {
  const auto rows = static_cast<std::uint64_t>(tensor.dims(0)), cols = static_cast<std::uint64_t>(tensor.dims(1));
  const std::uint64_t size = tensor_byte_size(tensor);
  const std::size_t width = rows * cols == 0 ? 1 : static_cast<std::size_t>(size / (rows * cols));
  if (stored_id(tensor)) {
    onnx::TensorProto source = tensor;
    const auto id = model.store().add_computed(
        size, [&store = model.store(), source, rows, cols, width](std::span<std::uint8_t> out) {
          transpose_elements(tensor_bytes(store, source).bytes(), rows, cols, width, out);
        });
    set_stored_id(tensor, id);
  } else {
    const TensorBytes in = tensor_bytes(model, tensor);
    std::string out(size, '\0');
    transpose_elements(in.bytes(), rows, cols, width, {reinterpret_cast<std::uint8_t*>(out.data()), out.size()});
    onnx::TensorProto result;
    result.set_name(tensor.name());
    result.set_data_type(tensor.data_type());
    result.set_raw_data(std::move(out));
    *result.mutable_dims() = tensor.dims();
    tensor.Swap(&result);
  }
  tensor.set_dims(0, static_cast<std::int64_t>(cols));
  tensor.set_dims(1, static_cast<std::int64_t>(rows));
}

}  // namespace octet
