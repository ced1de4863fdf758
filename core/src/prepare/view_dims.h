// Dims of tensors that are only looked at in another way: same elements, same order.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace octet {

using Sizes = std::vector<std::int64_t>;

inline constexpr std::size_t kMaxRank = 255;  // what the loader takes

// The product of dims that are no negative number; nothing when it passes 64 bits. Dims of empty tensors may be
// anything, in whatever order.
std::optional<std::int64_t> product_of(std::span<const std::int64_t> dims);

// `axis` counted from the front; nothing when it lies outside [-rank, rank).
std::optional<std::size_t> axis_of(std::int64_t axis, std::size_t rank);

// The operators of the same names. Nothing when the runtime would refuse.
std::optional<Sizes> reshaped(const Sizes& dims, Sizes shape, bool allow_zero);
std::optional<Sizes> flattened(const Sizes& dims, std::int64_t axis);
std::optional<Sizes> squeezed(const Sizes& dims, const Sizes& axes);
std::optional<Sizes> unsqueezed(const Sizes& dims, const Sizes& axes);

}  // namespace octet
