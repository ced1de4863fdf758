#include "octet/tensor.h"

#include <algorithm>
#include <cstring>
#include <limits>
#include <span>
#include <string>

#include "kernels/quantize_kernels.h"
#include "model/tensor_access.h"
#include "octet/error.h"

namespace octet {
namespace {

template <class T>
std::vector<T> values_of(const Tensor& tensor) {
  std::vector<T> values(tensor.bytes.size() / sizeof(T));
  if (!values.empty()) std::memcpy(values.data(), tensor.bytes.data(), values.size() * sizeof(T));
  return values;
}

template <class T>
std::vector<float> convert(const Tensor& tensor) {
  const auto values = values_of<T>(tensor);
  std::vector<float> out(values.size());
  std::transform(values.begin(), values.end(), out.begin(), [](T value) { return static_cast<float>(value); });
  return out;
}

template <class T>
std::vector<float> convert(const Tensor& tensor, void (*kernel)(std::span<const T>, std::span<float>)) {
  const auto values = values_of<T>(tensor);
  std::vector<float> out(values.size());
  kernel(values, out);
  return out;
}

std::vector<float> convert_nibbles(const Tensor& tensor, bool is_signed, std::uint64_t count) {
  std::vector<float> out(static_cast<std::size_t>(count));
  for (std::size_t i = 0; i < out.size(); ++i) {
    const int nibble = tensor.bytes[i / 2] >> (i % 2 * 4) & 15;
    out[i] = static_cast<float>(is_signed && nibble > 7 ? nibble - 16 : nibble);
  }
  return out;
}

}  // namespace

std::uint64_t element_count(const std::vector<std::int64_t>& dims) {
  if (std::any_of(dims.begin(), dims.end(), [](std::int64_t dim) { return dim < 0; })) {
    throw Error(ErrorCode::kData, "", "a dimension is negative");
  }
  if (std::find(dims.begin(), dims.end(), 0) != dims.end()) return 0;
  std::uint64_t count = 1;
  for (const std::int64_t dim : dims) {
    if (count > static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max() / dim)) {
      throw Error(ErrorCode::kData, "", "dimensions multiply to more than 64 bits hold");
    }
    count *= static_cast<std::uint64_t>(dim);
  }
  return count;
}

std::vector<float> to_float(const Tensor& tensor) {
  const std::uint64_t count = element_count(tensor.dims);
  if (tensor.type == kString || tensor.type == kUndefined) {
    throw Error(ErrorCode::kData, "", "values of type " + type_name(tensor.type) + " are no numbers");
  }
  if (tensor.bytes.size() != bytes_for(tensor.type, count)) {
    throw Error(ErrorCode::kData, "",
                "a value has " + std::to_string(tensor.bytes.size()) + " bytes, its type and dimensions need " +
                    std::to_string(bytes_for(tensor.type, count)));
  }
  switch (tensor.type) {
    case kFloat:
      return values_of<float>(tensor);
    case kDouble:
      return convert<double>(tensor, double_to_float);
    case kFloat16:
      return convert<std::uint16_t>(tensor, half_to_float);
    case kBfloat16:
      return convert<std::uint16_t>(tensor, bfloat16_to_float);
    case kBool:
    case kUint8:
      return convert<std::uint8_t>(tensor);
    case kInt8:
      return convert<std::int8_t>(tensor);
    case kUint16:
      return convert<std::uint16_t>(tensor);
    case kInt16:
      return convert<std::int16_t>(tensor);
    case kUint32:
      return convert<std::uint32_t>(tensor);
    case kInt32:
      return convert<std::int32_t>(tensor);
    case kUint64:
      return convert<std::uint64_t>(tensor);
    case kInt64:
      return convert<std::int64_t>(tensor);
    case kUint4:
    case kInt4:
      return convert_nibbles(tensor, tensor.type == kInt4, count);
    default:
      throw Error(ErrorCode::kData, "", "values of type " + type_name(tensor.type) + " are not read as numbers");
  }
}

}  // namespace octet
