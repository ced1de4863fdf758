// x = m · 2^e with m in [√½, √2), log m = 2 artanh((m - 1) / (m + 1)), whose series needs ten terms there:
// the first left out is below 2^-56 of the sum.
#include "calibrate/logarithm.h"

#include <cstdint>
#include <initializer_list>

#include "kernels/bit_cast.h"

namespace octet {

double natural_log(double x) {
  constexpr std::uint64_t kOne = 0x3FF0000000000000u, kRootHalf = 0x3FE6A09E667F3BCDu;
  auto bits = bit_cast<std::uint64_t>(x);
  int exponent = 0;
  if (bits < 0x0010000000000000u) {
    bits = bit_cast<std::uint64_t>(x * 0x1p54);
    exponent = -54;
  }
  const auto steps = static_cast<std::int64_t>(bits - kRootHalf) >> 52;
  exponent += static_cast<int>(steps);
  const double m = bit_cast<double>(bits - (static_cast<std::uint64_t>(steps) << 52));
  static_assert(kOne > kRootHalf);
  const double f = m - 1, s = f / (2 + f), z = s * s;
  double series = 1.0 / 21;
  for (const double term : {1.0 / 19, 1.0 / 17, 1.0 / 15, 1.0 / 13, 1.0 / 11, 1.0 / 9, 1.0 / 7, 1.0 / 5, 1.0 / 3})
    series = series * z + term;
  // log m = f - s (f - 2 z series): exact in its leading part, so that nothing is lost near 1.
  const double tail = s * (f - 2 * z * series);
  constexpr double kLogTwoHigh = 0x1.62e42fee00000p-1, kLogTwoLow = 0x1.a39ef35793c76p-33;
  const double e = exponent;
  return e * kLogTwoHigh + (f - (tail - e * kLogTwoLow));
}

}  // namespace octet
