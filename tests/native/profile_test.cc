// What is made of the runtime's trace, and of models that it watches.
#include "engine/profile.h"

#include <gmock/gmock.h>

#include "graph_pictures.h"
#include "octet/error.h"
#include "tiny_models.h"

namespace octet {
namespace {

using testing::HasSubstr;
using testing::SizeIs;

std::string node(const std::string& name, const std::string& op, const std::string& type, int begin, int length) {
  return R"({"cat": "Node", "name": ")" + name + R"(_kernel_time", "ts": )" + std::to_string(begin) + R"(, "dur": )" +
         std::to_string(length) + R"(, "args": {"op_name": ")" + op + R"(", "input_type_shape": [{")" + type +
         R"(": [1, 4]}, {"float": [4]}]}},)";
}

std::string run(int begin, int length) {
  return R"({"cat": "Session", "name": "model_run", "ts": )" + std::to_string(begin) + R"(, "dur": )" +
         std::to_string(length) + R"(, "args": {}},)";
}

// Nodes stand before the run that they belong to, as the runtime writes them.
std::string trace(std::string events) {
  events.back() = ']';
  return R"([{"cat": "Session", "name": "session_initialization", "ts": 0, "dur": 90, "args": {}},)" + events;
}

TEST(Profile, SumsByOperatorWithoutWarmUpAndTheSlowerHalf) {
  const Profile profile = profile_from_trace(
      trace(node("a", "QLinearConv", "uint8", 110, 5000) + run(100, 6000) +  // warm-up
            node("a", "QLinearConv", "uint8", 10010, 1000) + node("b", "Conv", "float", 11020, 1500) +
            run(10000, 3500) + node("a", "QLinearConv", "uint8", 20010, 3000) + node("b", "Conv", "float", 23020, 500) +
            run(20000, 5500) + node("a", "QLinearConv", "uint8", 30010, 90000) + run(30000, 95000)),  // disturbed
      1);
  EXPECT_EQ(profile.runs, 2u);
  EXPECT_DOUBLE_EQ(profile.run_ms, 4.5);
  ASSERT_THAT(profile.operators, SizeIs(2));
  EXPECT_EQ(profile.operators[0].op, "QLinearConv");
  EXPECT_TRUE(profile.operators[0].integers);
  EXPECT_DOUBLE_EQ(profile.operators[0].count, 1);
  EXPECT_DOUBLE_EQ(profile.operators[0].ms, 2);
  EXPECT_DOUBLE_EQ(profile.operators[0].share, 2.0 / 3);
  EXPECT_FALSE(profile.operators[1].integers);
  EXPECT_DOUBLE_EQ(profile.integer_share, 2.0 / 3);
  ASSERT_THAT(profile.nodes, SizeIs(2));
  EXPECT_EQ(profile.nodes[0].name, "a");
}

TEST(Profile, ValuesCarriedOnIn8BitsAreInIntegersAndConversionsAreNot) {
  const Profile profile = profile_from_trace(
      trace(node("pool", "MaxPool", "uint8", 10, 100) + node("pool2", "MaxPool", "float", 120, 100) +
            node("q", "QuantizeLinear", "float", 230, 100) + node("dq", "DequantizeLinear", "uint8", 340, 100) +
            node("cast", "Cast", "int8", 450, 100) + node("attention", "QAttention", "float", 560, 100) + run(0, 700)),
      0);
  std::map<std::string, int> in_integers;
  for (const auto& entry : profile.operators) in_integers[entry.op] += entry.integers;
  EXPECT_EQ(in_integers,
            (std::map<std::string, int>{
                {"Cast", 0}, {"DequantizeLinear", 0}, {"MaxPool", 1}, {"QAttention", 1}, {"QuantizeLinear", 0}}));
  EXPECT_THAT(profile.operators, SizeIs(6)) << "MaxPool ran both ways";
}

TEST(Profile, ANodeIsWithoutTheTimeOfItsGraph) {
  const Profile profile = profile_from_trace(
      trace(node("inner", "MatMul", "float", 200, 300) + node("inner", "MatMul", "float", 600, 200) +
            node("loop", "Loop", "int64", 100, 1000) + node("after", "Relu", "float", 1200, 100) + run(0, 1400)),
      0);
  std::map<std::string, double> ms;
  for (const auto& entry : profile.operators) ms[entry.op] = entry.ms;
  EXPECT_DOUBLE_EQ(ms["Loop"], 0.5);
  EXPECT_DOUBLE_EQ(ms["MatMul"], 0.5);
  EXPECT_DOUBLE_EQ(ms["Relu"], 0.1);
}

TEST(Profile, WhatIsNoTraceIsAnError) {
  for (const char* text : {"", "{", "[]", "[1]", R"([{"name": 3}])", R"([{"name": "a", "cat": "Node"}])", "null"}) {
    EXPECT_THROW(profile_from_trace(text, 0), Error) << text;
  }
  EXPECT_THROW(profile_from_trace(trace(run(0, 10)), 1), Error) << "every run is warm-up";
}

TEST(Profile, WatchesAModelAndLeavesNoFile) {
  const tiny::Folder folder;
  tiny::write(folder / "float.onnx", tiny::matmul());
  ::setenv("TMPDIR", folder.path.c_str(), 1);
  const std::vector<Sample> samples{{{"x", tiny::floats({2, 4}, std::vector<float>(8, 1))}}};
  const Profile profile = profile_model(folder / "float.onnx", samples, {.warmup = 1, .runs = 4});
  const Profile odd = profile_model(folder / "none.onnx", samples, {});
  ::unsetenv("TMPDIR");
  EXPECT_EQ(profile.why_not, "");
  EXPECT_EQ(profile.runs, 2u) << "the faster half of 4";
  ASSERT_FALSE(profile.operators.empty());
  double ms = 0, share = 0;
  for (const auto& entry : profile.operators) {
    EXPECT_FALSE(entry.integers) << entry.op;
    EXPECT_DOUBLE_EQ(entry.count, 1) << entry.op;
    ms += entry.ms;
    share += entry.share;
  }
  EXPECT_NEAR(share, 1, 1e-9);
  EXPECT_LE(ms, profile.run_ms);
  EXPECT_THAT(odd.why_not, HasSubstr("no such file"));
  const auto left = std::distance(std::filesystem::directory_iterator(folder.path), {});
  EXPECT_EQ(left, 1) << "the model alone is there still";
}

}  // namespace
}  // namespace octet
