// Blockwise weights against what ONNX Runtime's own quantizer (onnxruntime 1.32, quantize_matmul_4bits and _8bits)
// wrote for the same matrices, and against the stated formula.
#include "kernels/block_kernels.h"

#include <gtest/gtest.h>

#include <array>
#include <cmath>

#include "kernel_inputs.h"

namespace octet {
namespace {

struct Blocks {
  BlockLayout layout;
  std::vector<std::uint8_t> packed, zero_points;
  std::vector<float> scales;

  std::uint32_t level(std::uint64_t column, std::uint64_t row) const {
    const std::uint64_t per_column = layout.blocks() * layout.block_bytes();
    if (layout.bits == 8) return packed[column * per_column + row];
    return packed[column * per_column + row / 2] >> (row % 2 * 4) & 15u;
  }
  std::uint32_t zero_point(std::uint64_t column, std::uint64_t block) const {
    if (layout.symmetric) return 1u << (layout.bits - 1);
    if (layout.bits == 8) return zero_points[column * layout.blocks() + block];
    return zero_points[column * ((layout.blocks() + 1) / 2) + block / 2] >> (block % 2 * 4) & 15u;
  }
  float scale(std::uint64_t column, std::uint64_t block) const { return scales[column * layout.blocks() + block]; }
};

Blocks quantize(const std::vector<float>& weights, const BlockLayout& layout) {
  // Filled with rubbish, so that a byte left unwritten is seen.
  Blocks b{layout, std::vector<std::uint8_t>(layout.packed_bytes(), 0xAA),
           std::vector<std::uint8_t>(layout.zero_point_bytes(), 0xAA), std::vector<float>(layout.scale_count(), 99.0f)};
  quantize_blocks_k(weights, layout, b.packed, b.scales, b.zero_points);
  return b;
}

TEST(KernelsBlock, SameBytesAsTheRuntimesQuantizer) {
  struct Row {
    int bits;
    bool symmetric;
    std::uint64_t block, k, n, hash;  // of packed, scales and zero points, one after the other
  };
  const Row rows[] = {
      {4, true, 16, 80, 70, 0xC85EF2CCF86DDAF1u},    {4, true, 32, 100, 65, 0x738C7827ED45B7B2u},
      {4, true, 128, 300, 131, 0xD9EC949F202CD435u}, {4, false, 16, 80, 70, 0x521FE826BED1B330u},
      {4, false, 32, 100, 65, 0xB578A3AA62E3E23Eu},  {4, false, 128, 300, 131, 0x6BDF108BF589B230u},
      {8, true, 16, 80, 70, 0x1E494CF67F710515u},    {8, true, 32, 100, 65, 0xE522E792DAF215FEu},
      {8, true, 128, 300, 131, 0xF7118F4A24BAB617u}, {8, false, 16, 80, 70, 0x8D5E052CE53D8979u},
      {8, false, 32, 100, 65, 0x6B42262810CA4EDBu},  {8, false, 128, 300, 131, 0x7F2BCF336AE1A823u},
  };
  for (const Row& row : rows) {
    const std::uint64_t seed = row.block * 1000 + static_cast<std::uint64_t>(row.bits) * 10 + (row.symmetric ? 1 : 0);
    const Blocks b =
        quantize(test::unit_floats(seed, row.k * row.n), {row.k, row.n, row.block, row.bits, row.symmetric});
    EXPECT_EQ(test::hash_of(b.zero_points, test::hash_of(b.scales, test::hash_of(b.packed))), row.hash)
        << row.bits << " bits, " << (row.symmetric ? "symmetric" : "asymmetric") << ", blocks of " << row.block;
  }
}

// Every value, by the formula alone, for shapes that end within a block and within a tile of columns.
TEST(KernelsBlock, FollowsTheFormula) {
  for (const int bits : {4, 8}) {
    for (const bool symmetric : {true, false}) {
      for (const auto& [k, n, block] :
           {std::array<std::uint64_t, 3>{1, 1, 16}, {33, 3, 32}, {37, 64, 16}, {64, 200, 32}, {16, 65, 128}}) {
        const BlockLayout layout{k, n, block, bits, symmetric};
        const auto w = test::unit_floats(k * 31 + n, k * n, 5.0f);
        const Blocks b = quantize(w, layout);
        const auto levels = static_cast<float>((1 << bits) - 1);
        for (std::uint64_t column = 0; column < n; ++column) {
          for (std::uint64_t i = 0; i < layout.blocks(); ++i) {
            float low = 0, high = 0;
            for (std::uint64_t r = i * block; r < std::min(k, (i + 1) * block); ++r) {
              low = std::min(low, w[r * n + column]);
              high = std::max(high, w[r * n + column]);
            }
            const float scale =
                symmetric ? (high > -low ? high : low) / (bits == 4 ? -8.0f : -128.0f) : (high - low) / levels;
            const float zero =
                symmetric ? (bits == 4 ? 8.0f : 128.0f) : std::min(std::max(std::round(-low / scale), 0.0f), levels);
            ASSERT_EQ(b.scale(column, i), scale);
            ASSERT_EQ(static_cast<float>(b.zero_point(column, i)), zero);
            const float reciprocal = 1.0f / scale;
            for (std::uint64_t r = i * block; r < (i + 1) * block; ++r) {
              const float want =
                  r < k ? std::min(std::max(std::round(w[r * n + column] * reciprocal + zero), 0.0f), levels) : 0.0f;
              ASSERT_EQ(static_cast<float>(b.level(column, r)), want) << bits << symmetric << " " << column << "," << r;
            }
          }
        }
        if (bits == 4 && !symmetric && layout.blocks() % 2 == 1) {
          EXPECT_EQ(b.zero_points[(layout.blocks() - 1) / 2] >> 4, 8);
        }
      }
    }
  }
}

TEST(KernelsBlock, ZerosAndTheSignOfTheirScale) {
  const std::vector<float> zeros(32, 0.0f), negative(32, -0.0f);
  const Blocks plus = quantize(zeros, {32, 1, 32, 4, true}), minus = quantize(negative, {32, 1, 32, 4, true});
  EXPECT_EQ(plus.packed, std::vector<std::uint8_t>(16, 0x88));
  EXPECT_TRUE(std::signbit(plus.scales[0]));  // the runtime's quantizer divides by -8 here as well
  EXPECT_FALSE(std::signbit(minus.scales[0]));
  const Blocks asymmetric = quantize(zeros, {32, 1, 32, 8, false});
  EXPECT_EQ(asymmetric.packed, std::vector<std::uint8_t>(32, 0));
  EXPECT_EQ(asymmetric.zero_points, std::vector<std::uint8_t>(1, 0));
  EXPECT_EQ(asymmetric.scales[0], 0.0f);
}

TEST(KernelsBlock, LargestMagnitudeLandsOnLevelZero) {
  std::vector<float> w(16, 1.0f);
  w[3] = 4.0f;
  const Blocks b = quantize(w, {16, 1, 16, 4, true});
  EXPECT_EQ(b.scales[0], -0.5f);
  EXPECT_EQ(b.level(0, 3), 0u);
  EXPECT_EQ(b.level(0, 0), 6u);  // 1 / -0.5 + 8
}

}  // namespace
}  // namespace octet
