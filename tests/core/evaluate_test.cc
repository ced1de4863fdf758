// evaluate(): edges of the operators it knows, and what it declines. tests/native/evaluate_runs_test.cc compares the
// ordinary cases with the runtime.
#include "prepare/evaluate.h"

#include <gmock/gmock.h>

#include <cmath>

#include "graph_pictures.h"

namespace octet {
namespace {

using testing::Optional;

// What the one node of a graph gives; its inputs are the stored tensors of the text. Printed as "INT64[2]: 1 2".
std::string result_of(const onnx::ModelProto& proto, int opset, std::uint64_t max_bytes = 1 << 20) {
  const auto& graph = proto.graph();
  std::map<std::string, Tensor> stored;
  for (const auto& tensor : graph.initializer())
    stored[tensor.name()] = parse_tensor_proto(fixtures::to_bytes(tensor.SerializeAsString()));
  std::vector<Operand> operands;
  for (const auto& name : graph.node(0).input()) {
    if (name.empty()) {
      operands.emplace_back();
      continue;
    }
    const Tensor& tensor = stored.at(name);
    operands.push_back({tensor.type, tensor.dims, tensor.bytes});
  }
  const auto results = evaluate(graph.node(0), opset, operands, max_bytes);
  if (!results) return "declined";
  std::ostringstream out;
  for (const Tensor& result : *results) {
    out << (out.tellp() > 0 ? "; " : "") << type_name(result.type) << "[";
    for (std::size_t i = 0; i < result.dims.size(); ++i) out << (i ? "," : "") << result.dims[i];
    out << "]:";
    for (const float value : to_float(result)) out << " " << value;
  }
  return out.str();
}
std::string result_of(const std::string& text, int opset = 17, std::uint64_t max_bytes = 1 << 20) {
  return result_of(pictures::proto_of("g () => () " + text, opset), opset, max_bytes);
}

TEST(Evaluate, TakesScalarsAndEmptyTensors) {
  EXPECT_EQ(result_of("<float a = {2}, float b = {3}> { y = Mul(a, b) }"), "FLOAT[]: 6");
  EXPECT_EQ(result_of("<float a = {2}> { y = Transpose(a) }"), "FLOAT[]: 2");
  EXPECT_EQ(result_of("<float[0,3] a> { y = Transpose(a) }"), "FLOAT[3,0]:");
  EXPECT_EQ(result_of("<float[0] a, float[1] b> { y = Add(a, b) }"), "FLOAT[0]:");
  EXPECT_EQ(result_of("<float[0] a, float[2] b = {1, 2}> { y = Concat<axis = 0>(a, b) }"), "FLOAT[2]: 1 2");
  EXPECT_EQ(result_of("<float[0,2] a, int64[0] i> { y = Gather(a, i) }"), "FLOAT[0,2]:");
  EXPECT_EQ(result_of("<float[0] a, int64[1] s = {5}, int64[1] e = {-9}, int64[1] x = {0}, int64[1] t = {-1}> { y = "
                      "Slice(a, s, e, x, t) }"),
            "FLOAT[0]:");
  EXPECT_EQ(result_of("<int64[0,3] a> { y = NonZero(a) }"), "INT64[2,0]:");
  EXPECT_EQ(result_of("<int64[2,0] a, int64 x = {1}> { y = CumSum(a, x) }"), "INT64[2,0]:");
  EXPECT_EQ(result_of("<float[0,3] a> { y = Shape(a) }"), "INT64[2]: 0 3");
  EXPECT_EQ(result_of("<float a = {4}> { y = Shape(a) }"), "INT64[0]:");
  EXPECT_EQ(
      result_of("<float[2,0] a, int64[2] p = {1, 1}, float v = {5}, int64[1] x = {1}> { y = Pad(a, p, v, x) }", 18),
      "FLOAT[2,2]: 5 5 5 5");
}

TEST(Evaluate, LeavesOutInputs) {
  EXPECT_EQ(result_of("<int64[4] a = {1, 2, 3, 4}, int64[1] s = {3}, int64[1] e = {-5}, int64[1] t = {-2}> { y = "
                      "Slice(a, s, e, , t) }"),
            "INT64[2]: 4 2");
  EXPECT_EQ(result_of("<int64[4] a = {1, 2, 3, 4}, int64[1] s = {3}> { y = Slice(a, s, ) }"), "declined");
  EXPECT_EQ(result_of("<int64[4] a = {1, 2, 3, 4}> { y = Add(a, ) }"), "declined");
  EXPECT_EQ(result_of("<int64[4] a = {1, 2, 3, 4}> { y = Add(a) }"), "declined");
  EXPECT_EQ(result_of("{ y = Add() }"), "declined");
  EXPECT_EQ(result_of("{ y = Concat<axis = 0>() }"), "declined");
  EXPECT_EQ(result_of("<int64[1] a = {1}> { y = Concat(a, a) }"), "declined");
}

TEST(Evaluate, DeclinesIntegersThatLeaveTheirType) {
  EXPECT_EQ(result_of("<int64 a = {9223372036854775807}, int64 b = {1}> { y = Add(a, b) }"), "declined");
  EXPECT_EQ(result_of("<int32 a = {-2147483648}, int32 b = {-1}> { y = Div(a, b) }"), "declined");
  EXPECT_EQ(result_of("<int32 a = {-2147483648}, int32 b = {-1}> { y = Mod(a, b) }"), "declined");
  EXPECT_EQ(result_of("<int32 a = {-2147483648}> { y = Neg(a) }"), "declined");
  EXPECT_EQ(result_of("<int32 a = {-2147483648}> { y = Abs(a) }"), "declined");
  EXPECT_EQ(result_of("<int32 a = {65536}> { y = Mul(a, a) }"), "declined");
  EXPECT_EQ(result_of("<uint8 a = {3}, uint8 b = {4}> { y = Sub(a, b) }"), "declined");
  EXPECT_EQ(result_of("<int64[2] a = {9223372036854775807, 1}> { y = ReduceSum(a) }"), "declined");
  EXPECT_EQ(result_of("<int32 a = {10}, int32 e = {10}> { y = Pow(a, e) }"), "declined");
  EXPECT_EQ(result_of("<int64 a = {1}, int64 b = {0}> { y = Div(a, b) }"), "declined");
  EXPECT_EQ(result_of("<int64 a = {1}, int64 b = {0}> { y = Mod(a, b) }"), "declined");
  EXPECT_EQ(result_of("<float a = {3000000000}> { y = Cast<to = 6>(a) }"), "declined");
  EXPECT_EQ(result_of("<float a = {2147483648}> { y = Cast<to = 6>(a) }"), "declined");
  EXPECT_EQ(result_of("<float a = {-2147483648}> { y = Cast<to = 6>(a) }"), "INT32[]: -2.14748e+09");
  EXPECT_EQ(result_of("<float a = {-0.5}> { y = Cast<to = 2>(a) }"), "UINT8[]: 0");
  EXPECT_EQ(result_of("<float a = {-1}> { y = Cast<to = 2>(a) }"), "declined");
}

TEST(Evaluate, DeclinesWhatDependsOnOrderOrLibrary) {
  EXPECT_EQ(result_of("<float[2] a = {1, 2}> { y = ReduceSum(a) }"), "declined");
  EXPECT_EQ(result_of("<float[2] a = {1, 2}> { y = ReduceMean(a) }"), "declined");
  EXPECT_EQ(result_of("<float[2] a = {1, 2}> { y = ReduceMax(a) }"), "FLOAT[1]: 2");
  EXPECT_EQ(result_of("<float a = {2}, float e = {1.5}> { y = Pow(a, e) }"), "declined");
  EXPECT_EQ(result_of("<float a = {4}, float e = {0.5}> { y = Pow(a, e) }"), "FLOAT[]: 2");
  EXPECT_EQ(result_of("<float a = {-4}, float e = {0.5}> { y = Pow(a, e) }"), "declined");
  EXPECT_EQ(result_of("<float a = {0}, float b = {-0.0}> { y = Max(a, b) }"), "declined");
  EXPECT_EQ(result_of("<float a = {2}> { y = Exp(a) }"), "declined");
  EXPECT_EQ(result_of("<float a = {2}> { y = Sigmoid(a) }"), "declined");
  EXPECT_EQ(result_of("<float s = {0}, float e = {1}, float d = {0.1}> { y = Range(s, e, d) }"), "declined");
  EXPECT_EQ(result_of("<int64[2] a = {1, 2}, int64[0] x> { y = ReduceSum<noop_with_empty_axes = 1>(a, x) }"),
            "declined");
  EXPECT_EQ(result_of("<int64[0] a> { y = ReduceMax(a) }"), "declined");
}

TEST(Evaluate, GivesOneNaNEverywhere) {
  const auto proto = pictures::proto_of("g () => () <float a = {0}> { y = Div(a, a) }");
  const float zero = 0;
  const Operand operand{kFloat, {}, {reinterpret_cast<const std::uint8_t*>(&zero), 4}};
  const auto results = evaluate(proto.graph().node(0), 17, std::vector{operand, operand}, 100);
  ASSERT_TRUE(results);
  EXPECT_EQ(results->front().bytes, (std::vector<std::uint8_t>{0, 0, 0xc0, 0x7f}));
}

TEST(Evaluate, DeclinesWhatTheRuntimeWouldRefuse) {
  for (const char* text : {
           "<float[2] a, float[3] b> { y = Add(a, b) }",
           "<float[2] a, int64[2] b> { y = Add(a, b) }",
           "<float[2,3] a, int64[1] s = {7}> { y = Reshape(a, s) }",
           "<float[2,3] a, int64[2] s = {-1, -1}> { y = Reshape(a, s) }",
           "<float[2,3] a, int64[1] s = {2}> { y = Squeeze(a, s) }",
           "<float[2,3] a, int64[1] s = {1}> { y = Squeeze(a, s) }",
           "<float[2,3] a, int64[2] s = {0, 0}> { y = Unsqueeze(a, s) }",
           "<float[2,3] a> { y = Transpose<perm = [0, 0]>(a) }",
           "<float[2,3] a> { y = Transpose<perm = [0]>(a) }",
           "<float[2,3] a> { y = Transpose<perm = [0, 5]>(a) }",
           "<float[2,3] a, int64[1] i = {2}> { y = Gather(a, i) }",
           "<float[2,3] a, int64[1] i = {-3}> { y = Gather(a, i) }",
           "<float[2,3] a, float[1] i = {1}> { y = Gather(a, i) }",
           "<float[2,3] a, int64[1] i = {1}> { y = Gather<axis = 2>(a, i) }",
           "<float[2,3] a, int64[1] i = {1}> { y = GatherElements(a, i) }",
           "<float[2,3] a, int64[1,3] i = {1, 1, 1}> { y = GatherND(a, i) }",
           "<float[2,3] a, int64[1,0] i> { y = GatherND(a, i) }",
           "<float[2,3] a, int64[1,1] i = {2}, float[1,3] u> { y = ScatterND(a, i, u) }",
           "<float[2,3] a, int64[1,1] i = {1}, float[3] u> { y = ScatterND(a, i, u) }",
           "<float[2,3] a, int64[1,1] i = {1}, float[1,3] u> { y = ScatterND<reduction = \"add\">(a, i, u) }",
           "<float[2,3] a, int64[1] s = {1}, int64[1] e = {2}, int64[1] x = {2}> { y = Slice(a, s, e, x) }",
           "<float[2,3] a, int64[1] s = {1}, int64[1] e = {2}, int64[1] x = {0}, int64[1] t = {0}> { y = Slice(a, s, "
           "e, x, "
           "t) }",
           "<float[2,3] a, int64[2] s = {1, 1}, int64[2] e = {2, 2}, int64[2] x = {0, -2}> { y = Slice(a, s, e, x) }",
           "<float[2,3] a, float[3,2] b> { y = Concat<axis = 0>(a, b) }",
           "<float[2,3] a, float[3] b> { y = Concat<axis = 0>(a, b) }",
           "<float[2,3] a, int64[2] s = {1, 3}> { y, z = Split<axis = 1>(a, s) }",
           "<float[2,3] a, int64[2] s = {-1, 4}> { y, z = Split<axis = 1>(a, s) }",
           "<float[2,3] a> { y, z = Split<axis = 1>(a) }",
           "<float[2,3] a, int64[1] s = {2}> { y = Expand(a, s) }",
           "<float[2,3] a, int64[2] s = {2, -1}> { y = Expand(a, s) }",
           "<float[2,3] a, int64[2] s = {2, -1}> { y = Tile(a, s) }",
           "<float[2,3] a, int64[1] s = {2}> { y = Tile(a, s) }",
           "<float[2,3] a, int64[4] p = {0, 0, -3, 0}> { y = Pad(a, p) }",
           "<float[2,3] a, int64[2] p = {0, 0}> { y = Pad(a, p) }",
           "<float[2,3] a, int64[4] p = {0, 0, 1, 0}> { y = Pad<mode = \"reflect\">(a, p) }",
           "<float[2,3] a, int64[1] s = {-1}> { y = ConstantOfShape(s) }",
           "<float a, int64 s = {0}> { y = ConstantOfShape(s) }",
           "<int64 a = {1}, int64 d = {0}> { y = Range(a, a, d) }",
           "<float[2,3] a, float[1] b> { y = Pow(a) }",
           "<float[2,3] a> { y = EyeLike<dtype = 8>(a) }",
           "<float[2,3] a> { y = Cast(a) }",
           "<float[2,3] a> { y = Cast<to = 99>(a) }",
           "<float[2,3] a> { y = ArgMax<axis = 5>(a) }",
           "<int64[2] a, int64 x = {1}> { y = CumSum(a, x) }",
           "<int64[2] i = {0, 1}, int64 d = {-2}, float[2] v> { y = OneHot(i, d, v) }",
           "<float[2] c, float[2] a> { y = Where(c, a, a) }",
           "<float[2] a> { y = And(a, a) }",
           "<float[2] a> { y = Not(a) }",
       })
    EXPECT_EQ(result_of(text), "declined") << text;
}

TEST(Evaluate, MakesNothingLargerThanAsked) {
  EXPECT_EQ(result_of("<int64[1] s = {64}> { y = ConstantOfShape(s) }", 17, 255), "declined");
  EXPECT_NE(result_of("<int64[1] s = {64}> { y = ConstantOfShape(s) }", 17, 256), "declined");
  for (const char* text : {
           "<int64[3] s = {4611686018427387904, 4, 4611686018427387904}> { y = ConstantOfShape(s) }",
           "<float a, int64[2] s = {4611686018427387904, 4611686018427387904}> { y = Expand(a, s) }",
           "<float[2] a, int64[1] s = {4611686018427387904}> { y = Tile(a, s) }",
           "<float[2] a, int64[2] p = {4611686018427387904, 4611686018427387904}> { y = Pad(a, p) }",
           "<int64 s = {0}, int64 e = {4503599627370495}, int64 d = {1}> { y = Range(s, e, d) }",
           "<int64 s = {-9223372036854775808}, int64 e = {9223372036854775807}, int64 d = {1}> { y = Range(s, e, d) }",
           "<int64[1] i = {0}, int64 d = {4611686018427387904}, float[2] v> { y = OneHot(i, d, v) }",
       })
    EXPECT_EQ(result_of(text), "declined") << text;
}

TEST(Evaluate, FollowsTheOpset) {
  EXPECT_EQ(result_of("<float[1,2] a = {1, 2}> { y = Squeeze<axes = [0]>(a) }", 11), "FLOAT[2]: 1 2");
  EXPECT_EQ(result_of("<float[1,2] a = {1, 2}> { y = Squeeze<axes = [0]>(a) }", 13),
            "FLOAT[2]: 1 2");  // all that are 1
  EXPECT_EQ(result_of("<int64[2] a = {1, 2}> { y = ReduceSum<axes = [0], keepdims = 0>(a) }", 11), "INT64[]: 3");
  EXPECT_EQ(result_of("<float[2] a = {1, 2}, float b = {1}> { y = Add(a, b) }", 6), "declined");
  EXPECT_EQ(result_of("<float[2] a = {1, 2}> { y = Add(a, a) }", 6), "FLOAT[2]: 2 4");
  EXPECT_EQ(result_of("<float[2] a = {1, 2}, float t = {2}, float x = {0}> { y = Tile(a, t, x) }", 5), "declined");
  EXPECT_EQ(result_of("<float[2,2] a = {1, 2, 3, 4}> { y = Reshape<shape = [4]>(a) }", 4), "FLOAT[4]: 1 2 3 4");
}

TEST(Evaluate, DeclinesTypesWithoutWholeBytes) {
  auto proto = pictures::proto_of("g () => () <int64[1] s = {-1}> { y = Reshape(w, s) }", 21);
  const std::vector<std::uint8_t> nibbles{0x21};
  const std::int64_t shape = -1;
  const std::vector<Operand> operands = {{kInt4, {2}, nibbles},
                                         {kInt64, {1}, {reinterpret_cast<const std::uint8_t*>(&shape), 8}}};
  EXPECT_FALSE(evaluate(proto.graph().node(0), 21, operands, 100));
}

// Bytes that do not fit type and dims never reach a kernel.
TEST(Evaluate, DeclinesBytesThatDoNotFit) {
  const auto proto = pictures::proto_of("g () => () <float[2] a> { y = Neg(a) }");
  const std::vector<std::uint8_t> bytes(8);
  for (const Operand& operand :
       {Operand{kFloat, {3}, bytes}, Operand{kFloat, {-1}, bytes}, Operand{kDouble, {2}, bytes},
        Operand{kFloat, {1LL << 62, 1LL << 62}, bytes}, Operand{99, {2}, bytes}})
    EXPECT_FALSE(evaluate(proto.graph().node(0), 17, std::vector{operand}, 100));
}

}  // namespace
}  // namespace octet
