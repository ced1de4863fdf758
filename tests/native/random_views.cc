// Operators that move values about: Reshape, Transpose, Squeeze, Concat, Split, Slice, Gather and their kin.
#include <algorithm>
#include <numeric>

#include "random_graph.h"

namespace octet::random_graphs {
namespace {

using Ints = std::vector<std::int64_t>;

bool runtime_float(const Value& v) { return v.is_float() && !v.stored; }

int random_axis(Builder& b, const Value& x) { return b.random.below(static_cast<int>(x.rank())); }

// Negative now and then, where the opset has negative axes.
std::int64_t written(Builder& b, std::int64_t axis, std::size_t rank) {
  return b.opset >= 11 && b.random.chance(0.3) ? axis - static_cast<std::int64_t>(rank) : axis;
}

bool reshape(Builder& b) {
  const auto x = b.pick_float(1, 4);
  if (!x) return false;
  const std::size_t axis = static_cast<std::size_t>(random_axis(b, *x));
  Sizes dims = x->dims;
  Ints shape;
  if (x->rank() >= 2 && axis + 1 < x->rank() && b.random.chance(0.5)) {  // two axes become one
    dims[axis] = zip(dims[axis], dims[axis + 1], [](auto v, auto w) { return v * w; });
    dims.erase(dims.begin() + static_cast<std::ptrdiff_t>(axis) + 1);
  } else if (fixed(dims[axis]) && dims[axis][0] % 2 == 0 && x->rank() < 5) {  // one becomes two
    const auto half = dims[axis][0] / 2;
    dims[axis] = same(2);
    dims.insert(dims.begin() + static_cast<std::ptrdiff_t>(axis) + 1, same(half));
  } else if (x->rank() < 5) {
    dims.insert(dims.begin() + static_cast<std::ptrdiff_t>(axis), same(1));
  }
  bool open = false;
  for (std::size_t i = 0; i < dims.size(); ++i) {
    if (i < x->rank() && dims[i] == x->dims[i] && (!fixed(dims[i]) || b.random.chance(0.2)) && b.random.chance(0.8)) {
      shape.push_back(0);
    } else if (fixed(dims[i]) && !(!open && b.random.chance(0.2))) {
      shape.push_back(dims[i][0]);
    } else {
      if (open) return false;
      open = true;
      shape.push_back(-1);
    }
  }
  const Value y = b.reshape(*x, shape, dims);
  if (b.random.chance(0.2)) {  // and back
    if (fixed(x->dims)) b.reshape(y, numbers_of(x->dims), x->dims);
  }
  return true;
}

bool transpose(Builder& b) {
  const auto x = b.pick_float(2, 5);
  if (!x) return false;
  Ints perm(x->rank());
  std::iota(perm.begin(), perm.end(), 0);
  for (std::size_t i = perm.size() - 1; i > 0; --i) std::swap(perm[i], perm[b.random.next() % (i + 1)]);
  const Value y = b.transpose(*x, perm);
  if (b.random.chance(0.4)) {
    Ints back(perm.size());
    for (std::size_t i = 0; i < perm.size(); ++i)
      back[static_cast<std::size_t>(perm[i])] = static_cast<std::int64_t>(i);
    const Value middle = b.random.chance(0.5) ? b.add("Relu", {y.name}, kFloat, y.dims) : y;
    b.transpose(middle, b.random.chance(0.7) ? back : perm);
  }
  return true;
}

Value squeezed(Builder& b, const char* op, const Value& x, const Ints& axes, Sizes dims) {
  if (b.opset < 13) return b.add(op, {x.name}, x.type, std::move(dims), {attribute("axes", axes)});
  return b.add(op, {x.name, b.ints(axes).name}, x.type, std::move(dims));
}

bool squeeze_or_unsqueeze(Builder& b) {
  const auto x = b.pick_float(0, 4);
  if (!x) return false;
  Sizes dims = x->dims;
  for (std::size_t axis = 0; axis < dims.size(); ++axis) {
    if (dims[axis] != same(1) || !b.random.chance(0.5)) continue;
    dims.erase(dims.begin() + static_cast<std::ptrdiff_t>(axis));
    squeezed(b, "Squeeze", *x, {written(b, static_cast<std::int64_t>(axis), x->rank())}, dims);
    return true;
  }
  const std::int64_t axis = b.random.below(static_cast<int>(x->rank()) + 1);
  dims.insert(dims.begin() + static_cast<std::ptrdiff_t>(axis), same(1));
  const Value y = squeezed(b, "Unsqueeze", *x, {written(b, axis, dims.size())}, dims);
  if (b.random.chance(0.3)) squeezed(b, "Squeeze", y, {axis}, x->dims);
  return true;
}

bool flatten(Builder& b) {
  const auto x = b.pick_float(1, 4);
  if (!x) return false;
  const std::size_t axis = static_cast<std::size_t>(b.random.below(static_cast<int>(x->rank()) + 1));
  const Sizes head(x->dims.begin(), x->dims.begin() + static_cast<std::ptrdiff_t>(axis)),
      tail(x->dims.begin() + static_cast<std::ptrdiff_t>(axis), x->dims.end());
  b.add("Flatten", {x->name}, kFloat, {elements(head), elements(tail)},
        axis == 1 && b.random.chance(0.5) ? Attributes{}
                                          : Attributes{attribute("axis", static_cast<std::int64_t>(axis))});
  return true;
}

bool concat(Builder& b) {
  const auto x = b.pick_float(1);
  if (!x) return false;
  const auto axis = static_cast<std::size_t>(random_axis(b, *x));
  const auto other = b.pick([&](const Value& v) {
    if (!runtime_float(v) || v.rank() != x->rank()) return false;
    for (std::size_t i = 0; i < v.rank(); ++i) {
      if (i != axis && v.dims[i] != x->dims[i]) return false;
    }
    return true;
  });
  std::vector<std::string> inputs = {x->name, other->name};
  Sizes dims = x->dims;
  const auto grow = [&](const Size& by) { dims[axis] = zip(dims[axis], by, [](auto v, auto w) { return v + w; }); };
  grow(other->dims[axis]);
  Sizes rest = x->dims;
  rest.erase(rest.begin() + static_cast<std::ptrdiff_t>(axis));
  if (fixed(rest) && b.random.chance(0.3)) {  // with something stored, as a class token
    Sizes shape = x->dims;
    shape[axis] = same(1);
    grow(same(1));
    inputs.insert(inputs.begin(), b.weight(numbers_of(shape), -1, 1).name);
  }
  if (!small_enough(dims)) return false;
  b.add("Concat", inputs, kFloat, dims, {attribute("axis", written(b, static_cast<std::int64_t>(axis), x->rank()))});
  return true;
}

bool split(Builder& b) {
  const auto x = b.pick([](const Value& v) {
    return runtime_float(v) && v.rank() >= 1 &&
           std::any_of(v.dims.begin(), v.dims.end(), [](const Size& d) { return fixed(d) && d[0] >= 2; });
  });
  if (!x) return false;
  std::size_t axis = 0;
  while (!fixed(x->dims[axis]) || x->dims[axis][0] < 2) ++axis;
  const std::int64_t whole = x->dims[axis][0], first = b.random.between(1, static_cast<int>(whole) - 1);
  const bool equal = whole % 2 == 0 && b.random.chance(0.5);
  const Ints parts = equal ? Ints{whole / 2, whole / 2} : Ints{first, whole - first};
  std::vector<std::pair<int, Sizes>> outputs;
  for (const auto part : parts) {
    outputs.emplace_back(kFloat, x->dims);
    outputs.back().second[axis] = same(part);
  }
  Attributes attributes = {attribute("axis", static_cast<std::int64_t>(axis))};
  std::vector<std::string> inputs = {x->name};
  const bool bare = equal && b.random.chance(0.5);
  if (!bare && b.opset < 13) attributes.push_back(attribute("split", parts));
  if (!bare && b.opset >= 13) inputs.push_back(b.ints(parts).name);
  if (bare && b.opset >= 18) attributes.push_back(attribute("num_outputs", 2));
  b.add_all("Split", inputs, outputs, attributes);
  return true;
}

bool slice(Builder& b) {
  const auto x = b.pick_float(1, 4);
  if (!x) return false;
  const auto axis = static_cast<std::size_t>(random_axis(b, *x));
  const Size whole = x->dims[axis];
  const auto least = *std::min_element(whole.begin(), whole.end());
  const bool backwards = b.opset >= 10 && b.random.chance(0.1);
  std::int64_t start = b.random.below(static_cast<int>(std::min<std::int64_t>(least, 4))),
               step = b.opset >= 10 && b.random.chance(0.2) ? 2 : 1;
  std::int64_t end =
      b.random.chance(0.5)
          ? std::int64_t{9223372036854775807}
          : b.random.between(static_cast<int>(start) + 1, static_cast<int>(std::max<std::int64_t>(start + 1, least)));
  if (b.random.chance(0.15)) start = 0, end = std::int64_t{9223372036854775807}, step = 1;  // all of it
  Sizes dims = x->dims;
  dims[axis] = zip(whole, whole, [&](auto n, auto) { return (std::min(n, end) - start + step - 1) / step; });
  if (backwards) start = -1, end = -9223372036854775807, step = -1, dims[axis] = whole;
  if (!small_enough(dims)) return false;
  if (b.opset < 10) {
    b.add("Slice", {x->name}, kFloat, dims,
          {attribute("starts", Ints{start}), attribute("ends", Ints{end}),
           attribute("axes", Ints{static_cast<std::int64_t>(axis)})});
    return true;
  }
  std::vector<std::string> inputs = {x->name, b.ints({start}).name, b.ints({end}).name,
                                     b.ints({written(b, static_cast<std::int64_t>(axis), x->rank())}).name};
  if (step != 1 || b.random.chance(0.3)) inputs.push_back(b.ints({step}).name);
  b.add("Slice", inputs, kFloat, dims);
  return true;
}

bool gather(Builder& b) {
  if (b.random.chance(0.4)) {  // a table, which another node may read too
    const auto ids = b.pick([](const Value& v) {
      return v.type == kInt64 && !v.stored && !v.content && v.rank() == 2 && v.name[0] == 'x';
    });
    if (!ids) return false;
    const std::int64_t width = b.random.between(2, 6);
    const Value table = b.weight({8, width}, -1, 1);
    Sizes dims = ids->dims;
    dims.push_back(same(width));
    b.add("Gather", {table.name, ids->name}, kFloat, dims);
    const auto x =
        b.pick([&](const Value& v) { return runtime_float(v) && v.rank() >= 2 && v.dims.back() == same(width); });
    if (x && b.random.chance(0.4)) {  // tied: the head is the table turned over
      Sizes out = x->dims;
      out.back() = same(8);
      if (small_enough(out)) b.add("MatMul", {x->name, b.transpose(table, {1, 0}).name}, kFloat, out);
    }
    return true;
  }
  const auto x = b.pick_float(1, 4);
  if (!x) return false;
  const auto axis = static_cast<std::size_t>(random_axis(b, *x));
  const auto least = static_cast<int>(*std::min_element(x->dims[axis].begin(), x->dims[axis].end()));
  Sizes dims = x->dims;
  const auto at = [&] { return b.random.below(least) - (b.opset >= 11 && b.random.chance(0.2) ? least : 0); };
  if (!fixed(x->dims[axis]) || b.random.chance(0.5)) {
    dims.erase(dims.begin() + static_cast<std::ptrdiff_t>(axis));
    const std::int64_t index = b.random.below(least);
    b.add("Gather", {x->name, b.scalar(kInt64, static_cast<double>(index)).name}, kFloat, dims,
          {attribute("axis", static_cast<std::int64_t>(axis))});
  } else {
    dims[axis] = same(2);
    b.add("Gather", {x->name, b.ints({at(), at()}).name}, kFloat, dims,
          {attribute("axis", static_cast<std::int64_t>(axis))});
  }
  return true;
}

bool tile(Builder& b) {
  const auto x = b.pick_float(1, 4);
  if (!x) return false;
  Ints repeats;
  Sizes dims = x->dims;
  for (Size& dim : dims) {
    repeats.push_back(b.random.chance(0.3) ? 2 : 1);
    dim = zip(dim, same(repeats.back()), [](auto v, auto w) { return v * w; });
  }
  if (!small_enough(dims)) return false;
  b.add("Tile", {x->name, b.ints(repeats).name}, kFloat, dims);
  return true;
}

bool where(Builder& b) {
  const auto x = b.pick_float();
  if (!x) return false;
  const auto other = b.scalar(kFloat, b.random.chance(0.3) ? -1e9 : 0.25);
  Value condition;
  if (b.random.chance(0.4)) {
    condition = b.constant(kBool, {1}, {static_cast<double>(b.random.below(2))});
  } else {
    const Value limit = b.scalar(kFloat, b.random.uniform(-0.5, 0.5));
    condition = b.add(b.random.chance(0.5) ? "Greater" : "Less", {x->name, limit.name}, kBool, x->dims);
    if (b.random.chance(0.3)) condition = b.add("Not", {condition.name}, kBool, condition.dims);
  }
  const auto dims = broadcast(x->dims, condition.dims);
  b.add("Where",
        b.random.chance(0.5) ? std::vector{condition.name, x->name, other.name}
                             : std::vector{condition.name, other.name, x->name},
        kFloat, *dims);
  return true;
}

bool cast(Builder& b) {
  const auto x = b.pick([](const Value& v) { return (v.is_float() || v.type == kInt64) && !v.stored; });
  if (!x) return false;
  if (x->is_float()) {
    b.add("Cast", {x->name}, kFloat, x->dims, {attribute("to", int{kFloat})});
    return true;
  }
  Value y = b.add("Cast", {x->name}, kInt32, x->dims, {attribute("to", int{kInt32})});
  y = b.add("Cast", {y.name}, kFloat, x->dims, {attribute("to", int{kFloat})});
  b.add("Mul", {y.name, b.scalar(kFloat, 0.1).name}, kFloat, x->dims);
  return true;
}

bool identity_or_dropout(Builder& b) {
  const auto x = b.pick_float();
  if (!x) return false;
  if (b.random.chance(0.5)) {
    b.add("Identity", {x->name}, kFloat, x->dims);
  } else if (b.opset < 12) {
    b.add("Dropout", {x->name}, kFloat, x->dims, {attribute("ratio", 0.3f)});
  } else {
    std::vector<std::string> inputs = {x->name};
    if (b.random.chance(0.5)) inputs.push_back(b.scalar(kFloat, 0.3).name);
    if (inputs.size() == 2 && b.random.chance(0.3)) inputs.push_back(b.scalar(kBool, 0).name);
    if (b.random.chance(0.2))
      b.add_all("Dropout", inputs, {{kFloat, x->dims}, {kBool, x->dims}});
    else
      b.add("Dropout", inputs, kFloat, x->dims);
  }
  return true;
}

}  // namespace

const std::vector<Maker>& view_makers() {
  static const std::vector<Maker> makers = {
      {"Reshape", 5, reshape}, {"Transpose", 5, transpose}, {"Squeeze", 4, squeeze_or_unsqueeze},
      {"Flatten", 2, flatten}, {"Concat", 4, concat},       {"Split", 3, split},
      {"Slice", 4, slice},     {"Gather", 4, gather},       {"Tile", 2, tile},
      {"Where", 2, where},     {"Cast", 2, cast},           {"Identity", 3, identity_or_dropout},
  };
  return makers;
}

}  // namespace octet::random_graphs
