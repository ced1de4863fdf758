// Which samples are taken, what is checked of them, and what is said of few.
#include <gmock/gmock.h>

#include <algorithm>
#include <set>

#include "octet/error.h"
#include "octet/samples.h"

namespace octet {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

TEST(SampleOrder, IsThatOfNamesWithoutASeed) {
  EXPECT_THAT(sample_order(4, 0, std::nullopt), ElementsAre(0, 1, 2, 3));
  EXPECT_THAT(sample_order(4, 2, std::nullopt), ElementsAre(0, 1));
  EXPECT_THAT(sample_order(2, 9, std::nullopt), ElementsAre(0, 1));
  EXPECT_TRUE(sample_order(0, 3, 1).empty());
}

TEST(SampleOrder, IsTheSameForASeedEverywhere) {
  // Written down once: every platform must draw these.
  EXPECT_THAT(sample_order(10, 0, 1), ElementsAre(5, 7, 9, 6, 3, 8, 2, 0, 1, 4));
  EXPECT_THAT(sample_order(10, 4, 1), ElementsAre(5, 7, 9, 6)) << "a limit takes the first of the same order";
  EXPECT_NE(sample_order(10, 0, 2), sample_order(10, 0, 1));
  const auto order = sample_order(1000, 0, 7);
  EXPECT_EQ(std::set<std::size_t>(order.begin(), order.end()).size(), 1000u);
  EXPECT_FALSE(std::is_sorted(order.begin(), order.end()));
}

TEST(SampleOrder, FavorsNoPlace) {
  std::vector<int> first(5);
  for (std::uint64_t seed = 0; seed < 5000; ++seed) ++first[sample_order(5, 1, seed).front()];
  // 1000 each expected; 5 deviations of a binomial of 5000 at 1/5 are 141.
  for (const int count : first) EXPECT_NEAR(count, 1000, 141);
}

TEST(FewSamples, AreSaid) {
  EXPECT_THAT(few_samples_hint(1), HasSubstr("1 sample;"));
  EXPECT_THAT(few_samples_hint(99), HasSubstr("99 samples"));
  EXPECT_EQ(few_samples_hint(100), "");
  EXPECT_THAT(more_samples_advice(499), HasSubstr("at least 500"));
  EXPECT_EQ(more_samples_advice(500), "");
}

TEST(ConformSample, ServesReadersOfPrograms) {
  ValueInfo input;
  input.name = "x";
  input.type = kFloat;
  input.dims = {1, -1};
  input.symbols = {"", "n"};
  const Tensor ints{kInt32, {1, 2}, {1, 0, 0, 0, 2, 0, 0, 0}};
  EXPECT_THAT(to_float(conform_sample({{"anything", ints}}, {input}, "mine").at("x")), ElementsAre(1, 2));
  EXPECT_EQ(conform_sample({{"x", ints}, {"y", ints}}, {input}, "mine").size(), 1u);
  try {
    conform_sample({{"y", ints}, {"z", ints}}, {input}, "mine");
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::kData);
    EXPECT_STREQ(error.what(), "mine: lacks input 'x': it holds 'y', 'z', the model wants 'x'");
  }
}

}  // namespace
}  // namespace octet
