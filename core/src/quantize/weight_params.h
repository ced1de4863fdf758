// Scales, zero points and quantized bytes of one weight. The rules are the reference tool's, bit for bit where it is
// right.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "octet/plan.h"
#include "onnx/onnx_pb.h"

namespace octet {

struct IntegerRange {
  std::int32_t low, high;
};
bool is_signed(QuantType type);
int bit_width(QuantType type);
int element_type(QuantType type);  // TensorProto number
// Signed symmetric types leave out the lowest value ([-127, 127]); with reduce_range 8 bits become [-64, 64] or [0,
// 127].
IntegerRange integer_range(QuantType type, bool symmetric, bool reduce_range);

// A tensor seen as outer × channels × inner, one scale per channel.
struct ChannelLayout {
  std::uint64_t outer = 1, channels = 1, inner = 1;
};
ChannelLayout channel_layout(const onnx::TensorProto& tensor, const TensorPlan& plan);

struct WeightParams {
  std::vector<float> scale;              // per channel; representable in the tensor's own float type
  std::vector<std::int32_t> zero_point;  // per channel
};

// scale = (max − min) / (high − low) in double, rounded to the tensor's type; min and max always include 0, and are
// ±max|x| when symmetric. A scale below the smallest normal number becomes 1 with zero point 0 (all elements are then
// 0).
void choose_params(float min, float max, const TensorPlan& plan, int float_type, float& scale,
                   std::int32_t& zero_point);

// One pass over the weight. Throws Error(kNonFinite) naming the tensor. Source: float, float16, bfloat16 or double.
WeightParams compute_params(const TensorStore& store, const onnx::TensorProto& tensor, const TensorPlan& plan);

// Integer values in the tensor's own layout. `out` has one or two bytes per element by type (4-bit types are not
// packed).
void quantize_weight(const TensorStore& store, const onnx::TensorProto& tensor, const TensorPlan& plan,
                     const WeightParams& params, std::span<std::uint8_t> out);

// 10·log10(Σx² / Σ(x − dequantized)²) of the weight itself; kSqnrEqual when nothing is lost.
double weight_sqnr_db(const TensorStore& store, const onnx::TensorProto& tensor, const TensorPlan& plan,
                      const WeightParams& params);

}  // namespace octet
