#include "model/wire_schema.h"

#include <array>
#include <cstddef>

namespace octet {
namespace {

using enum MessageKind;

struct Row {
  MessageKind parent;
  std::uint32_t number;
  MessageKind child;
  bool repeated;
};

// onnx-ml.proto of onnx 1.22 (IR 13).
constexpr Row kRows[] = {
    {kModel, 7, kGraph, false},
    {kModel, 8, kOpset, true},
    {kModel, 14, kStringPair, true},
    {kModel, 20, kTrainingInfo, true},
    {kModel, 25, kFunction, true},
    {kModel, 26, kDeviceConfiguration, true},
    {kGraph, 1, kNode, true},
    {kGraph, 5, kTensor, true},
    {kGraph, 11, kValueInfo, true},
    {kGraph, 12, kValueInfo, true},
    {kGraph, 13, kValueInfo, true},
    {kGraph, 14, kAnnotation, true},
    {kGraph, 15, kSparseTensor, true},
    {kGraph, 16, kStringPair, true},
    {kNode, 5, kAttribute, true},
    {kNode, 9, kStringPair, true},
    {kNode, 10, kNodeDevices, true},
    {kAttribute, 5, kTensor, false},
    {kAttribute, 6, kGraph, false},
    {kAttribute, 10, kTensor, true},
    {kAttribute, 11, kGraph, true},
    {kAttribute, 14, kType, false},
    {kAttribute, 15, kType, true},
    {kAttribute, 22, kSparseTensor, false},
    {kAttribute, 23, kSparseTensor, true},
    {kTensor, 3, kTensorSegment, false},
    {kTensor, 13, kStringPair, true},
    {kTensor, 16, kStringPair, true},
    {kSparseTensor, 1, kTensor, false},
    {kSparseTensor, 2, kTensor, false},
    {kFunction, 7, kNode, true},
    {kFunction, 9, kOpset, true},
    {kFunction, 11, kAttribute, true},
    {kFunction, 12, kValueInfo, true},
    {kFunction, 14, kStringPair, true},
    {kTrainingInfo, 1, kGraph, false},
    {kTrainingInfo, 2, kGraph, false},
    {kTrainingInfo, 3, kStringPair, true},
    {kTrainingInfo, 4, kStringPair, true},
    {kValueInfo, 2, kType, false},
    {kValueInfo, 4, kStringPair, true},
    {kType, 1, kTensorType, false},
    {kType, 4, kSequenceType, false},
    {kType, 5, kMapType, false},
    {kType, 7, kOpaqueType, false},
    {kType, 8, kTensorType, false},
    {kType, 9, kOptionalType, false},
    {kTensorType, 2, kShape, false},
    {kSequenceType, 1, kType, false},
    {kMapType, 2, kType, false},
    {kOptionalType, 1, kType, false},
    {kShape, 1, kDimension, true},
    {kAnnotation, 2, kStringPair, true},
    {kNodeDevices, 2, kSharding, true},
    {kSharding, 3, kDeviceGroup, true},
    {kSharding, 4, kShardedDim, true},
    {kShardedDim, 2, kSimpleShardedDim, true},
};

constexpr std::size_t kKinds = static_cast<std::size_t>(kCount);
constexpr std::uint32_t kNumbers = 32;
using Table = std::array<std::array<ChildField, kNumbers>, kKinds>;

constexpr Table make_table() {
  Table table{};
  for (const Row& row : kRows) table[static_cast<std::size_t>(row.parent)][row.number] = {row.child, row.repeated};
  return table;
}
constexpr Table kTable = make_table();

constexpr std::array<const char*, kKinds> kNames = {
    "message",
    "model",
    "graph",
    "node",
    "attribute",
    "tensor",
    "sparse tensor",
    "function",
    "training info",
    "tensor segment",
    "opset import",
    "string pair",
    "value info",
    "type",
    "tensor type",
    "sequence type",
    "map type",
    "optional type",
    "opaque type",
    "shape",
    "dimension",
    "annotation",
    "device configuration",
    "device assignment",
    "sharding",
    "sharded dimension",
    "sharded dimension part",
    "device group",
};

}  // namespace

ChildField child_field(MessageKind parent, std::uint32_t number) {
  if (number >= kNumbers) return {};
  return kTable[static_cast<std::size_t>(parent)][number];
}

const char* message_name(MessageKind kind) { return kNames[static_cast<std::size_t>(kind)]; }

}  // namespace octet
