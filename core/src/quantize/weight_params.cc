#include "quantize/weight_params.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

#include "kernels/quantize_kernels.h"
#include "model/tensor_access.h"
#include "octet/error.h"
#include "octet/measure.h"
#include "quantize/float_chunks.h"

namespace octet {
namespace {

using onnx::TensorProto;

float round_to_type(double value, int float_type) {
  const float single = static_cast<float>(value);
  if (float_type == TensorProto::FLOAT16) {
    const std::uint16_t half = float_to_half(single);
    float back;
    half_to_float({&half, 1}, {&back, 1});
    return back;
  }
  if (float_type == TensorProto::BFLOAT16) {
    const std::uint16_t half = float_to_bfloat16(single);
    float back;
    bfloat16_to_float({&half, 1}, {&back, 1});
    return back;
  }
  return single;
}

[[noreturn]] void refuse_non_finite(const TensorProto& tensor, std::uint64_t count) {
  throw Error(ErrorCode::kNonFinite, "tensor '" + tensor.name() + "'",
              std::to_string(count) + " of its elements are NaN or infinite",
              "mend the weight, or leave its node out with --nodes-to-exclude");
}

// How a weight is walked: in rows of one channel each, or, where channels run along the last axis, in rows across all
// of them with a scale per element.
struct RowPlan {
  std::uint64_t count, length;
  bool by_element;
};

RowPlan plan_rows(const ChannelLayout& layout, bool may_go_by_element) {
  if (may_go_by_element && layout.inner == 1 && layout.channels > 1) return {layout.outer, layout.channels, true};
  return {layout.outer * layout.channels, layout.inner, false};
}

struct Ranges {
  std::vector<float> low, high;
};

Ranges channel_ranges(const TensorProto& tensor, FloatChunks& x, const ChannelLayout& layout) {
  Ranges ranges{std::vector<float>(layout.channels, 0.0f), std::vector<float>(layout.channels, 0.0f)};
  std::uint64_t bad = 0;
  const RowPlan rows = plan_rows(layout, true);
  x.for_each_row(rows.count, rows.length, [&](std::uint64_t row, std::uint64_t at, std::span<const float> part) {
    if (rows.by_element) {
      bad += accumulate_row_range(part, std::span(ranges.low).subspan(at, part.size()),
                                  std::span(ranges.high).subspan(at, part.size()));
      return;
    }
    const Range range = find_range(part);
    const std::uint64_t c = row % layout.channels;
    bad += range.non_finite;
    ranges.low[c] = std::min(ranges.low[c], range.min);
    ranges.high[c] = std::max(ranges.high[c], range.max);
  });
  if (bad > 0) refuse_non_finite(tensor, bad);
  return ranges;
}

}  // namespace

bool is_signed(QuantType type) {
  return type == QuantType::kInt4 || type == QuantType::kInt8 || type == QuantType::kInt16;
}

int bit_width(QuantType type) {
  if (type == QuantType::kInt4 || type == QuantType::kUint4) return 4;
  return type == QuantType::kInt8 || type == QuantType::kUint8 ? 8 : 16;
}

int element_type(QuantType type) {
  switch (type) {
    case QuantType::kInt4:
      return TensorProto::INT4;
    case QuantType::kUint4:
      return TensorProto::UINT4;
    case QuantType::kInt8:
      return TensorProto::INT8;
    case QuantType::kUint8:
      return TensorProto::UINT8;
    case QuantType::kInt16:
      return TensorProto::INT16;
    case QuantType::kUint16:
      return TensorProto::UINT16;
  }
  return TensorProto::UNDEFINED;
}

IntegerRange integer_range(QuantType type, bool symmetric, bool reduce_range) {
  const std::int32_t half = 1 << (bit_width(type) - 1);
  if (is_signed(type)) {
    if (reduce_range) return {-half / 2, bit_width(type) == 4 ? half / 2 - 1 : half / 2};
    return {symmetric && bit_width(type) > 4 ? -(half - 1) : -half, half - 1};
  }
  return {0, reduce_range ? half - 1 : 2 * half - 1};
}

ChannelLayout channel_layout(const TensorProto& tensor, const TensorPlan& plan) {
  ChannelLayout layout;
  const int rank = tensor.dims_size();
  const int first = plan.axis.value_or(rank), last = plan.axis ? std::min(rank, first + plan.axes) : rank;
  for (int i = 0; i < rank; ++i) {
    const auto dim = static_cast<std::uint64_t>(tensor.dims(i));
    if (!plan.axis)
      layout.inner *= dim;
    else if (i < first)
      layout.outer *= dim;
    else if (i < last)
      layout.channels *= dim;
    else
      layout.inner *= dim;
  }
  return layout;
}

void choose_params(float min, float max, const TensorPlan& plan, int float_type, float& scale,
                   std::int32_t& zero_point) {
  const IntegerRange range = integer_range(plan.type, plan.symmetric, plan.reduce_range);
  min = std::min(min, 0.0f);
  max = std::max(max, 0.0f);
  if (plan.symmetric) {
    max = std::max(-min, max);
    min = -max;
  }
  const double exact = (static_cast<double>(max) - static_cast<double>(min)) /
                       (static_cast<double>(range.high) - static_cast<double>(range.low));
  const float stored = round_to_type(exact, float_type);
  const bool half = float_type == TensorProto::FLOAT16;
  // Float16 subnormals serve as scales: the division is made in float32.
  const double smallest = half ? 0x1p-24 : static_cast<double>(std::numeric_limits<float>::min());
  if ((half ? static_cast<double>(stored) : exact) < smallest) {
    scale = 1.0f;
    zero_point = 0;
    return;
  }
  scale = stored;
  const double middle = (static_cast<double>(range.low) + static_cast<double>(range.high)) / 2.0;
  zero_point =
      static_cast<std::int32_t>(std::nearbyint(plan.symmetric ? middle : range.low - static_cast<double>(min) / exact));
}

WeightParams compute_params(const TensorStore& store, const TensorProto& tensor, const TensorPlan& plan) {
  FloatChunks x(store, tensor);
  const ChannelLayout layout = channel_layout(tensor, plan);
  const Ranges ranges = channel_ranges(tensor, x, layout);
  WeightParams params{std::vector<float>(layout.channels), std::vector<std::int32_t>(layout.channels)};
  for (std::uint64_t c = 0; c < layout.channels; ++c)
    choose_params(ranges.low[c], ranges.high[c], plan, tensor.data_type(), params.scale[c], params.zero_point[c]);
  return params;
}

void quantize_weight(const TensorStore& store, const TensorProto& tensor, const TensorPlan& plan,
                     const WeightParams& params, std::span<std::uint8_t> out) {
  FloatChunks x(store, tensor);
  const ChannelLayout layout = channel_layout(tensor, plan);
  // Storage spans the whole type: a symmetric plan narrows the range by its scale, not by clamping below it.
  const auto [low, high] = integer_range(plan.type, false, false);
  const bool wide = bit_width(plan.type) == 16;
  const RowPlan rows = plan_rows(layout, !wide);
  x.for_each_row(rows.count, rows.length,
                 [&, low = low, high = high](std::uint64_t row, std::uint64_t at, std::span<const float> part) {
                   const std::size_t size = part.size();
                   std::uint8_t* to = out.data() + (row * rows.length + at) * (wide ? 2 : 1);
                   if (rows.by_element) {
                     const auto scale = std::span(params.scale).subspan(at, size);
                     const auto zero = std::span(params.zero_point).subspan(at, size);
                     if (is_signed(plan.type))
                       quantize_row_s8(part, scale, zero, low, high, {reinterpret_cast<std::int8_t*>(to), size});
                     else
                       quantize_row_u8(part, scale, zero, low, high, {to, size});
                     return;
                   }
                   const float scale = params.scale[row % layout.channels];
                   const std::int32_t zero = params.zero_point[row % layout.channels];
                   if (wide && is_signed(plan.type))
                     quantize_s16(part, scale, zero, low, high, {reinterpret_cast<std::int16_t*>(to), size});
                   else if (wide)
                     quantize_u16(part, scale, zero, low, high, {reinterpret_cast<std::uint16_t*>(to), size});
                   else if (is_signed(plan.type))
                     quantize_s8(part, scale, zero, low, high, {reinterpret_cast<std::int8_t*>(to), size});
                   else
                     quantize_u8(part, scale, zero, low, high, {to, size});
                 });
}

double weight_sqnr_db(const TensorStore& store, const TensorProto& tensor, const TensorPlan& plan,
                      const WeightParams& params) {
  const std::vector<float> x = tensor_as_float(store, tensor);
  const bool wide = bit_width(plan.type) == 16;
  std::vector<std::uint8_t> q(x.size() * (wide ? 2 : 1));
  quantize_weight(store, tensor, plan, params, q);
  const ChannelLayout layout = channel_layout(tensor, plan);
  std::vector<float> back(x.size());
  for (std::size_t i = 0; i < x.size(); ++i) {
    std::int32_t value = is_signed(plan.type) ? static_cast<std::int8_t>(q[wide ? 0 : i]) : q[wide ? 0 : i];
    if (wide) {
      std::uint16_t bits;
      std::memcpy(&bits, q.data() + 2 * i, 2);
      value = plan.type == QuantType::kInt16 ? static_cast<std::int16_t>(bits) : bits;
    }
    const std::uint64_t c = i / layout.inner % layout.channels;
    back[i] = static_cast<float>(value - params.zero_point[c]) * params.scale[c];
  }
  const ErrorSums sums = error_sums(x, back);
  if (sums.noise == 0) return kSqnrEqual;
  return sums.signal == 0 ? -kSqnrEqual : 10 * std::log10(sums.signal / sums.noise);
}

}  // namespace octet
