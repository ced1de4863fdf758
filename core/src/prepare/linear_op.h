// Operators that multiply their input by a stored weight, and constants moved into that weight: what the fusions of
// BatchNormalization and of arithmetic with constants have in common.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "model/graph_match.h"

namespace octet {

// y · scale + shift per channel: one element for all channels, one for each, or none where there is nothing to do.
struct Affine {
  std::vector<double> scale, shift;
};

// A tensor of [groups][rows][columns][inner] elements, whose channel is group · columns + column.
struct ChannelLayout {
  std::uint64_t groups = 1, rows = 1, columns = 1, inner = 1;
  std::uint64_t channels() const { return groups * columns; }
};

// Conv, ConvTranspose, Gemm or MatMul with a stored weight on the right.
struct LinearOp {
  NodeAt at;
  Value* weight = nullptr;
  ChannelLayout by_output;                // the weight by output channels
  std::optional<ChannelLayout> by_input;  // by input channels: Conv alone
  std::optional<std::int64_t> rank;       // of the output; a MatMul does not tell
  std::int64_t channel_axis = 1;          // in an output of that rank
};
std::optional<LinearOp> linear_op(const GraphView& view, const NodeAt& at);

// The weight by input channels: of a Conv, a MatMul or a Gemm. Nothing for a ConvTranspose, or with transA.
std::optional<ChannelLayout> input_layout(const LinearOp& op);

// A factor for weights with 8 bits of mantissa: little is lost in multiplying, and it stays readable in a plan.
double short_factor(double value);

// The elements of a stored tensor of a float type that has one element, or one per channel at `axis` of a tensor of
// `rank` axes that it is combined with. Nothing for any other shape, which would make the result larger.
std::optional<std::vector<double>> channel_values(const Model& model, const Value* value, std::int64_t rank,
                                                  std::int64_t axis, std::uint64_t channels);

// As many doubles as the stored float tensor has elements.
std::vector<double> tensor_as_double(const Model& model, const onnx::TensorProto& tensor);

// A stored tensor of a float type with these values, rounded to it.
onnx::TensorProto real_tensor(Model& model, const std::string& name, int type, const std::vector<std::int64_t>& dims,
                              const std::vector<double>& values);

// The operator gives affine(y) from now on. Returns what is in the way, having changed nothing, or "". A MatMul gets a
// shift by becoming a Gemm; the caller knows then that its input has rank 2.
std::string apply_to_output(Model& model, const GraphView& view, const LinearOp& op, const Affine& affine,
                            NameSet& names);

// Multiplies the weight by a factor per channel of a layout of it. Returns what is in the way, having changed nothing,
// or "".
std::string scale_weight(Model& model, const LinearOp& op, const ChannelLayout& layout,
                         const std::vector<double>& factors);

// Whether a Conv has no padding at all: then a constant before it can be told from the inside of the image alone.
bool pads_nothing(const onnx::NodeProto& conv);

// The Conv gives from x what it gave from affine(x).
std::string apply_to_input(Model& model, const GraphView& view, const LinearOp& op, const Affine& affine,
                           NameSet& names);

}  // namespace octet
