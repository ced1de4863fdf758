#include "kernels/block_kernels.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <vector>

#include "kernels/quantize_kernels.h"

namespace octet {
namespace {

// Columns worked on together: a row of the tile is four cache lines, and a tile of one block stays in the first cache
// for its second reading. The loops over it have a fixed length, which is what lets the compiler vectorize them.
constexpr std::size_t kTile = 64;
using TileRow = std::array<float, kTile>;

// Half away from zero for values that are not negative; exact, and free of the library's rounding call. NaN gives 0.
inline std::int32_t round_clamped(float v, float levels) {
  v = v > 0.0f ? v : 0.0f;
  v = v < levels ? v : levels;
  const auto whole = static_cast<std::int32_t>(v);
  return whole + static_cast<std::int32_t>(v - static_cast<float>(whole) >= 0.5f);
}

struct TileParameters {
  TileRow scale, reciprocal, zero_point;
};

TileParameters choose_parameters(const TileRow& low, const TileRow& high, const BlockLayout& layout) {
  const auto levels = static_cast<float>((1 << layout.bits) - 1), middle = static_cast<float>(1 << (layout.bits - 1));
  TileParameters p;
  for (std::size_t j = 0; j < kTile; ++j) {
    // Zero is inside every range; a zero of either sign found in the block stays what it is.
    const float lowest = low[j] > 0.0f ? 0.0f : low[j], highest = high[j] < 0.0f ? 0.0f : high[j];
    if (layout.symmetric) {
      p.scale[j] = (std::fabs(highest) > std::fabs(lowest) ? highest : lowest) / -middle;
      p.zero_point[j] = middle;
    } else {
      p.scale[j] = (highest - lowest) / levels;
      p.zero_point[j] =
          p.scale[j] == 0.0f ? 0.0f : static_cast<float>(round_clamped(0.0f - lowest / p.scale[j], levels));
    }
    p.reciprocal[j] = p.scale[j] == 0.0f ? 0.0f : 1.0f / p.scale[j];
  }
  return p;
}

}  // namespace

void quantize_blocks_k(std::span<const float> weights, const BlockLayout& layout, std::span<std::uint8_t> packed,
                       std::span<float> scales, std::span<std::uint8_t> zero_points) {
  const auto n = static_cast<std::size_t>(layout.n), block = static_cast<std::size_t>(layout.block);
  const auto blocks = static_cast<std::size_t>(layout.blocks()), bytes = static_cast<std::size_t>(layout.block_bytes());
  const std::size_t zero_point_stride = layout.bits == 4 ? (blocks + 1) / 2 : blocks;
  const auto levels = static_cast<float>((1 << layout.bits) - 1);

  std::vector<TileRow> edge;  // the last, narrower tile, filled up with zeros
  std::vector<std::uint8_t> level(block * kTile), by_column(block * kTile), nibbles(block * kTile / 2);
  const std::span<const std::int8_t> by_column_signed(reinterpret_cast<const std::int8_t*>(by_column.data()),
                                                      by_column.size());
  for (std::size_t column = 0; column < n; column += kTile) {
    const std::size_t width = std::min(kTile, n - column);
    for (std::size_t b = 0; b < blocks; ++b) {
      const std::size_t first = b * block,
                        count = std::min<std::size_t>(block, static_cast<std::size_t>(layout.k) - first);
      const float* rows = weights.data() + first * n + column;
      std::size_t stride = n;
      if (width < kTile) {
        edge.assign(count, TileRow{});
        for (std::size_t r = 0; r < count; ++r) std::copy_n(rows + r * n, width, edge[r].begin());
        rows = edge.data()->data();
        stride = kTile;
      }

      // Start from the first row, not from zero: the sign of a block of zeros is then the reference's as well.
      TileRow low, high;
      std::copy_n(rows, kTile, low.begin());
      high = low;
      for (std::size_t r = 1; r < count; ++r) {
        const float* row = rows + r * stride;
        for (std::size_t j = 0; j < kTile; ++j) {
          low[j] = row[j] < low[j] ? row[j] : low[j];
          high[j] = row[j] > high[j] ? row[j] : high[j];
        }
      }
      const TileParameters p = choose_parameters(low, high, layout);
      for (std::size_t r = 0; r < count; ++r) {
        const float* row = rows + r * stride;
        std::uint8_t* to = level.data() + r * kTile;
        for (std::size_t j = 0; j < kTile; ++j) {
          to[j] = static_cast<std::uint8_t>(round_clamped(row[j] * p.reciprocal[j] + p.zero_point[j], levels));
        }
      }
      std::fill(level.begin() + static_cast<std::ptrdiff_t>(count * kTile), level.end(), std::uint8_t{0});

      transpose_bytes(level, block, kTile, by_column);
      if (layout.bits == 4) pack_nibbles(by_column_signed, nibbles);
      const std::uint8_t* from = layout.bits == 4 ? nibbles.data() : by_column.data();
      for (std::size_t j = 0; j < width; ++j) {
        const std::size_t at = (column + j) * blocks + b;
        scales[at] = p.scale[j];
        std::copy_n(from + j * bytes, bytes, packed.data() + at * bytes);
        if (layout.symmetric) continue;
        const auto zero = static_cast<std::uint8_t>(p.zero_point[j]);
        std::uint8_t& slot = zero_points[(column + j) * zero_point_stride + (layout.bits == 4 ? b / 2 : b)];
        if (layout.bits == 8) {
          slot = zero;
        } else if (b % 2 == 0) {
          slot = static_cast<std::uint8_t>(zero | 0x80);  // 8 above, until a next block overwrites it
        } else {
          slot = static_cast<std::uint8_t>((slot & 0x0F) | (zero << 4));
        }
      }
    }
  }
}

}  // namespace octet
