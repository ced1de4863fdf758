// Operators that put elements elsewhere by rule: axes, steps, repeats, borders.
#include <algorithm>
#include <cstring>

#include "prepare/evaluate_call.h"

namespace octet::kernels {
namespace {

// A tensor of `dims` whose elements are read from input 0 with these strides.
Results read_strided(const Call& call, Sizes dims, std::int64_t from, const Sizes& strides) {
  const Operand& in = *call.input(0);
  auto out = blank(call, in.type, std::move(dims));
  if (!out) return std::nullopt;
  copy_strided(element_width(in.type), out->dims, in.bytes.data(), from, strides, out->bytes.data(), 0,
               strides_of(out->dims));
  return only(std::move(out));
}

// Where a slice along an axis begins, how many elements it takes.
struct Cut {
  std::int64_t start = 0, step = 1, count = 0;
};
std::optional<Cut> cut_of(std::int64_t dim, std::int64_t start, std::int64_t end, std::int64_t step) {
  if (step == 0 || step == std::numeric_limits<std::int64_t>::min()) return std::nullopt;
  if (dim == 0) return Cut{};
  // Far outside is as good as just outside; clamping first keeps the sums within range.
  const auto bound = [&](std::int64_t at, std::int64_t low, std::int64_t high) {
    at = std::clamp(at, -dim - 1, dim);
    return std::clamp(at < 0 ? at + dim : at, low, high);
  };
  start = step > 0 ? bound(start, 0, dim) : bound(start, 0, dim - 1);
  end = step > 0 ? bound(end, 0, dim) : bound(end, -1, dim - 1);
  const std::int64_t span = step > 0 ? end - start : start - end, stride = step > 0 ? step : -step;
  return Cut{start, step, span > 0 ? (span - 1) / stride + 1 : 0};
}

}  // namespace

Results transpose(const Call& call) {
  const Operand* in = call.input(0);
  if (!in) return std::nullopt;
  const std::size_t rank = in->dims.size();
  const auto* perm = find_attribute(call.node, "perm");
  if (perm && static_cast<std::size_t>(perm->ints_size()) != rank) return std::nullopt;
  const Sizes own = strides_of(in->dims);
  std::vector<bool> seen(rank);
  Sizes dims(rank), strides(rank);
  for (std::size_t i = 0; i < rank; ++i) {
    const std::int64_t from = perm ? perm->ints(static_cast<int>(i)) : static_cast<std::int64_t>(rank - 1 - i);
    if (from < 0 || from >= static_cast<std::int64_t>(rank) || seen[static_cast<std::size_t>(from)])
      return std::nullopt;
    seen[static_cast<std::size_t>(from)] = true;
    dims[i] = in->dims[static_cast<std::size_t>(from)];
    strides[i] = own[static_cast<std::size_t>(from)];
  }
  return read_strided(call, std::move(dims), 0, strides);
}

Results slice(const Call& call) {
  const Operand* in = call.input(0);
  const auto starts = int_list(call, "starts", 1, 10).values, ends = int_list(call, "ends", 2, 10).values;
  const IntList axes = int_list(call, "axes", 3, 10);
  const IntList steps = call.opset >= 10 ? int_list(call, "steps", 4, 10) : IntList{};
  if (!in || !starts || !ends || starts->size() != ends->size() || (axes.given && !axes.values) ||
      (steps.given && !steps.values))
    return std::nullopt;
  const std::size_t count = starts->size(), rank = in->dims.size();
  if ((axes.given && axes.values->size() != count) || (steps.given && steps.values->size() != count) || count > rank)
    return std::nullopt;
  Sizes dims = in->dims, strides = strides_of(in->dims);
  std::int64_t from = 0;
  std::vector<bool> seen(rank);
  for (std::size_t i = 0; i < count; ++i) {
    const auto axis = axis_of(axes.given ? (*axes.values)[i] : static_cast<std::int64_t>(i), rank);
    if (!axis || seen[*axis]) return std::nullopt;
    seen[*axis] = true;
    const auto cut = cut_of(in->dims[*axis], (*starts)[i], (*ends)[i], steps.given ? (*steps.values)[i] : 1);
    if (!cut) return std::nullopt;
    dims[*axis] = cut->count;
    if (cut->count == 0) continue;
    from += cut->start * strides[*axis];
    // A step past the end is taken by one element only, whose stride is never used.
    strides[*axis] = cut->count == 1 ? 0 : strides[*axis] * cut->step;
  }
  return read_strided(call, std::move(dims), from, strides);
}

Results concat(const Call& call) {
  const Operand* first = call.input(0);
  if (!first || !find_attribute(call.node, "axis")) return std::nullopt;
  const auto axis = axis_of(call.attribute("axis", 0), first->dims.size());
  if (!axis) return std::nullopt;
  Sizes dims = first->dims;
  dims[*axis] = 0;
  for (std::size_t i = 0; i < call.inputs.size(); ++i) {
    const Operand* in = call.input(i);
    if (!in || in->type != first->type || in->dims.size() != dims.size()) return std::nullopt;
    for (std::size_t k = 0; k < dims.size(); ++k) {
      if (k != *axis && in->dims[k] != dims[k]) return std::nullopt;
    }
    if (in->dims[*axis] > std::numeric_limits<std::int64_t>::max() - dims[*axis]) return std::nullopt;
    dims[*axis] += in->dims[*axis];
  }
  auto out = blank(call, first->type, std::move(dims));
  if (!out || out->bytes.empty()) return only(std::move(out));
  std::size_t rows = 1;
  for (std::size_t k = 0; k < *axis; ++k) rows *= static_cast<std::size_t>(out->dims[k]);
  std::uint8_t* to = out->bytes.data();
  for (std::size_t row = 0; row < rows; ++row) {
    for (const Operand& in : call.inputs) {
      const std::size_t bytes = in.bytes.size() / rows;
      if (bytes > 0) std::memcpy(to, in.bytes.data() + row * bytes, bytes);
      to += bytes;
    }
  }
  return only(std::move(out));
}

Results split(const Call& call) {
  const Operand* in = call.input(0);
  if (!in) return std::nullopt;
  const auto axis = axis_of(call.attribute("axis", 0), in->dims.size());
  if (!axis) return std::nullopt;
  const auto outputs = static_cast<std::int64_t>(call.node.output_size());
  const std::int64_t dim = in->dims[*axis];
  const IntList listed = int_list(call, "split", 1, 13);
  Sizes sizes;
  if (listed.given) {
    if (!listed.values) return std::nullopt;
    sizes = *listed.values;
  } else {
    // From 18 on the last may be smaller; before, all are equal.
    if (call.opset >= 18 && call.attribute("num_outputs", outputs) != outputs) return std::nullopt;
    if (call.opset < 18 && dim % outputs != 0) return std::nullopt;
    const std::int64_t each = dim / outputs + (dim % outputs != 0);
    std::int64_t left = dim;
    for (std::int64_t i = 0; i < outputs; ++i, left -= sizes.back()) sizes.push_back(std::min(each, left));
  }
  if (static_cast<std::int64_t>(sizes.size()) != outputs || product_of(sizes).value_or(-1) < 0) return std::nullopt;
  std::int64_t covered = 0;
  for (const std::int64_t size : sizes) {
    if (size > dim - covered) return std::nullopt;
    covered += size;
  }
  if (covered != dim) return std::nullopt;
  const Sizes strides = strides_of(in->dims);
  std::vector<Tensor> results;
  std::int64_t at = 0;
  for (const std::int64_t size : sizes) {
    Sizes dims = in->dims;
    dims[*axis] = size;
    auto part = read_strided(call, std::move(dims), at * strides[*axis], strides);
    if (!part) return std::nullopt;
    results.push_back(std::move(part->front()));
    at += size;
  }
  return results;
}

Results expand(const Call& call) {
  const Operand* in = call.input(0);
  const auto target = small_ints(call.input(1));
  if (!in || !target || !product_of(*target)) return std::nullopt;
  auto dims = broadcast(in->dims, *target);
  if (!dims) return std::nullopt;
  const Sizes strides = broadcast_strides(in->dims, *dims);
  return read_strided(call, std::move(*dims), 0, strides);
}

Results tile(const Call& call) {
  const Operand* in = call.input(0);
  const auto repeats = small_ints(call.input(1));
  if (!in || !repeats || repeats->size() != in->dims.size()) return std::nullopt;
  const Sizes own = strides_of(in->dims);
  Sizes dims, split_dims, strides;  // each axis as repeats of itself
  for (std::size_t i = 0; i < own.size(); ++i) {
    const auto size = product_of(Sizes{(*repeats)[i], in->dims[i]});
    if (!size) return std::nullopt;
    dims.push_back(*size);
    split_dims.insert(split_dims.end(), {(*repeats)[i], in->dims[i]});
    strides.insert(strides.end(), {0, own[i]});
  }
  auto tiled = read_strided(call, std::move(split_dims), 0, strides);
  if (tiled) tiled->front().dims = std::move(dims);
  return tiled;
}

Results pad(const Call& call) {
  const Operand* in = call.input(0);
  const auto* mode = find_attribute(call.node, "mode");
  const auto pads = int_list(call, "pads", 1, 11).values;
  if (!in || !pads || (mode && mode->s() != "constant")) return std::nullopt;
  const std::size_t rank = in->dims.size(), width = element_width(in->type);
  std::vector<std::uint8_t> value(width, 0);
  if (call.opset < 11) {
    const float fill = float_attribute(call.node, "value", 0);
    if (in->type != kFloat && fill != 0) return std::nullopt;
    if (in->type == kFloat) std::memcpy(value.data(), &fill, sizeof fill);
  } else if (const Operand* fill = call.input(2)) {
    if (fill->type != in->type || fill->bytes.size() != width) return std::nullopt;
    value.assign(fill->bytes.begin(), fill->bytes.end());
  }
  Sizes axes(rank);
  for (std::size_t i = 0; i < rank; ++i) axes[i] = static_cast<std::int64_t>(i);
  const IntList listed = call.opset >= 18 ? int_list(call, "axes", 3, 18) : IntList{};
  if (listed.given) {
    if (!listed.values) return std::nullopt;
    axes = *listed.values;
  }
  if (pads->size() != axes.size() * 2) return std::nullopt;
  // The part of the input that stays, and where it lands.
  Sizes dims = in->dims, kept = in->dims, skip(rank, 0), lead(rank, 0);
  std::vector<bool> seen(rank);
  for (std::size_t i = 0; i < axes.size(); ++i) {
    const auto axis = axis_of(axes[i], rank);
    if (!axis || seen[*axis]) return std::nullopt;
    seen[*axis] = true;
    constexpr std::int64_t kMost = std::numeric_limits<std::int64_t>::max() / 4;
    const std::int64_t before = (*pads)[i], after = (*pads)[i + axes.size()], dim = in->dims[*axis];
    if (std::max({before, after, dim}) > kMost || std::min(before, after) < -dim) return std::nullopt;
    dims[*axis] = dim + before + after;
    skip[*axis] = std::max<std::int64_t>(0, -before);
    lead[*axis] = std::max<std::int64_t>(0, before);
    kept[*axis] = dim - skip[*axis] - std::max<std::int64_t>(0, -after);
    if (dims[*axis] < 0 || kept[*axis] < 0) return std::nullopt;
  }
  auto out = blank(call, in->type, std::move(dims));
  if (!out) return std::nullopt;
  for (std::size_t i = 0; i < out->bytes.size(); i += width) std::memcpy(out->bytes.data() + i, value.data(), width);
  const Sizes from_strides = strides_of(in->dims), to_strides = strides_of(out->dims);
  std::int64_t from = 0, to = 0;
  if (product_of(kept).value_or(0) > 0) {
    for (std::size_t i = 0; i < rank; ++i) from += skip[i] * from_strides[i], to += lead[i] * to_strides[i];
  }
  copy_strided(width, kept, in->bytes.data(), from, from_strides, out->bytes.data(), to, to_strides);
  return only(std::move(out));
}

Results trilu(const Call& call) {
  const Operand* in = call.input(0);
  if (!in || in->dims.size() < 2 || in->bytes.size() > call.max_bytes) return std::nullopt;
  std::int64_t diagonal = 0;
  if (call.input(1)) {
    const auto k = single_int(call.input(1));
    if (!k) return std::nullopt;
    diagonal = *k;
  }
  const bool upper = call.attribute("upper", 1) != 0;
  const std::int64_t rows = in->dims[in->dims.size() - 2], cols = in->dims.back();
  diagonal = std::clamp(diagonal, -rows - 1, cols + 1);
  const std::size_t width = element_width(in->type);
  Tensor out{in->type, in->dims, {in->bytes.begin(), in->bytes.end()}};
  for (std::size_t i = 0; i < out.bytes.size() / width; ++i) {
    const auto place = static_cast<std::int64_t>(i);
    const std::int64_t row = place / cols % rows, col = place % cols;
    const bool keep = upper ? col - row >= diagonal : col - row <= diagonal;
    if (!keep) std::fill_n(out.bytes.begin() + place * static_cast<std::int64_t>(width), width, std::uint8_t{0});
  }
  return only(std::move(out));
}

}  // namespace octet::kernels
