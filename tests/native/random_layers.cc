// Layers with weights, and what stands between them.
#include <algorithm>

#include "random_graph.h"

namespace octet::random_graphs {
namespace {

bool has_channels(const Value& v) {
  return v.is_float() && !v.stored && v.rank() >= 3 && v.rank() <= 4 && fixed(v.dims[1]);
}

bool each_at_least(const Size& size, std::int64_t least) {
  return std::all_of(size.begin(), size.end(), [&](auto n) { return n >= least; });
}

Size over(const Size& size, std::int64_t divisor, std::int64_t plus) {
  return zip(size, size, [&](auto n, auto) { return n / divisor + plus; });
}

std::string maybe_bias(Builder& b, std::int64_t channels) {
  return b.random.chance(0.5) ? b.weight({channels}, -0.5, 0.5).name : "";
}

// The window of a convolution or pool: its attributes, and what it makes of the spatial axes.
struct Window {
  std::vector<std::int64_t> kernel, strides, dilations, pads;
  Attributes attributes;
  Sizes dims;  // spatial only
};

std::optional<Window> random_window(Builder& b, const Value& x, bool pool) {
  Random& random = b.random;
  const std::size_t axes = x.rank() - 2;
  Window w;
  for (std::size_t i = 0; i < axes; ++i) {
    w.kernel.push_back(random.between(1, 3));
    w.strides.push_back(random.chance(0.3) ? 2 : 1);
    w.dilations.push_back(!pool && random.chance(0.2) ? 2 : 1);
    w.pads.push_back(random.below(pool ? static_cast<int>(w.kernel[i]) : 3));
  }
  for (std::size_t i = 0; i < axes; ++i) w.pads.push_back(random.chance(0.7) ? w.pads[i] : 0);
  const bool same_size = !pool && random.chance(0.1);
  for (std::size_t i = 0; i < axes; ++i) {
    if (same_size) {
      w.dilations[i] = 1;
      w.dims.push_back(
          over(zip(x.dims[i + 2], x.dims[i + 2], [&](auto n, auto) { return n + w.strides[i] - 1; }), w.strides[i], 0));
      continue;
    }
    const auto extra = w.pads[i] + w.pads[axes + i] - w.dilations[i] * (w.kernel[i] - 1) - 1;
    const Size left = zip(x.dims[i + 2], x.dims[i + 2], [&](auto n, auto) { return n + extra; });
    if (!each_at_least(left, 0)) return std::nullopt;
    w.dims.push_back(over(left, w.strides[i], 1));
  }
  if (pool || random.chance(0.7)) w.attributes.push_back(attribute("kernel_shape", w.kernel));
  w.attributes.push_back(attribute("strides", w.strides));
  if (!pool) w.attributes.push_back(attribute("dilations", w.dilations));
  if (same_size)
    w.attributes.push_back(attribute("auto_pad", std::string(random.chance(0.5) ? "SAME_UPPER" : "SAME_LOWER")));
  else if (random.chance(0.8) || std::any_of(w.pads.begin(), w.pads.end(), [](auto pad) { return pad != 0; }))
    w.attributes.push_back(attribute("pads", w.pads));
  return w;
}

std::int64_t random_groups(Random& random, std::int64_t channels) {
  if (random.chance(0.5)) return 1;
  if (random.chance(0.4)) return channels;
  const std::int64_t groups = random.between(1, 4);
  return channels % groups == 0 ? groups : 1;
}

bool conv(Builder& b) {
  const auto x = b.pick(has_channels);
  if (!x) return false;
  const auto channels = x->dims[1][0], groups = random_groups(b.random, channels);
  auto window = random_window(b, *x, false);
  if (!window) return false;
  const auto made = groups * b.random.between(1, groups > 1 ? 2 : 6);
  std::vector<std::int64_t> shape = {made, channels / groups};
  shape.insert(shape.end(), window->kernel.begin(), window->kernel.end());
  Sizes dims = {x->dims[0], same(made)};
  dims.insert(dims.end(), window->dims.begin(), window->dims.end());
  if (!small_enough(dims)) return false;
  if (groups > 1 || b.random.chance(0.5)) window->attributes.push_back(attribute("group", groups));
  std::vector<std::string> inputs = {x->name, b.weight(shape, -0.5, 0.5).name};
  if (const auto bias = maybe_bias(b, made); !bias.empty()) inputs.push_back(bias);
  b.add("Conv", inputs, kFloat, dims, window->attributes);
  return true;
}

bool conv_transpose(Builder& b) {
  const auto x = b.pick(has_channels);
  if (!x) return false;
  const auto channels = x->dims[1][0], groups = random_groups(b.random, channels);
  const std::int64_t each = b.random.between(1, 4);
  std::vector<std::int64_t> shape = {channels, each}, strides, pads;
  Sizes dims = {x->dims[0], same(each * groups)};
  for (std::size_t i = 2; i < x->rank(); ++i) {
    const std::int64_t kernel = b.random.between(1, 3), stride = b.random.between(1, 2), pad = b.random.below(2);
    shape.push_back(kernel);
    strides.push_back(stride);
    pads.push_back(pad);
    dims.push_back(zip(x->dims[i], x->dims[i], [&](auto n, auto) { return (n - 1) * stride + kernel - 2 * pad; }));
    if (!each_at_least(dims.back(), 1)) return false;
  }
  if (!small_enough(dims)) return false;
  pads.insert(pads.end(), pads.begin(), pads.end());
  std::vector<std::string> inputs = {x->name, b.weight(shape, -0.5, 0.5).name};
  if (const auto bias = maybe_bias(b, each * groups); !bias.empty()) inputs.push_back(bias);
  b.add("ConvTranspose", inputs, kFloat, dims,
        {attribute("strides", strides), attribute("pads", pads), attribute("group", groups)});
  return true;
}

bool batch_normalization(Builder& b) {
  const auto x = b.pick([](const Value& v) { return v.is_float() && !v.stored && v.rank() >= 2 && fixed(v.dims[1]); });
  if (!x) return false;
  const auto channels = x->dims[1][0];
  Attributes attributes;
  if (b.random.chance(0.5))
    attributes.push_back(attribute("epsilon", static_cast<float>(b.random.chance(0.5) ? 1e-3 : 1e-5)));
  b.add("BatchNormalization",
        {x->name, b.weight({channels}, 0.5, 1.5).name, b.weight({channels}, -0.5, 0.5).name,
         b.weight({channels}, -0.5, 0.5).name, b.weight({channels}, 0.5, 1.5).name},
        kFloat, x->dims, attributes);
  return true;
}

// A convolution with what is folded into it before and after, in one go: alone, dice would rarely line them up.
bool conv_with_neighbours(Builder& b) {
  if (b.random.chance(0.5)) {
    const auto x = b.pick(has_channels);
    if (!x) return false;
    std::vector<double> numbers;
    const auto channels = x->dims[1][0];
    for (std::int64_t i = 0; i < channels; ++i) numbers.push_back(b.random.uniform(0.5, 1.5));
    std::vector<std::int64_t> shape(x->rank() - 1, 1);
    shape[0] = channels;
    b.add(b.random.chance(0.5) ? "Mul" : "Add", {x->name, b.constant(kFloat, shape, numbers).name}, kFloat, x->dims);
  }
  const auto before = b.values.size();
  if (!(b.random.chance(0.75) ? conv(b) : conv_transpose(b))) return false;
  if (b.values.size() == before) return true;
  const Value y = b.values.back();
  if (y.stored || !has_channels(y)) return true;
  const auto channels = y.dims[1][0];
  const auto along_channels = [&](double low, double high) {
    std::vector<std::int64_t> shape(y.rank() - 1, 1);
    shape[0] = channels;
    return b.weight(shape, low, high);
  };
  const int kind = b.random.below(4);
  if (kind == 0) {
    b.add("BatchNormalization",
          {y.name, b.weight({channels}, 0.5, 1.5).name, b.weight({channels}, -0.5, 0.5).name,
           b.weight({channels}, -0.5, 0.5).name, b.weight({channels}, 0.5, 1.5).name},
          kFloat, y.dims);
  } else if (kind == 1) {
    const auto scaled = b.add("Mul", {y.name, along_channels(0.5, 1.5).name}, kFloat, y.dims);
    b.add("Add", {scaled.name, along_channels(-1, 1).name}, kFloat, y.dims);
  } else if (kind == 2) {
    b.add(b.random.chance(0.5) ? "Div" : "Sub", {y.name, along_channels(0.5, 1.5).name}, kFloat, y.dims);
  }
  return true;
}

bool pad(Builder& b) {
  const auto x = b.pick([](const Value& v) { return v.is_float() && !v.stored && v.rank() >= 2 && v.rank() <= 4; });
  if (!x) return false;
  const std::size_t rank = x->rank();
  std::vector<std::int64_t> pads(2 * rank, 0);
  Sizes dims = x->dims;
  const std::string mode =
      std::array{"constant", "constant", "reflect", "edge"}[static_cast<std::size_t>(b.random.below(4))];
  const std::size_t first = b.random.chance(0.7) && rank > 2 ? 2 : 0;
  for (std::size_t axis = first; axis < rank; ++axis) {
    for (const std::size_t side : {axis, axis + rank}) {
      pads[side] = b.random.below(3) - (mode == "constant" && b.random.chance(0.1) ? 1 : 0);
      if (mode == "reflect" && !each_at_least(x->dims[axis], pads[side] + 1)) return false;
    }
    dims[axis] = zip(dims[axis], dims[axis], [&](auto n, auto) { return n + pads[axis] + pads[axis + rank]; });
    if (!each_at_least(dims[axis], 1)) return false;
  }
  if (!small_enough(dims)) return false;
  const double fill = mode == "constant" && b.random.chance(0.2) ? 0.5 : 0;
  Attributes attributes;
  if (mode != "constant" || b.random.chance(0.5)) attributes.push_back(attribute("mode", mode));
  if (b.opset < 11) {
    attributes.push_back(attribute("pads", pads));
    if (fill != 0) attributes.push_back(attribute("value", static_cast<float>(fill)));
    b.add("Pad", {x->name}, kFloat, dims, attributes);
  } else {
    std::vector<std::string> inputs = {x->name, b.ints(pads).name};
    if (fill != 0 || b.random.chance(0.3)) inputs.push_back(b.scalar(kFloat, fill).name);
    b.add("Pad", inputs, kFloat, dims, attributes);
  }
  if (has_channels(b.values.back()) && b.random.chance(0.6)) conv(b);  // likely on what was padded
  return true;
}

bool pool(Builder& b) {
  const auto x = b.pick(has_channels);
  if (!x) return false;
  if (b.random.chance(0.2)) {
    Sizes dims = {x->dims[0], x->dims[1]};
    while (dims.size() < x->rank()) dims.push_back(same(1));
    b.add(b.random.chance(0.5) ? "GlobalAveragePool" : "GlobalMaxPool", {x->name}, kFloat, dims);
    return true;
  }
  auto window = random_window(b, *x, true);
  if (!window) return false;
  Sizes dims = {x->dims[0], x->dims[1]};
  dims.insert(dims.end(), window->dims.begin(), window->dims.end());
  const bool average = b.random.chance(0.5);
  if (average && b.random.chance(0.5)) window->attributes.push_back(attribute("count_include_pad", 1));
  b.add(average ? "AveragePool" : "MaxPool", {x->name}, kFloat, dims, window->attributes);
  return true;
}

bool upsample_or_resize(Builder& b) {
  const auto x = b.pick([](const Value& v) { return has_channels(v) && v.rank() == 4; });
  if (!x) return false;
  std::vector<double> scales = {1, 1, static_cast<double>(b.random.between(1, 3)),
                                static_cast<double>(b.random.between(1, 2))};
  Sizes dims = x->dims;
  for (std::size_t axis = 2; axis < 4; ++axis)
    dims[axis] = zip(dims[axis], dims[axis], [&](auto n, auto) { return n * static_cast<std::int64_t>(scales[axis]); });
  if (!small_enough(dims)) return false;
  const std::string mode = b.random.chance(0.6) ? "nearest" : "linear";
  const auto factors = b.constant(kFloat, {4}, scales).name;
  if (b.opset < 11) {
    b.add(b.opset == 9 ? "Upsample" : "Resize", {x->name, factors}, kFloat, dims, {attribute("mode", mode)});
    return true;
  }
  const std::string place =
      std::array{"asymmetric", "half_pixel", "align_corners"}[static_cast<std::size_t>(b.random.below(3))];
  Attributes attributes = {attribute("mode", mode), attribute("coordinate_transformation_mode", place)};
  if (mode == "nearest")
    attributes.push_back(attribute("nearest_mode", std::string(b.random.chance(0.5) ? "floor" : "round_prefer_floor")));
  const std::string roi = b.opset >= 13 ? "" : b.constant(kFloat, {0}, {}).name;
  if (fixed(dims) && b.random.chance(0.3))
    b.add("Resize",
          {x->name, roi, b.opset >= 13 ? "" : b.constant(kFloat, {0}, {}).name, b.ints(numbers_of(dims)).name}, kFloat,
          dims, attributes);
  else
    b.add("Resize", {x->name, roi, factors}, kFloat, dims, attributes);
  return true;
}

bool gemm(Builder& b) {
  const auto x = b.pick([](const Value& v) { return v.is_float() && !v.stored && v.rank() == 2; });
  if (!x) return false;
  const bool turned = b.random.chance(0.2), trans_b = b.random.chance(0.5);
  const Size rows = x->dims[turned ? 1 : 0], inner = x->dims[turned ? 0 : 1];
  if (!fixed(inner)) return false;
  const std::int64_t columns = b.random.between(1, 8);
  Attributes attributes;
  if (turned || b.random.chance(0.3)) attributes.push_back(attribute("transA", turned ? 1 : 0));
  if (trans_b || b.random.chance(0.3)) attributes.push_back(attribute("transB", trans_b ? 1 : 0));
  if (b.random.chance(0.3)) attributes.push_back(attribute("alpha", static_cast<float>(b.random.uniform(0.5, 2))));
  if (b.random.chance(0.3)) attributes.push_back(attribute("beta", static_cast<float>(b.random.uniform(0.5, 2))));
  const auto shape = trans_b ? std::vector{columns, inner[0]} : std::vector{inner[0], columns};
  std::vector<std::string> inputs = {x->name, b.weight(shape, -0.6, 0.6).name};
  if (b.opset < 11 || b.random.chance(0.7)) {
    std::vector<std::vector<std::int64_t>> shapes = {{columns}, {1, columns}, {1}, {1, 1}};
    if (fixed(rows)) shapes.push_back({rows[0], 1}), shapes.push_back({rows[0], columns});
    inputs.push_back(b.weight(shapes[b.random.next() % shapes.size()], -1, 1).name);
  }
  b.add("Gemm", inputs, kFloat, {rows, same(columns)}, attributes);
  return true;
}

bool matmul(Builder& b) {
  const auto x = b.pick([](const Value& v) { return v.is_float() && !v.stored && v.rank() >= 2 && v.rank() <= 4; });
  if (!x) return false;
  Sizes dims = x->dims;
  const auto inner = x->dims.back();
  if (b.random.chance(0.15)) {  // with itself turned over
    std::vector<std::int64_t> perm;
    for (std::size_t i = 0; i < x->rank(); ++i) perm.push_back(static_cast<std::int64_t>(i));
    std::swap(perm[perm.size() - 1], perm[perm.size() - 2]);
    dims.back() = x->dims[x->rank() - 2];
    if (!small_enough(dims)) return false;
    b.add("MatMul", {x->name, b.transpose(*x, perm).name}, kFloat, dims);
    return true;
  }
  if (!fixed(inner)) return false;
  if (b.random.chance(0.1)) {  // the weight first
    const Size rows = x->dims[x->rank() - 2];
    if (!fixed(rows)) return false;
    const std::int64_t made = b.random.between(1, 6);
    dims[x->rank() - 2] = same(made);
    b.add("MatMul", {b.weight({made, rows[0]}, -0.6, 0.6).name, x->name}, kFloat, dims);
    return true;
  }
  const std::int64_t columns = b.random.between(1, 8);
  std::vector<std::int64_t> shape = {inner[0], columns};
  if (x->rank() >= 3 && b.random.chance(0.1) && fixed(x->dims[x->rank() - 3]))
    shape.insert(shape.begin(), x->dims[x->rank() - 3][0]);
  dims.back() = same(columns);
  if (!small_enough(dims)) return false;
  const Value y = b.add("MatMul", {x->name, b.weight(shape, -0.6, 0.6).name}, kFloat, dims);
  if (b.random.chance(0.6)) {
    const auto bias = b.weight({columns}, -1, 1);
    b.add("Add", b.random.chance(0.5) ? std::vector{y.name, bias.name} : std::vector{bias.name, y.name}, kFloat, dims);
  }
  return true;
}

// [steps, batch, width] in; the initial states zeros as exporters write them, or nothing.
bool recurrent(Builder& b) {
  const auto x = b.pick([](const Value& v) { return v.is_float() && !v.stored && v.rank() == 3 && fixed(v.dims[2]); });
  if (!x) return false;
  const bool gru = b.random.chance(0.4);
  const std::int64_t gates = gru ? 3 : 4, hidden = b.random.between(2, 4), width = x->dims[2][0];
  const Sizes state = {same(1), x->dims[1], same(hidden)};
  std::vector<std::string> inputs = {x->name, b.weight({1, gates * hidden, width}, -0.5, 0.5).name,
                                     b.weight({1, gates * hidden, hidden}, -0.5, 0.5).name,
                                     b.random.chance(0.7) ? b.weight({1, 2 * gates * hidden}, -0.5, 0.5).name : ""};
  if (fixed(state) && b.random.chance(0.7)) {
    const double most = b.random.chance(0.7) ? 0 : 0.5;
    inputs.push_back("");
    for (int i = 0; i < (gru ? 1 : 2); ++i) inputs.push_back(b.weight(numbers_of(state), 0, most).name);
  }
  if (!small_enough({x->dims[0], x->dims[1], same(hidden)})) return false;
  std::vector<std::pair<int, Sizes>> outputs = {{kFloat, {x->dims[0], same(1), x->dims[1], same(hidden)}},
                                                {kFloat, state}};
  if (!gru) outputs.emplace_back(kFloat, state);
  const auto made = b.add_all(gru ? "GRU" : "LSTM", inputs, outputs, {attribute("hidden_size", hidden)});
  const std::vector<std::int64_t> axes = {1};
  const Sizes flat = {x->dims[0], x->dims[1], same(hidden)};
  if (b.opset < 13)
    b.add("Squeeze", {made[0].name}, kFloat, flat, {attribute("axes", axes)});
  else
    b.add("Squeeze", {made[0].name, b.ints(axes).name}, kFloat, flat);
  return true;
}

}  // namespace

const std::vector<Maker>& layer_makers() {
  static const std::vector<Maker> makers = {
      {"Conv", 4, conv},
      {"ConvTranspose", 2, conv_transpose},
      {"BatchNormalization", 3, batch_normalization},
      {"Conv with neighbours", 5, conv_with_neighbours},
      {"Pad", 3, pad},
      {"pool", 2, pool},
      {"Resize", 2, upsample_or_resize},
      {"Gemm", 5, gemm},
      {"MatMul", 6, matmul},
      {"LSTM or GRU", 1, recurrent},
  };
  return makers;
}

}  // namespace octet::random_graphs
