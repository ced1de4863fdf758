// OpenSizes of outputs by arithmetic on named ones, where onnx's own inference only counts with numbers. Source: the
// formulas of the ONNX operator specification.
#include <algorithm>
#include <cmath>
#include <limits>
#include <string_view>
#include <unordered_map>

#include "prepare/shape_node.h"

namespace octet {
namespace {

using Ints = std::vector<std::int64_t>;

std::optional<Dim> product(const Dims& dims) {
  std::optional<Dim> result = Dim(1);
  for (const Dim& dim : dims) {
    if (result) result = multiply(*result, dim);
  }
  return result;
}

void reshape(ShapeNode& node) {
  const auto target = node.values(1, "shape");
  const auto& in = node.dims(0);
  if (!target) return;
  const bool copies = int_attribute(node.node(), "allowzero", 0) == 0;
  OpenSizes sizes;
  Dims known;
  std::optional<std::size_t> open;
  for (std::size_t i = 0; i < target->size(); ++i) {
    Dim size = (*target)[i];
    if (size.is(-1)) {
      if (open) return;
      open = i;
      sizes.emplace_back();
      continue;
    }
    if (size.is(0) && copies) {
      if (!in || i >= in->size()) {
        sizes.emplace_back();
        known.clear();
        return node.out().refine(OpenSizes(target->size()));
      }
      size = (*in)[i];
    }
    sizes.emplace_back(size);
    known.push_back(size);
  }
  if (open && in) {
    const auto all = product(*in), rest = product(known);
    if (all && rest) sizes[*open] = divide_exactly(*all, *rest);
    if (all && rest && !sizes[*open] && !rest->is(0)) sizes[*open] = divide_floor(*all, *rest);
  }
  node.out().refine(sizes);
}

void flatten(ShapeNode& node) {
  const auto& in = node.dims(0);
  if (!in) return;
  const std::int64_t axis = int_attribute(node.node(), "axis", 1);
  const auto rank = static_cast<std::int64_t>(in->size());
  if (axis < -rank || axis > rank) return;
  const auto split = in->begin() + (axis < 0 ? axis + rank : axis);
  node.out().refine({product(Dims(in->begin(), split)), product(Dims(split, in->end()))});
}

void concat(ShapeNode& node) {
  if (node.node().input_size() == 0 || !node.dims(0)) return;
  const std::size_t rank = node.dims(0)->size();
  const auto axis = axis_of(int_attribute(node.node(), "axis", 0), rank);
  if (!axis) return;
  std::optional<Dim> sum = Dim(0);
  OpenSizes sizes(rank);
  for (int i = 0; i < node.node().input_size(); ++i) {
    const auto& in = node.dims(i);
    if (!in || in->size() != rank) return;
    sum = sum ? add(*sum, (*in)[*axis]) : std::nullopt;
    // All inputs agree elsewhere, so a number says more than a name.
    for (std::size_t d = 0; d < rank; ++d) {
      if (!sizes[d] || (*in)[d].number()) sizes[d] = (*in)[d];
    }
  }
  sizes[*axis] = sum;
  node.out().refine(sizes);
}

void split(ShapeNode& node) {
  const auto& in = node.dims(0);
  if (!in) return;
  const auto axis = axis_of(int_attribute(node.node(), "axis", 0), in->size());
  if (!axis) return;
  const auto parts = node.values(1, "split");
  const auto count = static_cast<std::int64_t>(node.outputs.size());
  for (std::size_t i = 0; i < node.outputs.size(); ++i) {
    OpenSizes sizes(in->begin(), in->end());
    sizes[*axis].reset();
    if (parts && i < parts->size())
      sizes[*axis] = (*parts)[i];
    else if (!parts && !node.has(1))
      sizes[*axis] = divide_exactly((*in)[*axis], count);
    node.outputs[i].refine(sizes);
  }
}

// Where a slice starts or ends, counted from the front and held within the axis. A name is taken to lie inside it.
std::optional<Dim> bound(const Dim& at, const Dim& size, bool end) {
  const auto number = at.number();
  if (!number) return end ? minimum(at, size) : at;
  if (*number < 0) {
    const auto from_back = add(size, at);
    if (!from_back) return std::nullopt;
    const auto known = from_back->number();
    return known ? std::optional<Dim>(std::max<std::int64_t>(*known, 0)) : from_back;
  }
  if (*number >= std::numeric_limits<std::int32_t>::max()) return size;
  if (const auto known = size.number()) return std::min(*number, *known);
  return *number == 0 ? Dim(0) : end ? minimum(at, size) : std::optional<Dim>(at);
}

void slice(ShapeNode& node) {
  // onnx's own rule of opset 10 hands on the names of sizes that are cut.
  if (node.opset() == 10 && node.out().dims) node.out().dims->assign(node.out().dims->size(), std::nullopt);
  const auto& in = node.dims(0);
  const auto starts = node.values(1, "starts"), ends = node.values(2, "ends");
  if (!in || !starts || !ends || starts->size() != ends->size()) return;
  Ints axes(starts->size()), steps(starts->size(), 1);
  for (std::size_t i = 0; i < axes.size(); ++i) axes[i] = static_cast<std::int64_t>(i);
  if (node.has(3) || find_attribute(node.node(), "axes")) {
    const auto given = node.numbers(3, "axes");
    if (!given || given->size() != axes.size()) return;
    axes = *given;
  }
  if (node.has(4)) {
    const auto given = node.numbers(4);
    if (!given || given->size() != axes.size()) return;
    steps = *given;
  }
  OpenSizes sizes(in->begin(), in->end());
  for (std::size_t i = 0; i < axes.size(); ++i) {
    const auto axis = axis_of(axes[i], in->size());
    if (!axis) return;
    sizes[*axis].reset();
    const Dim& size = (*in)[*axis];
    if (steps[i] <= 0) {
      const bool whole = steps[i] == -1 && (*starts)[i].is(-1) && (*ends)[i].number().value_or(0) < -0x7fffffff;
      if (whole) sizes[*axis] = size;
      continue;
    }
    const auto start = bound((*starts)[i], size, false), end = bound((*ends)[i], size, true);
    auto length = start && end ? subtract(*end, *start) : std::nullopt;
    if (length && steps[i] > 1) {
      length = add(*length, steps[i] - 1);
      if (length) length = divide_floor(*length, steps[i]);
    }
    if (length && length->number().value_or(0) < 0) length = Dim(0);
    sizes[*axis] = length;
  }
  node.out().refine(sizes);
}

Ints ints_or(const ShapeNode& node, std::string_view name, std::size_t count, std::int64_t otherwise) {
  Ints values(count, otherwise);
  if (const auto* found = find_attribute(node.node(), name)) {
    for (std::size_t i = 0; i < count && i < static_cast<std::size_t>(found->ints_size()); ++i)
      values[i] = found->ints(static_cast<int>(i));
  }
  return values;
}

std::string text_attribute(const ShapeNode& node, std::string_view name) {
  const auto* found = find_attribute(node.node(), name);
  return found ? found->s() : std::string();
}

// floor((size + free - reach) / stride) + 1, or the ceiling.
std::optional<Dim> window_count(const Dim& size, std::int64_t padding, std::int64_t reach, std::int64_t stride,
                                bool ceiling) {
  if (stride < 1) return std::nullopt;
  auto room = add(size, padding - reach + (ceiling ? stride - 1 : 0));
  if (room) room = divide_floor(*room, stride);
  return room ? add(*room, 1) : std::nullopt;
}

void windows(ShapeNode& node, const Dims& kernel, std::optional<Dim> channels) {
  const auto& in = node.dims(0);
  if (!in || in->size() < 3 || kernel.size() + 2 != in->size()) return;
  const std::size_t axes = kernel.size();
  const auto strides = ints_or(node, "strides", axes, 1), dilations = ints_or(node, "dilations", axes, 1);
  const auto pads = ints_or(node, "pads", axes * 2, 0);
  const std::string padding = text_attribute(node, "auto_pad");
  const bool same = padding == "SAME_UPPER" || padding == "SAME_LOWER";
  const bool ceiling = int_attribute(node.node(), "ceil_mode", 0) != 0;
  OpenSizes sizes = {(*in)[0], channels};
  for (std::size_t i = 0; i < axes; ++i) {
    const Dim& size = (*in)[i + 2];
    const auto window = kernel[i].number();
    std::int64_t reach = 0;
    if (same && strides[i] > 0) {
      const auto up = add(size, strides[i] - 1);
      sizes.push_back(up ? divide_floor(*up, strides[i]) : std::nullopt);
    } else if (window && !__builtin_mul_overflow(*window - 1, dilations[i], &reach) &&
               !__builtin_add_overflow(reach, 1, &reach) && std::abs(pads[i]) < (1 << 30) &&
               std::abs(pads[axes + i]) < (1 << 30) && std::abs(reach) < (1 << 30)) {
      const std::int64_t around = padding == "VALID" ? 0 : pads[i] + pads[axes + i];
      // A ceiling may count a window that starts in the padding, which runtimes then drop: known for numbers only.
      if (!ceiling || size.number()) sizes.push_back(window_count(size, around, reach, strides[i], ceiling));
      if (sizes.size() < i + 3) sizes.emplace_back();
    } else {
      sizes.emplace_back();
    }
  }
  node.out().refine(sizes);
}

void conv(ShapeNode& node) {
  const auto& weight = node.dims(1);
  if (!weight || weight->size() < 3) return;
  windows(node, Dims(weight->begin() + 2, weight->end()), weight->front());
}

void pool(ShapeNode& node) {
  const auto* kernel = find_attribute(node.node(), "kernel_shape");
  const auto& in = node.dims(0);
  if (!kernel || !in || in->size() < 2) return;
  windows(node, Dims(kernel->ints().begin(), kernel->ints().end()), (*in)[1]);
  if (node.outputs.size() > 1 && node.outputs[0].dims) node.outputs[1].refine(*node.outputs[0].dims);
}

void conv_transpose(ShapeNode& node) {
  const auto &in = node.dims(0), &weight = node.dims(1);
  if (!in || !weight || in->size() < 3 || weight->size() != in->size()) return;
  const std::size_t axes = in->size() - 2;
  OpenSizes sizes = {(*in)[0], multiply((*weight)[1], int_attribute(node.node(), "group", 1))};
  const bool plain = !find_attribute(node.node(), "output_shape") &&
                     (text_attribute(node, "auto_pad").empty() || text_attribute(node, "auto_pad") == "NOTSET");
  const auto strides = ints_or(node, "strides", axes, 1), dilations = ints_or(node, "dilations", axes, 1);
  const auto pads = ints_or(node, "pads", axes * 2, 0), extra = ints_or(node, "output_padding", axes, 0);
  for (std::size_t i = 0; i < axes; ++i) {
    const auto window = (*weight)[i + 2].number();
    std::optional<Dim> size;
    if (plain && window) {
      size = subtract((*in)[i + 2], 1);
      if (size) size = multiply(*size, strides[i]);
      auto reach = multiply(*window - 1, dilations[i]);
      if (reach) reach = add(*reach, 1);
      size = size && reach ? add(*size, *reach) : std::nullopt;
      if (size) size = add(*size, extra[i]);
      if (size) size = subtract(*size, pads[i]);
      if (size) size = subtract(*size, pads[axes + i]);
    }
    sizes.push_back(size);
  }
  node.out().refine(sizes);
}

void pad(ShapeNode& node) {
  const auto& in = node.dims(0);
  const auto pads = node.numbers(1, "pads");
  if (!in || !pads) return;
  std::vector<std::size_t> axes(in->size());
  for (std::size_t i = 0; i < axes.size(); ++i) axes[i] = i;
  if (node.has(3)) {
    const auto given = node.numbers(3);
    if (!given) return;
    axes.clear();
    for (const auto axis : *given) {
      const auto found = axis_of(axis, in->size());
      if (!found) return;
      axes.push_back(*found);
    }
  }
  if (pads->size() != axes.size() * 2) return;
  OpenSizes sizes(in->begin(), in->end());
  for (std::size_t i = 0; i < axes.size(); ++i) {
    auto& size = sizes[axes[i]];
    if (size) size = add(*size, (*pads)[i]);
    if (size) size = add(*size, (*pads)[axes.size() + i]);
  }
  node.out().refine(sizes);
}

void scale(ShapeNode& node, int scales_input, int sizes_input) {
  const auto& in = node.dims(0);
  if (!in || find_attribute(node.node(), "axes")) return;
  if (sizes_input >= 0 && node.has(sizes_input)) {
    const auto sizes = node.values(sizes_input);
    const auto policy = text_attribute(node, "keep_aspect_ratio_policy");
    if (sizes && sizes->size() == in->size() && (policy.empty() || policy == "stretch"))
      node.out().refine(OpenSizes(sizes->begin(), sizes->end()));
    return;
  }
  const auto scales = node.floats(scales_input, "scales");
  if (!scales || scales->size() != in->size()) return;
  OpenSizes sizes;
  for (std::size_t i = 0; i < in->size(); ++i) {
    const float factor = (*scales)[i];
    const auto known = (*in)[i].number();
    const bool whole = factor >= 1 && factor < 1e6F && factor == std::floor(factor);
    if (known && factor > 0 && factor < 1e6F)
      sizes.emplace_back(
          static_cast<std::int64_t>(std::floor(static_cast<double>(*known) * static_cast<double>(factor))));
    else
      sizes.push_back(whole ? multiply((*in)[i], static_cast<std::int64_t>(factor)) : std::nullopt);
  }
  node.out().refine(sizes);
}

void resize(ShapeNode& node) {
  if (node.opset() < 11)
    scale(node, 1, -1);
  else
    scale(node, 2, 3);
}

void upsample(ShapeNode& node) { scale(node, 1, -1); }

void tile(ShapeNode& node) {
  const auto& in = node.dims(0);
  const auto repeats = node.values(1);
  if (!in || !repeats || repeats->size() != in->size()) return;
  OpenSizes sizes;
  for (std::size_t i = 0; i < in->size(); ++i) sizes.push_back(multiply((*in)[i], (*repeats)[i]));
  node.out().refine(sizes);
}

void constant_of_shape(ShapeNode& node) {
  if (const auto shape = node.values(0)) node.out().refine(OpenSizes(shape->begin(), shape->end()));
}

void range(ShapeNode& node) {
  const auto start = node.values(0), limit = node.values(1), delta = node.values(2);
  if (!start || !limit || !delta || start->size() != 1 || limit->size() != 1 || !delta->front().is(1)) return;
  const auto length = subtract(limit->front(), start->front());
  if (length) node.out().refine({length->number().value_or(1) < 0 ? Dim(0) : *length});
}

void depth_to_space(ShapeNode& node) {
  const auto& in = node.dims(0);
  const std::int64_t block = int_attribute(node.node(), "blocksize", 0);
  if (!in || in->size() != 4 || block < 1 || block > 65536) return;
  const bool grow = node.node().op_type() == "DepthToSpace";
  const auto by = [&](const Dim& dim, std::int64_t factor, bool times) {
    return times ? multiply(dim, factor) : divide_exactly(dim, factor);
  };
  node.out().refine(
      {(*in)[0], by((*in)[1], block * block, !grow), by((*in)[2], block, grow), by((*in)[3], block, grow)});
}

using Rule = void (*)(ShapeNode&);

}  // namespace

void refine_sizes(ShapeNode& node) {
  static const std::unordered_map<std::string_view, Rule> rules = {
      {"Reshape", reshape},
      {"Flatten", flatten},
      {"Concat", concat},
      {"Split", split},
      {"Slice", slice},
      {"Conv", conv},
      {"ConvInteger", conv},
      {"ConvTranspose", conv_transpose},
      {"MaxPool", pool},
      {"AveragePool", pool},
      {"LpPool", pool},
      {"Pad", pad},
      {"Resize", resize},
      {"Upsample", upsample},
      {"Tile", tile},
      {"ConstantOfShape", constant_of_shape},
      {"Range", range},
      {"DepthToSpace", depth_to_space},
      {"SpaceToDepth", depth_to_space},
  };
  if (!is_standard(node.node()) || refine_broadcast(node)) return;
  const auto rule = rules.find(node.node().op_type());
  if (rule != rules.end()) rule->second(node);
}

}  // namespace octet
