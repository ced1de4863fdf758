// The elements of small integer tensors followed through shape arithmetic: Shape → Gather → Mul → Concat → Reshape and
// the like. A size is at least 0, which decides the comparisons with -1 that exporters write.
#include <algorithm>
#include <string_view>
#include <unordered_map>

#include "prepare/shape_node.h"

namespace octet {
namespace {

constexpr std::size_t kMaxElements = 64;

using Found = std::optional<Dims>;
using Binary = std::optional<Dim> (*)(const Dim&, const Dim&);

Found shape(ShapeNode& node) {
  const auto& in = node.dims(0);
  if (!in) return std::nullopt;
  const auto rank = static_cast<std::int64_t>(in->size());
  const auto place = [&](std::int64_t at) { return std::clamp<std::int64_t>(at < 0 ? at + rank : at, 0, rank); };
  const auto start = place(std::max(int_attribute(node.node(), "start", 0), -rank));
  const auto end = place(std::max(int_attribute(node.node(), "end", rank), -rank));
  return start < end ? Dims(in->begin() + start, in->begin() + end) : Dims();
}

Found size(ShapeNode& node) {
  const auto& in = node.dims(0);
  if (!in) return std::nullopt;
  std::optional<Dim> total = Dim(1);
  for (const Dim& dim : *in) total = total ? multiply(*total, dim) : total;
  return total ? Found({*total}) : std::nullopt;
}

// Where Constant nodes have not become stored tensors yet.
Found constant(ShapeNode& node) {
  if (const auto* value = find_attribute(node.node(), "value_int")) return Dims{Dim(value->i())};
  if (const auto* values = find_attribute(node.node(), "value_ints"))
    return Dims(values->ints().begin(), values->ints().end());
  const auto* value = find_attribute(node.node(), "value");
  if (!value || !value->has_t() || stored_id(value->t()) || value->t().dims_size() > 1) return std::nullopt;
  const auto& tensor = value->t();
  const bool whole = tensor.data_type() == onnx::TensorProto::INT64 || tensor.data_type() == onnx::TensorProto::INT32 ||
                     tensor.data_type() == onnx::TensorProto::BOOL;
  if (!whole || element_count(tensor) > kMaxElements) return std::nullopt;
  const auto elements = tensor_as_int64(TensorStore(), tensor);
  return Dims(elements.begin(), elements.end());
}

Found same(ShapeNode& node) { return node.values(0); }

Found cast(ShapeNode& node) {
  const auto to = int_attribute(node.node(), "to", 0);
  const auto in = node.values(0);
  if (to == onnx::TensorProto::INT64) return in;
  const auto known = in ? numbers(*in) : std::nullopt;
  // A size that does not fit 32 bits would not run anyway; numbers that do not are left alone.
  if (to == onnx::TensorProto::INT32 && in) {
    const bool fits = !known || std::all_of(known->begin(), known->end(), [](std::int64_t value) {
      return value == static_cast<std::int32_t>(value);
    });
    return fits ? in : std::nullopt;
  }
  if (to != onnx::TensorProto::BOOL || !known) return std::nullopt;
  Dims truth;
  for (const auto value : *known) truth.emplace_back(value != 0 ? 1 : 0);
  return truth;
}

// Only views that keep one axis or none.
Found view(ShapeNode& node) {
  if (!node.out().dims || node.out().dims->size() > 1) return std::nullopt;
  return node.values(0);
}

Found gather(ShapeNode& node) {
  const auto data = node.values(0);
  const auto indices = node.numbers(1);
  if (!data || !indices || !node.in(0).has_rank(1) || int_attribute(node.node(), "axis", 0) > 0) return std::nullopt;
  Dims picked;
  for (const auto index : *indices) {
    const auto at = axis_of(index, data->size());
    if (!at) return std::nullopt;
    picked.push_back((*data)[*at]);
  }
  return picked;
}

Found slice(ShapeNode& node) {
  const auto data = node.values(0);
  const auto starts = node.numbers(1, "starts"), ends = node.numbers(2, "ends");
  if (!data || !node.in(0).has_rank(1) || !starts || !ends || starts->size() != 1 || ends->size() != 1)
    return std::nullopt;
  std::int64_t step = 1;
  if (node.has(4)) {
    const auto steps = node.numbers(4);
    if (!steps || steps->size() != 1) return std::nullopt;
    step = steps->front();
  }
  const auto length = static_cast<std::int64_t>(data->size());
  const auto from_front = [&](std::int64_t at) { return at < 0 ? std::max(at, -length - 1) + length : at; };
  Dims picked;
  if (step > 0) {
    const auto start = std::clamp<std::int64_t>(from_front(starts->front()), 0, length);
    const auto end = std::clamp<std::int64_t>(from_front(ends->front()), 0, length);
    for (auto at = start; at < end; at += std::min(step, length))
      picked.push_back((*data)[static_cast<std::size_t>(at)]);
  } else if (step < 0) {
    const auto start = std::clamp<std::int64_t>(from_front(starts->front()), -1, length - 1);
    const auto end = std::clamp<std::int64_t>(from_front(ends->front()), -1, length - 1);
    for (auto at = start; at > end; at += std::max(step, -length))
      picked.push_back((*data)[static_cast<std::size_t>(at)]);
  } else {
    return std::nullopt;
  }
  return picked;
}

Found concat(ShapeNode& node) {
  Dims all;
  for (int i = 0; i < node.node().input_size(); ++i) {
    const auto part = node.values(i);
    if (!part || !node.in(i).has_rank(1) || all.size() + part->size() > kMaxElements) return std::nullopt;
    all.insert(all.end(), part->begin(), part->end());
  }
  return all;
}

void split_values(ShapeNode& node) {
  const auto data = node.values(0);
  if (!data || !node.in(0).has_rank(1)) return;
  std::size_t at = 0;
  for (auto& output : node.outputs) {
    if (!output.dims || output.dims->size() != 1 || !output.dim(0)) return;
    const auto length = output.dim(0)->number();
    if (!length || *length < 0 || static_cast<std::size_t>(*length) > data->size() - at) return;
    const auto first = data->begin() + static_cast<std::ptrdiff_t>(at);
    output.data = Dims(first, first + *length);
    at += static_cast<std::size_t>(*length);
  }
}

// Element by element; a single element is spread over the other side.
template <class Combine>
Found combine(const Dims& a, const Dims& b, Combine&& one) {
  const std::size_t count = a.size() == 1 ? b.size() : a.size();
  if (b.size() != 1 && b.size() != count) return std::nullopt;
  Dims result;
  for (std::size_t i = 0; i < count; ++i) {
    const auto value = one(a.size() == 1 ? a[0] : a[i], b.size() == 1 ? b[0] : b[i]);
    if (!value) return std::nullopt;
    result.push_back(*value);
  }
  return result;
}

template <Binary kOperation>
Found arithmetic(ShapeNode& node) {
  const auto a = node.values(0), b = node.values(1);
  return a && b ? combine(*a, *b, kOperation) : std::nullopt;
}

template <Binary kOperation>
Found of_many(ShapeNode& node) {
  Found result = node.node().input_size() > 0 ? node.values(0) : std::nullopt;
  for (int i = 1; i < node.node().input_size() && result; ++i) {
    const auto next = node.values(i);
    result = next ? combine(*result, *next, kOperation) : std::nullopt;
  }
  return result;
}

// Integer division cuts towards zero, which is the floor for sizes; what may be negative is left alone.
std::optional<Dim> divide(const Dim& a, const Dim& b) {
  const auto x = a.number(), y = b.number();
  if (x && y) {
    if (*y == 0 || (*y == -1 && *x == INT64_MIN)) return std::nullopt;
    return *x / *y;
  }
  if (!a.at_least_zero() || !b.at_least_zero() || b.is(0)) return std::nullopt;
  return divide_floor(a, b);
}

std::optional<Dim> remainder(const Dim& a, const Dim& b) {
  const auto x = a.number(), y = b.number();
  if (!x || !y || *x < 0 || *y <= 0) return std::nullopt;
  return *x % *y;
}

std::optional<Dim> equal(const Dim& a, const Dim& b) {
  if (a == b) return 1;
  const auto difference = subtract(a, b);
  if (difference && difference->number()) return 0;
  // A size is never negative.
  if (a.at_least_zero() && b.number().value_or(0) < 0) return 0;
  if (b.at_least_zero() && a.number().value_or(0) < 0) return 0;
  return std::nullopt;
}

// a < b, where the difference decides it.
std::optional<Dim> less(const Dim& a, const Dim& b) {
  const auto difference = subtract(a, b);
  if (const auto known = difference ? difference->number() : std::nullopt) return *known < 0 ? 1 : 0;
  if (difference && difference->at_least_zero()) return 0;
  return std::nullopt;
}

std::optional<Dim> greater(const Dim& a, const Dim& b) { return less(b, a); }
std::optional<Dim> negated(std::optional<Dim> truth) { return truth ? subtract(1, *truth) : std::nullopt; }
std::optional<Dim> at_most(const Dim& a, const Dim& b) { return negated(less(b, a)); }
std::optional<Dim> at_least(const Dim& a, const Dim& b) { return negated(less(a, b)); }

Found logical_not(ShapeNode& node) {
  const auto in = node.values(0);
  return in ? combine(*in, *in, [](const Dim& a, const Dim&) { return negated(a); }) : std::nullopt;
}

Found negative(ShapeNode& node) {
  const auto in = node.values(0);
  return in ? combine(Dims{Dim(0)}, *in, [](const Dim& a, const Dim& b) { return subtract(a, b); }) : std::nullopt;
}

Found where(ShapeNode& node) {
  const auto condition = node.numbers(0);
  const auto yes = node.values(1), no = node.values(2);
  if (!condition || !yes || !no) return std::nullopt;
  const std::size_t count = std::max({condition->size(), yes->size(), no->size()});
  Dims result;
  for (std::size_t i = 0; i < count; ++i) {
    const auto at = [&](const auto& list) -> std::optional<std::size_t> {
      if (list.size() == 1) return 0;
      return list.size() == count ? std::optional<std::size_t>(i) : std::nullopt;
    };
    const auto c = at(*condition), y = at(*yes), n = at(*no);
    if (!c || !y || !n) return std::nullopt;
    result.push_back((*condition)[*c] != 0 ? (*yes)[*y] : (*no)[*n]);
  }
  return result;
}

Found constant_of_shape(ShapeNode& node) {
  const auto length = node.numbers(0);
  if (!length || length->size() > 1) return std::nullopt;
  const auto count = length->empty() ? 1 : length->front();
  if (count < 0 || count > static_cast<std::int64_t>(kMaxElements)) return std::nullopt;
  std::int64_t value = 0;
  if (const auto* attribute = find_attribute(node.node(), "value")) {
    const auto& tensor = attribute->t();
    if (stored_id(tensor) || element_count(tensor) != 1 ||
        (tensor.data_type() != onnx::TensorProto::INT64 && tensor.data_type() != onnx::TensorProto::INT32 &&
         tensor.data_type() != onnx::TensorProto::BOOL))
      return std::nullopt;
    value = tensor_as_int64(TensorStore(), tensor).front();
  } else {
    return std::nullopt;  // float zeros
  }
  return Dims(static_cast<std::size_t>(count), Dim(value));
}

Found range(ShapeNode& node) {
  const auto start = node.numbers(0), limit = node.numbers(1), delta = node.numbers(2);
  if (!start || !limit || !delta || start->size() != 1 || limit->size() != 1 || delta->size() != 1) return std::nullopt;
  Dims values;
  for (std::int64_t at = start->front(); delta->front() > 0 ? at < limit->front() : at > limit->front();) {
    if (delta->front() == 0 || values.size() == kMaxElements) return std::nullopt;
    values.emplace_back(at);
    if (__builtin_add_overflow(at, delta->front(), &at)) return std::nullopt;
  }
  return values;
}

template <Binary kOperation>
Found reduce(ShapeNode& node) {
  const auto in = node.values(0);
  if (!in || in->empty() || !node.out().dims || node.out().dims->size() > 1) return std::nullopt;
  if (node.has(1) && !node.numbers(1)) return std::nullopt;
  const auto axes = node.numbers(1, "axes");
  if (axes && axes->empty() && int_attribute(node.node(), "noop_with_empty_axes", 0) != 0) return in;
  std::optional<Dim> result = in->front();
  for (std::size_t i = 1; i < in->size() && result; ++i) result = kOperation(*result, (*in)[i]);
  return result ? Found({*result}) : std::nullopt;
}

Found expand(ShapeNode& node) {
  const auto in = node.values(0);
  if (!in || in->size() != 1 || !node.out().dims || node.out().dims->size() != 1 || !node.out().dim(0))
    return std::nullopt;
  const auto count = node.out().dim(0)->number();
  if (!count || *count < 0 || *count > static_cast<std::int64_t>(kMaxElements)) return std::nullopt;
  return Dims(static_cast<std::size_t>(*count), in->front());
}

using Rule = Found (*)(ShapeNode&);

}  // namespace

void follow_values(ShapeNode& node) {
  static const std::unordered_map<std::string_view, Rule> rules = {
      {"Shape", shape},
      {"Constant", constant},
      {"Size", size},
      {"Identity", same},
      {"Cast", cast},
      {"Reshape", view},
      {"Squeeze", view},
      {"Unsqueeze", view},
      {"Flatten", view},
      {"Gather", gather},
      {"Slice", slice},
      {"Concat", concat},
      {"Add", arithmetic<add>},
      {"Sub", arithmetic<subtract>},
      {"Mul", arithmetic<multiply>},
      {"Div", arithmetic<divide>},
      {"Mod", arithmetic<remainder>},
      {"Min", of_many<minimum>},
      {"Max", of_many<maximum>},
      {"Equal", arithmetic<equal>},
      {"Less", arithmetic<less>},
      {"Greater", arithmetic<greater>},
      {"LessOrEqual", arithmetic<at_most>},
      {"GreaterOrEqual", arithmetic<at_least>},
      {"And", arithmetic<multiply>},
      {"Or", arithmetic<maximum>},
      {"Not", logical_not},
      {"Neg", negative},
      {"Where", where},
      {"ConstantOfShape", constant_of_shape},
      {"Range", range},
      {"ReduceProd", reduce<multiply>},
      {"ReduceSum", reduce<add>},
      {"ReduceMax", reduce<maximum>},
      {"ReduceMin", reduce<minimum>},
      {"Expand", expand},
      {"Tile", expand},
  };
  if (!is_standard(node.node())) return;
  if (node.node().op_type() == "Split") return split_values(node);
  const auto rule = rules.find(node.node().op_type());
  if (rule == rules.end()) return;
  node.out().data = rule->second(node);
}

}  // namespace octet
