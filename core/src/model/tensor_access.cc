#include "model/tensor_access.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstring>
#include <limits>
#include <span>
#include <utility>

#include "kernels/quantize_kernels.h"
#include "model/payload_decode.h"
#include "model/tensor_types.h"
#include "model/wire_schema.h"
#include "octet/error.h"

namespace octet {
namespace {

using onnx::TensorProto;

constexpr std::string_view kMarkerKey = "location";
constexpr std::string_view kMarkerPrefix = "octet:";  // never a file: the loader replaces every location it reads

constexpr std::array kElementTypes = {
    ElementTypeRow{TensorProto::FLOAT, "FLOAT", 32, wire::kTensorFloats, 4},
    ElementTypeRow{TensorProto::UINT8, "UINT8", 8, wire::kTensorInt32s, 1},
    ElementTypeRow{TensorProto::INT8, "INT8", 8, wire::kTensorInt32s, 1},
    ElementTypeRow{TensorProto::UINT16, "UINT16", 16, wire::kTensorInt32s, 2},
    ElementTypeRow{TensorProto::INT16, "INT16", 16, wire::kTensorInt32s, 2},
    ElementTypeRow{TensorProto::INT32, "INT32", 32, wire::kTensorInt32s, 4},
    ElementTypeRow{TensorProto::INT64, "INT64", 64, wire::kTensorInt64s, 8},
    ElementTypeRow{TensorProto::STRING, "STRING", 0, wire::kTensorStrings, 0},
    ElementTypeRow{TensorProto::BOOL, "BOOL", 8, wire::kTensorInt32s, 1},
    ElementTypeRow{TensorProto::FLOAT16, "FLOAT16", 16, wire::kTensorInt32s, 2},
    ElementTypeRow{TensorProto::DOUBLE, "DOUBLE", 64, wire::kTensorDoubles, 8},
    ElementTypeRow{TensorProto::UINT32, "UINT32", 32, wire::kTensorUint64s, 4},
    ElementTypeRow{TensorProto::UINT64, "UINT64", 64, wire::kTensorUint64s, 8},
    ElementTypeRow{TensorProto::COMPLEX64, "COMPLEX64", 64, wire::kTensorFloats, 4},
    ElementTypeRow{TensorProto::COMPLEX128, "COMPLEX128", 128, wire::kTensorDoubles, 8},
    ElementTypeRow{TensorProto::BFLOAT16, "BFLOAT16", 16, wire::kTensorInt32s, 2},
    ElementTypeRow{TensorProto::FLOAT8E4M3FN, "FLOAT8E4M3FN", 8, wire::kTensorInt32s, 1},
    ElementTypeRow{TensorProto::FLOAT8E4M3FNUZ, "FLOAT8E4M3FNUZ", 8, wire::kTensorInt32s, 1},
    ElementTypeRow{TensorProto::FLOAT8E5M2, "FLOAT8E5M2", 8, wire::kTensorInt32s, 1},
    ElementTypeRow{TensorProto::FLOAT8E5M2FNUZ, "FLOAT8E5M2FNUZ", 8, wire::kTensorInt32s, 1},
    ElementTypeRow{TensorProto::UINT4, "UINT4", 4, wire::kTensorInt32s, 1},
    ElementTypeRow{TensorProto::INT4, "INT4", 4, wire::kTensorInt32s, 1},
    ElementTypeRow{TensorProto::FLOAT4E2M1, "FLOAT4E2M1", 4, wire::kTensorInt32s, 1},
    ElementTypeRow{TensorProto::FLOAT8E8M0, "FLOAT8E8M0", 8, wire::kTensorInt32s, 1},
    ElementTypeRow{TensorProto::UINT2, "UINT2", 2, wire::kTensorInt32s, 1},
    ElementTypeRow{TensorProto::INT2, "INT2", 2, wire::kTensorInt32s, 1},
};

[[noreturn]] void fail(const TensorProto& tensor, const std::string& problem) {
  throw Error(ErrorCode::kMalformed, "tensor '" + tensor.name() + "'", problem);
}

const ElementTypeRow& row_of(const TensorProto& tensor) {
  const ElementTypeRow* row = element_type(tensor.data_type());
  if (row == nullptr) fail(tensor, "its element type " + std::to_string(tensor.data_type()) + " is unknown");
  return *row;
}

void drop_payload(TensorProto& tensor) {
  tensor.clear_raw_data();
  tensor.clear_float_data();
  tensor.clear_int32_data();
  tensor.clear_int64_data();
  tensor.clear_double_data();
  tensor.clear_uint64_data();
  tensor.clear_string_data();
  tensor.clear_external_data();
  tensor.clear_data_location();
}

// Values of a typed field in the skeleton as raw bytes.
std::vector<std::uint8_t> decode_inline(const TensorProto& tensor, const ElementTypeRow& row) {
  std::vector<std::uint8_t> bytes;
  const auto integers = [&](const auto& values) {
    bytes.resize(static_cast<std::size_t>(values.size()) * row.field_bytes);
    std::uint8_t* out = bytes.data();
    for (const auto value : values) {
      put_integer(static_cast<std::uint64_t>(value), row.type, row.field_bytes, out);
      out += row.field_bytes;
    }
  };
  const auto floats = [&](const auto& values) {
    bytes.resize(static_cast<std::size_t>(values.size()) * row.field_bytes);
    if (!bytes.empty()) std::memcpy(bytes.data(), values.data(), bytes.size());
  };
  switch (row.field) {
    case wire::kTensorFloats:
      floats(tensor.float_data());
      break;
    case wire::kTensorDoubles:
      floats(tensor.double_data());
      break;
    case wire::kTensorInt32s:
      integers(tensor.int32_data());
      break;
    case wire::kTensorInt64s:
      integers(tensor.int64_data());
      break;
    case wire::kTensorUint64s:
      integers(tensor.uint64_data());
      break;
    default:
      fail(tensor, "text has no raw bytes");
  }
  return bytes;
}

// Elements narrower than a byte stand low bits first.
std::int64_t sub_byte(std::span<const std::uint8_t> bytes, std::uint64_t index, unsigned bits, bool is_signed) {
  const std::uint64_t bit = index * bits;
  const unsigned value = bytes[static_cast<std::size_t>(bit / 8)] >> (bit % 8) & ((1u << bits) - 1);
  const bool negative = is_signed && (value >> (bits - 1)) != 0;
  return negative ? static_cast<std::int64_t>(value) - (std::int64_t{1} << bits) : static_cast<std::int64_t>(value);
}

template <class T>
std::vector<std::int64_t> widen(const TensorBytes& data) {
  const auto values = data.as<T>();
  return std::vector<std::int64_t>(values.begin(), values.end());
}

}  // namespace

const ElementTypeRow* element_type(int data_type) {
  for (const ElementTypeRow& row : kElementTypes) {
    if (row.type == data_type) return &row;
  }
  return nullptr;
}

std::optional<TensorStore::Id> stored_id(const TensorProto& tensor) {
  if (tensor.data_location() != TensorProto::EXTERNAL || tensor.external_data_size() != 1) return {};
  const auto& entry = tensor.external_data(0);
  const std::string_view value = entry.value();
  if (entry.key() != kMarkerKey || value.substr(0, kMarkerPrefix.size()) != kMarkerPrefix) return {};
  TensorStore::Id id = 0;
  const char* const end = value.data() + value.size();
  const auto parsed = std::from_chars(value.data() + kMarkerPrefix.size(), end, id);
  if (parsed.ec != std::errc() || parsed.ptr != end) return {};
  return id;
}

void set_stored_id(TensorProto& tensor, TensorStore::Id id) {
  drop_payload(tensor);
  tensor.set_data_location(TensorProto::EXTERNAL);
  auto* entry = tensor.add_external_data();
  entry->set_key(std::string(kMarkerKey));
  entry->set_value(std::string(kMarkerPrefix) + std::to_string(id));
}

std::uint64_t element_count(const TensorProto& tensor) {
  const auto& dims = tensor.dims();
  if (std::any_of(dims.begin(), dims.end(), [](std::int64_t dim) { return dim < 0; })) {
    fail(tensor, "a dimension is negative");
  }
  // An empty tensor may have any other dimensions: they are not multiplied, so they cannot overflow.
  if (std::find(dims.begin(), dims.end(), 0) != dims.end()) return 0;
  std::uint64_t count = 1;
  for (const std::int64_t dim : dims) {
    if (count > static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max() / dim)) {
      fail(tensor, "its dimensions multiply to more than 64 bits hold");
    }
    count *= static_cast<std::uint64_t>(dim);
  }
  return count;
}

std::uint64_t tensor_byte_size(const TensorProto& tensor) {
  row_of(tensor);
  return bytes_for(tensor.data_type(), element_count(tensor));
}

std::uint64_t bytes_for(int data_type, std::uint64_t elements) {
  const ElementTypeRow* row = element_type(data_type);
  if (row == nullptr) {
    throw Error(ErrorCode::kMalformed, "", "element type " + std::to_string(data_type) + " is unknown");
  }
  if (row->bits < 8) return elements / 8 * row->bits + (elements % 8 * row->bits + 7) / 8;
  const std::uint64_t width = row->bits / 8;
  if (elements > static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max()) / width) {
    throw Error(ErrorCode::kMalformed, "", "a tensor of " + std::to_string(elements) + " elements cannot be");
  }
  return elements * width;
}

TensorBytes tensor_bytes(const TensorStore& store, const TensorProto& tensor) {
  const ElementTypeRow& row = row_of(tensor);
  if (row.bits == 0) fail(tensor, "text has no raw bytes");
  const std::uint64_t size = tensor_byte_size(tensor);
  if (const auto id = stored_id(tensor)) {
    if (store.size(*id) != size) fail(tensor, "its stored bytes do not fit its type and dimensions");
    return store.read(*id, std::clamp(row.bits / 8, 1u, 8u));
  }
  if (tensor.data_location() == TensorProto::EXTERNAL) fail(tensor, "its bytes are in no store");
  // A copy, so that the bytes outlive changes of the skeleton; what stands there is small.
  std::vector<std::uint8_t> bytes;
  if (tensor.has_raw_data() && (size == 0 || !tensor.raw_data().empty())) {
    bytes.assign(tensor.raw_data().begin(), tensor.raw_data().end());
  } else {
    bytes = decode_inline(tensor, row);
  }
  if (bytes.size() != size) {
    fail(tensor,
         "it has " + std::to_string(bytes.size()) + " bytes, its type and dimensions need " + std::to_string(size));
  }
  return TensorBytes(std::move(bytes));
}

std::vector<float> tensor_as_float(const TensorStore& store, const TensorProto& tensor) {
  if (!is_float_type(tensor.data_type())) {
    fail(tensor, "values of type " + type_name(tensor.data_type()) + " stand where floats are needed");
  }
  const TensorBytes data = tensor_bytes(store, tensor);
  std::vector<float> values(static_cast<std::size_t>(element_count(tensor)));
  switch (tensor.data_type()) {
    case TensorProto::FLOAT16:
      half_to_float(data.as<std::uint16_t>(), values);
      break;
    case TensorProto::BFLOAT16:
      bfloat16_to_float(data.as<std::uint16_t>(), values);
      break;
    case TensorProto::DOUBLE:
      double_to_float(data.as<double>(), values);
      break;
    default:
      if (!values.empty()) std::memcpy(values.data(), data.bytes().data(), data.bytes().size());
  }
  return values;
}

std::vector<std::int64_t> tensor_as_int64(const TensorStore& store, const TensorProto& tensor) {
  const auto type = tensor.data_type();
  const bool is_integer = !is_float_type(type);
  const TensorBytes data = is_integer ? tensor_bytes(store, tensor) : TensorBytes();
  switch (type) {
    case TensorProto::BOOL:
    case TensorProto::UINT8:
      return widen<std::uint8_t>(data);
    case TensorProto::INT8:
      return widen<std::int8_t>(data);
    case TensorProto::UINT16:
      return widen<std::uint16_t>(data);
    case TensorProto::INT16:
      return widen<std::int16_t>(data);
    case TensorProto::UINT32:
      return widen<std::uint32_t>(data);
    case TensorProto::INT32:
      return widen<std::int32_t>(data);
    case TensorProto::UINT64:
    case TensorProto::INT64:
      return widen<std::int64_t>(data);
    case TensorProto::UINT4:
    case TensorProto::INT4:
    case TensorProto::UINT2:
    case TensorProto::INT2: {
      const bool is_signed = type == TensorProto::INT4 || type == TensorProto::INT2;
      std::vector<std::int64_t> values(static_cast<std::size_t>(element_count(tensor)));
      for (std::size_t i = 0; i < values.size(); ++i) {
        values[i] = sub_byte(data.bytes(), i, element_type(type)->bits, is_signed);
      }
      return values;
    }
    default:
      fail(tensor, "values of type " + type_name(type) + " stand where integers are needed");
  }
}

TensorProto make_tensor(Model& model, const std::string& name, int data_type, const std::vector<std::int64_t>& dims,
                        std::vector<std::uint8_t> bytes) {
  TensorProto tensor;
  tensor.set_name(name);
  tensor.set_data_type(data_type);
  for (const std::int64_t dim : dims) tensor.add_dims(dim);
  if (bytes.size() != tensor_byte_size(tensor)) {
    throw Error(
        ErrorCode::kInternal, "tensor '" + name + "'",
        "made of " + std::to_string(bytes.size()) + " bytes instead of " + std::to_string(tensor_byte_size(tensor)));
  }
  if (bytes.size() <= kInlineBytes) {
    tensor.set_raw_data(bytes.data(), bytes.size());
  } else {
    set_stored_id(tensor, model.store().add_owned(std::move(bytes)));
  }
  return tensor;
}

TensorProto int_tensor(Model& model, const std::string& name, const std::vector<std::int64_t>& values) {
  std::vector<std::uint8_t> bytes(values.size() * sizeof(std::int64_t));
  if (!values.empty()) std::memcpy(bytes.data(), values.data(), bytes.size());
  return make_tensor(model, name, TensorProto::INT64, {static_cast<std::int64_t>(values.size())}, std::move(bytes));
}

std::string type_name(int data_type) {
  const ElementTypeRow* row = element_type(data_type);
  return row != nullptr ? std::string(row->name) : "type " + std::to_string(data_type);
}

}  // namespace octet
