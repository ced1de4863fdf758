// What calibration says of values that were NaN or infinite.
#include "octet/observe.h"

#include <gmock/gmock.h>

#include <limits>

#include "octet/dtype.h"
#include "octet/tensor.h"

namespace octet {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

Ranges with_infinity(const std::vector<std::string>& tensors, std::uint64_t samples) {
  Ranges ranges;
  ranges.samples = samples;
  const float values[] = {1, std::numeric_limits<float>::infinity()};
  for (const std::string& tensor : tensors) ranges.tensors[tensor].add(values);
  return ranges;
}

TEST(NonFinite, SaysWhereFirstAndHowOften) {
  NonFinite seen;
  seen.begin_sample(0, "one.npz");
  seen.begin_sample(1, "two.npz");
  seen.add("x");
  seen.add("x");
  seen.begin_sample(2, "three.npz");
  seen.add("x");
  EXPECT_THAT(seen.notes(with_infinity({"x"}, 3)),
              ElementsAre("'x': 1 values were NaN or infinite in 2 of 3 samples, first in two.npz; they are left out"));
  seen.clear();
  EXPECT_THAT(seen.notes(with_infinity({"x"}, 3)), IsEmpty());
  seen.add("x");
  EXPECT_THAT(
      seen.notes(with_infinity({"x"}, 1)),
      ElementsAre("'x': 1 values were NaN or infinite in 1 of 1 samples, first in three.npz; they are left out"));
}

// Samples that ran side by side, in whichever order they ended.
TEST(NonFinite, PartsMergeToTheWhole) {
  NonFinite even, odd, whole;
  even.begin_sample(2, "two.npz");
  even.add("x");
  odd.begin_sample(1, "one.npz");
  odd.add("x");
  odd.begin_sample(3, "three.npz");
  odd.add("y");
  for (const NonFinite* part : {&even, &odd}) whole.merge(*part);
  const auto notes = whole.notes(with_infinity({"x", "y"}, 4));
  EXPECT_THAT(
      notes,
      ElementsAre("'x': 1 values were NaN or infinite in 2 of 4 samples, first in one.npz; they are left out",
                  "'y': 1 values were NaN or infinite in 1 of 4 samples, first in three.npz; they are left out"));
}

TEST(NonFinite, NamesTheFirstFew) {
  NonFinite seen;
  std::vector<std::string> names;
  for (const char letter : {'a', 'b', 'c', 'd', 'e', 'f', 'g'}) names.push_back(std::string(1, letter));
  for (const std::string& name : names) seen.add(name);
  const auto notes = seen.notes(with_infinity(names, 1));
  ASSERT_EQ(notes.size(), 6u);
  EXPECT_EQ(notes.front(), "'a': 1 values were NaN or infinite in 1 of 1 samples; they are left out");
  EXPECT_EQ(notes.back(), "so were values of 2 other tensors");
}

TEST(ObservedTypes, AreThoseOfFloats) {
  for (const int type : {kFloat, kFloat16, kBfloat16, kDouble}) EXPECT_TRUE(is_float_type(type)) << type;
  for (const int type : {kInt8, kInt64, kBool, kString}) EXPECT_FALSE(is_float_type(type)) << type;
}

}  // namespace
}  // namespace octet
