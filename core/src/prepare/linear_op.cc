// New weights are rounded once: the factor and the product are double, float32 elements are rounded at the end. Large
// ones are computed when they are read. Nothing finite becomes infinite: then the constants stay where they are.
#include "prepare/linear_op.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <memory>
#include <span>

#include "kernels/quantize_kernels.h"
#include "prepare/widened.h"

namespace octet {
namespace {

using onnx::TensorProto;

constexpr double kMaxFloat = std::numeric_limits<float>::max();

bool is_real(int type) { return type == TensorProto::FLOAT || type == TensorProto::DOUBLE; }

double element(const std::vector<double>& values, std::uint64_t channel) {
  return values.size() == 1 ? values[0] : values[static_cast<std::size_t>(channel)];
}

bool is_one(const std::vector<double>& scale) {
  return std::all_of(scale.begin(), scale.end(), [](double value) { return value == 1.0; });
}

bool all_finite(const std::vector<double>& values) {
  return std::all_of(values.begin(), values.end(), [](double value) { return std::abs(value) <= kMaxFloat; });
}

std::optional<ChannelLayout> conv_layout(const onnx::TensorProto& weight, std::uint64_t groups, bool by_first_axis) {
  const auto first = static_cast<std::uint64_t>(weight.dims(0)), second = static_cast<std::uint64_t>(weight.dims(1));
  const std::uint64_t count = element_count(weight);
  if (count == 0 || groups == 0 || first % groups != 0) return std::nullopt;
  if (by_first_axis) return ChannelLayout{1, 1, first, count / first};
  return ChannelLayout{groups, first / groups, second, count / first / second};
}

template <class T>
void scale_elements(std::span<const std::uint8_t> in, const ChannelLayout& layout, const std::vector<double>& factors,
                    std::span<std::uint8_t> out) {
  const std::uint8_t* from = in.data();
  std::uint8_t* to = out.data();
  for (std::uint64_t row = 0; row < layout.groups * layout.rows; ++row) {
    for (std::uint64_t column = 0; column < layout.columns; ++column) {
      const double factor = element(factors, row / layout.rows * layout.columns + column);
      for (std::uint64_t i = 0; i < layout.inner; ++i, from += sizeof(T), to += sizeof(T)) {
        T value;
        std::memcpy(&value, from, sizeof value);
        value = static_cast<T>(static_cast<double>(value) * factor);
        std::memcpy(to, &value, sizeof value);
      }
    }
  }
}

void scale_bytes(int type, std::span<const std::uint8_t> in, const ChannelLayout& layout,
                 const std::vector<double>& factors, std::span<std::uint8_t> out) {
  if (type == TensorProto::FLOAT)
    scale_elements<float>(in, layout, factors, out);
  else
    scale_elements<double>(in, layout, factors, out);
}

// Whether no finite element leaves the type's range.
bool stays_finite(const Model& model, const onnx::TensorProto& tensor, const std::vector<double>& factors) {
  double largest = 0;
  for (const double factor : factors) largest = std::max(largest, std::abs(factor));
  if (!(largest <= kMaxFloat)) return false;
  if (largest <= 1) return true;
  const TensorBytes bytes = tensor_bytes(model, tensor);
  if (tensor.data_type() == TensorProto::FLOAT) {
    const Range range = find_range(bytes.as<float>());
    return std::max(std::abs(static_cast<double>(range.min)), std::abs(static_cast<double>(range.max))) * largest <=
           kMaxFloat;
  }
  const auto doubles = bytes.as<double>();
  return std::all_of(doubles.begin(), doubles.end(), [&](double value) { return !(std::abs(value) > kMaxFloat); });
}

void scale_tensor(Model& model, onnx::TensorProto& tensor, const ChannelLayout& layout, std::vector<double> factors) {
  const int type = tensor.data_type();
  if (stored_id(tensor)) {
    auto kept = std::make_shared<const std::vector<double>>(std::move(factors));
    set_stored_id(tensor,
                  model.store().add_computed(tensor_byte_size(tensor), [&store = model.store(), source = tensor, layout,
                                                                        kept, type](std::span<std::uint8_t> out) {
                    scale_bytes(type, tensor_bytes(store, source).bytes(), layout, *kept, out);
                  }));
    return;
  }
  std::vector<std::uint8_t> bytes(static_cast<std::size_t>(tensor_byte_size(tensor)));
  scale_bytes(type, tensor_bytes(model, tensor).bytes(), layout, factors, bytes);
  const onnx::TensorProto old = tensor;
  tensor = make_tensor(model, old.name(), type, {old.dims().begin(), old.dims().end()}, std::move(bytes));
  tensor.set_doc_string(old.doc_string());
}

// What is added to an operator's product: zeros where nothing is.
struct Bias {
  Value* value = nullptr;
  std::vector<double> elements;
};

std::optional<Bias> bias_of(const Model& model, const GraphView& view, const LinearOp& op) {
  const auto& node = *op.at.node;
  const std::uint64_t channels = op.by_output.channels();
  Bias bias{nullptr, std::vector<double>(channels, 0.0)};
  if (is_op(node, "MatMul") || node.input_size() < 3 || node.input(2).empty()) return bias;
  const bool gemm = is_op(node, "Gemm");
  const double beta = gemm ? static_cast<double>(float_attribute(node, "beta", 1)) : 1;
  bias.value = view.input(op.at, 2);
  const auto old =
      gemm ? channel_values(model, bias.value, 2, 1, channels) : channel_values(model, bias.value, 1, 0, channels);
  if (!old || (!gemm && old->size() != channels)) return std::nullopt;
  if (bias.value->initializer->data_type() != op.weight->initializer->data_type()) return std::nullopt;
  for (std::uint64_t i = 0; i < channels; ++i) bias.elements[i] = beta == 0 ? 0 : element(*old, i) * beta;
  return bias;
}

void set_bias(Model& model, const LinearOp& op, const Bias& bias, NameSet& names) {
  auto& node = *op.at.node;
  const int type = op.weight->initializer->data_type();
  const auto vector_of = [&](const std::string& name) {
    return real_tensor(model, name, type, {static_cast<std::int64_t>(bias.elements.size())}, bias.elements);
  };
  const bool own =
      bias.value && bias.value->uses.size() == 1 && bias.value->graph_outputs == 0 && bias.value->scope == op.at.scope;
  if (own) {
    *bias.value->initializer = vector_of(bias.value->name);
  } else {
    const std::string name = names.fresh(op.weight->name + "_bias");
    *op.at.scope->graph->add_initializer() = vector_of(name);
    while (node.input_size() < 3) node.add_input();
    node.set_input(2, name);
  }
  if (is_op(node, "MatMul")) node.set_op_type("Gemm");
  if (is_op(node, "Gemm")) drop_attribute(node, "beta");
}

// Why the weight cannot be another one for this reader.
std::string weight_fixed(const Model& model, const LinearOp& op, const std::vector<double>& factors) {
  const auto& tensor = *op.weight->initializer;
  if (!only_use(*op.weight)) return "its weight has other readers";
  if (!is_real(tensor.data_type()) || narrow_form(tensor)) return "its weight would be rounded anew in 16 bits";
  return stays_finite(model, tensor, factors) ? "" : "its weight would become infinite";
}

}  // namespace

std::optional<ChannelLayout> input_layout(const LinearOp& op) {
  const auto& node = *op.at.node;
  if (op.by_input || is_op(node, "ConvTranspose")) return op.by_input;
  if (is_op(node, "Gemm") && int_attribute(node, "transA", 0) != 0) return std::nullopt;
  const auto& tensor = *op.weight->initializer;
  const auto rows = static_cast<std::uint64_t>(tensor.dims(0)), columns = static_cast<std::uint64_t>(tensor.dims(1));
  const bool turned = is_op(node, "Gemm") && int_attribute(node, "transB", 0) != 0;
  return turned ? ChannelLayout{1, rows, columns, 1} : ChannelLayout{1, 1, rows, columns};
}

double short_factor(double value) {
  constexpr int kBits = 8;
  int exponent = 0;
  const double mantissa = std::frexp(value, &exponent);
  return std::ldexp(std::nearbyint(std::ldexp(mantissa, kBits)), exponent - kBits);
}

std::optional<LinearOp> linear_op(const GraphView& view, const NodeAt& at) {
  const auto& node = *at.node;
  LinearOp op;
  op.at = at;
  op.weight = view.input(at, 1);
  if (!op.weight || !op.weight->constant() || node.output_size() != 1 || node.input_size() > 3) return std::nullopt;
  const auto& tensor = *op.weight->initializer;
  const int rank = tensor.dims_size();
  if (!is_float_type(tensor.data_type()) || rank < 2 || element_count(tensor) == 0) return std::nullopt;
  if (is_op(node, "Conv") || is_op(node, "ConvTranspose")) {
    const bool conv = is_op(node, "Conv");
    const auto group = int_attribute(node, "group", 1);
    if (rank < 3 || group < 1) return std::nullopt;
    const auto groups = static_cast<std::uint64_t>(group);
    const auto by_output = conv_layout(tensor, groups, conv);
    if (!by_output) return std::nullopt;
    op.by_output = *by_output;
    if (conv) op.by_input = conv_layout(tensor, groups, false);
    op.rank = rank;
    return op;
  }
  const bool gemm = is_op(node, "Gemm");
  if (rank != 2 || (!gemm && (!is_op(node, "MatMul") || node.input_size() != 2))) return std::nullopt;
  if (gemm) op.rank = 2;
  const auto rows = static_cast<std::uint64_t>(tensor.dims(0)), columns = static_cast<std::uint64_t>(tensor.dims(1));
  const bool turned = gemm && int_attribute(node, "transB", 0) != 0;
  op.by_output = turned ? ChannelLayout{1, 1, rows, columns} : ChannelLayout{1, rows, columns, 1};
  return op;
}

std::vector<double> tensor_as_double(const Model& model, const onnx::TensorProto& tensor) {
  if (tensor.data_type() == TensorProto::DOUBLE) {
    const TensorBytes bytes = tensor_bytes(model, tensor);
    const auto values = bytes.as<double>();
    return {values.begin(), values.end()};
  }
  const auto floats = tensor_as_float(model, tensor);
  return {floats.begin(), floats.end()};
}

onnx::TensorProto real_tensor(Model& model, const std::string& name, int type, const std::vector<std::int64_t>& dims,
                              const std::vector<double>& values) {
  std::vector<std::uint8_t> bytes;
  const auto put = [&](auto value) {
    const auto* raw = reinterpret_cast<const std::uint8_t*>(&value);
    bytes.insert(bytes.end(), raw, raw + sizeof value);
  };
  for (const double value : values) {
    const auto single = static_cast<float>(value);
    if (type == TensorProto::DOUBLE)
      put(value);
    else if (type == TensorProto::FLOAT)
      put(single);
    else
      put(type == TensorProto::FLOAT16 ? float_to_half(single) : float_to_bfloat16(single));
  }
  return make_tensor(model, name, type, dims, std::move(bytes));
}

std::optional<std::vector<double>> channel_values(const Model& model, const Value* value, std::int64_t rank,
                                                  std::int64_t axis, std::uint64_t channels) {
  if (!value || !value->constant()) return std::nullopt;
  const auto& tensor = *value->initializer;
  const std::uint64_t count = element_count(tensor);
  if (!is_float_type(tensor.data_type()) || tensor.dims_size() > rank) return std::nullopt;
  const auto at = axis - (rank - tensor.dims_size());  // where the channels stand in the constant's own axes
  const bool per_channel = at >= 0 && static_cast<std::uint64_t>(tensor.dims(static_cast<int>(at))) == channels;
  if (count != 1 && !(per_channel && count == channels)) return std::nullopt;
  return tensor_as_double(model, tensor);
}

bool pads_nothing(const onnx::NodeProto& conv) {
  if (const auto* automatic = find_attribute(conv, "auto_pad")) {
    if (automatic->s() == "VALID") return true;
    if (automatic->s() != "NOTSET" && !automatic->s().empty()) return false;
  }
  const auto* pads = find_attribute(conv, "pads");
  return !pads || std::all_of(pads->ints().begin(), pads->ints().end(), [](std::int64_t pad) { return pad == 0; });
}

std::string apply_to_output(Model& model, const GraphView& view, const LinearOp& op, const Affine& affine,
                            NameSet& names) {
  auto bias = bias_of(model, view, op);
  if (!bias) return "its bias is computed, or of another shape";
  const int type = op.weight->initializer->data_type();
  const bool scales = !is_one(affine.scale);
  if (!all_finite(affine.scale) || !all_finite(affine.shift)) return "a constant is not finite";
  if (scales) {
    if (auto why = weight_fixed(model, op, affine.scale); !why.empty()) return why;
  }
  const bool rebias = bias->value != nullptr ? scales || !affine.shift.empty() : !affine.shift.empty();
  if (rebias && !is_real(type) && (bias->value || is_op(*op.at.node, "MatMul")))
    return "its bias would be rounded anew in 16 bits";
  for (std::uint64_t i = 0; i < op.by_output.channels(); ++i) {
    double& value = bias->elements[static_cast<std::size_t>(i)];
    if (!affine.scale.empty()) value *= element(affine.scale, i);
    if (!affine.shift.empty()) value += element(affine.shift, i);
  }
  if (!all_finite(bias->elements)) return "its bias would become infinite";
  if (scales) scale_tensor(model, *op.weight->initializer, op.by_output, affine.scale);
  if (rebias) set_bias(model, op, *bias, names);
  return {};
}

std::string scale_weight(Model& model, const LinearOp& op, const ChannelLayout& layout,
                         const std::vector<double>& factors) {
  if (auto why = weight_fixed(model, op, factors); !why.empty()) return why;
  scale_tensor(model, *op.weight->initializer, layout, factors);
  return {};
}

std::string apply_to_input(Model& model, const GraphView& view, const LinearOp& op, const Affine& affine,
                           NameSet& names) {
  if (!op.by_input) return "only a Conv takes constants from before it";
  const ChannelLayout& layout = *op.by_input;
  const int type = op.weight->initializer->data_type();
  if (!all_finite(affine.scale) || !all_finite(affine.shift)) return "a constant is not finite";
  const bool scales = !is_one(affine.scale);
  if (scales) {
    if (auto why = weight_fixed(model, op, affine.scale); !why.empty()) return why;
  }
  if (!affine.shift.empty()) {
    if (!is_real(type)) return "its bias would be rounded anew in 16 bits";
    auto bias = bias_of(model, view, op);
    if (!bias) return "its bias is computed, or of another shape";
    const auto weight = tensor_as_double(model, *op.weight->initializer);
    std::size_t i = 0;
    for (std::uint64_t row = 0; row < layout.groups * layout.rows; ++row) {
      for (std::uint64_t column = 0; column < layout.columns; ++column) {
        const double shift = element(affine.shift, row / layout.rows * layout.columns + column);
        for (std::uint64_t k = 0; k < layout.inner; ++k)
          bias->elements[static_cast<std::size_t>(row)] += weight[i++] * shift;
      }
    }
    if (!all_finite(bias->elements)) return "its bias would become infinite";
    set_bias(model, op, *bias, names);
  }
  if (scales) scale_tensor(model, *op.weight->initializer, layout, affine.scale);
  return {};
}

}  // namespace octet
