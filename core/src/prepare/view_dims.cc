#include "prepare/view_dims.h"

#include <algorithm>
#include <limits>

namespace octet {

std::optional<std::int64_t> product_of(std::span<const std::int64_t> dims) {
  if (std::any_of(dims.begin(), dims.end(), [](std::int64_t dim) { return dim < 0; })) return std::nullopt;
  if (std::find(dims.begin(), dims.end(), 0) != dims.end()) return 0;
  std::int64_t product = 1;
  for (const std::int64_t dim : dims) {
    if (product > std::numeric_limits<std::int64_t>::max() / dim) return std::nullopt;
    product *= dim;
  }
  return product;
}

std::optional<std::size_t> axis_of(std::int64_t axis, std::size_t rank) {
  const auto count = static_cast<std::int64_t>(rank);
  if (axis < -count || axis >= count) return std::nullopt;
  return static_cast<std::size_t>(axis < 0 ? axis + count : axis);
}

std::optional<Sizes> reshaped(const Sizes& dims, Sizes shape, bool allow_zero) {
  if (shape.size() > kMaxRank) return std::nullopt;
  std::int64_t* open = nullptr;
  for (std::size_t i = 0; i < shape.size(); ++i) {
    if (shape[i] == 0 && !allow_zero) {
      if (i >= dims.size()) return std::nullopt;
      shape[i] = dims[i];
    }
    if (shape[i] == -1 && !open)
      open = &shape[i];
    else if (shape[i] < 0)
      return std::nullopt;
  }
  if (open) *open = 1;
  const auto total = product_of(dims), known = product_of(shape);
  if (!total || !known) return std::nullopt;
  if (open && (*known == 0 || *total % *known != 0)) return std::nullopt;
  if (open)
    *open = *total / *known;
  else if (*known != *total)
    return std::nullopt;
  return shape;
}

std::optional<Sizes> flattened(const Sizes& dims, std::int64_t axis) {
  const auto rank = static_cast<std::int64_t>(dims.size());
  if (axis < 0) axis += rank;
  if (axis < 0 || axis > rank) return std::nullopt;
  const auto all = std::span(dims);
  const auto rows = product_of(all.first(static_cast<std::size_t>(axis))),
             cols = product_of(all.subspan(static_cast<std::size_t>(axis)));
  return rows && cols ? std::optional(Sizes{*rows, *cols}) : std::nullopt;
}

namespace {

// Which of `rank` axes are named; nothing when one is none of them or is named twice.
std::optional<std::vector<bool>> named_axes(const Sizes& axes, std::size_t rank) {
  std::vector<bool> named(rank);
  for (const std::int64_t axis : axes) {
    const auto at = axis_of(axis, rank);
    if (!at || named[*at]) return std::nullopt;
    named[*at] = true;
  }
  return named;
}

}  // namespace

std::optional<Sizes> squeezed(const Sizes& dims, const Sizes& axes) {
  const auto named = named_axes(axes, dims.size());
  if (!named) return std::nullopt;
  Sizes result;
  for (std::size_t i = 0; i < dims.size(); ++i) {
    if ((*named)[i] && dims[i] != 1) return std::nullopt;
    if (!(*named)[i]) result.push_back(dims[i]);
  }
  return result;
}

std::optional<Sizes> unsqueezed(const Sizes& dims, const Sizes& axes) {
  if (axes.size() > kMaxRank || dims.size() + axes.size() > kMaxRank) return std::nullopt;
  const auto named = named_axes(axes, dims.size() + axes.size());
  if (!named) return std::nullopt;
  Sizes result;
  auto next = dims.begin();
  for (const bool is_new : *named) result.push_back(is_new ? 1 : *next++);
  return result;
}

}  // namespace octet
