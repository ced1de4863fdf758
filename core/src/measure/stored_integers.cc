#include "measure/stored_integers.h"

#include <algorithm>
#include <map>

#include "measure/layer_names.h"
#include "model/graph_match.h"
#include "model/tensor_access.h"

namespace octet {
namespace {

using Dims = std::vector<std::int64_t>;
using onnx::TensorProto;

Dims dims_of(const TensorProto& tensor) { return {tensor.dims().begin(), tensor.dims().end()}; }

std::vector<float> numbers(const Model& model, const TensorProto& tensor) {
  if (is_float_type(tensor.data_type())) return tensor_as_float(model, tensor);
  const bool is_signed = tensor.data_type() == TensorProto::INT8;
  if (is_signed || tensor.data_type() == TensorProto::UINT8) {  // large ones, without a wide copy
    const TensorBytes bytes = tensor_bytes(model, tensor);
    std::vector<float> result(bytes.bytes().size());
    std::transform(bytes.bytes().begin(), bytes.bytes().end(), result.begin(), [&](std::uint8_t byte) {
      return is_signed ? static_cast<float>(static_cast<std::int8_t>(byte)) : static_cast<float>(byte);
    });
    return result;
  }
  const auto whole = tensor_as_int64(model, tensor);
  return {whole.begin(), whole.end()};
}

// Scale or zero point of every element: one number; a number per index of an axis; or, with the integers' rank, a
// number per block of its axes; an axis of one number has it for all.
struct Spread {
  std::vector<float> numbers;
  Dims dims;
  std::int64_t block = 0;  // where the node says; else blocks as even as can be

  float at(const Dims& of, const Dims& index) const {
    std::uint64_t place = 0;
    for (std::size_t i = 0; i < dims.size(); ++i) {
      std::int64_t size = (of[i] + dims[i] - 1) / dims[i];
      if (block > 0 && dims[i] > 1 && dims[i] < of[i]) size = block;
      place = place * static_cast<std::uint64_t>(dims[i]) +
              static_cast<std::uint64_t>(std::min(index[i] / std::max<std::int64_t>(size, 1), dims[i] - 1));
    }
    return numbers[place];
  }
};

class Restore {
 public:
  Restore(const Model& model, const GraphView& view, const Value& stored)
      : model_(model), view_(view), stored_(stored), dims_(dims_of(*stored.initializer)) {}

  std::optional<Restored> run() {
    for (const Use& use : stored_.uses) {
      if (auto restored = by(use)) return restored;
    }
    for (const Use& use : stored_.uses) {
      if (use.node->op_type() != "Transpose" || dims_.size() != 2 || turned_) continue;
      const Value* turned = view_.find(*use.scope, use.node->output(0));
      if (!turned || turned->uses.empty()) continue;
      turned_ = true;
      std::swap(dims_[0], dims_[1]);
      return by(turned->uses.front());
    }
    return std::nullopt;
  }

 private:
  const Value* input(const Use& use, int index) const { return view_.input({use.node, use.scope}, index); }

  const TensorProto* constant(const Value* value) const {
    return value && value->constant() ? value->initializer : nullptr;
  }

  std::optional<Restored> by(const Use& use) const {
    const std::string& op = use.node->op_type();
    if (op == "DequantizeLinear" && use.input == 0) {
      auto scale = spread(input(use, 1), axis_of(use)), zero_point = spread(input(use, 2), axis_of(use));
      for (auto* side : {&scale, &zero_point}) {
        if (*side) (*side)->block = int_attribute(*use.node, "block_size", 0);
      }
      return behind(use, scale, zero_point);
    }
    if (op == "Cast") return by_mul(use);
    if (op == "MatMulNBits" && use.input == 1) return by_blocks(use);
    struct Place {
      int weight, scale, zero_point;
    };
    static const std::map<std::string, Place> kOperators = {
        {"QLinearConv", {3, 4, 5}},           {"QLinearMatMul", {3, 4, 5}},        {"QGemm", {3, 4, 5}},
        {"DynamicQuantizeMatMul", {1, 2, 3}}, {"MatMulIntegerToFloat", {1, 3, 5}}, {"QAttention", {1, 4, 7}},
    };
    if (const auto known = kOperators.find(op); known != kOperators.end() && known->second.weight == use.input) {
      const int axis = op == "QLinearConv" ? 0 : static_cast<int>(dims_.size()) - 1;
      return plain(use, spread(input(use, known->second.scale), axis),
                   spread(input(use, known->second.zero_point), axis));
    }
    if ((op == "MatMulInteger" || op == "ConvInteger" || op == "Gather") && use.input == (op == "Gather" ? 0 : 1)) {
      const int axis = op == "MatMulInteger" ? static_cast<int>(dims_.size()) - 1 : 0;
      return plain(use, named("_scale", axis), named("_zero_point", axis));
    }
    return std::nullopt;
  }

  int axis_of(const Use& use) const {
    const auto rank = static_cast<std::int64_t>(dims_.size());
    const std::int64_t axis = int_attribute(*use.node, "axis", 1);
    return static_cast<int>(axis < 0 ? axis + rank : axis);
  }

  // Nothing for what is not stored, or does not fit the integers.
  std::optional<Spread> spread(const Value* value, int axis) const {
    const TensorProto* tensor = constant(value);
    if (!tensor) return std::nullopt;
    Spread result{numbers(model_, *tensor), Dims(dims_.size(), 1)};
    const Dims dims = dims_of(*tensor);
    if (result.numbers.size() == 1) return result;
    if (dims.size() == dims_.size()) {
      result.dims = dims;
    } else if (dims.size() == 1 && axis >= 0 && axis < static_cast<int>(dims_.size())) {
      result.dims[static_cast<std::size_t>(axis)] = dims[0];
    } else {
      return std::nullopt;
    }
    for (std::size_t i = 0; i < dims_.size(); ++i) {
      if (result.dims[i] < 1 || result.dims[i] > std::max<std::int64_t>(dims_[i], 1)) return std::nullopt;
    }
    return result;
  }

  std::optional<Spread> named(const char* suffix, int axis) const {
    for (const std::string& name : original_names(stored_.name)) {
      const Value* value = view_.find(*stored_.scope, name + suffix);
      if (auto found = name == stored_.name ? std::nullopt : spread(value, axis)) return found;
    }
    return std::nullopt;
  }

  // In the order in which the reader sees them.
  std::vector<float> integers() const {
    std::vector<float> stored = numbers(model_, *stored_.initializer);
    if (!turned_) return stored;
    std::vector<float> result(stored.size());
    const auto rows = static_cast<std::size_t>(dims_[0]), columns = static_cast<std::size_t>(dims_[1]);
    for (std::size_t row = 0; row < rows; ++row) {
      for (std::size_t column = 0; column < columns; ++column)
        result[row * columns + column] = stored[column * rows + row];
    }
    return result;
  }

  // (q − zero point) · scale.
  std::optional<std::vector<float>> values(const std::optional<Spread>& scale,
                                           const std::optional<Spread>& zero_point) const {
    if (!scale) return std::nullopt;
    std::vector<float> result = integers();
    Dims index(dims_.size(), 0);
    for (float& value : result) {
      if (zero_point) value -= zero_point->at(dims_, index);
      value *= scale->at(dims_, index);
      for (std::size_t i = dims_.size(); i-- > 0 && ++index[i] == dims_[i];) index[i] = 0;
    }
    return result;
  }

  std::optional<Restored> plain(const Use& use, const std::optional<Spread>& scale,
                                const std::optional<Spread>& zero_point) const {
    auto restored = values(scale, zero_point);
    if (!restored) return std::nullopt;
    return Restored{dims_, std::move(*restored), {}, &use};
  }

  std::optional<Restored> behind(const Use& use, const std::optional<Spread>& scale,
                                 const std::optional<Spread>& zero_point) const {
    auto restored = plain(use, scale, zero_point);
    if (!restored) return std::nullopt;
    restored->value = use.node->output(0);
    const Value* made = view_.find(*use.scope, restored->value);
    restored->reader = made && !made->uses.empty() ? &made->uses.front() : nullptr;
    return restored;
  }

  std::optional<Restored> by_mul(const Use& cast) const {
    const Value* floats = view_.find(*cast.scope, cast.node->output(0));
    const Use* use = floats ? only_use(*floats) : nullptr;
    const int last = static_cast<int>(dims_.size()) - 1;  // where a vector counts when it is broadcast
    std::optional<Spread> zero_point;
    if (use && use->node->op_type() == "Sub" && use->input == 0) {
      zero_point = spread(input(*use, 1), last);
      if (!zero_point) return std::nullopt;
      const Value* centered = view_.find(*use->scope, use->node->output(0));
      use = centered ? only_use(*centered) : nullptr;
    }
    if (!use || use->node->op_type() != "Mul") return std::nullopt;
    return behind(*use, spread(input(*use, 1 - use->input), last), zero_point);
  }

  std::optional<Restored> by_blocks(const Use& use) const {
    const auto attribute = [&](const char* name, std::int64_t otherwise) {
      return static_cast<std::uint64_t>(std::max<std::int64_t>(int_attribute(*use.node, name, otherwise), 0));
    };
    const std::uint64_t k = attribute("K", 0), n = attribute("N", 0), bits = attribute("bits", 4),
                        block = attribute("block_size", 32);
    const TensorProto* scales = constant(input(use, 2));
    const TensorProto* zeros = constant(input(use, 3));
    if (!scales || block == 0 || (bits != 4 && bits != 8) || (zeros && zeros->data_type() != TensorProto::UINT8))
      return std::nullopt;
    const std::uint64_t blocks = (k + block - 1) / block, per_byte = 8 / bits, row_bytes = blocks * (block / per_byte),
                        zero_bytes = (blocks + per_byte - 1) / per_byte;
    const auto packed = tensor_bytes(model_, *stored_.initializer);
    const auto scale = tensor_as_float(model_, *scales);
    const TensorBytes zero = zeros ? tensor_bytes(model_, *zeros) : TensorBytes();
    if (packed.bytes().size() != n * row_bytes || scale.size() != n * blocks ||
        (zeros && zero.bytes().size() != n * zero_bytes))
      return std::nullopt;
    const auto number = [&](std::span<const std::uint8_t> bytes, std::uint64_t row, std::uint64_t place) {
      const std::uint8_t byte = bytes[row + place / per_byte];
      return bits == 8 ? byte : (place % 2 == 0 ? byte & 15 : byte >> 4);
    };
    Restored restored{{static_cast<std::int64_t>(n), static_cast<std::int64_t>(k)}, {}, {}, &use};
    restored.values.reserve(n * k);
    for (std::uint64_t row = 0; row < n; ++row) {
      for (std::uint64_t i = 0; i < k; ++i) {
        const int middle = zeros ? number(zero.bytes(), row * zero_bytes, i / block) : 1 << (bits - 1);
        restored.values.push_back(static_cast<float>(number(packed.bytes(), row * row_bytes, i) - middle) *
                                  scale[row * blocks + i / block]);
      }
    }
    return restored;
  }

  const Model& model_;
  const GraphView& view_;
  const Value& stored_;
  Dims dims_;
  bool turned_ = false;
};

}  // namespace

std::optional<Restored> restore_integers(const Model& model, const GraphView& view, const Value& stored) {
  return Restore(model, view, stored).run();
}

}  // namespace octet
