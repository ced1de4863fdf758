#include "quantize/static_clamp.h"

#include <algorithm>
#include <cmath>

#include "model/graph_match.h"

namespace octet {
namespace {

constexpr int kMaxDepth = 8;

// The rank that a value has at least, as far as the nodes before it tell.
int least_rank(const GraphView& view, const Value* value, int depth = 0) {
  const onnx::NodeProto* producer = value ? value->producer : nullptr;
  if (!producer || depth > kMaxDepth) return 1;
  const auto operand = [&](int index) { return view.find(*value->scope, producer->input(index)); };
  if ((is_op(*producer, "Conv") || is_op(*producer, "ConvTranspose")) && producer->input_size() > 1) {
    const Value* weight = operand(1);
    return weight && weight->constant() ? weight->initializer->dims_size() : 3;
  }
  if (is_op(*producer, "Gemm")) return 2;
  int rank = 1;
  for (const char* op : {"LeakyRelu", "Relu", "Sigmoid", "Add", "Mul", "BatchNormalization"}) {
    if (!is_op(*producer, op) || producer->input_size() == 0) continue;
    rank = least_rank(view, operand(0), depth + 1);
    if (producer->input_size() == 2) rank = std::max(rank, least_rank(view, operand(1), depth + 1));
  }
  return rank;
}

// The number beside the value in Max(x, 6) or Min(-1, x); of a shape that does not widen what it is compared with.
std::optional<Clamp> with_number(const Model& model, const GraphView& view, const NodeAt& at, bool from_below) {
  if (at.node->input_size() != 2) return std::nullopt;
  for (const int input : {0, 1}) {
    const Value* number = view.input(at, 1 - input);
    if (!number || !number->constant()) continue;
    if (number->initializer->dims_size() > least_rank(view, view.input(at, input))) continue;
    const auto bound = scalar_of(model, number);
    if (!bound) continue;
    Clamp clamp;
    clamp.input = input;
    (from_below ? clamp.low : clamp.high) = bound;
    return clamp;
  }
  return std::nullopt;
}

}  // namespace

std::optional<Clamp> clamp_of(const Model& model, const GraphView& view, const NodeAt& at) {
  const onnx::NodeProto& node = *at.node;
  if (is_op(node, "Relu")) return Clamp{0, 0.0, std::nullopt};
  if (is_op(node, "Max") || is_op(node, "Min")) return with_number(model, view, at, is_op(node, "Max"));
  if (!is_op(node, "Clip")) return std::nullopt;
  Clamp clamp;
  const auto read = [&](int input, const char* attribute, std::optional<double>& bound) {
    if (find_attribute(node, attribute)) {
      bound = float_attribute(node, attribute, 0);
      return true;
    }
    if (node.input_size() <= input || node.input(input).empty()) return true;
    bound = scalar_of(model, view.input(at, input));
    return bound.has_value();
  };
  if (!read(1, "min", clamp.low) || !read(2, "max", clamp.high)) return std::nullopt;
  return clamp;
}

bool is_superfluous(const Clamp& clamp, float scale, std::int32_t zero_point, IntegerRange integers) {
  // As QuantizeLinear does it: divided in float, rounded half to even.
  const auto rounded = [&](double bound) {
    return static_cast<double>(std::nearbyint(static_cast<float>(bound) / scale)) + static_cast<double>(zero_point);
  };
  return (!clamp.low || rounded(*clamp.low) <= static_cast<double>(integers.low)) &&
         (!clamp.high || rounded(*clamp.high) >= static_cast<double>(integers.high));
}

}  // namespace octet
