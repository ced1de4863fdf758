// A fixed-point number wide enough for every float32: bit 0 is worth 2^-149, the smallest denormal, and 32 bits stand
// in each limb but the last, which holds the sign and what carries over. One form per sum: equal sums have equal limbs.
#include <array>
#include <cmath>

#include "calibrate/exact_sum.h"
#include "kernels/bit_cast.h"
#include "octet/ranges.h"

namespace octet {
namespace {

// Carries upwards until every limb but the last is in [0, 2^32). Wraps instead of overflowing.
void settle(std::vector<std::int64_t>& limbs) {
  for (std::size_t i = 0; i + 1 < kSumLimbs; ++i) {
    const std::int64_t carry = limbs[i] >> 32;
    limbs[i] &= 0xFFFFFFFF;
    limbs[i + 1] =
        static_cast<std::int64_t>(static_cast<std::uint64_t>(limbs[i + 1]) + static_cast<std::uint64_t>(carry));
  }
}

}  // namespace

void ExactSum::add(float value) {
  const auto bits = bit_cast<std::uint32_t>(value);
  const std::uint32_t exponent = bits >> 23 & 0xFF;
  if (exponent == 0xFF || (bits & 0x7FFFFFFFu) == 0) return;
  const std::uint64_t mantissa = (bits & 0x7FFFFFu) | (exponent > 0 ? 0x800000u : 0);
  const std::uint32_t shift = exponent > 0 ? exponent - 1 : 0;
  const std::uint64_t wide = mantissa << (shift % 32);
  const auto low = static_cast<std::int64_t>(wide & 0xFFFFFFFFu), high = static_cast<std::int64_t>(wide >> 32);
  limbs_.resize(kSumLimbs);
  limbs_[shift / 32] += bits >> 31 ? -low : low;
  limbs_[shift / 32 + 1] += bits >> 31 ? -high : high;
  settle(limbs_);
}

void ExactSum::merge(const ExactSum& other) {
  if (other.limbs_.empty()) return;
  limbs_.resize(kSumLimbs);
  for (std::size_t i = 0; i < kSumLimbs; ++i) {
    limbs_[i] =
        static_cast<std::int64_t>(static_cast<std::uint64_t>(limbs_[i]) + static_cast<std::uint64_t>(other.limbs_[i]));
  }
  settle(limbs_);
}

double ExactSum::value() const {
  if (limbs_.empty()) return 0;
  // The magnitude in plain 32-bit digits.
  const bool negative = limbs_.back() < 0;
  std::array<std::uint32_t, kSumLimbs + 1> digits{};
  std::uint64_t carry = negative ? 1 : 0;
  for (std::size_t i = 0; i < digits.size(); ++i) {
    const auto digit =
        static_cast<std::uint32_t>(static_cast<std::uint64_t>(i < kSumLimbs ? limbs_[i] : limbs_.back() >> 32));
    const std::uint64_t sum = (negative ? static_cast<std::uint32_t>(~digit) : digit) + carry;
    digits[i] = static_cast<std::uint32_t>(sum);
    carry = sum >> 32;
  }
  int top = static_cast<int>(digits.size()) - 1;
  while (top >= 0 && digits[static_cast<std::size_t>(top)] == 0) --top;
  if (top < 0) return 0;
  // The leading 64 bits or more of it; what is below only says on which side of a tie the sum lies.
  const auto digit = [&](int i) -> std::uint64_t { return i < 0 ? 0 : digits[static_cast<std::size_t>(i)]; };
  const int shift = __builtin_clz(digits[static_cast<std::size_t>(top)]);
  std::uint64_t leading = digit(top) << 32 | digit(top - 1);
  if (shift > 0) leading = leading << shift | digit(top - 2) >> (32 - shift);
  bool rest = static_cast<std::uint32_t>(digit(top - 2) << shift) != 0;
  for (int i = 0; i + 2 < top; ++i) rest |= digits[static_cast<std::size_t>(i)] != 0;
  const double rounded = static_cast<double>(leading | (rest ? 1 : 0));
  const double value = std::ldexp(rounded, (top - 1) * 32 - shift - 149);
  return negative ? -value : value;
}

}  // namespace octet
