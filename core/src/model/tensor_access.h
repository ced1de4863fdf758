// One way to ask for a tensor's facts and bytes, whether they stand in the skeleton or in the store.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "octet/dtype.h"
#include "octet/model.h"
#include "onnx/onnx_pb.h"

namespace octet {

// Id in the store when the skeleton's tensor is a marker, nothing when its bytes stand in the skeleton.
std::optional<TensorStore::Id> stored_id(const onnx::TensorProto& tensor);

// Makes `tensor` a marker for `id` (drops any inline bytes).
void set_stored_id(onnx::TensorProto& tensor, TensorStore::Id id);

// Elements by dims; throws Error(kMalformed) on negative dims or overflow.
std::uint64_t element_count(const onnx::TensorProto& tensor);

// Payload in bytes by type and dims (4-bit types packed); 0 for strings.
std::uint64_t tensor_byte_size(const onnx::TensorProto& tensor);
std::uint64_t bytes_for(int data_type, std::uint64_t elements);

// Raw little-endian bytes, from raw_data, typed fields or the store. Functions that make tensors on demand keep the
// store, never the model: a model's address changes, its store's does not.
TensorBytes tensor_bytes(const TensorStore& store, const onnx::TensorProto& tensor);
inline TensorBytes tensor_bytes(const Model& model, const onnx::TensorProto& tensor) {
  return tensor_bytes(model.store(), tensor);
}

// The tensor's values as float32 (any float type; double is rounded). Throws for other types.
std::vector<float> tensor_as_float(const TensorStore& store, const onnx::TensorProto& tensor);
inline std::vector<float> tensor_as_float(const Model& model, const onnx::TensorProto& tensor) {
  return tensor_as_float(model.store(), tensor);
}
// The tensor's values as int64 (any integer type or bool). Throws for other types.
std::vector<std::int64_t> tensor_as_int64(const TensorStore& store, const onnx::TensorProto& tensor);
inline std::vector<std::int64_t> tensor_as_int64(const Model& model, const onnx::TensorProto& tensor) {
  return tensor_as_int64(model.store(), tensor);
}

// A new tensor with raw bytes: inline when small, else in the store.
onnx::TensorProto make_tensor(Model& model, const std::string& name, int data_type,
                              const std::vector<std::int64_t>& dims, std::vector<std::uint8_t> bytes);

// A list of int64, as shapes and axes are given.
onnx::TensorProto int_tensor(Model& model, const std::string& name, const std::vector<std::int64_t>& values);

std::string type_name(int data_type);  // "FLOAT", "INT8", …

}  // namespace octet
