#include "prepare/shape_guard.h"

#include <algorithm>
#include <string_view>
#include <unordered_set>

namespace octet {
namespace {

using onnx::AttributeProto;

constexpr std::int64_t kMostSize = std::int64_t{1} << 48;

// IR 1 wrote no types: what is set tells it.
bool has_type(const AttributeProto& attribute, AttributeProto::AttributeType type) {
  if (attribute.type() != AttributeProto::UNDEFINED && attribute.type() != type) return false;
  switch (type) {
    case AttributeProto::TENSOR:
      return attribute.has_t();
    case AttributeProto::GRAPH:
      return attribute.has_g();
    case AttributeProto::SPARSE_TENSOR:
      return attribute.has_sparse_tensor();
    case AttributeProto::TYPE_PROTO:
      return attribute.has_tp();
    default:
      return true;
  }
}

// onnx's functions take axes for 64 bits, then for 32, and make lists as long as they are told.
bool is_absurd(const AttributeProto& attribute) {
  constexpr std::int64_t kMost = 1 << 16;
  const auto absurd = [](std::int64_t value) { return value < -kMost || value > kMost; };
  const std::string& name = attribute.name();
  if (!name.ends_with("axis") && !name.ends_with("axes") && name != "batch_dims" && name != "num_outputs") return false;
  if (name == "batch_dims" && attribute.i() < 0) return true;
  return absurd(attribute.i()) || std::any_of(attribute.ints().begin(), attribute.ints().end(), absurd);
}

// What no tensor has; sums of it run over.
bool is_absurd(const onnx::TensorShapeProto& shape) {
  return std::any_of(shape.dim().begin(), shape.dim().end(),
                     [](const auto& dim) { return dim.dim_value() > kMostSize; });
}

// Tensors of types that the operator does not take are let through: runtimes take more than the standard says.
bool takes_kind(const onnx::OpSchema::FormalParameter& formal, const onnx::TypeProto& type) {
  std::string_view kind;
  switch (type.value_case()) {
    case onnx::TypeProto::VALUE_NOT_SET:
      return true;
    case onnx::TypeProto::kTensorType:
      kind = "tensor(";
      break;
    case onnx::TypeProto::kSequenceType:
      kind = "seq(";
      break;
    case onnx::TypeProto::kOptionalType:
      kind = "optional(";
      break;
    case onnx::TypeProto::kMapType:
      kind = "map(";
      break;
    default:
      return false;
  }
  const auto& types = formal.GetTypes();
  return std::any_of(types.begin(), types.end(), [&](const auto& name) { return name->starts_with(kind); });
}

// Whose functions read the one element of such an input without a look at its size.
bool reads_one_number(const onnx::NodeProto& node, int input) {
  static const std::unordered_set<std::string_view> kOps = {
      "BlackmanWindow", "DFT",   "HammingWindow", "HannWindow", "MelWeightMatrix",
      "OneHot",         "Range", "STFT",          "TopK",       "Trilu"};
  const bool data = node.op_type() == "DFT" || node.op_type() == "OneHot" || node.op_type() == "STFT" ||
                    node.op_type() == "TopK" || node.op_type() == "Trilu";
  return kOps.contains(node.op_type()) && (input > 0 || !data);
}

bool is_empty(const onnx::TensorShapeProto& shape) {
  return std::any_of(shape.dim().begin(), shape.dim().end(),
                     [](const auto& dim) { return dim.has_dim_value() && dim.dim_value() == 0; });
}

}  // namespace

bool fits_schema(const onnx::OpSchema& schema, const NodeAt& at, const GraphView& view, const Shapes& shapes) {
  const auto& node = *at.node;
  if (node.input_size() < schema.min_input() || node.input_size() > schema.max_input() ||
      node.output_size() < schema.min_output() || node.output_size() > schema.max_output())
    return false;
  const auto& formals = schema.inputs();
  for (int i = 0; i < node.input_size() && !formals.empty(); ++i) {
    const auto& formal = formals[std::min(static_cast<std::size_t>(i), formals.size() - 1)];
    if (node.input(i).empty() && formal.GetOption() == onnx::OpSchema::Single) return false;
    const onnx::TypeProto& type = shapes.type_of(view.input(at, i));
    const auto& shape = type.tensor_type().shape();
    if (!takes_kind(formal, type) || is_absurd(shape) || (reads_one_number(node, i) && is_empty(shape))) return false;
  }
  if (std::any_of(node.attribute().begin(), node.attribute().end(),
                  [](const auto& attribute) { return is_absurd(attribute); }))
    return false;
  return std::all_of(schema.attributes().begin(), schema.attributes().end(), [&](const auto& entry) {
    const auto& wanted = entry.second;
    const auto found = std::find_if(node.attribute().begin(), node.attribute().end(),
                                    [&name = entry.first](const auto& attribute) { return attribute.name() == name; });
    return found == node.attribute().end() ? !wanted.required : has_type(*found, wanted.type);
  });
}

}  // namespace octet
