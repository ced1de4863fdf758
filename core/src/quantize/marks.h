// Marks that select_nodes leaves on nodes for make_plan; apply_plan takes them off.
#pragma once

#include <string>
#include <string_view>

#include "onnx/onnx_pb.h"

namespace octet {

inline constexpr const char* kExcludeMark = "octet.exclude";
inline constexpr const char* kIncludeMark = "octet.include";
inline constexpr const char* kTypeMark = "octet.type";  // of a type that --op-types names

void set_mark(onnx::NodeProto& node, const std::string& mark);
bool has_mark(const onnx::NodeProto& node, std::string_view mark);
void clear_marks(onnx::ModelProto& model);

}  // namespace octet
