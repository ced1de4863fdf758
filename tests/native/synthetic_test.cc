// Samples made up from names, types and shapes.
#include <gmock/gmock.h>

#include <cmath>
#include <cstring>
#include <numeric>

#include "data/samples.h"
#include "samples/synthetic_shapes.h"
#include "octet/error.h"
#include "tiny_models.h"

namespace octet {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

ValueInfo input(const std::string& name, int type, const std::vector<std::string>& dims) {
  ValueInfo info;
  info.name = name;
  info.type = type;
  for (const std::string& dim : dims) {
    const bool fixed = !dim.empty() && std::isdigit(static_cast<unsigned char>(dim[0])) != 0;
    info.dims.push_back(fixed ? std::stoll(dim) : -1);
    info.symbols.push_back(fixed ? "" : dim);
  }
  return info;
}

std::vector<std::int64_t> shape_of(const ValueInfo& info) { return guess_shapes({info}, {}, std::nullopt)[0]; }

TEST(Synthetic, GuessesSizesByRankTypeAndName) {
  EXPECT_THAT(shape_of(input("x", kFloat, {"N", "3", "H", "W"})), ElementsAre(1, 3, 64, 64));
  EXPECT_THAT(shape_of(input("x", kFloat, {"?", "?", "?", "?"})), ElementsAre(1, 3, 64, 64));
  EXPECT_THAT(shape_of(input("x", kFloat, {"", "", "", "3"})), ElementsAre(1, 64, 64, 3));
  EXPECT_THAT(shape_of(input("x", kUint8, {"h", "w", "3"})), ElementsAre(64, 64, 3));
  EXPECT_THAT(shape_of(input("x", kFloat, {"batch", "3", "48", "width"})), ElementsAre(1, 3, 48, 64));
  EXPECT_THAT(shape_of(input("audio", kFloat, {"batch", "samples"})), ElementsAre(1, 16000));
  EXPECT_THAT(shape_of(input("input_ids", kInt64, {"batch_size", "sequence_length"})), ElementsAre(1, 16));
  EXPECT_THAT(shape_of(input("features", kFloat, {"", "128"})), ElementsAre(1, 128));
  EXPECT_THAT(shape_of(input("mask", kFloat, {"b", "1", "s", "s"})), ElementsAre(1, 1, 16, 16));
  EXPECT_THAT(shape_of(input("lengths", kInt64, {"n"})), ElementsAre(1));
  EXPECT_THAT(shape_of(input("sr", kInt64, {})), ElementsAre());
}

TEST(Synthetic, OneSymbolHasOneSizeAndSumsAddUp) {
  SyntheticOptions options;
  options.dims = {{"seq", 9}, {"y:1", 5}};
  const std::vector<ValueInfo> inputs{input("x", kInt64, {"batch", "seq"}), input("y", kFloat, {"batch", "z", "8"}),
                                      input("attention_mask", kInt64, {"batch", "past_len + seq"}),
                                      input("total_mask", kInt64, {"batch", "total_sequence_length"}),
                                      input("past", kFloat, {"batch", "2", "past_len", "4"})};
  const auto shapes = guess_shapes(inputs, options, std::nullopt);
  EXPECT_THAT(shapes[0], ElementsAre(1, 9));
  EXPECT_THAT(shapes[1], ElementsAre(1, 5, 8));
  EXPECT_THAT(shapes[2], ElementsAre(1, 25));
  EXPECT_THAT(shapes[3], ElementsAre(1, 25));
  EXPECT_THAT(shapes[4], ElementsAre(1, 2, 16, 4));
}

TEST(Synthetic, FillsByName) {
  const std::vector<ValueInfo> inputs{input("input_ids", kInt64, {"b", "s"}),
                                      input("attention_mask", kInt64, {"b", "s"}),
                                      input("token_type_ids", kInt64, {"b", "s"}),
                                      input("position_ids", kInt64, {"b", "s"}),
                                      input("input_lengths", kInt64, {"b"}),
                                      input("sr", kInt64, {}),
                                      input("flag", kBool, {"1"}),
                                      input("speed", kFloat, {"1"}),
                                      input("x", kFloat, {"1", "4096"}),
                                      input("state", kFloat, {"2", "1", "512"})};
  SyntheticOptions options;
  options.dims = {{"s", 6}};
  const Sample sample = *make_synthetic(inputs, options)->next();
  const auto values = [&](const std::string& name) { return to_float(sample.at(name)); };
  EXPECT_THAT(values("input_ids"), testing::Each(testing::AllOf(testing::Ge(1), testing::Lt(64))));
  EXPECT_THAT(values("attention_mask"), testing::Each(1));
  EXPECT_THAT(values("token_type_ids"), testing::Each(0));
  EXPECT_THAT(values("position_ids"), ElementsAre(0, 1, 2, 3, 4, 5));
  EXPECT_THAT(values("input_lengths"), ElementsAre(6));
  EXPECT_THAT(values("sr"), ElementsAre(16000));
  EXPECT_EQ(sample.at("flag").bytes, tiny::Bytes{1});
  EXPECT_THAT(values("speed"), ElementsAre(1));
  const auto spread = [&](const std::string& name) {
    const std::vector<float> all = values(name);
    return std::sqrt(std::inner_product(all.begin(), all.end(), all.begin(), 0.0) / static_cast<double>(all.size()));
  };
  EXPECT_NEAR(spread("x"), 1, 0.05);
  EXPECT_NEAR(spread("state"), 0.1, 0.01);
}

TEST(Synthetic, TheSameSeedGivesTheSameBitsEverywhere) {
  const std::vector<ValueInfo> inputs{input("x", kFloat, {"1", "4"})};
  const auto reader = make_synthetic(inputs, {.seed = 7, .count = 2});
  const Sample first = *reader->next();
  const Sample second = *reader->next();
  EXPECT_FALSE(reader->next());
  reader->rewind();
  EXPECT_EQ(reader->next()->at("x").bytes, first.at("x").bytes);
  EXPECT_NE(first.at("x").bytes, second.at("x").bytes);
  EXPECT_NE(make_synthetic(inputs, {.seed = 8})->next()->at("x").bytes, first.at("x").bytes);
  std::uint32_t bits[4];
  std::memcpy(bits, first.at("x").bytes.data(), sizeof bits);
  EXPECT_THAT(bits, ElementsAre(3207608071u, 1047900671u, 1001855344u, 3205130520u));
  EXPECT_THAT(reader->description(), HasSubstr("x float32 [1,4], standard normal"));
}

TEST(Synthetic, FixesValuesAndRefusesWhatItCannotMakeUp) {
  SyntheticOptions options;
  options.fixed = {{"x", "2.5"}, {"n", "3"}};
  const Sample sample = *make_synthetic({input("x", kFloat, {"2"}), input("n", kInt64, {})}, options)->next();
  EXPECT_THAT(to_float(sample.at("x")), ElementsAre(2.5f, 2.5f));
  EXPECT_THAT(to_float(sample.at("n")), ElementsAre(3.0f));
  options.fixed = {{"x", "two"}};
  EXPECT_THROW(make_synthetic({input("x", kFloat, {"2"})}, options), Error);
  EXPECT_THROW(make_synthetic({input("x", kString, {"2"})}, {}), Error);
  options = {};
  options.dims = {{"n", std::int64_t{1} << 40}};
  EXPECT_THROW(make_synthetic({input("x", kFloat, {"n", "n"})}, options), Error);
}

TEST(Synthetic, FindsASizeThatRuns) {
  const Session reshape = Session::from_bytes(tiny::fixed_reshape(), {});
  EXPECT_THAT(find_runnable_synthetic(reshape, {})->next()->at("signal").dims, ElementsAre(1, 32));
  const Session table = Session::from_bytes(tiny::token_table(), {});
  const auto samples = find_runnable_synthetic(table, {.count = 3});
  EXPECT_EQ(samples->size(), 3u);
  EXPECT_THAT(samples->next()->at("input_ids").dims, ElementsAre(1, 16));
  try {
    find_runnable_synthetic(reshape, {.dims = {{"length", 5}}});
    ADD_FAILURE() << "length 5 cannot run";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::kRun);
  }
}

}  // namespace
}  // namespace octet
