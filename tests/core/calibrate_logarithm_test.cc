// The logarithm that reaches ranges: close to the true one, and the same bits on every platform.
#include <gtest/gtest.h>

#include <cmath>

#include "calibrate/logarithm.h"
#include "kernel_inputs.h"

namespace octet {
namespace {

// In units of the last place of the true value.
double error_at(double x) {
  const long double exact = std::log(static_cast<long double>(x));
  if (exact == 0) return natural_log(x) == 0 ? 0 : 1e9;
  const double size = std::fabs(static_cast<double>(exact));
  const double unit = std::nextafter(size, std::numeric_limits<double>::infinity()) - size;
  return static_cast<double>(std::fabs(static_cast<long double>(natural_log(x)) - exact)) / unit;
}

TEST(CalibrateLogarithm, IsCloseToTheTrueOne) {
  double worst = 0;
  test::SplitMix random(9);
  for (int i = 0; i < 200000; ++i) {
    const std::uint64_t bits = random.next() & 0x7FFFFFFFFFFFFFFFu;
    const double any = bit_cast<double>(bits), near_one = 1 + static_cast<double>(random.unit()) * 0.5;
    const double whole = static_cast<double>(1 + random.next() % 100000);
    for (const double x : {any, near_one, whole, 1 + (near_one - 1) * 1e-9}) {
      if (std::isfinite(x) && x > 0) worst = std::max(worst, error_at(x));
    }
  }
  EXPECT_LE(worst, 2.0);
  EXPECT_GT(worst, 0.4);  // else the true one was not true
}

TEST(CalibrateLogarithm, ByHand) {
  EXPECT_EQ(natural_log(1), 0);
  EXPECT_EQ(natural_log(2), 0x1.62e42fefa39efp-1);
  EXPECT_EQ(natural_log(0.5), -0x1.62e42fefa39efp-1);
  EXPECT_NEAR(natural_log(5e-324), -744.4400719213812, 1e-12);
  EXPECT_NEAR(natural_log(1.7976931348623157e308), 709.782712893384, 1e-12);
}

TEST(CalibrateLogarithm, SameBitsEverywhere) {
  test::SplitMix random(10);
  std::vector<double> values;
  for (int i = 0; i < 10000; ++i) values.push_back(natural_log(bit_cast<double>(random.next() >> 2)));
  EXPECT_EQ(test::hash_of(values), 0x3DCA095DCDA93337u);
}

}  // namespace
}  // namespace octet
