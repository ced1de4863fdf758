// Fusions and opset conversions, run: each model as written against what one pass, or the converter, makes of it, with
// the runtime's own optimizations off and on.
#include <gmock/gmock.h>

#include <algorithm>
#include <cmath>

#include "engine/engine.h"
#include "graph_pictures.h"
#include "octet/tensor.h"

namespace octet {
namespace {

// Sums of a few dozen products of numbers around 1 in float32, in another order or with a factor rounded elsewhere.
constexpr double kTolerance = 1e-5;

struct Fusion {
  std::string name, pass, text;
  int opset = 17;
  int to = 0;  // converted to this opset, with no pass
};

void PrintTo(const Fusion& fusion, std::ostream* out) { *out << fusion.name; }

constexpr const char* kBatch4 = "float[4] g, float[4] h, float[4] m, float[4] v = {0.5, 1, 2, 0.001}";

std::vector<Fusion> fusions() {
  const std::string batch = kBatch4;
  return {
      {"ConvBatch", "fuse_batch_normalization",
       "g (float[2,3,8,8] x) => (float[2,4,n,k] y) <float[4,3,3,3] w, float[4] b, " + batch +
           "> { c = Conv<pads = [1, 1, 1, 1], strides = [2, 1]>(x, w, b) y = BatchNormalization(c, g, h, m, v) }"},
      {"GroupedConvBatch", "fuse_batch_normalization",
       "g (float[2,4,8] x) => (float[2,4,n] y) <float[4,2,3] w, " + batch +
           "> { c = Conv<group = 2>(x, w) y = BatchNormalization(c, g, h, m, v) }"},
      {"ConvTransposeBatch", "fuse_batch_normalization",
       "g (float[2,6,5,5] x) => (float[2,4,n,k] y) <float[6,2,3,3] w, float[4] b, " + batch +
           "> { c = ConvTranspose<group = 2, strides = [2, 2]>(x, w, b) y = BatchNormalization(c, g, h, m, v) }"},
      {"GemmBatch", "fuse_batch_normalization",
       "g (float[3,5] x) => (float[3,4] y) <float[4,5] w, float[1,4] b, " + batch +
           "> { c = Gemm<transB = 1, alpha = 0.5, beta = 2.0>(x, w, b) y = BatchNormalization(c, g, h, m, v) }"},
      {"MatMulBatch", "fuse_batch_normalization",
       "g (float[3,5] x) => (float[3,4] y) <float[5,4] w, " + batch +
           "> { c = MatMul(x, w) y = BatchNormalization(c, g, h, m, v) }"},
      {"BatchConv", "fuse_batch_normalization",
       "g (float[2,4,8,8] x) => (float[2,6,n,k] y) <float[6,2,3,3] w, float[6] b, " + batch +
           "> { c = BatchNormalization(x, g, h, m, v) y = Conv<group = 2, dilations = [2, 1]>(c, w, b) }"},
      {"ConvConstants", "fuse_channel_constants",
       R"(g (float[1,3,8,8] x) => (float[1,4,n,k] y) <float[4,3,3,3] w, float[4,1,1] p, float[1,4,1,1] q, float s = {6}> {
            c = Conv(x, w) d = Mul(p, c) e = Sub(q, d) y = Div(e, s) })"},
      {"ConvTransposeConstants", "fuse_channel_constants",
       R"(g (float[1,4,8] x) => (float[1,6,n] y) <float[4,3,3] w, float[6] b, float[6,1] p, float[6,1] q> {
            c = ConvTranspose<group = 2>(x, w, b) d = Mul(c, p) y = Add(d, q) })"},
      {"ConstantsConv", "fuse_channel_constants",
       R"(g (float[1,4,8,8] x) => (float[1,6,n,k] y) <float[6,2,3,3] w, float[6] b, float[4,1,1] p, float[1] s = {6}> {
            c = Add(x, p) d = Mul(c, p) e = Div(d, s) y = Conv<group = 2>(e, w, b) })"},
      {"FactorsPaddedConv", "fuse_channel_constants",
       R"(g (float[1,4,8,8] x) => (float[1,6,n,k] y) <float[6,4,3,3] w, float[4,1,1] p, float[1] s = {6}> {
            d = Mul(x, p) e = Div(d, s) y = Conv<auto_pad = "SAME_LOWER">(e, w) })"},
      {"FactorSumPaddedConv", "fuse_channel_constants",
       R"(g (float[1,4,8,8] x) => (float[1,6,n,k] y) <float[6,2,3,3] w, float[4,1,1] p, float[1] s = {6}> {
            d = Mul(x, s) e = Add(d, p) y = Conv<pads = [1, 1, 1, 1], group = 2>(e, w) })"},
      {"MatMulAdd", "fuse_channel_constants",
       "g (float[3,5] x) => (float[3,4] y) <float[5,4] w, float[4] b> { c = MatMul(x, w) y = Add(c, b) }"},
      {"DoubleGemm", "fuse_channel_constants",
       "g (double[3,5] x) => (double[3,4] y) <double[5,4] w, double[4] b> { c = Gemm(x, w) d = Mul(c, b) y = Add(b, d) "
       "}"},
      {"PadConv", "fuse_pads",
       R"(g (float[1,3,8,8] x) => (float[1,4,n,k] y) <float[4,3,3,3] w, int64[8] p = {0, 0, 1, 2, 0, 0, 3, 0}> {
            c = Pad(x, p) y = Conv<pads = [1, 0, 0, 0], strides = [2, 2]>(c, w) })"},
      {"PadAttributesConv", "fuse_pads",
       R"(g (float[1,3,8] x) => (float[1,4,n] y) <float[4,3,3] w> {
            c = Pad<pads = [0, 0, 2, 0, 0, 1]>(x) y = Conv<auto_pad = "VALID">(c, w) })",
       10},
      {"PadAxesConv", "fuse_pads",
       R"(g (float[1,3,8,8] x) => (float[1,4,n,k] y) <float[4,3,3,3] w, int64[2] p = {1, 2}, float v = {0}, int64[1] a = {-1}> {
            c = Pad(x, p, v, a) y = Conv(c, w) })",
       18},
      {"PadAveragePool", "fuse_pads",
       R"(g (float[1,3,8,8] x) => (float[1,3,n,k] y) <int64[8] p = {0, 0, 1, 2, 0, 0, 1, 0}> {
            c = Pad(x, p) y = AveragePool<kernel_shape = [3, 3], strides = [2, 2]>(c) })"},
      {"HardSigmoidOutside", "fuse_activations",
       R"(g (float[64] x) => (float[64] y) <float b = {3}, float z = {0}, float m = {6}> {
            a = Add(x, b) c = Clip(a, z, m) d = Mul(x, c) y = Div(d, m) })",
       12},
      {"HardSigmoidInside", "fuse_activations",
       R"(g (float[64] x) => (float[64] y) <float b = {3}, float s = {0.166666672}> {
            a = Add(b, x) c = Clip<min = 0.0, max = 6.0>(a) d = Mul(c, s) y = Mul(d, x) })",
       10},
      {"HardSwish", "fuse_activations",
       R"(g (float[64] x) => (float[64] y) <float b = {3}, float z = {0}, float m = {6}> {
            a = Add(x, b) c = Clip(a, z, m) d = Div(c, m) y = Mul(x, d) })"},
      {"MaxMin", "fuse_activations",
       R"(g (float[64] x) => (float[64] y) <float z = {0}, float m = {6}> { a = Max(x, z) b = Neg(a) c = Max(z, b) y = Min(c, m) })"},
      {"UpsampleNearest", "",
       R"(g (float[1,2,5,7] x) => (float[1,2,n,k] y) <float[4] s = {1, 1, 2, 1.7}> { y = Upsample(x, s) })", 9, 13},
      {"UpsampleNearest10", "",
       R"(g (float[1,2,5,7] x) => (float[1,2,n,k] y) <float[4] s = {1, 1, 2, 1.7}> { y = Upsample(x, s) })", 9, 10},
      {"UpsampleLinear", "",
       R"(g (float[1,2,5,7] x) => (float[1,2,n,k] y) { y = Upsample<mode = "linear", scales = [1.0, 1.0, 2.0, 1.7]>(x) })",
       7, 11},
      {"ResizeNearest", "",
       R"(g (float[1,2,5,7] x) => (float[1,2,n,k] y) <float[4] s = {1, 1, 2.5, 1.7}> { y = Resize(x, s) })", 10, 17},
      {"ResizeNearestDown", "",
       R"(g (float[1,2,9,7] x) => (float[1,2,n,k] y) <float[4] s = {1, 1, 0.7, 0.6}> { y = Resize(x, s) })", 10, 18},
      {"ResizeLinear", "",
       R"(g (float[1,2,9,7] x) => (float[1,2,n,k] y) <float[4] s = {1, 1, 0.7, 1.6}> { y = Resize<mode = "linear">(x, s) })",
       10, 13},
      {"Softmaxes", "",
       R"(g (float[2,3,4] x, float[2,5,1] u) => (float[2,3,4] y, float[2,5,1] v, float[2,3,4] z) {
            y = Softmax<axis = 2>(x) v = Softmax(u) z = LogSoftmax(x) })",
       11, 17},
  };
}

Sample inputs_of(const onnx::ModelProto& model) {
  std::uint32_t state = 7;
  Sample sample;
  for (const auto& input : model.graph().input()) {
    Tensor& tensor = sample[input.name()];
    tensor.type = input.type().tensor_type().elem_type();
    for (const auto& dim : input.type().tensor_type().shape().dim())
      tensor.dims.push_back(dim.has_dim_value() ? dim.dim_value() : 4);
    const auto put = [&](auto value) {
      const auto* bytes = reinterpret_cast<const std::uint8_t*>(&value);
      tensor.bytes.insert(tensor.bytes.end(), bytes, bytes + sizeof value);
    };
    for (std::uint64_t i = 0; i < element_count(tensor.dims); ++i) {
      state = state * 1664525u + 1013904223u;
      const float value = static_cast<float>(state >> 8) / 2097152.0f - 4;  // beyond every bound of an activation
      if (tensor.type == kDouble)
        put(static_cast<double>(value));
      else
        put(value);
    }
  }
  return sample;
}

std::vector<double> values(const Tensor& tensor) {
  std::vector<double> result;
  const auto take = [&](auto kind) {
    using T = decltype(kind);
    for (std::size_t i = 0; i + sizeof(T) <= tensor.bytes.size(); i += sizeof(T)) {
      T value;
      std::memcpy(&value, tensor.bytes.data() + i, sizeof value);
      result.push_back(static_cast<double>(value));
    }
  };
  if (tensor.type == kDouble)
    take(double{});
  else
    take(float{});
  return result;
}

void expect_equal(const Sample& wanted, const Sample& got) {
  ASSERT_EQ(wanted.size(), got.size());
  for (const auto& [name, tensor] : wanted) {
    EXPECT_EQ(got.at(name).dims, tensor.dims);
    const auto a = values(tensor), b = values(got.at(name));
    ASSERT_EQ(a.size(), b.size());
    double largest = 0;
    for (const double value : a) largest = std::max(largest, std::abs(value));
    for (std::size_t i = 0; i < a.size(); ++i) ASSERT_NEAR(a[i], b[i], kTolerance * largest) << name << " " << i;
  }
}

class FuseRuns : public testing::TestWithParam<Fusion> {};

TEST_P(FuseRuns, GivesWhatTheModelGave) {
  const Fusion& fusion = GetParam();
  const auto proto = pictures::proto_of(fusion.text, fusion.opset);
  const auto original = fixtures::to_bytes(proto);
  const Sample inputs = inputs_of(proto);
  const Sample wanted = Session::from_bytes(original, {.optimize = false}).run(inputs);
  Model model = fixtures::load(original);
  const int nodes = model.proto().graph().node_size();
  if (fusion.to > 0) {
    convert_opset(model, fusion.to);
  } else {
    PrepareOptions options;
    options.passes = {fusion.pass, "drop_unused"};
    EXPECT_GT(prepare(model, options).front().changes, 0);
    EXPECT_LE(model.proto().graph().node_size(), nodes) << pictures::picture(model);
  }
  pictures::expect_sound(model);
  const auto bytes = fixtures::save(model);
  for (const bool optimize : {false, true}) {
    SCOPED_TRACE(pictures::picture(model));
    expect_equal(wanted, Session::from_bytes(bytes, {.optimize = optimize}).run(inputs));
  }
}

INSTANTIATE_TEST_SUITE_P(Models, FuseRuns, testing::ValuesIn(fusions()), [](const auto& at) { return at.param.name; });

}  // namespace
}  // namespace octet
