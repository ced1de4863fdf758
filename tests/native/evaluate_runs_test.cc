// Every operator that evaluate() knows against the runtime: the same inputs, the same bits.
#include <gmock/gmock.h>

#include <cmath>
#include <cstring>

#include "engine/engine.h"
#include "graph_pictures.h"
#include "prepare/evaluate.h"

namespace octet {
namespace {

// One node. Graph inputs get made-up values: any small ones, but indices within [-2, 1] where the name begins with "i"
// and no zeros where it begins with "d"; floats whose name begins with "s" are now and then NaN or infinite.
struct OneNode {
  const char* text;
  int opset = 17;
};

std::ostream& operator<<(std::ostream& out, const OneNode& node) { return out << node.text; }

const OneNode kNodes[] = {
    {"g (float[2,3] x) => (int64[n] y) { y = Shape(x) }"},
    {"g (float[2,3,4] x) => (int64[n] y) { y = Shape<start = 1>(x) }"},
    {"g (float[2,3,4] x) => (int64[n] y) { y = Shape<start = -2, end = -1>(x) }"},
    {"g (float[2,3,4] x) => (int64[n] y) { y = Shape<start = 2, end = 1>(x) }"},
    {"g (float[2,3] x) => (int64 y) { y = Size(x) }"},
    {"g (float[2,3] x) => (int64[a,b] y) { y = Cast<to = 7>(x) }"},
    {"g (float[2,3] x) => (int32[a,b] y) { y = Cast<to = 6>(x) }"},
    {"g (float[20] x) => (bool[a] y) { y = Cast<to = 9>(x) }"},
    {"g (int64[20] x) => (float[a] y) { y = Cast<to = 1>(x) }"},
    {"g (int64[20] x) => (int32[a] y) { y = Cast<to = 6>(x) }"},
    {"g (bool[20] x) => (int64[a] y) { y = Cast<to = 7>(x) }"},
    {"g (bool[20] x) => (float16[a] y) { y = Cast<to = 10>(x) }"},
    {"g (float16[20] x) => (int32[a] y) { y = Cast<to = 6>(x) }"},
    {"g (float[20] x) => (float16[a] y) { y = Cast<to = 10>(x) }"},
    {"g (float[20] s) => (double[a] y) { y = Cast<to = 11>(s) }"},
    {"g (double[20] x) => (float[a] y) { y = Cast<to = 1>(x) }"},
    {"g (float[2,3,4] x) => (float[a,b] y) <int64[2] s = {0, -1}> { y = Reshape(x, s) }"},
    {"g (float[1,3,1] x) => (float[a] y) { y = Squeeze(x) }"},
    {"g (float[1,3,1] x) => (float[a,b] y) <int64[1] s = {-1}> { y = Squeeze(x, s) }"},
    {"g (float[1,3,1] x) => (float[a,b] y) { y = Squeeze<axes = [0]>(x) }", 11},
    {"g (float[3] x) => (float[a,b,c] y) <int64[2] s = {0, -1}> { y = Unsqueeze(x, s) }"},
    {"g (float[2,3,4] x) => (float[a,b] y) { y = Flatten<axis = -1>(x) }"},
    {"g (float[2,3,4] x) => (float[a,b,c] y) { y = Transpose(x) }"},
    {"g (float[2,3,4] x) => (float[a,b,c] y) { y = Transpose<perm = [1, 2, 0]>(x) }"},
    {"g (int64[5,6] x) => (int64[a,b] y) <int64[2] s = {1, -1}, int64[2] e = {100, -100}, int64[2] a = {0, 1}, "
     "int64[2] t = {2, -2}> { y = Slice(x, s, e, a, t) }"},
    {"g (float[5,6] x) => (float[a,b] y) <int32[1] s = {-3}, int32[1] e = {9}> { y = Slice(x, s, e) }"},
    {"g (float[5,6] x) => (float[a,b] y) <int64[1] s = {4}, int64[1] e = {2}, int64[1] a = {-1}> { y = Slice(x, s, e, "
     "a) "
     "}"},
    {"g (float[5] x) => (float[a] y) <int64[1] s = {-1}, int64[1] e = {-9223372036854775807}, int64[1] a = {0}, "
     "int64[1] t = {-1}> { y = Slice(x, s, e, a, t) }"},
    {"g (float[5,6] x) => (float[a,b] y) { y = Slice<starts = [1, 0], ends = [-1, 3]>(x) }", 9},
    {"g (float[5,6] x) => (float[a,b] y) { y = Slice<axes = [1], starts = [1], ends = [4]>(x) }", 9},
    {"g (float[2,3] x, float[2,1] z) => (float[a,b] y) { y = Concat<axis = -1>(x, z) }"},
    {"g (int64[2,3] x, int64[1,3] z) => (int64[a,b] y) { y = Concat<axis = 0>(x, z, x) }"},
    {"g (float[2,6] x) => (float[a,b] y, float[c,d] z) { y, z = Split<axis = 1>(x) }"},
    {"g (float[2,6] x) => (float[a,b] y, float[c,d] z) <int64[2] s = {5, 1}> { y, z = Split<axis = 1>(x, s) }"},
    {"g (float[2,6] x) => (float[a,b] y, float[c,d] z) { y, z = Split<axis = 1, split = [2, 4]>(x) }", 11},
    {"g (float[2,7] x) => (float[a,b] y, float[c,d] z) { y, z = Split<axis = -1, num_outputs = 2>(x) }", 18},
    {"g (float[3,1] x) => (float[a,b,c] y) <int64[3] s = {2, 1, 4}> { y = Expand(x, s) }"},
    {"g (int64 x) => (int64[a] y) <int64[1] s = {5}> { y = Expand(x, s) }"},
    {"g (float[2,3] x) => (float[a,b] y) <int64[2] s = {3, 2}> { y = Tile(x, s) }"},
    {"g (float[2,3] x) => (float[a,b] y) <int64[4] s = {1, 0, 2, 3}, float c = {7}> { y = Pad(x, s, c) }"},
    {"g (float[4,3] x) => (float[a,b] y) <int64[4] s = {-1, 1, -2, 0}> { y = Pad(x, s) }"},
    {"g (float[4,3] x) => (float[a,b] y) { y = Pad<pads = [0, 1, 2, 0], value = 1.5>(x) }", 10},
    {"g (int64[4,3] x) => (int64[a,b] y) <int64[2] s = {1, 2}, int64 c = {9}, int64[1] a = {-1}> { y = Pad(x, s, c, a) "
     "}",
     18},
    {"g (float[2,4,3] x) => (float[a,b,c] y) { y = Trilu(x) }"},
    {"g (int64[4,5] x) => (int64[a,b] y) <int64 k = {-1}> { y = Trilu<upper = 0>(x, k) }"},
    {"g (float[3,4] x, int64[2,2] i) => (float[a,b,c] y) { y = Gather(x, i) }"},
    {"g (int64[3,4] x, int32[2] i) => (int64[a,b] y) { y = Gather<axis = -1>(x, i) }"},
    {"g (int64[3] x, int64 i) => (int64 y) { y = Gather(x, i) }"},
    {"g (float[3,4] x, int64[2,4] i) => (float[a,b] y) { y = GatherElements(x, i) }"},
    {"g (float[3,4] x, int64[3,2] i) => (float[a,b] y) { y = GatherElements<axis = 1>(x, i) }"},
    {"g (float[3,4,2] x, int64[5,2] i) => (float[a,b] y) { y = GatherND(x, i) }"},
    {"g (float[3,4,2] x, int64[3,2,1] i) => (float[a,b,c] y) { y = GatherND<batch_dims = 1>(x, i) }"},
    {"g (float[3,4] x, float[2,4] u) => (float[a,b] y) <int64[2,1] i = {2, 0}> { y = ScatterND(x, i, u) }"},
    {"g (float[3,4] x, float[1,4] u) => (float[a,b] y) <int64[1,4] i = {2, 0, -1, 1}> { y = ScatterElements(x, i, u) "
     "}"},
    {"g (int64[3] i) => (float[a,b] y) <int64 d = {4}, float[2] v = {-1, 2}> { y = OneHot(i, d, v) }"},
    {"g (int64[2,3] i) => (int64[a,b,c] y) <int64[1] d = {3}, int64[2] v = {0, 1}> { y = OneHot<axis = 1>(i, d, v) }"},
    {"g (float[3,4] x) => (int64[a,b] y) { y = NonZero(x) }"},
    {"g (bool[20] x) => (int64[a,b] y) { y = NonZero(x) }"},
    {"g () => (int64[a] y) <int64 s = {2}, int64 e = {11}, int64 d = {3}> { y = Range(s, e, d) }"},
    {"g () => (float[a] y) <float s = {9}, float e = {-2}, float d = {-3}> { y = Range(s, e, d) }"},
    {"g () => (int32[a] y) <int32 s = {3}, int32 e = {3}, int32 d = {1}> { y = Range(s, e, d) }"},
    {"g () => (float[a,b] y) <int64[2] s = {2, 3}> { y = ConstantOfShape(s) }"},
    {"g () => (int64[a] y) <int64[1] s = {4}> { y = ConstantOfShape<value = int64[1] {-3}>(s) }"},
    {"g () => (float y) <int64[0] s = {}> { y = ConstantOfShape(s) }"},
    {"g (float[3,4] x) => (float[a,b] y) { y = EyeLike<k = 1>(x) }"},
    {"g (float[3,4] x) => (int64[a,b] y) { y = EyeLike<dtype = 7, k = -1>(x) }"},
    {"g (float[2,3] x, float[3] z) => (float[a,b] y) { y = Add(x, z) }"},
    {"g (int64[2,1] x, int64[3] z) => (int64[a,b] y) { y = Sub(x, z) }"},
    {"g (int32[2,3] x, int32 z) => (int32[a,b] y) { y = Mul(x, z) }"},
    {"g (double[2,3] x, double[2,3] z) => (double[a,b] y) { y = Mul(x, z) }"},
    {"g (float16[30] x, float16[30] z) => (float16[a] y) { y = Mul(x, z) }"},
    {"g (float[40] s, float[40] s2) => (float[a] y) { y = Div(s, s2) }"},
    {"g (int64[40] x, int64[40] d) => (int64[a] y) { y = Div(x, d) }"},
    {"g (int64[40] x, int64[40] d) => (int64[a] y) { y = Mod(x, d) }"},
    {"g (int64[40] x, int64[40] d) => (int64[a] y) { y = Mod<fmod = 1>(x, d) }"},
    {"g (float[40] x, float[40] d) => (float[a] y) { y = Mod<fmod = 1>(x, d) }"},
    {"g (float[40] x) => (float[a] y) <float e = {2}> { y = Pow(x, e) }"},
    {"g (float[40] x) => (float[a] y) <float e = {3}> { y = Pow(x, e) }"},
    {"g (float[40] x) => (float[a] y) <int64 e = {1}> { y = Pow(x, e) }"},
    {"g (int64[40] x) => (int64[a] y) <int64[1] e = {5}> { y = Pow(x, e) }"},
    {"g (int32[40] x) => (int32[a] y) <int32 e = {2}> { y = Pow(x, e) }"},
    {"g (int64[2,3] x, int64[3] z) => (int64[a,b] y) { y = Min(x, z) }"},
    {"g (int32[2,3] x, int32[3] z, int32 w) => (int32[a,b] y) { y = Max(x, z, w) }"},
    {"g (float[40] x) => (float[a] y) <float c = {1.25}> { y = Max(x, c) }"},
    {"g (float[20] x, float[20] z, float[20] w) => (float[a] y) { y = Sum(x, z, w) }"},
    {"g (float[20] x) => (float[a] y) { y = Neg(x) }"},
    {"g (int64[20] x) => (int64[a] y) { y = Neg(x) }"},
    {"g (float[20] x) => (float[a] y) { y = Abs(x) }"},
    {"g (int64[20] x) => (int64[a] y) { y = Abs(x) }"},
    {"g (float[20] x) => (float[a] y) { y = Sign(x) }"},
    {"g (int64[20] x) => (int64[a] y) { y = Sign(x) }"},
    {"g (float[40] x) => (float[a] y) { y = Floor(x) }"},
    {"g (float[40] x) => (float[a] y) { y = Ceil(x) }"},
    {"g (float[60] x) => (float[a] y) { y = Round(x) }"},
    {"g (float[60] d) => (float[a] y) { y = Reciprocal(d) }"},
    {"g (float[20] s) => (bool[a] y) { y = IsNaN(s) }"},
    {"g (float[20] s) => (bool[a] y) { y = IsInf(s) }"},
    {"g (float[20] s) => (bool[a] y) { y = IsInf<detect_negative = 0>(s) }"},
    {"g (bool[20] x) => (bool[a] y) { y = Not(x) }"},
    {"g (int64[20] x) => (int64[a] y) { y = BitwiseNot(x) }", 18},
    {"g (int64[20] x, int64[20] z) => (bool[a] y) { y = Equal(x, z) }"},
    {"g (bool[20] x, bool[20] z) => (bool[a] y) { y = Equal(x, z) }"},
    {"g (float[60] s, float[60] s2) => (bool[a] y) { y = Less(s, s2) }"},
    {"g (int32[20] x, int32[20] z) => (bool[a] y) { y = Greater(x, z) }"},
    {"g (float[60] s, float[60] s2) => (bool[a] y) { y = LessOrEqual(s, s2) }"},
    {"g (int64[2,1] x, int64[1,3] z) => (bool[a,b] y) { y = GreaterOrEqual(x, z) }"},
    {"g (bool[2,1] x, bool[1,3] z) => (bool[a,b] y) { y = And(x, z) }"},
    {"g (bool[20] x, bool[20] z) => (bool[a] y) { y = Or(x, z) }"},
    {"g (bool[20] x, bool[20] z) => (bool[a] y) { y = Xor(x, z) }"},
    {"g (int32[20] x, int32[20] z) => (int32[a] y) { y = BitwiseAnd(x, z) }", 18},
    {"g (int32[20] x, int32[20] z) => (int32[a] y) { y = BitwiseOr(x, z) }", 18},
    {"g (int32[20] x, int32[20] z) => (int32[a] y) { y = BitwiseXor(x, z) }", 18},
    {"g (bool[4,1] c, float[3] x, float z) => (float[a,b] y) { y = Where(c, x, z) }"},
    {"g (bool[3] c, int64[2,3] x, int64[3] z) => (int64[a,b] y) { y = Where(c, x, z) }"},
    {"g (int64[2,3,4] x) => (int64[a,b] y) <int64[2] s = {0, -1}> { y = ReduceSum<keepdims = 0>(x, s) }"},
    {"g (int32[2,3] x) => (int32[a,b] y) { y = ReduceSum(x) }"},
    {"g (int64[2,3] x) => (int64[a,b] y) { y = ReduceProd<axes = [1]>(x) }"},
    {"g (int64[2,3] x) => (int64[a] y) { y = ReduceMax<axes = [0], keepdims = 0>(x) }"},
    {"g (float[2,1,3] x) => (float[a,b] y) <int64[1] s = {1}> { y = ReduceSum<keepdims = 0>(x, s) }"},
    {"g (int32[2,3] x) => (int32 y) <int64[2] s = {0, 1}> { y = ReduceMin<keepdims = 0>(x, s) }", 18},
    {"g (int64[4,5] x) => (int64[a,b] y) <int64[1] s = {1}> { y = ReduceMean(x, s) }", 18},
    {"g (int32[4,5] x) => (int32[a,b] y) { y = ReduceMean<axes = [0]>(x) }"},
    {"g (float[4,5] x) => (int64[a,b] y) { y = ArgMax(x) }"},
    {"g (float[4,9] x) => (int64[a] y) { y = ArgMax<axis = -1, keepdims = 0, select_last_index = 1>(x) }"},
    {"g (int32[4,9] x) => (int64[a] y) { y = ArgMin<axis = 1, keepdims = 0>(x) }"},
    {"g (int64[3,4] x) => (int64[a,b] y) <int64 s = {1}> { y = CumSum(x, s) }"},
    {"g (int32[3,4] x) => (int32[a,b] y) <int32 s = {-2}> { y = CumSum<reverse = 1, exclusive = 1>(x, s) }"},
};

class Values {
 public:
  explicit Values(std::uint32_t seed) : state_(seed * 2654435761u + 17) {}

  Tensor tensor(const std::string& name, const onnx::TypeProto& type) {
    Tensor made;
    made.type = type.tensor_type().elem_type();
    for (const auto& dim : type.tensor_type().shape().dim()) made.dims.push_back(dim.dim_value());
    for (std::uint64_t i = 0; i < element_count(made.dims); ++i) put(made, name[0]);
    return made;
  }

 private:
  std::uint32_t next() { return (state_ = state_ * 1664525u + 1013904223u) >> 10; }
  template <class T>
  static void append(Tensor& to, T value) {
    const auto* bytes = reinterpret_cast<const std::uint8_t*>(&value);
    to.bytes.insert(to.bytes.end(), bytes, bytes + sizeof value);
  }
  void put(Tensor& to, char kind) {
    std::int64_t whole = static_cast<std::int64_t>(next() % 11) - 5;
    if (kind == 'i') whole = static_cast<std::int64_t>(next() % 4) - 2;
    if (kind == 'd' && whole == 0) whole = 6;
    float value = static_cast<float>(whole) + static_cast<float>(next() % 4) * 0.25f;  // ties are frequent
    if (next() % 2) value += static_cast<float>(next() % 4096) / 8191.0f;
    if (kind == 'd' && value == 0) value = 0.5f;
    if (kind == 's' && next() % 4 == 0) {
      const float specials[] = {NAN, INFINITY, -INFINITY, 0.0f, -0.0f};
      value = specials[next() % 5];
    }
    switch (to.type) {
      case kFloat:
        return append(to, value);
      case kDouble:
        return append(to, static_cast<double>(value));
      case kFloat16:
        return append(to, float_to_half(value));
      case kInt64:
        return append(to, whole);
      case kInt32:
        return append(to, static_cast<std::int32_t>(whole));
      case kBool:
        return append(to, static_cast<std::uint8_t>(next() % 2));
      default:
        ADD_FAILURE() << "no values for type " << to.type;
    }
  }

  std::uint32_t state_;
};

// NaN has many forms; the runtime's depends on the processor.
void settle_nans(Tensor& tensor) {
  if (tensor.type != kFloat) return;
  for (std::size_t i = 0; i + 4 <= tensor.bytes.size(); i += 4) {
    float value;
    std::memcpy(&value, tensor.bytes.data() + i, 4);
    if (!std::isnan(value)) continue;
    value = std::numeric_limits<float>::quiet_NaN();
    std::memcpy(tensor.bytes.data() + i, &value, 4);
  }
}

class EvaluateRuns : public testing::TestWithParam<OneNode> {};

TEST_P(EvaluateRuns, SameBits) {
  const auto proto = pictures::proto_of(GetParam().text, GetParam().opset);
  const auto& graph = proto.graph();
  ASSERT_EQ(graph.node_size(), 1);
  const Session session = Session::from_bytes(fixtures::to_bytes(proto), {.optimize = false});
  for (std::uint32_t seed = 1; seed <= 5; ++seed) {
    Sample values;
    Values source(seed);
    for (const auto& input : graph.input()) values[input.name()] = source.tensor(input.name(), input.type());
    const Sample wanted = session.run(values);
    for (const auto& stored : graph.initializer())
      values[stored.name()] = parse_tensor_proto(fixtures::to_bytes(stored.SerializeAsString()));
    std::vector<Operand> operands;
    for (const auto& name : graph.node(0).input()) {
      const Tensor& tensor = values.at(name);
      operands.push_back({tensor.type, tensor.dims, tensor.bytes});
    }
    auto results = evaluate(graph.node(0), GetParam().opset, operands, 1 << 20);
    ASSERT_TRUE(results) << "declined with seed " << seed;
    for (int i = 0; i < graph.node(0).output_size(); ++i) {
      Tensor got = (*results)[static_cast<std::size_t>(i)], want = wanted.at(graph.node(0).output(i));
      settle_nans(got);
      settle_nans(want);
      EXPECT_EQ(got.type, want.type);
      EXPECT_EQ(got.dims, want.dims);
      EXPECT_EQ(got.bytes, want.bytes) << "seed " << seed << ": " << testing::PrintToString(to_float(got))
                                       << " and not " << testing::PrintToString(to_float(want));
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Nodes, EvaluateRuns, testing::ValuesIn(kNodes), [](const auto& at) {
  return "n" + std::to_string(at.index) + "_" +
         pictures::proto_of(at.param.text, at.param.opset).graph().node(0).op_type();
});

}  // namespace
}  // namespace octet
