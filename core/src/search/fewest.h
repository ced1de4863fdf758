// How many of an order must go.
#pragma once

#include <algorithm>
#include <cstddef>
#include <functional>
#include <optional>

namespace octet {

// Doubling finds a number up to `most` that suffices, halving the smallest that does; nothing where `most` does not.
// Once it is late, whatever suffices is taken.
inline std::optional<std::size_t> fewest(std::size_t most, const std::function<bool(std::size_t)>& suffices,
                                         const std::function<bool()>& late) {
  if (most == 0) return std::nullopt;
  std::size_t low = 0, high = 1;
  while (!suffices(high)) {
    if (high == most) return std::nullopt;
    low = high;
    high = late() ? most : std::min(most, 2 * high);
  }
  while (high - low > 1 && !late()) {
    const std::size_t middle = (low + high) / 2;
    (suffices(middle) ? high : low) = middle;
  }
  return high;
}

}  // namespace octet
