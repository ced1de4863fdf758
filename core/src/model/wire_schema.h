// Which ONNX message nests in which, by field number: what a walk over the wire format needs to know to find the
// tensors without protobuf.
#pragma once

#include <cstdint>

namespace octet {

enum class MessageKind : std::uint8_t {
  kNone,
  kModel,
  kGraph,
  kNode,
  kAttribute,
  kTensor,
  kSparseTensor,
  kFunction,
  kTrainingInfo,
  // From here on no message holds a tensor.
  kTensorSegment,
  kOpset,
  kStringPair,
  kValueInfo,
  kType,
  kTensorType,
  kSequenceType,
  kMapType,
  kOptionalType,
  kOpaqueType,
  kShape,
  kDimension,
  kAnnotation,
  kDeviceConfiguration,
  kNodeDevices,
  kSharding,
  kShardedDim,
  kSimpleShardedDim,
  kDeviceGroup,
  kCount,
};

struct ChildField {
  MessageKind kind = MessageKind::kNone;  // kNone: the field is no message (a number, a string or unknown)
  bool repeated = false;
};

ChildField child_field(MessageKind parent, std::uint32_t number);

constexpr bool may_hold_tensors(MessageKind kind) { return kind < MessageKind::kTensorSegment; }

const char* message_name(MessageKind kind);

// Deepest nesting of messages that is read. A subgraph in a subgraph takes three levels; protobuf's own limit is the
// same, and everything that walks a model recursively relies on it.
inline constexpr int kMaxNesting = 100;

// Field numbers that code names.
namespace wire {
inline constexpr std::uint32_t kModelIrVersion = 1, kModelGraph = 7;
inline constexpr std::uint32_t kGraphInitializer = 5;
inline constexpr std::uint32_t kNodeName = 3, kNodeOpType = 4;
inline constexpr std::uint32_t kAttributeName = 1;
inline constexpr std::uint32_t kPairKey = 1, kPairValue = 2;
inline constexpr std::uint32_t kTensorDims = 1, kTensorType = 2, kTensorSegment = 3, kTensorFloats = 4,
                               kTensorInt32s = 5, kTensorStrings = 6, kTensorInt64s = 7, kTensorName = 8,
                               kTensorRaw = 9, kTensorDoubles = 10, kTensorUint64s = 11, kTensorExternal = 13,
                               kTensorLocation = 14;
}  // namespace wire

}  // namespace octet
