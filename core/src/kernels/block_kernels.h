// Blockwise weights for MatMulNBits: each column of a K × N matrix is cut along K into blocks with a scale of their
// own. Bit for bit what ONNX Runtime's own quantizer for the operator writes.
#pragma once

#include <cstdint>
#include <span>

namespace octet {

struct BlockLayout {
  std::uint64_t k = 0, n = 0;
  std::uint64_t block = 32;  // elements along K; the operator wants a power of two, 16 or more
  int bits = 4;              // 4 or 8
  bool symmetric = true;

  std::uint64_t blocks() const { return (k + block - 1) / block; }  // per column
  std::uint64_t block_bytes() const { return block * static_cast<std::uint64_t>(bits) / 8; }
  std::uint64_t packed_bytes() const { return n * blocks() * block_bytes(); }
  std::uint64_t scale_count() const { return n * blocks(); }
  // Symmetric weights have none: the operator's default, 8 or 128, is what they use.
  std::uint64_t zero_point_bytes() const {
    if (symmetric) return 0;
    return n * (bits == 4 ? (blocks() + 1) / 2 : blocks());
  }
};

// weights: row-major K × N, finite. The outputs have the sizes above and the operator's own order: packed
// [N, blocks, block_bytes], scales [N, blocks], zero_points [N, blocks] (4 bits: two per byte, low nibble first).
//   levels = 2^bits - 1, middle = 2^(bits-1), low = min(0, block), high = max(0, block), all in float32
//   symmetric:   scale = (|high| > |low| ? high : low) / -middle, zero point = middle
//                (the value of largest magnitude lands on level 0, so the scale is negative when it is positive)
//   asymmetric:  scale = (high - low) / levels, zero point = clamp(round(-low / scale), 0, levels); 0 if scale is 0
//   level = clamp(round(x * (1 / scale) + zero point), 0, levels), with 1 / scale taken as 0 if scale is 0
// round is half away from zero here, and the reciprocal is multiplied: this is the reference, not a choice.
// Levels past the end of K are 0; an odd number of 4-bit zero points per column is filled up with 8.
void quantize_blocks_k(std::span<const float> weights, const BlockLayout& layout, std::span<std::uint8_t> packed,
                       std::span<float> scales, std::span<std::uint8_t> zero_points);

}  // namespace octet
