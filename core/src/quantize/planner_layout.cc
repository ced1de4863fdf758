// How a weight is stored: its type, where its scales run, and which way round.
#include <algorithm>

#include "model/tensor_access.h"
#include "quantize/planner.h"
#include "quantize/weight_params.h"

namespace octet {
namespace {

constexpr std::uint64_t kMinTableElements = 1024;
// A scale takes 4 bytes: rows of a table shorter than this share one.
constexpr std::int64_t kMinRowLength = 64;
// Scales per channel, for weights and biases both, would take more than a tensor smaller than this.
constexpr std::uint64_t kMinChannelElements = 64;

}  // namespace

bool Planner::wants_blocks(const Candidate& candidate) const {
  const bool four = options_.weight_type == QuantType::kInt4 || options_.weight_type == QuantType::kUint4;
  if (!four && options_.block_size == 0) return false;
  const auto& tensor = *candidate.value->initializer;
  if (tensor.dims_size() != 2 ||
      (tensor.data_type() != onnx::TensorProto::FLOAT && tensor.data_type() != onnx::TensorProto::FLOAT16))
    return false;
  const bool swapped = candidate.readers.front().wants_swapped;
  return std::all_of(candidate.readers.begin(), candidate.readers.end(), [&](const Reader& reader) {
    const auto& node = *steps_[reader.node].at.node;
    const bool plain_gemm =
        is_op(node, "Gemm") && int_attribute(node, "transA", 0) == 0 && float_attribute(node, "alpha", 1) == 1.0f;
    return reader.slot.input == 1 && reader.wants_swapped == swapped && !reader.through_transpose &&
           (is_op(node, "MatMul") || plain_gemm);
  });
}

void Planner::decide_layout(Candidate& candidate) {
  const auto& tensor = *candidate.value->initializer;
  const std::uint64_t elements = element_count(tensor);
  const bool operand = std::all_of(candidate.readers.begin(), candidate.readers.end(),
                                   [&](const Reader& r) { return steps_[r.node].rule->family == Family::kMatMul; });
  if (tensor.dims_size() < (operand ? 1 : 2)) {
    candidate.keep = "a vector (bias, scale or normalization parameter)";
    return;
  }
  const bool product = std::any_of(candidate.readers.begin(), candidate.readers.end(),
                                   [&](const Reader& r) { return is_static_product(r); });
  if (!product && elements < (candidate.weak ? kMinTableElements : kMinElements)) {
    candidate.keep = "too small: the nodes that restore it would take what 8 bits save";
    return;
  }
  TensorPlan& plan = candidate.plan;
  plan.type = options_.weight_type;
  if (wants_blocks(candidate)) {
    plan.block_size = options_.block_size > 0 ? options_.block_size : 32;
  } else if (bit_width(plan.type) == 4) {
    plan.type =
        is_signed(plan.type) ? QuantType::kInt8 : QuantType::kUint8;  // 4 bits only in blocks, only for matrices
  }
  const bool recurrent = steps_[candidate.readers.front().node].rule->family == Family::kRecurrent;
  if (recurrent && options_.mode == Mode::kDynamic && bit_width(plan.type) == 8) plan.type = QuantType::kInt8;
  if (bytes_for(tensor.data_type(), elements) * 8 <= elements * static_cast<std::uint64_t>(bit_width(plan.type))) {
    candidate.keep = "its own type is as small";
    return;
  }
  plan.symmetric = is_signed(plan.type);
  plan.reduce_range = (options_.reduce_range || options_.target == Target::kX64NoVnni) && bit_width(plan.type) == 8;
  if (std::any_of(candidate.readers.begin(), candidate.readers.end(),
                  [&](const Reader& r) { return is_static_operand(r); })) {
    // An operand like any other: one scale, of the type that activations have.
    plan.type = options_.activation_type;
    plan.symmetric = options_.symmetric_activations;
    plan.reduce_range = false;
    candidate.weak = false;
    return;
  }
  const WeightSlot& first = candidate.readers.front().slot;
  const bool agreed = std::all_of(candidate.readers.begin(), candidate.readers.end(), [&](const Reader& reader) {
    return reader.slot.axis == first.axis && reader.slot.axes == first.axes;
  });
  const bool gathered_only = std::all_of(candidate.readers.begin(), candidate.readers.end(), [&](const Reader& r) {
    return steps_[r.node].rule->family == Family::kGather;
  });
  // The integer convolution takes one zero point, and only symmetric signed weights need none.
  const bool one_zero_point =
      !plan.symmetric && options_.mode == Mode::kDynamic &&
      std::any_of(candidate.readers.begin(), candidate.readers.end(), [&](const Reader& r) {
        const Step& step = steps_[r.node];
        return step.rule->family == Family::kConv && step.rule->no_dynamic && step.no_dynamic.empty();
      });
  // So do the static kernels: the middle of an unsigned type is one for all channels.
  if (product && options_.per_channel.value_or(true)) plan.symmetric = true;
  bool per_channel = options_.per_channel.value_or(elements >= kMinChannelElements) && agreed &&
                     first.axis.has_value() && !one_zero_point;
  candidate.gathered = gathered_only && first.axis == 0;
  if (per_channel && (gathered_only || candidate.weak)) {
    const auto rows = static_cast<std::uint64_t>(tensor.dims(*first.axis));
    per_channel = rows > 0 && elements / rows >= static_cast<std::uint64_t>(kMinRowLength);
  }
  if (per_channel || plan.block_size > 0) {  // blocks run along the other axis
    plan.axis = first.axis;
    plan.axes = first.axes;
  } else if (recurrent) {
    plan.axis = 0;  // one scale per direction
  }
  // Stored the way the integer form wants it, if all agree; otherwise the model turns the small tensor over when it
  // loads.
  const bool swapped = std::all_of(candidate.readers.begin(), candidate.readers.end(),
                                   [](const Reader& r) { return r.wants_swapped && !r.through_transpose; });
  const bool lstm_dynamic = recurrent && options_.mode == Mode::kDynamic &&
                            std::all_of(candidate.readers.begin(), candidate.readers.end(), [&](const Reader& r) {
                              return is_op(*steps_[r.node].at.node, "LSTM") && steps_[r.node].no_dynamic.empty();
                            });
  const bool matrix_native = !recurrent && (options_.mode == Mode::kDynamic ||
                                            weights_form(Family::kMatMul, options_.target) == Form::kDequantize);
  plan.transposed = swapped && !product && plan.block_size == 0 && (lstm_dynamic || matrix_native);
}

}  // namespace octet
