// Arithmetic, activations, and the blocks that exporters take apart: LayerNormalization, GELU, softmax, attention.
#include <algorithm>
#include <cmath>

#include "random_graph.h"

namespace octet::random_graphs {
namespace {

bool runtime_float(const Value& v) { return v.is_float() && !v.stored; }

std::vector<std::string> either_order(Builder& b, const std::string& x, const std::string& y) {
  return b.random.chance(0.5) ? std::vector{x, y} : std::vector{y, x};
}

// A stored operand of a random shape that broadcasts with x, possibly to something larger.
Value stored_operand(Builder& b, const Value& x, double low, double high) {
  Random& random = b.random;
  std::vector<std::int64_t> shape;
  if (!random.chance(0.25)) {
    const std::size_t axes = static_cast<std::size_t>(random.between(1, std::max<int>(1, static_cast<int>(x.rank()))));
    for (std::size_t axis = x.rank() - std::min(axes, x.rank()); axis < x.rank(); ++axis)
      shape.push_back(fixed(x.dims[axis]) && random.chance(0.6) ? x.dims[axis][0] : 1);
    if (random.chance(0.1)) shape.insert(shape.begin(), 5 - std::min<std::size_t>(shape.size(), 4), 1);
    if (random.chance(0.05)) shape.insert(shape.begin(), random.between(1, 2));
    if (shape.size() > 5) shape.resize(1);
  }
  const bool fits = broadcast(x.dims, same(shape)).has_value();
  return b.weight(fits ? shape : std::vector<std::int64_t>{1}, low, high);
}

bool with_stored(Builder& b) {
  const auto x = b.pick_float();
  if (!x) return false;
  const std::string op = std::array{"Add", "Mul", "Sub", "Div"}[static_cast<std::size_t>(b.random.below(4))];
  const bool neutral = b.random.chance(0.1);  // x + 0, x * 1
  const double one = op == "Mul" || op == "Div" ? 1 : 0;
  const Value c = neutral ? stored_operand(b, *x, one, one) : stored_operand(b, *x, op == "Div" ? 0.5 : -1.5, 1.5);
  const auto dims = broadcast(x->dims, c.dims);
  if (!dims || !small_enough(*dims)) return false;
  if (op == "Div")
    b.add(op, {x->name, c.name}, kFloat, *dims);
  else
    b.add(op, either_order(b, x->name, c.name), kFloat, *dims);
  return true;
}

bool of_two(Builder& b) {
  const auto x = b.pick_float();
  if (!x) return false;
  const auto y = b.pick([&](const Value& v) { return runtime_float(v) && broadcast(x->dims, v.dims).has_value(); });
  const auto dims = broadcast(x->dims, y->dims);
  if (!small_enough(*dims)) return false;
  const std::string op = std::array{"Add", "Mul", "Sub", "Max", "Min"}[static_cast<std::size_t>(b.random.below(5))];
  b.add(op, either_order(b, x->name, y->name), kFloat, *dims);
  return true;
}

bool activation(Builder& b) {
  const auto x = b.pick_float();
  if (!x) return false;
  static constexpr std::array kOps = {"Relu", "Relu",     "Sigmoid",     "Tanh",      "Erf", "Abs",
                                      "Neg",  "Softplus", "HardSigmoid", "LeakyRelu", "Elu"};
  std::string op = kOps[b.random.next() % kOps.size()];
  if (op == "HardSigmoid" && b.opset >= 14 && b.random.chance(0.5)) op = "HardSwish";
  b.add(op, {x->name}, kFloat, x->dims);
  return true;
}

bool clip(Builder& b) {
  const auto x = b.pick_float();
  if (!x) return false;
  const bool low = b.random.chance(0.7), high = b.random.chance(0.7);
  const double least = b.random.uniform(-1, 0.2), most = b.random.chance(0.3) ? 6 : b.random.uniform(0.3, 1.5);
  if (b.opset < 11) {
    Attributes attributes;
    if (low) attributes.push_back(attribute("min", static_cast<float>(least)));
    if (high) attributes.push_back(attribute("max", static_cast<float>(most)));
    b.add("Clip", {x->name}, kFloat, x->dims, attributes);
    return true;
  }
  std::vector<std::string> inputs = {x->name};
  if (low || high) inputs.push_back(low ? b.scalar(kFloat, least).name : "");
  if (high) inputs.push_back(b.scalar(kFloat, most).name);
  b.add("Clip", inputs, kFloat, x->dims);
  return true;
}

// Axes are an attribute before `since`, an input from then on.
Value reduced(Builder& b, const std::string& op, const Value& x, std::vector<std::int64_t> axes, bool keep) {
  Sizes dims;
  for (std::size_t axis = 0; axis < x.rank(); ++axis) {
    const bool gone =
        std::any_of(axes.begin(), axes.end(), [&](auto a) { return a == static_cast<std::int64_t>(axis); });
    if (!gone || axes.empty()) dims.push_back(x.dims[axis]);
    if (gone && keep) dims.push_back(same(1));
  }
  if (b.random.chance(0.4) && b.opset >= 11) axes[0] -= static_cast<std::int64_t>(x.rank());
  Attributes attributes;
  if (!keep || b.random.chance(0.5)) attributes.push_back(attribute("keepdims", keep ? 1 : 0));
  const int since = op == "ReduceSum" ? 13 : 18;
  if (b.opset >= since) return b.add(op, {x.name, b.ints(axes).name}, x.type, dims, attributes);
  attributes.push_back(attribute("axes", axes));
  return b.add(op, {x.name}, x.type, dims, attributes);
}

bool reduce(Builder& b) {
  const auto x = b.pick_float(1);
  if (!x) return false;
  const std::string op =
      std::array{"ReduceMean", "ReduceSum", "ReduceMax", "ReduceMin"}[static_cast<std::size_t>(b.random.below(4))];
  std::vector<std::int64_t> axes = {b.random.below(static_cast<int>(x->rank()))};
  if (x->rank() > 1 && b.random.chance(0.2)) axes = {0, static_cast<std::int64_t>(x->rank()) - 1};
  reduced(b, op, *x, axes, b.random.chance(0.6));
  return true;
}

// Random weights cannot make a constant row wide: an axis of one would divide rounding by epsilon.
bool wide(const Value& v, std::int64_t least = 3) {
  return runtime_float(v) && v.rank() >= 2 && fixed(v.dims.back()) && v.dims.back()[0] >= least;
}

bool layer_normalization(Builder& b) {
  const auto x = b.pick([](const Value& v) { return wide(v); });
  if (!x) return false;
  const std::int64_t width = x->dims.back()[0], axis = static_cast<std::int64_t>(x->rank()) - 1;
  const auto float_scalar = [&](double number) { return b.scalar(kFloat, number).name; };
  if (b.opset >= 17 && b.random.chance(0.2)) {
    b.add("LayerNormalization", {x->name, b.weight({width}, 0.5, 1.5).name, b.weight({width}, -1, 1).name}, kFloat,
          x->dims, {attribute("axis", -1)});
    return true;
  }
  const Value mean = reduced(b, "ReduceMean", *x, {axis}, true);
  const Value off = b.add("Sub", {x->name, mean.name}, kFloat, x->dims);
  const Value off2 = b.random.chance(0.15) ? b.add("Sub", {x->name, mean.name}, kFloat, x->dims) : off;
  const Value square = b.random.chance(0.7) ? b.add("Pow", {off2.name, float_scalar(2)}, kFloat, x->dims)
                                            : b.add("Mul", {off2.name, off2.name}, kFloat, x->dims);
  const Value variance = reduced(b, "ReduceMean", square, {axis}, true);
  // Epsilon second: ONNX Runtime 1.30 takes its default for one that comes first.
  const Value safe =
      b.add("Add", {variance.name, float_scalar(b.random.chance(0.5) ? 1e-5 : 1e-3)}, kFloat, variance.dims);
  const Value deviation = b.add("Sqrt", {safe.name}, kFloat, safe.dims);
  Value y = b.add("Div", {off.name, deviation.name}, kFloat, x->dims);
  if (b.random.chance(0.85))
    y = b.add("Mul", either_order(b, y.name, b.weight({width}, 0.5, 1.5).name), kFloat, x->dims);
  if (b.random.chance(0.85)) b.add("Add", either_order(b, y.name, b.weight({width}, -1, 1).name), kFloat, x->dims);
  return true;
}

bool gelu(Builder& b) {
  const auto x = b.pick_float(1);
  if (!x) return false;
  const auto number = [&](double n) { return b.scalar(kFloat, n).name; };
  const auto with = [&](const std::string& op, const std::string& left, const std::string& right) {
    return b.add(op, {left, right}, kFloat, x->dims).name;
  };
  const bool half_first = b.random.chance(0.3);
  const std::string in = half_first ? with("Mul", x->name, number(0.5)) : x->name;
  std::string inner;
  if (b.random.chance(0.5)) {
    const std::string scaled = b.random.chance(0.5) ? with("Div", x->name, number(std::sqrt(2.0)))
                                                    : with("Mul", x->name, number(std::sqrt(0.5)));
    inner = b.add("Erf", {scaled}, kFloat, x->dims).name;
  } else {
    const std::string cube =
        b.random.chance(0.5) ? with("Pow", x->name, number(3)) : with("Mul", with("Mul", x->name, x->name), x->name);
    const std::string sum = with("Add", x->name, with("Mul", cube, number(0.044715)));
    inner = b.add("Tanh", {with("Mul", sum, number(std::sqrt(2.0 / 3.14159265358979)))}, kFloat, x->dims).name;
  }
  const std::string one = with("Add", inner, number(1));
  const std::string product = b.random.chance(0.5) ? with("Mul", in, one) : with("Mul", one, in);
  if (!half_first) with("Mul", product, number(0.5));
  return true;
}

bool gated(Builder& b) {  // SiLU and hard swish
  const auto x = b.pick_float(1);
  if (!x) return false;
  if (b.random.chance(0.5)) {
    const Value gate = b.add("Sigmoid", {x->name}, kFloat, x->dims);
    b.add("Mul", either_order(b, x->name, gate.name), kFloat, x->dims);
    return true;
  }
  Value gate = b.add("Add", {x->name, b.scalar(kFloat, 3).name}, kFloat, x->dims);
  if (b.opset >= 11)
    gate = b.add("Clip", {gate.name, b.scalar(kFloat, 0).name, b.scalar(kFloat, 6).name}, kFloat, x->dims);
  else
    gate = b.add("Clip", {gate.name}, kFloat, x->dims, {attribute("min", 0.0f), attribute("max", 6.0f)});
  const Value product = b.add("Mul", either_order(b, x->name, gate.name), kFloat, x->dims);
  b.add("Div", {product.name, b.scalar(kFloat, 6).name}, kFloat, x->dims);
  return true;
}

bool softmax(Builder& b) {
  const auto x = b.pick_float(1);
  if (!x) return false;
  const std::int64_t rank = static_cast<std::int64_t>(x->rank()), axis = b.random.below(static_cast<int>(rank));
  if (b.random.chance(0.5)) {
    const bool negative = b.opset >= 11 && b.random.chance(0.5);
    b.add(b.random.chance(0.8) ? "Softmax" : "LogSoftmax", {x->name}, kFloat, x->dims,
          {attribute("axis", negative ? axis - rank : axis)});
    return true;
  }
  const Value most = reduced(b, "ReduceMax", *x, {axis}, true);
  const Value off = b.add("Sub", {x->name, most.name}, kFloat, x->dims);
  const Value power = b.add("Exp", {off.name}, kFloat, x->dims);
  const Value sum = reduced(b, "ReduceSum", power, {axis}, true);
  b.add("Div", {power.name, sum.name}, kFloat, x->dims);
  return true;
}

bool attention(Builder& b) {
  const auto x = b.pick([](const Value& v) { return wide(v, 4) && v.rank() == 3 && v.dims[2][0] % 2 == 0; });
  if (!x) return false;
  const std::int64_t width = x->dims[2][0], heads = width % 4 == 0 && b.random.chance(0.5) ? 4 : 2,
                     each = width / heads;
  const Size batch = x->dims[0], length = x->dims[1];
  if (!small_enough({batch, same(heads), length, length})) return false;
  const auto part = [&](bool turned) {
    Value y = b.add("MatMul", {x->name, b.weight({width, width}, -0.5, 0.5).name}, kFloat, x->dims);
    if (b.random.chance(0.8))
      y = b.add("Add", either_order(b, y.name, b.weight({width}, -0.5, 0.5).name), kFloat, y.dims);
    y = b.reshape(y,
                  {0,
                   fixed(length)                   ? length[0]
                   : fixed(batch) && batch[0] == 1 ? -1
                                                   : 0,
                   heads, each},
                  {batch, length, same(heads), same(each)});
    return b.transpose(y, turned ? std::vector<std::int64_t>{0, 2, 3, 1} : std::vector<std::int64_t>{0, 2, 1, 3});
  };
  const Value query = part(false), key = part(true), value = part(false);
  Value scores = b.add("MatMul", {query.name, key.name}, kFloat, {batch, same(heads), length, length});
  scores = b.random.chance(0.5)
               ? b.add("Div", {scores.name, b.scalar(kFloat, std::sqrt(static_cast<double>(each))).name}, kFloat,
                       scores.dims)
               : b.add("Mul", {scores.name, b.scalar(kFloat, 1 / std::sqrt(static_cast<double>(each))).name}, kFloat,
                       scores.dims);
  const Value shares = b.add("Softmax", {scores.name}, kFloat, scores.dims, {attribute("axis", b.opset < 13 ? 3 : -1)});
  Value y = b.add("MatMul", {shares.name, value.name}, kFloat, {batch, same(heads), length, same(each)});
  y = b.transpose(y, {0, 2, 1, 3});
  y = b.reshape(y, {0, 0, width}, x->dims);
  b.add("MatMul", {y.name, b.weight({width, width}, -0.5, 0.5).name}, kFloat, x->dims);
  return true;
}

bool as_double(Builder& b) {
  const auto x = b.pick_float();
  if (!x) return false;
  Value y = b.add("Cast", {x->name}, kDouble, x->dims, {attribute("to", int{kDouble})});
  if (b.random.chance(0.6))
    y = b.add("Mul", {y.name, b.scalar(kDouble, b.random.uniform(0.5, 1.5)).name}, kDouble, x->dims);
  b.add("Cast", {y.name}, kFloat, x->dims, {attribute("to", int{kFloat})});
  return true;
}

// Stored times stored, as exporters leave it: folded by whoever folds.
bool of_stored(Builder& b) {
  const std::int64_t width = b.random.between(1, 5);
  const Value x = b.weight({width}, 0.5, 1.5),
              y = b.weight(b.random.chance(0.5) ? std::vector{width} : std::vector<std::int64_t>{}, 0.5, 1.5);
  static constexpr std::array kOps = {"Add", "Mul", "Sub", "Div", "Max", "Pow"};
  Value z = b.add(kOps[b.random.next() % kOps.size()], {x.name, y.name}, kFloat, x.dims);
  static constexpr std::array kUnary = {"Sqrt", "Exp", "Neg", "Abs", "Reciprocal", "Floor", "Log"};
  if (b.random.chance(0.5)) {
    z = b.add("Abs", {z.name}, kFloat, z.dims);
    z = b.add("Add", {z.name, b.scalar(kFloat, 0.5).name}, kFloat, z.dims);
    z = b.add(kUnary[b.random.next() % kUnary.size()], {z.name}, kFloat, z.dims);
  }
  const auto reader = b.pick(
      [&](const Value& v) { return runtime_float(v) && v.rank() >= 1 && broadcast(v.dims, z.dims).has_value(); });
  if (!reader) return true;
  const auto dims = broadcast(reader->dims, z.dims);
  if (small_enough(*dims)) b.add("Mul", either_order(b, reader->name, z.name), kFloat, *dims);
  return true;
}

}  // namespace

const std::vector<Maker>& arithmetic_makers() {
  static const std::vector<Maker> makers = {
      {"with a stored operand", 10, with_stored},
      {"of two values", 4, of_two},
      {"activation", 5, activation},
      {"Clip", 3, clip},
      {"reduction", 2, reduce},
      {"double and back", 1, as_double},
      {"of stored operands", 3, of_stored},
  };
  return makers;
}

const std::vector<Maker>& block_makers() {
  static const std::vector<Maker> makers = {
      {"LayerNormalization", 4, layer_normalization},
      {"GELU", 4, gelu},
      {"SiLU or hard swish", 2, gated},
      {"softmax", 3, softmax},
      {"attention", 3, attention},
  };
  return makers;
}

}  // namespace octet::random_graphs
