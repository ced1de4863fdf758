// A value that goes into or comes out of a model when it runs.
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <vector>

namespace octet {

// Element types by their ONNX TensorProto number.
enum ElementType : int {
  kUndefined = 0, kFloat = 1, kUint8 = 2, kInt8 = 3, kUint16 = 4, kInt16 = 5, kInt32 = 6, kInt64 = 7, kString = 8,
  kBool = 9, kFloat16 = 10, kDouble = 11, kUint32 = 12, kUint64 = 13, kBfloat16 = 16, kUint4 = 21, kInt4 = 22,
};

struct Tensor {
  int type = kUndefined;
  std::vector<std::int64_t> dims;
  std::vector<std::uint8_t> bytes;  // row-major, little-endian
};

// What a model says of an input or output.
struct ValueInfo {
  std::string name;
  int type = kUndefined;             // element type
  std::vector<std::int64_t> dims;    // -1 where not fixed; empty for a scalar and where the model says nothing
  std::vector<std::string> symbols;  // one per dim: its name where it is not fixed and has one, else ""
  bool is_tensor = true;             // sequences, maps and optionals are not
};

using Sample = std::map<std::string, Tensor>;  // by input (or output) name

std::uint64_t element_count(const std::vector<std::int64_t>& dims);
std::vector<float> to_float(const Tensor& tensor);  // any float or integer type; throws Error(kData) for strings

// A serialized onnx::TensorProto (the .pb files of ONNX test data), whichever field holds its values; `name`, where given,
// receives the tensor's own name. Throws Error(kMalformed), or Error(kUnsupported) for strings and external data.
Tensor parse_tensor_proto(std::span<const std::uint8_t> bytes, std::string* name = nullptr);

}  // namespace octet
