// Facts of the ONNX element types: one table behind sizes, names and the choice of typed field.
#pragma once

#include <cstdint>
#include <string_view>

namespace octet {

struct ElementTypeRow {
  int type;               // onnx::TensorProto::DataType
  std::string_view name;  // as in onnx.proto
  unsigned bits;          // per element; 0 for strings
  std::uint32_t field;    // of TensorProto, that holds values when raw_data does not
  unsigned field_bytes;   // bytes of raw data that one value of that field stands for
};

// nullptr for UNDEFINED and for numbers onnx does not know.
const ElementTypeRow* element_type(int data_type);

}  // namespace octet
