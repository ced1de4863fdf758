// Reads a TensorProto that stands alone in a file: a sample or an expected output of ONNX's own test data.
#include <climits>
#include <cstring>

#include "octet/error.h"
#include "octet/tensor.h"
#include "onnx/onnx_pb.h"

namespace octet {
namespace {

constexpr const char* kWhere = "TensorProto";

[[noreturn]] void malformed(const std::string& what) { throw Error(ErrorCode::kMalformed, kWhere, what); }

// Elements, refusing what no tensor in memory can have.
std::uint64_t checked_count(const onnx::TensorProto& proto) {
  std::uint64_t count = 1;
  for (const std::int64_t dim : proto.dims()) {
    if (dim < 0) malformed("has a negative dimension");
    if (dim != 0 && count > INT64_MAX / static_cast<std::uint64_t>(dim)) malformed("has more elements than fit memory");
    count *= static_cast<std::uint64_t>(dim);
  }
  return count;
}

// Values of a typed field, each narrowed to the element's width.
template <class Element, class Field>
std::vector<std::uint8_t> pack(const Field& field, std::uint64_t count) {
  if (static_cast<std::uint64_t>(field.size()) != count) malformed("holds more or fewer values than its shape says");
  std::vector<std::uint8_t> bytes(count * sizeof(Element));
  std::size_t at = 0;
  for (const auto value : field) {
    const Element element = static_cast<Element>(value);
    std::memcpy(bytes.data() + at, &element, sizeof element);
    at += sizeof element;
  }
  return bytes;
}

std::uint64_t byte_count(int type, std::uint64_t count) {
  switch (type) {
    case kUint8:
    case kInt8:
    case kBool: return count;
    case kUint16:
    case kInt16:
    case kFloat16:
    case kBfloat16: return count * 2;
    case kFloat:
    case kInt32:
    case kUint32: return count * 4;
    case kDouble:
    case kInt64:
    case kUint64: return count * 8;
    case kUint4:
    case kInt4: return count / 2 + count % 2;
    default:
      throw Error(ErrorCode::kUnsupported, kWhere, "has element type " + std::to_string(type) + "; samples hold numbers");
  }
}

std::vector<std::uint8_t> typed_values(const onnx::TensorProto& proto, std::uint64_t count) {
  switch (proto.data_type()) {
    case kFloat: return pack<float>(proto.float_data(), count);
    case kDouble: return pack<double>(proto.double_data(), count);
    case kInt64: return pack<std::int64_t>(proto.int64_data(), count);
    case kUint64: return pack<std::uint64_t>(proto.uint64_data(), count);
    case kUint32: return pack<std::uint32_t>(proto.uint64_data(), count);
    case kInt32: return pack<std::int32_t>(proto.int32_data(), count);
    case kUint16:
    case kInt16:
    case kFloat16:
    case kBfloat16: return pack<std::uint16_t>(proto.int32_data(), count);
    case kUint4:
    case kInt4: return pack<std::uint8_t>(proto.int32_data(), count / 2 + count % 2);  // packed pairs
    default: return pack<std::uint8_t>(proto.int32_data(), count);
  }
}

}  // namespace

Tensor parse_tensor_proto(std::span<const std::uint8_t> bytes, std::string* name) {
  onnx::TensorProto proto;
  if (bytes.size() > INT_MAX || !proto.ParseFromArray(bytes.data(), static_cast<int>(bytes.size()))) {
    malformed("cannot be parsed");
  }
  if (name != nullptr) *name = proto.name();
  if (proto.data_location() == onnx::TensorProto::EXTERNAL) {
    throw Error(ErrorCode::kUnsupported, kWhere, "keeps its values in another file");
  }
  Tensor tensor{proto.data_type(), {proto.dims().begin(), proto.dims().end()}, {}};
  const std::uint64_t count = checked_count(proto);
  if (count > (std::uint64_t{1} << 60)) malformed("has more elements than fit memory");
  const std::uint64_t wanted = byte_count(tensor.type, count);
  if (proto.has_raw_data()) {
    const std::string& raw = proto.raw_data();
    if (raw.size() != wanted) malformed("holds more or fewer bytes than its shape says");
    tensor.bytes.assign(raw.begin(), raw.end());
  } else {
    tensor.bytes = typed_values(proto, count);
  }
  return tensor;
}

}  // namespace octet
