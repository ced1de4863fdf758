// Integers that compute shapes, and what is made of them: Shape, Gather, Concat, Range, ConstantOfShape, NonZero,
// Expand.
#include <algorithm>

#include "random_graph.h"

namespace octet::random_graphs {
namespace {

constexpr std::int64_t kMostInteger = 100000;

bool known(const Value& v) { return v.type == kInt64 && v.content.has_value(); }
bool known_list(const Value& v) { return known(v) && v.rank() == 1; }

// An int64 whose content is followed.
std::optional<Value> follow(Builder& b, const std::string& op, const std::vector<std::string>& inputs, bool scalar,
                            Sizes content, Attributes attributes = {}) {
  for (const Size& number : content) {
    if (std::any_of(number.begin(), number.end(), [](auto n) { return n < -kMostInteger || n > kMostInteger; }))
      return std::nullopt;
  }
  Sizes dims;
  if (!scalar) dims.push_back(same(static_cast<std::int64_t>(content.size())));
  b.add(op, inputs, kInt64, dims, std::move(attributes));
  b.values.back().content = std::move(content);
  return b.values.back();
}

Value one_axis(Builder& b, const Value& scalar) {
  const auto axes = std::vector<std::int64_t>{0};
  if (b.opset < 13) return *follow(b, "Unsqueeze", {scalar.name}, false, *scalar.content, {attribute("axes", axes)});
  return *follow(b, "Unsqueeze", {scalar.name, b.ints(axes).name}, false, *scalar.content);
}

Value shape_of(Builder& b, const Value& x) { return *follow(b, "Shape", {x.name}, false, x.dims); }

// One dimension of x as the list of one, by a chain of the kind exporters write.
Value dimension(Builder& b, const Value& x, std::size_t axis) {
  const Value shape = shape_of(b, x);
  const auto at = static_cast<std::int64_t>(axis);
  if (b.opset >= 10 && b.random.chance(0.4)) {
    std::vector<std::string> inputs = {shape.name, b.ints({at}).name, b.ints({at + 1}).name};
    if (b.random.chance(0.5)) inputs.push_back(b.ints({0}).name);
    return *follow(b, "Slice", inputs, false, {x.dims[axis]});
  }
  if (b.random.chance(0.3))
    return *follow(b, "Gather", {shape.name, b.ints({at}).name}, false, {x.dims[axis]}, {attribute("axis", 0)});
  return one_axis(
      b, *follow(b, "Gather", {shape.name, b.scalar(kInt64, static_cast<double>(at)).name}, true, {x.dims[axis]}));
}

bool shape(Builder& b) {
  const auto x = b.pick([](const Value& v) { return v.rank() >= 1; });
  if (!x) return false;
  if (b.opset >= 15 && x->rank() >= 2 && b.random.chance(0.2)) {
    const Sizes rest(x->dims.begin() + 1, x->dims.end());
    return follow(b, "Shape", {x->name}, false, rest, {attribute("start", 1)}).has_value();
  }
  shape_of(b, *x);
  return true;
}

bool gather_known(Builder& b) {
  const auto list = b.pick(known_list);
  if (!list || list->content->empty()) return false;
  const int count = static_cast<int>(list->content->size());
  const int at = b.random.below(count), given = b.random.chance(0.2) && b.opset >= 11 ? at - count : at;
  if (b.random.chance(0.6))
    return follow(b, "Gather", {list->name, b.scalar(kInt64, given).name}, true,
                  {(*list->content)[static_cast<std::size_t>(at)]})
        .has_value();
  const int other = b.random.below(count);
  return follow(b, "Gather", {list->name, b.ints({given, other}).name}, false,
                {(*list->content)[static_cast<std::size_t>(at)], (*list->content)[static_cast<std::size_t>(other)]})
      .has_value();
}

bool concat_known(Builder& b) {
  Sizes content;
  std::vector<std::string> names;
  for (int parts = b.random.between(1, 3); parts > 0; --parts) {
    const auto part = b.random.chance(0.6) ? b.pick(known_list) : std::optional(b.ints({b.random.between(1, 4)}));
    if (!part) return false;
    names.push_back(part->name);
    content.insert(content.end(), part->content->begin(), part->content->end());
  }
  if (content.size() > 8) return false;
  return follow(b, "Concat", names, false, content, {attribute("axis", b.random.chance(0.2) && b.opset >= 11 ? -1 : 0)})
      .has_value();
}

bool unsqueeze_known(Builder& b) {
  const auto scalar = b.pick([](const Value& v) { return known(v) && v.rank() == 0; });
  if (!scalar) return false;
  one_axis(b, *scalar);
  return true;
}

bool arithmetic_known(Builder& b) {
  const auto x = b.pick(known);
  if (!x || x->content->empty()) return false;
  const auto large = [](const Size& n) {
    return std::any_of(n.begin(), n.end(), [](auto v) { return v > (1LL << 60) || v < -(1LL << 60); });
  };
  if (std::any_of(x->content->begin(), x->content->end(), large)) return false;  // the end of a Slice
  const int kind = b.random.below(4);
  const std::int64_t number = b.random.between(1, 4);
  static constexpr std::array kOps = {"Add", "Sub", "Mul", "Div"};
  Sizes content;
  for (const Size& n : *x->content) {
    // The runtime rounds towards zero, as C++ does.
    content.push_back(zip(n, n, [&](auto v, auto) {
      return std::array{v + number, v - number, v * number, v / number}[static_cast<std::size_t>(kind)];
    }));
  }
  const auto operand = b.random.chance(0.5) ? b.scalar(kInt64, static_cast<double>(number)) : b.ints({number});
  const bool scalar = x->rank() == 0 && operand.rank() == 0;
  return follow(b, kOps[static_cast<std::size_t>(kind)], {x->name, operand.name}, scalar, content).has_value();
}

bool cast_known(Builder& b) {
  const auto x = b.pick(known);
  if (!x) return false;
  const int through =
      std::array{int{kInt32}, int{kFloat}, int{kDouble}, int{kInt64}}[static_cast<std::size_t>(b.random.below(4))];
  const Value there = b.add("Cast", {x->name}, through, x->dims, {attribute("to", through)});
  return follow(b, "Cast", {there.name}, x->rank() == 0, *x->content, {attribute("to", int{kInt64})}).has_value();
}

// The chain behind Expand in many exports: a shape, its entries that say -1 replaced by ones.
bool where_known(Builder& b) {
  const auto x = b.pick(known_list);
  if (!x || x->content->empty()) return false;
  const std::int64_t number = b.random.between(1, 4);
  const Value with = b.ints({number});
  const Value hit = b.add("Equal", {x->name, with.name}, kBool, x->dims);
  const Value ones = *follow(b, "ConstantOfShape", {b.ints({static_cast<std::int64_t>(x->content->size())}).name},
                             false, Sizes(x->content->size(), same(1)), {[&] {
                               onnx::TensorProto one;
                               one.set_data_type(kInt64);
                               one.add_dims(1);
                               one.add_int64_data(1);
                               return attribute("value", one);
                             }()});
  Sizes content;
  for (const Size& n : *x->content) content.push_back(zip(n, n, [&](auto v, auto) { return v == number ? 1 : v; }));
  return follow(b, "Where", {hit.name, ones.name, x->name}, false, content).has_value();
}

bool product_known(Builder& b) {
  const auto x = b.pick(known_list);
  if (!x || x->content->empty()) return false;
  Size product = same(1);
  for (const Size& n : *x->content)
    product = zip(product, n, [](auto v, auto w) { return std::abs(v * w) > kMostInteger ? kMostInteger + 1 : v * w; });
  const bool keep = b.random.chance(0.5);
  return follow(b, "ReduceProd", {x->name}, !keep, {product}, {attribute("keepdims", keep ? 1 : 0)}).has_value();
}

bool range(Builder& b) {
  if (b.opset < 11) return false;
  const auto limit = b.pick([](const Value& v) {
    return known(v) && v.rank() == 0 &&
           std::all_of((*v.content)[0].begin(), (*v.content)[0].end(), [](auto n) { return n >= 1 && n <= 200; });
  });
  if (!limit) return false;
  const Value numbers =
      b.add("Range", {b.scalar(kInt64, 0).name, limit->name, b.scalar(kInt64, 1).name}, kInt64, {(*limit->content)[0]});
  if (fixed(numbers.dims)) {
    Sizes content;
    for (std::int64_t i = 0; i < numbers.dims[0][0]; ++i) content.push_back(same(i));
    b.values.back().content = content;
  }
  const Value floats = b.add("Cast", {numbers.name}, kFloat, numbers.dims, {attribute("to", int{kFloat})});
  b.add("Mul", {floats.name, b.scalar(kFloat, 0.1).name}, kFloat, floats.dims);
  return true;
}

std::optional<Value> pick_shape(Builder& b, std::size_t most = 4) {
  return b.pick([&](const Value& v) {
    return known_list(v) && !v.content->empty() && v.content->size() <= most && small_enough(*v.content) &&
           std::all_of(v.content->begin(), v.content->end(),
                       [](const Size& n) { return std::all_of(n.begin(), n.end(), [](auto d) { return d >= 1; }); });
  });
}

bool constant_of_shape(Builder& b) {
  const auto shape = pick_shape(b);
  if (!shape) return false;
  onnx::TensorProto fill;
  fill.add_dims(1);
  if (b.random.chance(0.3)) {
    fill.set_data_type(kInt64);
    fill.add_int64_data(1);
    const Value ones = b.add("ConstantOfShape", {shape->name}, kInt64, *shape->content, {attribute("value", fill)});
    // Where something is: all of it, in order.
    const std::int64_t rank = static_cast<std::int64_t>(ones.rank());
    const Value places = b.add("NonZero", {ones.name}, kInt64, {same(rank), elements(ones.dims)});
    if (b.random.chance(0.6)) b.transpose(places, {1, 0});
    return true;
  }
  fill.set_data_type(kFloat);
  fill.add_float_data(b.random.chance(0.5) ? 0.0f : static_cast<float>(b.random.uniform(-1, 1)));
  b.add("ConstantOfShape", {shape->name}, kFloat, *shape->content,
        b.random.chance(0.2) ? Attributes{} : Attributes{attribute("value", fill)});
  return true;
}

bool expand(Builder& b) {
  const auto shape = pick_shape(b);
  if (!shape) return false;
  const auto x = b.pick([&](const Value& v) {
    if (!v.is_float() || v.stored) return false;
    const auto dims = broadcast(v.dims, *shape->content);
    return dims && small_enough(*dims);
  });
  if (!x) return false;
  b.add("Expand", {x->name, shape->name}, kFloat, *broadcast(x->dims, *shape->content));
  return true;
}

// Reshape to a shape that is computed from x: the axes regrouped, each dimension by a way of its own.
bool reshape_computed(Builder& b) {
  const auto x = b.pick([](const Value& v) { return v.is_float() && !v.stored && v.rank() >= 2 && v.rank() <= 4; });
  if (!x) return false;
  const std::size_t merged = static_cast<std::size_t>(b.random.below(static_cast<int>(x->rank()) - 1));
  Sizes dims;
  std::vector<std::string> parts;
  bool open = false;
  for (std::size_t axis = 0; axis < x->rank(); ++axis) {
    const std::size_t place = dims.size();
    if (axis == merged) {
      dims.push_back(zip(x->dims[axis], x->dims[axis + 1], [](auto v, auto w) { return v * w; }));
      ++axis;
      if (!open && b.random.chance(0.5)) {
        open = true;
        parts.push_back(b.ints({-1}).name);
      } else {
        const Value first = dimension(b, *x, axis - 1), second = dimension(b, *x, axis);
        const auto product = follow(b, "Mul", {first.name, second.name}, false, {dims.back()});
        if (!product) return false;
        parts.push_back(product->name);
      }
      continue;
    }
    dims.push_back(x->dims[axis]);
    if (place == axis && b.random.chance(0.2))
      parts.push_back(b.ints({0}).name);
    else if (fixed(x->dims[axis]) && b.random.chance(0.5))
      parts.push_back(b.ints({x->dims[axis][0]}).name);
    else
      parts.push_back(dimension(b, *x, axis).name);
  }
  const Value shape =
      b.add("Concat", parts, kInt64, {same(static_cast<std::int64_t>(parts.size()))}, {attribute("axis", 0)});
  b.add("Reshape", {x->name, shape.name}, kFloat, dims);
  return true;
}

}  // namespace

const std::vector<Maker>& shape_makers() {
  static const std::vector<Maker> makers = {
      {"Shape", 4, shape},
      {"Gather of a shape", 4, gather_known},
      {"Concat of shapes", 4, concat_known},
      {"Unsqueeze of a number", 3, unsqueeze_known},
      {"integer arithmetic", 3, arithmetic_known},
      {"integer Cast", 2, cast_known},
      {"integer Where", 2, where_known},
      {"ReduceProd", 1, product_known},
      {"Range", 2, range},
      {"ConstantOfShape", 3, constant_of_shape},
      {"Expand", 3, expand},
      {"computed Reshape", 5, reshape_computed},
  };
  return makers;
}

}  // namespace octet::random_graphs
