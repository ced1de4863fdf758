// Blocks, run: what preparation puts in their place computes the same, and what it leaves is still recognized by the
// runtime, which fuses such patterns itself when it loads a model.
#include <gmock/gmock.h>

#include <cmath>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>

#include "engine/engine.h"
#include "graph_pictures.h"
#include "octet/prepare.h"
#include "tiny_models.h"

namespace octet {
namespace {

// The same sums in another order.
constexpr double kMaxRelativeError = 1e-5;

struct BlockModel {
  std::string name, text;
  int opset;
  std::string becomes;  // the operator of the prepared model
};

std::string norm(const std::string& body) {
  return "g (float[2,3,16] x) => (float[2,3,16] y) <float[16] gamma, float[16] beta, float e = {1e-5}, float two = "
         "{2}, "
         "float one = {1}, int64[1] axes = {-1}> { m = ReduceMean(x, axes) d = Sub(x, m) q = Mul(d, d) v = "
         "ReduceMean(q, axes) a = Add(v, e) s = Sqrt(a) " +
         body + " }";
}

std::string activation(const std::string& body) {
  return "g (float[2,3,16] z) => (float[2,3,16] y) <float half = {0.5}, float two = {2}, float one = {1}, float root2 "
         "= "
         "{1.4142135}, float inverse = {0.70710677}, float c = {0.044715}, float k = {0.7978846}, float eight = {8}> { "
         "x "
         "= Mul(z, eight) " +
         body + " }";
}

std::vector<BlockModel> block_models() {
  return {
      {"LayerNormDiv", norm("n = Div(d, s) w = Mul(n, gamma) y = Add(w, beta)"), 18, "LayerNormalization"},
      {"LayerNormReciprocal", norm("r = Reciprocal(s) n = Mul(d, r) w = Mul(n, gamma) y = Add(w, beta)"), 18,
       "LayerNormalization"},
      {"LayerNormKeras", norm("r = Reciprocal(s) g = Mul(r, gamma) w = Mul(d, g) y = Add(w, beta)"), 18,
       "LayerNormalization"},
      {"LayerNormTensorFlow",
       norm("r = Div(one, s) g = Mul(r, gamma) u = Mul(x, g) t = Mul(m, g) b = Sub(beta, t) y = Add(u, b)"), 18,
       "LayerNormalization"},
      {"LayerNormBare", norm("y = Div(d, s)"), 18, "LayerNormalization"},
      {"RmsNorm",
       "g (float[2,3,16] x) => (float[2,3,16] y) <float[16] gamma, float e = {1e-5}, float two = {2}, int64[1] axes = "
       "{-1}> { q = Pow(x, two) v = ReduceMean(q, axes) a = Add(v, e) s = Sqrt(a) n = Div(x, s) y = Mul(n, gamma) }",
       23, "RMSNormalization"},
      {"GeluPyTorch", activation("d = Div(x, root2) e = Erf(d) s = Add(e, one) p = Mul(x, s) y = Mul(p, half)"), 20,
       "Gelu"},
      {"GeluHalfFirst", activation("h = Mul(x, half) d = Mul(x, inverse) e = Erf(d) s = Add(one, e) y = Mul(h, s)"), 20,
       "Gelu"},
      {"GeluTanh",
       activation(
           "q = Mul(x, x) r = Mul(c, q) i = Add(one, r) u = Mul(x, k) t = Mul(u, i) e = Tanh(t) s = Add(one, e) p "
           "= Mul(x, s) y = Mul(p, half)"),
       20, "Gelu"},
      {"SoftmaxInTheMiddle",
       "g (float[2,3,16] x) => (float[2,3,16] y) <int64[1] axes = {1}> { m = ReduceMax<axes = [1]>(x) d = Sub(x, m) e "
       "= "
       "Exp(d) s = ReduceSum(e, axes) y = Div(e, s) }",
       17, "Softmax"},
      {"SoftmaxOfJax",
       "g (float[2,3,16] x) => (float[2,3,16] y) <int64[1] axes = {2}, int64[3] shape = {0, 0, 1}, float low = {-inf}> "
       "{ "
       "m = ReduceMax<axes = [2], keepdims = 0>(x) g = Max(low, m) k = Reshape(g, shape) d = Sub(x, k) e = Exp(d) s = "
       "ReduceSum<keepdims = 0>(e, axes) t = Reshape(s, shape) y = Div(e, t) }",
       17, "Softmax"},
      {"SoftmaxOfOldOpsets",
       "g (float[2,3,16] x) => (float[2,3,16] y) { m = ReduceMax<axes = [2]>(x) d = Sub(x, m) e = Exp(d) s = "
       "ReduceSum<axes = [2]>(e) r = Reciprocal(s) y = Mul(e, r) }",
       11, "Softmax"},
  };
}

Tensor random_floats(const std::vector<std::int64_t>& dims) {
  std::uint32_t state = 7;
  std::vector<float> values(element_count(dims));
  for (float& value : values) {
    state = state * 1664525u + 1013904223u;
    value = static_cast<float>(state >> 8) / 8388608.0f - 1;
  }
  return tiny::floats(dims, values);
}

std::vector<float> floats_of(const Tensor& tensor) {
  std::vector<float> values(tensor.bytes.size() / sizeof(float));
  std::memcpy(values.data(), tensor.bytes.data(), values.size() * sizeof(float));
  return values;
}

fixtures::Bytes bytes_of(const std::filesystem::path& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

class BlocksRun : public testing::TestWithParam<BlockModel> {};

TEST_P(BlocksRun, OneOperatorComputesTheSame) {
  const auto proto = pictures::proto_of(GetParam().text, GetParam().opset);
  const auto bytes = fixtures::to_bytes(proto);
  const Sample inputs = {{proto.graph().input(0).name(), random_floats({2, 3, 16})}};
  const Sample wanted = Session::from_bytes(bytes, {.optimize = false}).run(inputs);
  Model model = fixtures::load(bytes);
  prepare(model);
  EXPECT_THAT(pictures::picture(model), testing::HasSubstr(" = " + GetParam().becomes));
  for (const bool optimize : {false, true}) {
    const auto found = Session::from_bytes(fixtures::save(model), {.optimize = optimize}).run(inputs);
    const auto a = floats_of(wanted.at("y")), b = floats_of(found.at("y"));
    ASSERT_EQ(a.size(), b.size());
    double largest = 0, worst = 0;
    for (std::size_t i = 0; i < a.size(); ++i) {
      largest = std::max(largest, static_cast<double>(std::abs(a[i])));
      worst = std::max(worst, static_cast<double>(std::abs(a[i] - b[i])));
    }
    EXPECT_LE(worst, kMaxRelativeError * largest) << pictures::picture(model);
  }
}

INSTANTIATE_TEST_SUITE_P(Models, BlocksRun, testing::ValuesIn(block_models()),
                         [](const auto& at) { return at.param.name; });

// Which patterns the runtime found, however it calls what it made of them.
std::map<std::string, int> fusions(const fixtures::Bytes& bytes) {
  const tiny::Folder folder;
  const auto file = folder / "optimized.onnx";
  Session::from_bytes(bytes, {.optimize = true, .optimized_file = file});
  const auto optimized = fixtures::parse(bytes_of(file));
  static const std::map<std::string, std::string> kinds = {{"LayerNormalization", "norm"},
                                                           {"SkipLayerNormalization", "norm"},
                                                           {"Gelu", "gelu"},
                                                           {"BiasGelu", "gelu"},
                                                           {"FastGelu", "gelu"},
                                                           {"QuickGelu", "silu"},
                                                           {"FusedMatMul", "scale"},
                                                           {"Attention", "attention"},
                                                           {"MultiHeadAttention", "attention"},
                                                           {"BiasSoftmax", "softmax"},
                                                           {"Softmax", "softmax"}};
  std::map<std::string, int> counts;
  for (const auto& node : optimized.graph().node()) {
    ++counts[node.op_type()];
    if (const auto found = kinds.find(node.op_type()); found != kinds.end()) ++counts["a " + found->second];
  }
  return counts;
}

void expect_no_fewer_fusions(const fixtures::Bytes& bytes, std::optional<int> opset) {
  const auto before = fusions(bytes);
  Model model = fixtures::load(bytes);
  PrepareOptions options;
  options.opset = opset;
  prepare(model, options);
  const auto after = fusions(fixtures::save(model));
  for (const auto& [kind, count] : before) {
    // One fused with the addition before it is as good, and better.
    if (!kind.starts_with("a ") && kind != "SkipLayerNormalization" && kind != "BiasGelu" && kind != "FusedMatMul")
      continue;
    const auto found = after.find(kind);
    EXPECT_GE(found == after.end() ? 0 : found->second, count) << kind << pictures::picture(model);
  }
}

TEST(RuntimeFusions, OfAGptAreNoFewer) {
  const auto bytes = bytes_of(std::filesystem::path(OCTET_TESTS_DIR) / "data" / "gpt_char.onnx");
  const auto found = fusions(bytes);
  EXPECT_GT(found.at("a norm"), 0);
  EXPECT_GT(found.at("a gelu"), 0);
  for (const auto opset : {std::optional<int>(), std::optional<int>(17), std::optional<int>(20)})
    expect_no_fewer_fusions(bytes, opset);
}

// An encoder's layer as PyTorch writes it.
TEST(RuntimeFusions, OfAnEncoderAreNoFewer) {
  const auto layer_norm = [](const std::string& x, const std::string& p) {
    return p + "m = ReduceMean<axes = [-1]>(" + x + ") " + p + "d = Sub(" + x + ", " + p + "m) " + p + "q = Pow(" + p +
           "d, two) " + p + "v = ReduceMean<axes = [-1]>(" + p + "q) " + p + "a = Add(" + p + "v, eps) " + p +
           "r = Sqrt(" + p + "a) " + p + "n = Div(" + p + "d, " + p + "r) " + p + "s = Mul(" + p + "n, gamma) " + p +
           "y = Add(" + p + "s, beta) ";
  };
  const std::string text =
      "g (float[b,s,64] x, float[b,1,1,s] mask) => (float[b,s,64] y) <float[64,64] wq, float[64,64] wk, float[64,64] "
      "wv, "
      "float[64,64] wo, float[64] bq, float[64] bk, float[64] bv, float[64] bo, float[64,256] w1, float[256] b1, "
      "float[256,64] w2, float[64] b2, float[64] gamma, float[64] beta, float eps = {1e-5}, float two = {2}, float "
      "root2 "
      "= {1.4142135}, float one = {1}, float half = {0.5}, float four = {4}, int64[4] heads = {0, 0, 4, 16}, int64[3] "
      "flat = {0, 0, 64}> { " +
      layer_norm("x", "i") +
      "q0 = MatMul(iy, wq) q1 = Add(bq, q0) q2 = Reshape(q1, heads) q = Transpose<perm = [0, 2, 1, 3]>(q2) "
      "k0 = MatMul(iy, wk) k1 = Add(bk, k0) k2 = Reshape(k1, heads) k = Transpose<perm = [0, 2, 3, 1]>(k2) "
      "v0 = MatMul(iy, wv) v1 = Add(bv, v0) v2 = Reshape(v1, heads) v = Transpose<perm = [0, 2, 1, 3]>(v2) "
      "s0 = MatMul(q, k) s1 = Div(s0, four) s2 = Add(s1, mask) p = Softmax<axis = -1>(s2) c0 = MatMul(p, v) "
      "c1 = Transpose<perm = [0, 2, 1, 3]>(c0) c2 = Reshape(c1, flat) o0 = MatMul(c2, wo) o1 = Add(bo, o0) o = Add(o1, "
      "iy) " +
      layer_norm("o", "j") +
      "f0 = MatMul(jy, w1) f1 = Add(b1, f0) g0 = Div(f1, root2) g1 = Erf(g0) g2 = Add(g1, one) g3 = Mul(f1, g2) g4 = "
      "Mul(g3, half) f2 = MatMul(g4, w2) f3 = Add(b2, f2) f = Add(f3, jy) " +
      layer_norm("f", "l") + "y = Identity(ly) }";
  const auto bytes = fixtures::to_bytes(pictures::proto_of(text, 14));
  EXPECT_EQ(fusions(bytes).at("a norm"), 3);
  for (const auto opset :
       {std::optional<int>(), std::optional<int>(17), std::optional<int>(20), std::optional<int>(23)})
    expect_no_fewer_fusions(bytes, opset);
}

TEST(RuntimeFusions, BetweenConvolutionsAreNoFewer) {
  const auto bytes = fixtures::to_bytes(pictures::proto_of(
      "g (float[1,8,s,s] x) => (float[1,8,s,s] y) <float[8,8,1,1] w1, float[1,8,1,1] b1, float[8,8,1,1] w2, float "
      "root2 "
      "= {1.4142135}, float one = {1}, float half = {0.5}> { a0 = Conv(x, w1) a = Add(a0, b1) d = Div(a, root2) e = "
      "Erf(d) s = Add(e, one) p = Mul(a, s) h = Mul(p, half) y = Conv(h, w2) }",
      14));
  EXPECT_EQ(fusions(bytes).at("a gelu"), 1);
  expect_no_fewer_fusions(bytes, {});
}

}  // namespace
}  // namespace octet
