// OpenSizes of what is computed element by element, where the names of two inputs' sizes meet.
#include <algorithm>
#include <unordered_set>

#include "prepare/shape_node.h"

namespace octet {
namespace {

// One size of two that are broadcast; nothing when it cannot be told which is larger.
std::optional<Dim> broadcast(const Dim& a, const Dim& b) {
  if (a == b || b.is(1)) return a;
  if (a.is(1)) return b;
  if (a.number().value_or(0) > 1) return a;
  if (b.number().value_or(0) > 1) return b;
  // A table cut to a length that it may not have: min(512, seq) beside seq only ever means seq.
  if (is_capped(a, b)) return b;
  if (is_capped(b, a)) return a;
  return std::nullopt;
}

std::optional<OpenSizes> broadcast(const Dims& a, const Dims& b) {
  const std::size_t rank = std::max(a.size(), b.size());
  OpenSizes sizes(rank);
  for (std::size_t i = 0; i < rank; ++i) {
    const std::size_t from_end = rank - i;
    const Dim x = from_end <= a.size() ? a[a.size() - from_end] : Dim(1);
    const Dim y = from_end <= b.size() ? b[b.size() - from_end] : Dim(1);
    sizes[i] = broadcast(x, y);
  }
  return sizes;
}

// Onnx's own inference gives up where two names meet.
void elementwise(ShapeNode& node) {
  OpenSizes sizes;
  for (int i = 0; i < node.node().input_size(); ++i) {
    const auto& in = node.dims(i);
    if (!in) return;
    if (i == 0) {
      sizes.assign(in->begin(), in->end());
      continue;
    }
    OpenSizes wider(std::max(sizes.size(), in->size()));
    for (std::size_t k = 0; k < wider.size(); ++k) {
      const std::size_t from_end = wider.size() - k;
      const auto x = from_end <= sizes.size() ? sizes[sizes.size() - from_end] : Dim(1);
      if (x) wider[k] = broadcast(*x, from_end <= in->size() ? (*in)[in->size() - from_end] : Dim(1));
    }
    sizes = std::move(wider);
  }
  node.out().refine(sizes);
}

void expand(ShapeNode& node) {
  const auto& in = node.dims(0);
  const auto shape = node.values(1);
  if (in && shape) node.out().refine(*broadcast(*in, *shape));
}

}  // namespace

bool refine_broadcast(ShapeNode& node) {
  static const std::unordered_set<std::string_view> ops = {
      "Add",        "Sub", "Mul",   "Div",  "Pow",     "Min",   "Max",
      "And",        "Or",  "Equal", "Less", "Greater", "Where", "GreaterOrEqual",
      "LessOrEqual"};
  const std::string& op = node.node().op_type();
  if (op == "Expand")
    expand(node);
  else if (ops.contains(op))
    elementwise(node);
  else
    return false;
  return true;
}

}  // namespace octet
