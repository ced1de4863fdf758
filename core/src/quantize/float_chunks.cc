#include "quantize/float_chunks.h"

#include "octet/error.h"

namespace octet {
namespace {

using onnx::TensorProto;

std::size_t width_of(int type) {
  switch (type) {
    case TensorProto::FLOAT:
      return 4;
    case TensorProto::FLOAT16:
    case TensorProto::BFLOAT16:
      return 2;
    case TensorProto::DOUBLE:
      return 8;
    default:
      throw Error(ErrorCode::kInternal, {}, type_name(type) + " is no float type");
  }
}

}  // namespace

FloatChunks::FloatChunks(const TensorStore& store, const TensorProto& tensor) : type_(tensor.data_type()) {
  const auto id = stored_id(tensor);
  bytes_ = id ? store.read(*id, 1) : tensor_bytes(store, tensor);
  if (bytes_.bytes().size() != tensor_byte_size(tensor)) {
    throw Error(ErrorCode::kMalformed, "tensor '" + tensor.name() + "'",
                "its bytes do not fit its type and dimensions");
  }
  const auto address = reinterpret_cast<std::uintptr_t>(bytes_.bytes().data());
  in_place_ = type_ == TensorProto::FLOAT && address % alignof(float) == 0;
  if (in_place_) return;
  raw_.resize(kChunk * width_of(type_) / sizeof(std::uint64_t));
  buffer_.resize(kChunk);
}

std::span<const float> FloatChunks::values(std::uint64_t from_value, std::uint64_t value_count) {
  const auto first = static_cast<std::size_t>(from_value), count = static_cast<std::size_t>(value_count);
  if (in_place_) return bytes_.as<float>().subspan(first, count);
  const std::size_t width = width_of(type_);
  const auto from = bytes_.bytes().subspan(first * width, count * width);
  const std::span<float> out(buffer_.data(), count);
  if (type_ == TensorProto::FLOAT) {
    std::memcpy(out.data(), from.data(), from.size());
    return out;
  }
  std::memcpy(raw_.data(), from.data(), from.size());
  if (type_ == TensorProto::FLOAT16)
    half_to_float({reinterpret_cast<const std::uint16_t*>(raw_.data()), count}, out);
  else if (type_ == TensorProto::BFLOAT16)
    bfloat16_to_float({reinterpret_cast<const std::uint16_t*>(raw_.data()), count}, out);
  else
    double_to_float({reinterpret_cast<const double*>(raw_.data()), count}, out);
  return out;
}

}  // namespace octet
