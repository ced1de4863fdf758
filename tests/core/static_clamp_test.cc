#include "quantize/static_clamp.h"

#include <gtest/gtest.h>

#include <cmath>
#include <optional>

namespace octet {
namespace {

constexpr IntegerRange kBytes{0, 255};

// What QuantizeLinear stores.
int rounded(double value, float scale, int zero_point) {
  const float steps = std::nearbyint(static_cast<float>(value) / scale) + static_cast<float>(zero_point);
  return static_cast<int>(std::fmin(std::fmax(steps, 0.0f), 255.0f));
}

// Whether values all over give the same integer with the clamp and without.
bool same_with_clamp(const Clamp& clamp, float scale, int zero_point) {
  for (double value = -20; value <= 20; value += 0.003) {
    double clamped = value;
    if (clamp.low) clamped = std::fmax(clamped, *clamp.low);
    if (clamp.high) clamped = std::fmin(clamped, *clamp.high);
    if (rounded(value, scale, zero_point) != rounded(clamped, scale, zero_point)) return false;
  }
  return true;
}

TEST(StaticClamp, IsSuperfluousExactlyWhereRoundingSaturatesAlike) {
  int superfluous = 0, needed = 0;
  for (const double low : {-3.0, -1.0, -0.4, 0.0, 0.5}) {
    for (const double high : {0.3, 1.0, 6.0}) {
      for (const float scale : {0.004f, 0.01f, 0.0235294f, 0.05f}) {
        for (int zero_point = 0; zero_point < 256; zero_point += 5) {
          const Clamp clamp{0, low, high};
          const bool expected = same_with_clamp(clamp, scale, zero_point);
          EXPECT_EQ(is_superfluous(clamp, scale, zero_point, kBytes), expected)
              << low << " " << high << " " << scale << " " << zero_point;
          ++(expected ? superfluous : needed);
        }
      }
    }
  }
  EXPECT_GT(superfluous, 20);
  EXPECT_GT(needed, 20);
}

TEST(StaticClamp, ReluNeedsTheSmallestIntegerAtZero) {
  const Clamp relu{0, 0.0, std::nullopt};
  EXPECT_TRUE(is_superfluous(relu, 0.1f, 0, kBytes));
  EXPECT_FALSE(is_superfluous(relu, 0.1f, 1, kBytes));
  EXPECT_TRUE(is_superfluous(relu, 0.1f, -128, {-128, 127}));
}

}  // namespace
}  // namespace octet
