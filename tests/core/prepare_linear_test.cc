// fuse_batch_normalization and fuse_channel_constants: what goes into the weights beside it, and what stays.
#include <gmock/gmock.h>

#include <cmath>

#include "graph_pictures.h"
#include "prepare/pass.h"

namespace octet {
namespace {

using pictures::lines;
using pictures::model_of;
using pictures::picture;
using pictures::run;
using pictures::stored;
using testing::ElementsAre;
using testing::HasSubstr;

PassReport normalizations(Model& model) { return run(run_fuse_batch_normalization, model); }
PassReport constants(Model& model) { return run(run_fuse_channel_constants, model); }

// Without what nothing reads any more.
std::string stored_after(Model& model) {
  run(run_drop_unused, model);
  return stored(model);
}

std::vector<float> values(const Model& model, const std::string& name) {
  for (const auto& tensor : model.proto().graph().initializer()) {
    if (tensor.name() == name) return tensor_as_float(model, tensor);
  }
  ADD_FAILURE() << "no tensor " << name;
  return {};
}

// Statistics with factors 2 and -1 and shifts 10 and 20, where epsilon is 0.
constexpr const char* kTwoChannels =
    "float[2] g = {4, -2}, float[2] h = {12, 17}, float[2] m = {1, 3}, float[2] v = {4, 4}";

std::string two_channels(const std::string& weights) { return std::string("<") + kTwoChannels + ", " + weights + "> "; }

TEST(FuseBatchNormalization, IntoTheConvBefore) {
  Model model = model_of("g (float[1,1,n,n] x) => (float[1,2,n,n] y) " +
                         two_channels("float[2,1,1,2] w = {1, 2, 3, 4}, float[2] b = {5, 6}") +
                         "{ c = Conv(x, w, b) y = BatchNormalization<epsilon = 0.0>(c, g, h, m, v) }");
  EXPECT_EQ(normalizations(model).changes, 1);
  EXPECT_EQ(picture(model), "\ny = Conv(x, w, b)\n");
  EXPECT_THAT(values(model, "w"), ElementsAre(2, 4, -3, -4));
  EXPECT_THAT(values(model, "b"), ElementsAre(20, 14));  // (5 - 1) · 2 + 12, (6 - 3) · -1 + 17
  EXPECT_EQ(stored_after(model), "\nw: FLOAT[2,1,1,2]\nb: FLOAT[2]\n");
}

TEST(FuseBatchNormalization, GivesABiasWhereThereIsNone) {
  Model model =
      model_of("g (float[1,1,n,n] x) => (float[1,2,n,n] y) " + two_channels("float[2,1,1,2] w = {1, 2, 3, 4}") +
               "{ c = Conv<pads = [1, 1, 1, 1]>(x, w) y = BatchNormalization<epsilon = 0.0>(c, g, h, m, v) }");
  EXPECT_EQ(normalizations(model).changes, 1);
  EXPECT_EQ(picture(model), "\ny = Conv<pads=[1,1,1,1]>(x, w, w_bias)\n");
  EXPECT_THAT(values(model, "w_bias"), ElementsAre(10, 20));
}

TEST(FuseBatchNormalization, KnowsWhereAConvTransposeHasItsChannels) {
  // Two groups of one output channel each: the weight's first axis is the input's.
  Model model = model_of("g (float[1,4,n] x) => (float[1,2,k] y) " + two_channels("float[4,1,1] w = {1, 2, 3, 4}") +
                         "{ c = ConvTranspose<group = 2>(x, w) y = BatchNormalization<epsilon = 0.0>(c, g, h, m, v) }");
  EXPECT_EQ(normalizations(model).changes, 1);
  EXPECT_THAT(values(model, "w"), ElementsAre(2, 4, -3, -4));
  Model whole = model_of("g (float[1,2,n] x) => (float[1,2,k] y) " + two_channels("float[2,2,1] w = {1, 2, 3, 4}") +
                         "{ c = ConvTranspose(x, w) y = BatchNormalization<epsilon = 0.0>(c, g, h, m, v) }");
  EXPECT_EQ(normalizations(whole).changes, 1);
  EXPECT_THAT(values(whole, "w"), ElementsAre(2, -2, 6, -4));
}

TEST(FuseBatchNormalization, IntoMatrices) {
  Model gemm = model_of(
      "g (float[n,2] x) => (float[n,2] y) " + two_channels("float[2,2] w = {1, 2, 3, 4}, float[1,2] b = {5, 6}") +
      "{ c = Gemm<beta = 2.0, transB = 1>(x, w, b) y = BatchNormalization<epsilon = 0.0>(c, g, h, m, v) }");
  EXPECT_EQ(normalizations(gemm).changes, 1);
  EXPECT_EQ(picture(gemm), "\ny = Gemm<transB=1>(x, w, b)\n");
  EXPECT_THAT(values(gemm, "w"), ElementsAre(2, 4, -3, -4));
  EXPECT_THAT(values(gemm, "b"), ElementsAre(30, 8));
  Model matmul = model_of("g (float[n,2] x) => (float[n,2] y) " + two_channels("float[2,2] w = {1, 2, 3, 4}") +
                          "{ c = MatMul(x, w) y = BatchNormalization<epsilon = 0.0>(c, g, h, m, v) }");
  EXPECT_EQ(normalizations(matmul).changes, 1);
  EXPECT_EQ(picture(matmul), "\ny = Gemm(x, w, w_bias)\n");
  EXPECT_THAT(values(matmul, "w"), ElementsAre(2, -2, 6, -4));
  // With another rank the channels stand elsewhere.
  Model deep = model_of("g (float[n,2,2] x) => (float[n,2,2] y) " + two_channels("float[2,2] w = {1, 2, 3, 4}") +
                        "{ c = MatMul(x, w) y = BatchNormalization<epsilon = 0.0>(c, g, h, m, v) }");
  EXPECT_EQ(normalizations(deep).changes, 0);
}

TEST(FuseBatchNormalization, IntoTheConvAfter) {
  const std::string text = "g (float[1,2,n,n] x) => (float[1,2,n,n] y) " +
                           two_channels("float[2,2,1,1] w = {1, 2, 3, 4}, float[2] b = {5, 6}");
  Model model = model_of(text + "{ c = BatchNormalization<epsilon = 0.0>(x, g, h, m, v) y = Conv(c, w, b) }");
  EXPECT_EQ(normalizations(model).changes, 1);
  EXPECT_EQ(picture(model), "\ny = Conv(x, w, b)\n");
  EXPECT_THAT(values(model, "w"), ElementsAre(2, -2, 6, -4));
  EXPECT_THAT(values(model, "b"), ElementsAre(55, 116));  // 5 + 1 · 10 + 2 · 20, 6 + 3 · 10 + 4 · 20
  Model padded = model_of(text + "{ c = BatchNormalization(x, g, h, m, v) y = Conv<pads = [0, 1, 0, 0]>(c, w, b) }");
  const PassReport report = normalizations(padded);
  EXPECT_EQ(report.changes, 0);
  EXPECT_THAT(report.notes, ElementsAre(HasSubstr("it pads with zeros")));
  Model same =
      model_of(text + "{ c = BatchNormalization(x, g, h, m, v) y = Conv<auto_pad = \"SAME_UPPER\">(c, w, b) }");
  EXPECT_EQ(normalizations(same).changes, 0);
}

TEST(FuseBatchNormalization, OfGroupsAfterIt) {
  Model model = model_of("g (float[1,2,n] x) => (float[1,4,n] y) " + two_channels("float[4,1,1] w = {1, 2, 3, 4}") +
                         "{ c = BatchNormalization<epsilon = 0.0>(x, g, h, m, v) y = Conv<group = 2>(c, w) }");
  EXPECT_EQ(normalizations(model).changes, 1);
  EXPECT_THAT(values(model, "w"), ElementsAre(2, 4, -3, -4));
  EXPECT_THAT(values(model, "w_bias"), ElementsAre(10, 20, 60, 80));
}

TEST(FuseBatchNormalization, LargeWeightsAreComputedWhenTheyAreRead) {
  Model model = model_of(R"(g (float[1,64,n,n] x) => (float[1,32,n,n] y)
    <float[32,64,3,3] w, float[32] g, float[32] h, float[32] m, float[32] v> {
      c = Conv(x, w) y = BatchNormalization<epsilon = 2.0>(c, g, h, m, v) })");
  const auto before = values(model, "w"), g = values(model, "g"), v = values(model, "v");
  EXPECT_EQ(normalizations(model).changes, 1);
  const auto after = values(model, "w");
  for (std::size_t i = 0; i < after.size(); ++i) {
    const std::size_t channel = i / 576;
    ASSERT_FLOAT_EQ(after[i], before[i] * g[channel] / std::sqrt(v[channel] + 2));
  }
}

TEST(FuseBatchNormalization, InsideABranch) {
  Model model = model_of("g (float[1,1,n,n] x, bool t) => (float[1,2,n,n] y) " +
                         two_channels("float[2,1,1,2] w = {1, 2, 3, 4}") + R"({
    y = If(t) <then_branch = a () => (float[1,2,n,n] z) { c = Conv(x, w) z = BatchNormalization<epsilon = 0.0>(c, g, h, m, v) },
               else_branch = e () => (float[1,2,n,n] z) { z = Concat<axis = 1>(x, x) }> })");
  EXPECT_EQ(normalizations(model).changes, 1);
  EXPECT_EQ(picture(model), lines(R"(
    y = If(t)
      then_branch:
        z = Conv(x, w, w_bias)
      else_branch:
        z = Concat<axis=1>(x, x))"));
  // Made outside the branch that normalizes it: the Conv would have to move.
  Model across = model_of("g (float[1,1,n,n] x, bool t) => (float[1,2,n,n] y) " +
                          two_channels("float[2,1,1,2] w = {1, 2, 3, 4}") + R"({ c = Conv(x, w)
    y = If(t) <then_branch = a () => (float[1,2,n,n] z) { z = BatchNormalization(c, g, h, m, v) },
               else_branch = e () => (float[1,2,n,n] z) { z = Concat<axis = 1>(x, x) }> })");
  EXPECT_EQ(normalizations(across).changes, 0);
}

TEST(FuseBatchNormalization, Declines) {
  const std::string weight = "float[2,1,1,2] w = {1, 2, 3, 4}";
  const std::string conv = "{ c = Conv(x, w) y = BatchNormalization(c, g, h, m, v) ";
  for (const std::string& text : std::vector<std::string>{
           "g (float[1,1,n,n] x) => (float[1,2,n,n] y, float[1,2,n,n] c) " + two_channels(weight) + conv + "}",  // seen
           "g (float[1,1,n,n] x) => (float[1,2,n,n] y, float[1,2,n,n] r) " + two_channels(weight) + conv +
               "r = Relu(c) }",  // read twice
           "g (float[1,1,n,n] x, float[2,1,1,2] w) => (float[1,2,n,n] y) " + two_channels("float q") + conv + "}",
           "g (float[1,1,n,n] x, float[2,1,1,2] w = {1, 2, 3, 4}) => (float[1,2,n,n] y) " + two_channels("float q") +
               conv + "}",  // the caller may bring another
           "g (float[1,1,n,n] x, float[1,1,n,n] u) => (float[1,2,n,n] y, float[1,2,n,n] q) " + two_channels(weight) +
               conv + "q = Conv(u, w) }",  // tied
           "g (float[1,1,n,n] x, float[2] m) => (float[1,2,n,n] y) <float[2] g = {1, 2}, float[2] h = {1, 2}, "
           "float[2] v = {1, 2}, " +
               weight + "> " + conv + "}",
           "g (float[1,1,n,n] x, float[2] b) => (float[1,2,n,n] y) " + two_channels(weight) +
               "{ c = Conv(x, w, b) y = BatchNormalization(c, g, h, m, v) }",
           "g (float[1,1,n,n] x) => (float[1,2,n,n] y, float[2] p, float[2] q) " + two_channels(weight) +
               "{ c = Conv(x, w) y, p, q = BatchNormalization<training_mode = 1>(c, g, h, m, v) }",
           std::string(
               "g (float[1,1,n,n] x) => (float[1,2,n,n] y) <float[2] g = {1, 2}, float[2] h = {1, 2}, float[2] m "
               "= {1, 2}, float[2] v = {-1, 2}, ") +
               weight + "> " + conv + "}"}) {  // a root of -1
    Model model = model_of(text);
    const std::string before = picture(model);
    EXPECT_EQ(normalizations(model).changes, 0) << text;
    EXPECT_EQ(picture(model), before);
  }
}

TEST(FuseBatchNormalization, DeclinesWhatWouldRoundOrOverflow) {
  Model half = model_of(R"(g (float16[1,1,n,n] x) => (float16[1,2,n,n] y)
    <float16[2,1,1,2] w, float16[2] g, float16[2] h, float16[2] m, float16[2] v> {
      c = Conv(x, w) y = BatchNormalization<epsilon = 2.0>(c, g, h, m, v) })");
  EXPECT_THAT(normalizations(half).notes, ElementsAre(HasSubstr("16 bits")));
  Model huge =
      model_of("g (float[1,1,n,n] x) => (float[1,2,n,n] y) " + two_channels("float[2,1,1,2] w = {1, 3e38, 3, 4}") +
               "{ c = Conv(x, w) y = BatchNormalization<epsilon = 0.0>(c, g, h, m, v) }");
  EXPECT_THAT(normalizations(huge).notes, ElementsAre(HasSubstr("infinite")));
  EXPECT_THAT(values(huge, "w"), ElementsAre(1, 3e38f, 3, 4));
  Model old = model_of("g (float[1,1,n,n] x) => (float[1,2,n,n] y) " + two_channels("float[2,1,1,2] w") +
                           "{ c = Conv(x, w) y = BatchNormalization<spatial = 0>(c, g, h, m, v) }",
                       8);
  EXPECT_EQ(normalizations(old).changes, 0);
}

TEST(FuseBatchNormalization, TheSurvivorInheritsMarks) {
  auto proto = pictures::proto_of("g (float[1,1,n,n] x) => (float[1,2,n,n] y) " +
                                  two_channels("float[2,1,1,2] w = {1, 2, 3, 4}") +
                                  "{ c = Conv(x, w) y = BatchNormalization(c, g, h, m, v) }");
  proto.mutable_graph()->mutable_node(0)->set_name("the Conv");
  auto* mark = proto.mutable_graph()->mutable_node(1)->add_metadata_props();
  mark->set_key("key");
  mark->set_value("value");
  Model model = fixtures::load(proto);
  EXPECT_EQ(normalizations(model).changes, 1);
  const auto& node = model.proto().graph().node(0);
  EXPECT_EQ(node.name(), "the Conv");
  ASSERT_EQ(node.metadata_props_size(), 1);
  EXPECT_EQ(node.metadata_props(0).value(), "value");
}

TEST(FuseChannelConstants, BehindAConv) {
  const std::string head =
      "g (float[1,1,n,n] x) => (float[1,2,n,n] y) <float[2,1,1,2] w = {1, 2, 3, 4}, float[2] b = {5, 6}, float[2,1,1] "
      "k = {2, 4}, float s = {2}> { c = Conv(x, w, b) ";
  const auto check = [&](const std::string& node, const std::vector<float>& w, const std::vector<float>& b) {
    Model model = model_of(head + node + " }");
    EXPECT_EQ(constants(model).changes, 1) << node;
    EXPECT_EQ(picture(model), "\ny = Conv(x, w, b)\n");
    EXPECT_EQ(values(model, "w"), w) << node;
    EXPECT_EQ(values(model, "b"), b) << node;
  };
  check("y = Mul(c, k)", {2, 4, 12, 16}, {10, 24});
  check("y = Mul(k, c)", {2, 4, 12, 16}, {10, 24});
  check("y = Mul(c, s)", {2, 4, 6, 8}, {10, 12});
  check("y = Div(c, k)", {0.5, 1, 0.75, 1}, {2.5, 1.5});
  check("y = Add(k, c)", {1, 2, 3, 4}, {7, 10});
  check("y = Sub(c, k)", {1, 2, 3, 4}, {3, 2});
  check("y = Sub(k, c)", {-1, -2, -3, -4}, {-3, -2});
  check("y = Add(c, s)", {1, 2, 3, 4}, {7, 8});
}

TEST(FuseChannelConstants, AWholeChainAndASharedBias) {
  Model model = model_of(R"(g (float[1,1,n,n] x) => (float[1,2,n,n] y, float[1,2,n,n] z)
    <float[2,1,1,1] w = {1, 2}, float[2,1,1,1] v = {1, 2}, float[2] b = {5, 6}, float s = {2}, float[1,2,1,1] t = {1, 2}> {
      c = Conv(x, w, b) d = Mul(c, s) e = Add(d, t) y = Div(e, s) z = Conv(x, v, b) })");
  EXPECT_EQ(constants(model).changes, 3);
  EXPECT_EQ(picture(model), lines(R"(
    y = Conv(x, w, w_bias)
    z = Conv(x, v, b))"));
  EXPECT_THAT(values(model, "w"), ElementsAre(1, 2));
  EXPECT_THAT(values(model, "w_bias"), ElementsAre(5.5, 7));
  EXPECT_THAT(values(model, "b"), ElementsAre(5, 6));
}

TEST(FuseChannelConstants, BeforeAConv) {
  // A factor passes the padding, since zeros stay zeros; what is added does not.
  Model model = model_of(R"(g (float[1,2,n,n] x) => (float[1,1,n,n] y)
    <float[1,2,1,1] w = {1, 2}, float[1,2,1,1] k = {3, 4}, float s = {2}> {
      a = Sub(x, s) b = Mul(a, k) c = Div(b, s) y = Conv<pads = [1, 1, 1, 1]>(c, w) })");
  EXPECT_EQ(constants(model).changes, 2);
  EXPECT_EQ(picture(model), lines(R"(
    a = Sub(x, s)
    y = Conv<pads=[1,1,1,1]>(a, w))"));
  EXPECT_THAT(values(model, "w"), ElementsAre(1.5, 4));
  Model plain = model_of(R"(g (float[1,2,n,n] x) => (float[1,1,n,n] y) <float[1,2,1,1] w = {1, 2}, float s = {2}> {
      a = Sub(x, s) y = Conv(a, w) })");
  EXPECT_EQ(constants(plain).changes, 1);
  EXPECT_EQ(picture(plain), "\ny = Conv(x, w, w_bias)\n");
  EXPECT_THAT(values(plain, "w_bias"), ElementsAre(-6));
}

TEST(FuseChannelConstants, AFactorPassesASumThatThePaddingHolds) {
  const std::string head =
      "g (float[1,2,n] x) => (float[1,1,n] y) <float[1,2,3] w = {1, 2, 3, 4, 5, 6}, float[2,1] k = "
      "{2, 4}, float[2,1] d = {8, 8}, float s = {2}, float t = {6}, float o = {1e-9}> { ";
  const auto check = [&](const std::string& body, const std::string& sum, const std::vector<float>& shift) {
    Model model = model_of(head + body + " y = Conv<pads = [1, 1]>(b, w) }");
    EXPECT_EQ(constants(model).changes, 1) << body;
    EXPECT_EQ(picture(model), "\n" + sum + "\ny = Conv<pads=[1,1]>(b, w)\n");
    const auto& node = model.proto().graph().node(0);
    EXPECT_EQ(values(model, node.input(0) == "x" ? node.input(1) : node.input(0)), shift);
    return values(model, "w");
  };
  EXPECT_THAT(check("a = Mul(x, k) b = Add(a, d)", "b = Add(x, d_scaled)", {4, 2}), ElementsAre(2, 4, 6, 16, 20, 24));
  EXPECT_THAT(check("a = Mul(s, x) b = Add(t, a)", "b = Add(t_scaled, x)", {3}), ElementsAre(2, 4, 6, 8, 10, 12));
  EXPECT_THAT(check("a = Div(x, s) b = Add(a, d)", "b = Add(x, d_scaled)", {16, 16}),
              ElementsAre(0.5, 1, 1.5, 2, 2.5, 3));
  EXPECT_THAT(check("a = Mul(x, k) b = Add(a, t)", "b = Add(x, t_scaled)", {3, 1.5}), ElementsAre(2, 4, 6, 16, 20, 24));
  Model tiny = model_of(head + "a = Mul(x, o) b = Add(a, t) y = Conv<pads = [1, 1]>(b, w) }");
  EXPECT_EQ(constants(tiny).changes, 0) << "the sum would lose what it adds to";
}

TEST(FuseChannelConstants, AnAddMakesAGemmOfAMatrixProduct) {
  Model model = model_of(R"(g (float[n,2] x) => (float[n,3] y)
    <float[2,3] w = {1, 2, 3, 4, 5, 6}, float[3] b = {1, 2, 3}> { c = MatMul(x, w) y = Add(b, c) })");
  EXPECT_EQ(constants(model).changes, 1);
  EXPECT_EQ(picture(model), "\ny = Gemm(x, w, w_bias)\n");
  EXPECT_THAT(values(model, "w_bias"), ElementsAre(1, 2, 3));
  Model gemm = model_of(R"(g (float[n,2] x) => (float[n,3] y)
    <float[2,3] w = {1, 2, 3, 4, 5, 6}, float[1,3] b = {1, 2, 3}> { c = Gemm<alpha = 0.5>(x, w) y = Add(c, b) })");
  EXPECT_EQ(constants(gemm).changes, 1);
  EXPECT_EQ(picture(gemm), "\ny = Gemm<alpha=0.5>(x, w, w_bias)\n");
  // A factor needs no rank.
  Model deep = model_of(R"(g (float[n,m,2] x) => (float[n,m,3] y)
    <float[2,3] w = {1, 2, 3, 4, 5, 6}, float[3] b = {1, 2, 3}> { c = MatMul(x, w) d = Mul(b, c) y = Add(d, b) })");
  EXPECT_EQ(constants(deep).changes, 1);
  EXPECT_EQ(picture(deep), lines(R"(
    d = MatMul(x, w)
    y = Add(d, b))"));
  EXPECT_THAT(values(deep, "w"), ElementsAre(1, 4, 9, 4, 10, 18));
}

TEST(FuseChannelConstants, AnAddedConstantNeedsNotTheWeightAlone) {
  Model model = model_of(R"(g (float[n,2] x, float[n,2] u) => (float[n,2] y, float[n,2] z)
    <float[2,2] w = {1, 2, 3, 4}, float[2] b = {1, 2}> { c = MatMul(x, w) y = Add(c, b) z = MatMul(u, w) })");
  EXPECT_EQ(constants(model).changes, 1);
  EXPECT_EQ(picture(model), lines(R"(
    y = Gemm(x, w, w_bias)
    z = MatMul(u, w))"));
  Model half = model_of(R"(g (float16[1,1,n] x) => (float16[1,2,n] y) <float16[2,1,1] w, float16[2,1] b> {
    c = Conv(x, w) y = Add(c, b) })");
  EXPECT_EQ(constants(half).changes, 1) << "a constant becomes the bias as it is";
}

TEST(FuseChannelConstants, LeavesAGeluWhole) {
  Model model = model_of(R"(g (float[1,2,n] x) => (float[1,1,n] y)
    <float[1,2,1] w = {1, 2}, float r = {1.4142135}, float one = {1}, float half = {0.5}> {
      a = Div(x, r) b = Erf(a) c = Add(b, one) d = Mul(x, c) e = Mul(d, half) y = Conv(e, w) })");
  EXPECT_EQ(constants(model).changes, 0) << "the runtime knows it by its last factor";
}

TEST(FuseChannelConstants, Declines) {
  const std::string two = "<float[2,1,1] w = {1, 2}, ", four = "<float[2,1,1,1] w = {1, 2}, ";
  for (const std::string& text : std::vector<std::string>{
           "g (float[1,1,n] x) => (float[1,2,n] y) " + two + "float[2] k = {1, 2}> { c = Conv(x, w) y = Mul(c, k) }",
           "g (float[1,1,1] x) => (float[1,2,3] y) " + two + "float[1,2,3] k> { c = Conv(x, w) y = Add(c, k) }",
           "g (float[1,1,n] x) => (float[4,2,n] y) " + two + "float[4,1,1] k> { c = Conv(x, w) y = Add(c, k) }",
           "g (float[1,1,n] x) => (float[1,1,2,n] y) " + two + "float[1,1,2,1] k> { c = Conv(x, w) y = Add(c, k) }",
           "g (float[1,1,n] x) => (float[1,2,n] y) " + two + "float s = {2}> { c = Conv(x, w) y = Div(s, c) }",
           "g (float[1,1,n] x) => (float[1,2,n] y) " + two + "float s = {0}> { c = Conv(x, w) y = Div(c, s) }",
           "g (float[1,1,n] x, float s = {2}) => (float[1,2,n] y) " + two + "float q> { c = Conv(x, w) y = Mul(c, s) }",
           "g (float[1,1,n] x) => (float[1,2,n] y) " + two + "float q> { c = Conv(x, w) y = Mul(c, c) }",
           // Behind the Mul x has two channels, before it only one.
           "g (float[1,1,n] x) => (float[1,1,n] y) <float[1,2,1] w = {1, 2}, float[2,1] k = {1, 2}> { c = Mul(x, k) y "
           "= "
           "Conv(c, w) }",
           "g (float[1,n] x) => (float[1,2,n] y) " + two + "float[1,1,1] k = {2}> { c = Mul(x, k) y = Conv(c, w) }",
           "g (float[n] x) => (float[n] y) <float[3] w, float s = {2}> { c = MatMul(x, w) y = Mul(c, s) }",
           "g (float[1,1,n,n] x) => (float[1,2,n,n] y) " + four + "float s = {2}> { c = Conv(x) y = Mul(c, s) }",
           "g (float[1,1,n,n] x) => (float[1,2,n,n] y) " + four +
               "float s = {2}> { c = Conv<group = 0>(x, w) y = Mul(c, s) }"}) {
    Model model = model_of(text);
    const std::string before = picture(model) + stored(model);
    EXPECT_EQ(constants(model).changes, 0) << text;
    EXPECT_EQ(picture(model) + stored(model), before);
  }
}

TEST(FuseChannelConstants, ShapesAreAskedOfASoundGraphAlone) {
  // The first change of a sweep leaves a node behind that reads what is gone.
  Model model = model_of(R"(g (float[1,1,n] x, float[n,2] u) => (float[1,2,n] y, float[n,2] z)
    <float[2,1,1] w = {1, 2}, float s = {2}, float[2,2] v = {1, 2, 3, 4}, float[2] b = {1, 2}> {
      c = Conv(x, w) y = Mul(c, s) d = MatMul(u, v) z = Add(d, b) })");
  EXPECT_EQ(constants(model).changes, 2);
  EXPECT_EQ(picture(model), lines(R"(
    y = Conv(x, w)
    z = Gemm(u, v, v_bias))"));
}

}  // namespace
}  // namespace octet
