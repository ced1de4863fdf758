// Rearranging quantized bytes: transposing and packing.
#include <algorithm>
#include <cstddef>

#include "kernels/highway_targets.h"
#include "kernels/quantize_kernels.h"
#include "kernels/scalar_kernels.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/byte_kernels.cc"
#include <hwy/foreach_target.h>  // IWYU pragma: keep

#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace octet {
namespace HWY_NAMESPACE {
namespace {

namespace hn = hwy::HWY_NAMESPACE;

#if HWY_TARGET == HWY_SCALAR  // processors without any of the vector units: correct is enough

void TransposeBytes(std::span<const std::uint8_t> in, std::uint64_t rows, std::uint64_t cols,
                    std::span<std::uint8_t> out) {
  scalar::transpose_bytes(in, rows, cols, out);
}
void PackNibbles(std::span<const std::int8_t> values, std::span<std::uint8_t> out) {
  scalar::pack_nibbles(values, out);
}

#else

using Bytes16 = hn::FixedTag<std::uint8_t, 16>;
using ByteVec = hn::Vec<Bytes16>;

// One perfect shuffle: row i meets row i + 8. Of the eight bits that number a byte of the tile (four of row, four of
// column) each round rotates one from row to column; after four they have changed places.
HWY_INLINE void shuffle_rows(const ByteVec* from, ByteVec* to) {
  const Bytes16 d;
  for (std::size_t i = 0; i < 8; ++i) {
    to[2 * i] = hn::InterleaveLower(d, from[i], from[i + 8]);
    to[2 * i + 1] = hn::InterleaveUpper(d, from[i], from[i + 8]);
  }
}

HWY_INLINE void transpose_16x16(const std::uint8_t* from, std::size_t from_stride, std::uint8_t* to,
                                std::size_t to_stride) {
  const Bytes16 d;
  ByteVec a[16], b[16];
  for (std::size_t i = 0; i < 16; ++i) a[i] = hn::LoadU(d, from + i * from_stride);
  shuffle_rows(a, b);
  shuffle_rows(b, a);
  shuffle_rows(a, b);
  shuffle_rows(b, a);
  for (std::size_t i = 0; i < 16; ++i) hn::StoreU(a[i], d, to + i * to_stride);
}

void TransposeBytes(std::span<const std::uint8_t> in, std::uint64_t row_count, std::uint64_t col_count,
                    std::span<std::uint8_t> out) {
  const auto rows = static_cast<std::size_t>(row_count), cols = static_cast<std::size_t>(col_count);
  const std::size_t whole_rows = rows / 16 * 16, whole_cols = cols / 16 * 16;
  const std::uint8_t* from = in.data();
  std::uint8_t* to = out.data();
  // Squares of one cache line: every line fetched on either side is used whole before it is evicted.
  constexpr std::size_t kSquare = 64;
  for (std::size_t r0 = 0; r0 < whole_rows; r0 += kSquare) {
    const std::size_t r1 = std::min(r0 + kSquare, whole_rows);
    for (std::size_t c0 = 0; c0 < whole_cols; c0 += kSquare) {
      const std::size_t c1 = std::min(c0 + kSquare, whole_cols);
      for (std::size_t c = c0; c < c1; c += 16) {
        for (std::size_t r = r0; r < r1; r += 16) transpose_16x16(from + r * cols + c, cols, to + c * rows + r, rows);
      }
    }
  }
  // The right and the lower edge.
  for (std::size_t c = whole_cols; c < cols; ++c) {
    for (std::size_t r = 0; r < whole_rows; ++r) to[c * rows + r] = from[r * cols + c];
  }
  for (std::size_t c = 0; c < cols; ++c) {
    for (std::size_t r = whole_rows; r < rows; ++r) to[c * rows + r] = from[r * cols + c];
  }
}

void PackNibbles(std::span<const std::int8_t> values, std::span<std::uint8_t> out) {
  const hn::ScalableTag<std::uint16_t> d;
  const hn::Repartition<std::int8_t, decltype(d)> db;
  const hn::Rebind<std::uint8_t, decltype(d)> narrow;
  const hn::RebindToSigned<decltype(d)> ds;
  const std::size_t pairs = hn::Lanes(d), n = values.size();
  const auto low = hn::Set(d, 0x000F), high = hn::Set(d, 0x00F0);
  std::size_t i = 0;
  for (; n - i >= 2 * pairs; i += 2 * pairs) {
    // A pair of values is one little-endian word: first value below, second above.
    const auto v = hn::BitCast(d, hn::LoadU(db, values.data() + i));
    const auto packed = hn::Or(hn::And(v, low), hn::And(hn::ShiftRight<4>(v), high));
    hn::StoreU(hn::DemoteTo(narrow, hn::BitCast(ds, packed)), narrow, out.data() + i / 2);
  }
  scalar::pack_nibbles(values.subspan(i), out.subspan(i / 2));
}

#endif

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace octet
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace octet {

HWY_EXPORT(TransposeBytes);
HWY_EXPORT(PackNibbles);

void transpose_bytes(std::span<const std::uint8_t> in, std::uint64_t rows, std::uint64_t cols,
                     std::span<std::uint8_t> out) {
  HWY_DYNAMIC_DISPATCH(TransposeBytes)(in, rows, cols, out);
}
void pack_nibbles(std::span<const std::int8_t> values, std::span<std::uint8_t> out) {
  HWY_DYNAMIC_DISPATCH(PackNibbles)(values, out);
}

}  // namespace octet
#endif  // HWY_ONCE
