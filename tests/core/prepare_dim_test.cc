// Sizes as expressions: what is equal comes out equal, and what leaves 64 bits comes out as nothing.
#include "prepare/dim.h"

#include <gtest/gtest.h>

#include <limits>

namespace octet {
namespace {

const Dim kSeq = Dim::symbol("seq"), kBatch = Dim::symbol("batch");
constexpr auto kMax = std::numeric_limits<std::int64_t>::max();

TEST(Dim, SumsAndProductsAreEqualHoweverTheyWereBuilt) {
  const Dim a = *multiply(*add(kSeq, 1), kBatch), b = *add(*multiply(kBatch, kSeq), kBatch);
  EXPECT_EQ(a, b);
  EXPECT_EQ(a.text(), "batch + batch*seq");
  EXPECT_EQ(*subtract(a, b), Dim(0));
  EXPECT_EQ(subtract(*add(kSeq, 5), kSeq)->number(), 5);
}

TEST(Dim, ReadsAsPeopleWriteIt) {
  EXPECT_EQ(Dim().text(), "0");
  EXPECT_EQ(Dim(-7).text(), "-7");
  EXPECT_EQ(subtract(*multiply(kSeq, 2), 1)->text(), "2*seq - 1");
  EXPECT_EQ(subtract(Dim(1), kSeq)->text(), "-seq + 1");
  EXPECT_EQ(multiply(kSeq, kSeq)->text(), "seq*seq");
}

TEST(Dim, DividesWhatDivides) {
  const Dim product = *multiply(*multiply(kBatch, kSeq), 768);
  EXPECT_EQ(divide_exactly(product, *multiply(kBatch, 12)), *multiply(kSeq, 64));
  EXPECT_EQ(divide_exactly(*multiply(*add(kSeq, 1), *add(kBatch, 2)), *add(kBatch, 2)), *add(kSeq, 1));
  EXPECT_EQ(divide_exactly(*add(kSeq, 1), kSeq), std::nullopt);
  EXPECT_EQ(divide_exactly(*multiply(kSeq, 3), 2), std::nullopt);
  EXPECT_EQ(divide_exactly(kSeq, Dim(0)), std::nullopt);
}

TEST(Dim, FloorsWhatDoesNot) {
  EXPECT_EQ(divide_floor(-7, 2)->number(), -4);
  EXPECT_EQ(divide_floor(7, 0), std::nullopt);
  EXPECT_EQ(divide_floor(*add(kSeq, 1), 2)->text(), "floor((seq + 1)/2)");
  EXPECT_EQ(divide_floor(*multiply(kSeq, 4), 2), *multiply(kSeq, 2));
  EXPECT_EQ(divide_floor(*add(kSeq, 1), 2), divide_floor(*add(1, kSeq), 2));
}

TEST(Dim, BoundsAreOneWhicheverSideComesFirst) {
  EXPECT_EQ(minimum(kSeq, 128), minimum(128, kSeq));
  EXPECT_EQ(minimum(3, 5)->number(), 3);
  EXPECT_EQ(maximum(kSeq, kSeq), kSeq);
}

TEST(Dim, NothingBeyond64Bits) {
  EXPECT_EQ(add(kMax, 1), std::nullopt);
  EXPECT_EQ(multiply(kMax, 2), std::nullopt);
  EXPECT_EQ(subtract(std::numeric_limits<std::int64_t>::min(), 1), std::nullopt);
  Dim huge = kSeq;
  int grown = 0;
  for (std::optional<Dim> next = huge; next && grown < 100; ++grown) next = multiply(*next, *add(kSeq, kBatch));
  EXPECT_LT(grown, 20) << "expressions that no longer help end";
}

TEST(Dim, ASizeIsAtLeastZero) {
  EXPECT_TRUE(kSeq.at_least_zero());
  EXPECT_TRUE(add(*multiply(kSeq, kBatch), 3)->at_least_zero());
  EXPECT_FALSE(subtract(kSeq, 1)->at_least_zero());
  EXPECT_FALSE(divide_floor(*subtract(kSeq, 5), 2)->at_least_zero());
}

}  // namespace
}  // namespace octet
