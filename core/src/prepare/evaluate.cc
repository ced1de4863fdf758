#include "prepare/evaluate.h"

#include <cstring>

#include "kernels/quantize_kernels.h"
#include "octet/dtype.h"
#include "prepare/evaluate_call.h"

namespace octet {
namespace {

struct Row {
  std::string_view op;
  Kernel run;
  std::int64_t since = 1;
  // float16 and bfloat16 go through float32 and are rounded once: the result is the same as computing in their own
  // width, since float32 has more than twice their digits.
  bool halves = false;
};

constexpr Row kRows[] = {
    {"Abs", kernels::abs, 6, true},
    {"Add", kernels::add, 1, true},
    {"And", kernels::logical_and},
    {"ArgMax", kernels::arg_max, 1, true},
    {"ArgMin", kernels::arg_min, 1, true},
    {"BitwiseAnd", kernels::bitwise_and},
    {"BitwiseNot", kernels::bitwise_not},
    {"BitwiseOr", kernels::bitwise_or},
    {"BitwiseXor", kernels::bitwise_xor},
    {"Cast", kernels::cast, 6},
    {"Ceil", kernels::ceil, 6, true},
    {"Concat", kernels::concat, 4},
    {"ConstantOfShape", kernels::constant_of_shape},
    {"CumSum", kernels::cum_sum},
    {"Div", kernels::div, 1, true},
    {"Equal", kernels::equal, 1, true},
    {"Expand", kernels::expand},
    {"EyeLike", kernels::eye_like},
    {"Flatten", kernels::flatten},
    {"Floor", kernels::floor, 6, true},
    {"Gather", kernels::gather},
    {"GatherElements", kernels::gather_elements},
    {"GatherND", kernels::gather_nd},
    {"Greater", kernels::greater, 1, true},
    {"GreaterOrEqual", kernels::greater_or_equal, 1, true},
    {"Identity", kernels::identity},
    {"IsInf", kernels::is_inf, 1, true},
    {"IsNaN", kernels::is_nan, 1, true},
    {"Less", kernels::less, 1, true},
    {"LessOrEqual", kernels::less_or_equal, 1, true},
    {"Max", kernels::maximum, 6, true},
    {"Min", kernels::minimum, 6, true},
    {"Mod", kernels::mod},
    {"Mul", kernels::mul, 1, true},
    {"Neg", kernels::neg, 6, true},
    {"NonZero", kernels::non_zero, 1, true},
    {"Not", kernels::logical_not},
    {"OneHot", kernels::one_hot},
    {"Or", kernels::logical_or},
    {"Pad", kernels::pad, 2},
    {"Pow", kernels::pow, 1, true},
    {"Range", kernels::range},
    {"Reciprocal", kernels::reciprocal, 6, true},
    {"ReduceMax", kernels::reduce_max, 1, true},
    {"ReduceMean", kernels::reduce_mean, 1, true},
    {"ReduceMin", kernels::reduce_min, 1, true},
    {"ReduceProd", kernels::reduce_prod, 1, true},
    {"ReduceSum", kernels::reduce_sum, 1, true},
    {"Reshape", kernels::reshape},
    {"Round", kernels::round, 1, true},
    {"ScatterElements", kernels::scatter_elements},
    {"ScatterND", kernels::scatter_nd},
    {"Shape", kernels::shape},
    {"Sign", kernels::sign, 1, true},
    {"Size", kernels::size},
    {"Slice", kernels::slice},
    {"Split", kernels::split, 2},
    {"Sqrt", kernels::sqrt, 6, true},
    {"Squeeze", kernels::squeeze},
    {"Sub", kernels::sub, 1, true},
    {"Sum", kernels::sum, 6, true},
    {"Tile", kernels::tile, 6},
    {"Transpose", kernels::transpose},
    {"Trilu", kernels::trilu},
    {"Unsqueeze", kernels::unsqueeze},
    {"Where", kernels::where},
    {"Xor", kernels::logical_xor},
};

const Row* row_of(const onnx::NodeProto& node, std::int64_t opset) {
  if (!is_standard(node)) return nullptr;
  for (const Row& row : kRows) {
    if (row.op == node.op_type()) return opset >= row.since ? &row : nullptr;
  }
  return nullptr;
}

bool is_half(int type) { return type == kFloat16 || type == kBfloat16; }

std::vector<float> widened(const Operand& operand) {
  const auto halves = elements<std::uint16_t>(operand);
  std::vector<float> wide(halves.size());
  operand.type == kFloat16 ? half_to_float(halves, wide) : bfloat16_to_float(halves, wide);
  return wide;
}

Tensor narrowed(const Tensor& wide, int type) {
  Tensor narrow{type, wide.dims, std::vector<std::uint8_t>(wide.bytes.size() / 2)};
  for (std::size_t i = 0; i < narrow.bytes.size() / 2; ++i) {
    float value;
    std::memcpy(&value, wide.bytes.data() + i * sizeof value, sizeof value);
    const std::uint16_t half = type == kFloat16 ? float_to_half(value) : float_to_bfloat16(value);
    std::memcpy(narrow.bytes.data() + i * sizeof half, &half, sizeof half);
  }
  return narrow;
}

Results run_widened(const Row& row, const Call& call, int type) {
  std::vector<std::vector<float>> wide(call.inputs.size());
  std::vector<Operand> operands(call.inputs.begin(), call.inputs.end());
  for (std::size_t i = 0; i < operands.size(); ++i) {
    if (operands[i].type == kFloat) return std::nullopt;  // of mixed types only Pow may be: not worth the doubt
    if (operands[i].type != type) continue;
    wide[i] = widened(operands[i]);
    operands[i].type = kFloat;
    operands[i].bytes = {reinterpret_cast<const std::uint8_t*>(wide[i].data()), wide[i].size() * sizeof(float)};
  }
  const std::uint64_t most = std::numeric_limits<std::uint64_t>::max() / 2;
  Results results =
      row.run({call.node, call.opset, operands, call.max_bytes > most ? call.max_bytes : call.max_bytes * 2});
  if (!results) return results;
  for (Tensor& tensor : *results) {
    if (tensor.type == kFloat) tensor = narrowed(tensor, type);
  }
  return results;
}

}  // namespace

bool can_evaluate(const onnx::NodeProto& node, std::int64_t opset) { return row_of(node, opset) != nullptr; }

bool reads_dims_only(const onnx::NodeProto& node) {
  return is_standard(node) && (node.op_type() == "Shape" || node.op_type() == "Size");
}

Results evaluate(const onnx::NodeProto& node, std::int64_t opset, std::span<const Operand> inputs,
                 std::uint64_t max_bytes) {
  const Row* row = row_of(node, opset);
  if (!row || node.output_size() == 0) return std::nullopt;
  const Call call{node, opset, inputs, max_bytes};
  int half = 0;
  for (const Operand& operand : inputs) {
    if (operand.type == 0) continue;
    const auto count = product_of(operand.dims);
    if (!count || operand.dims.size() > kMaxRank) return std::nullopt;
    if (reads_dims_only(node)) continue;
    // What the kernels rely on: whole bytes, as many as type and dims say.
    const std::size_t width = element_width(operand.type);
    if (width == 0 || operand.bytes.size() / width != static_cast<std::uint64_t>(*count) ||
        operand.bytes.size() % width != 0)
      return std::nullopt;
    if (is_half(operand.type) && row->halves) {
      if (half != 0 && half != operand.type) return std::nullopt;
      half = operand.type;
    }
  }
  Results results = half != 0 ? run_widened(*row, call, half) : row->run(call);
  if (!results || results->size() != static_cast<std::size_t>(node.output_size())) return std::nullopt;
  for (const Tensor& tensor : *results) {
    if (tensor.bytes.size() > max_bytes || tensor.dims.size() > kMaxRank) return std::nullopt;
  }
  return results;
}

std::size_t element_width(int type) {
  switch (type) {
    case kBool:
      return 1;
    case kBfloat16:
      return 2;
    default:
      return dtype_size(type);
  }
}

std::optional<Tensor> blank(const Call& call, int type, Sizes dims) {
  const auto count = product_of(dims);
  const std::size_t width = element_width(type);
  if (!count || width == 0 || static_cast<std::uint64_t>(*count) > call.max_bytes / width) return std::nullopt;
  return Tensor{type, std::move(dims), std::vector<std::uint8_t>(static_cast<std::size_t>(*count) * width)};
}

Results only(std::optional<Tensor> tensor) {
  if (!tensor) return std::nullopt;
  std::vector<Tensor> results;
  results.push_back(std::move(*tensor));
  return results;
}

std::optional<Sizes> small_ints(const Operand* operand) {
  if (!operand || operand->dims.size() > 1) return std::nullopt;
  const auto taken = [&](auto values) -> std::optional<Sizes> {
    if (values.size() > kMaxRank) return std::nullopt;
    return Sizes(values.begin(), values.end());
  };
  if (operand->type == kInt64) return taken(elements<std::int64_t>(*operand));
  if (operand->type == kInt32) return taken(elements<std::int32_t>(*operand));
  return std::nullopt;
}

std::optional<std::int64_t> single_int(const Operand* operand) {
  const auto values = small_ints(operand);
  return values && values->size() == 1 ? std::optional(values->front()) : std::nullopt;
}

IntList int_list(const Call& call, std::string_view name, std::size_t input, std::int64_t since) {
  if (call.opset >= since) {
    const Operand* operand = call.input(input);
    return {operand != nullptr, small_ints(operand)};
  }
  const auto* attribute = find_attribute(call.node, name);
  if (!attribute) return {};
  if (static_cast<std::size_t>(attribute->ints_size()) > kMaxRank) return {true, std::nullopt};
  return {true, Sizes(attribute->ints().begin(), attribute->ints().end())};
}

std::optional<Sizes> broadcast(const Sizes& a, const Sizes& b) {
  Sizes result(std::max(a.size(), b.size()));
  for (std::size_t i = 0; i < result.size(); ++i) {  // from the last axis on
    const std::int64_t x = i < a.size() ? a[a.size() - 1 - i] : 1, y = i < b.size() ? b[b.size() - 1 - i] : 1;
    if (x != y && x != 1 && y != 1) return std::nullopt;
    result[result.size() - 1 - i] = x == 1 ? y : x;
  }
  return result;
}

Sizes strides_of(const Sizes& dims) {
  Sizes strides(dims.size(), 1);
  // Of an empty tensor none is ever used.
  if (product_of(dims).value_or(0) == 0) return strides;
  for (std::size_t i = dims.size(); i-- > 1;) strides[i - 1] = strides[i] * dims[i];
  return strides;
}

Sizes broadcast_strides(const Sizes& dims, const Sizes& shape) {
  const Sizes own = strides_of(dims);
  Sizes strides(shape.size(), 0);
  const std::size_t lead = shape.size() - dims.size();
  for (std::size_t i = 0; i < dims.size(); ++i) strides[lead + i] = dims[i] == 1 ? 0 : own[i];
  return strides;
}

void copy_strided(std::size_t width, const Sizes& dims, const std::uint8_t* in, std::int64_t from,
                  const Sizes& from_strides, std::uint8_t* out, std::int64_t to, const Sizes& to_strides) {
  const auto copy = [&]<class T>(T) {
    walk<2>(dims, {from_strides, to_strides}, [&](std::size_t, const auto& at) {
      std::memcpy(out + (to + at[1]) * static_cast<std::int64_t>(sizeof(T)),
                  in + (from + at[0]) * static_cast<std::int64_t>(sizeof(T)), sizeof(T));
    });
  };
  switch (width) {
    case 1:
      return copy(std::uint8_t{});
    case 2:
      return copy(std::uint16_t{});
    case 4:
      return copy(std::uint32_t{});
    default:
      return copy(std::uint64_t{});
  }
}

}  // namespace octet
