// Blocks: operations that exporters write out, in every way they do it, and what only looks like one.
#include <gmock/gmock.h>

#include "graph_pictures.h"
#include "prepare/blocks.h"

namespace octet {
namespace {

using pictures::model_of;

// "KIND(inputs)->output of N", one per line.
std::string blocks_of(const std::string& text, int opset = 17) {
  Model model = model_of(text, opset);
  const GraphView view(model.proto());
  std::string out;
  for (const Block& block : find_blocks(model, view)) {
    out += (out.empty() ? "" : "; ") + std::string(name_of(block.kind)) + "(";
    for (const Value* input : block.inputs) out += (out.back() == '(' ? "" : ", ") + input->name;
    if (block.scale) out += " * " + block.scale->name;
    if (block.bias) out += " + " + block.bias->name;
    out += ") -> " + block.output->name + " of " + std::to_string(block.nodes.size());
  }
  return out;
}

constexpr char kNormHead[] =
    "g (float[b,s,8] x, float[b,s,8] other) => (float[b,s,8] y) <float[8] gamma, float[8] beta, float e = {1e-5}, "
    "float "
    "two = {2}, float three = {3}, float one = {1}, float[1] half = {0.5}, float[1] minus_half = {-0.5}, int64[1] axes "
    "= {-1}, float[8,8] "
    "w> ";
std::string norm(const std::string& body, int opset = 17) { return blocks_of(kNormHead + body, opset); }

TEST(FindBlocks, LayerNormalizationOfPyTorch) {
  EXPECT_EQ(norm(R"({ m = ReduceMean<axes = [-1]>(x) d = Sub(x, m) q = Pow(d, two) v = ReduceMean<axes = [-1]>(q)
      a = Add(v, e) r = Sqrt(a) n = Div(d, r) z = Mul(n, gamma) y = Add(z, beta) })"),
            "LayerNormalization(x * gamma + beta) -> y of 9");
}

TEST(FindBlocks, LayerNormalizationWithAxesAsInputAndFactorsTurned) {
  EXPECT_EQ(norm(R"({ m = ReduceMean(x, axes) d = Sub(x, m) q = Mul(d, d) v = ReduceMean(q, axes)
      a = Add(e, v) r = Sqrt(a) n = Div(d, r) z = Mul(gamma, n) y = Add(beta, z) })",
                 18),
            "LayerNormalization(x * gamma + beta) -> y of 9");
}

TEST(FindBlocks, LayerNormalizationThatWritesTheDifferenceTwice) {
  EXPECT_EQ(norm(R"({ m = ReduceMean<axes = [-1]>(x) d = Sub(x, m) d2 = Sub(x, m) q = Pow(d, two)
      v = ReduceMean<axes = [-1]>(q) a = Add(v, e) r = Sqrt(a) n = Div(d2, r) z = Mul(n, gamma) y = Add(z, beta) })"),
            "LayerNormalization(x * gamma + beta) -> y of 10");
}

TEST(FindBlocks, LayerNormalizationByReciprocal) {
  const std::string head =
      "{ m = ReduceMean<axes = [-1]>(x) d = Sub(x, m) q = Mul(d, d) v = ReduceMean<axes = [-1]>(q) a = Add(v, e) ";
  EXPECT_EQ(norm(head + "s = Sqrt(a) r = Reciprocal(s) n = Mul(d, r) z = Mul(n, gamma) y = Add(z, beta) }"),
            "LayerNormalization(x * gamma + beta) -> y of 10");
  EXPECT_EQ(norm(head + "s = Pow(a, half) r = Div(one, s) n = Mul(r, d) z = Mul(n, gamma) y = Add(z, beta) }"),
            "LayerNormalization(x * gamma + beta) -> y of 10");
  EXPECT_EQ(norm(head + "r = Pow(a, minus_half) n = Mul(r, d) z = Mul(n, gamma) y = Add(z, beta) }"),
            "LayerNormalization(x * gamma + beta) -> y of 9");
  // Keras: gamma first.
  EXPECT_EQ(norm(head + "s = Sqrt(a) r = Reciprocal(s) g = Mul(r, gamma) z = Mul(d, g) y = Add(z, beta) }"),
            "LayerNormalization(x * gamma + beta) -> y of 10");
}

TEST(FindBlocks, LayerNormalizationOfTensorFlow) {
  EXPECT_EQ(norm(R"({ m = ReduceMean<axes = [2]>(x) d = Sub(x, m) q = Mul(d, d) v = ReduceMean<axes = [2]>(q)
      a = Add(v, e) s = Sqrt(a) r = Reciprocal(s) g = Mul(r, gamma) xg = Mul(x, g) mg = Mul(m, g)
      t = Sub(beta, mg) y = Add(xg, t) })"),
            "LayerNormalization(x * gamma + beta) -> y of 12");
}

TEST(FindBlocks, LayerNormalizationAcrossCasts) {
  EXPECT_EQ(norm(R"({ m = ReduceMean<axes = [-1]>(x) d = Sub(x, m) c = Cast<to = 1>(d) q = Pow(c, two)
      v = ReduceMean<axes = [-1]>(q) a = Add(v, e) r = Sqrt(a) n = Div(d, r) k = Cast<to = 1>(n) z = Mul(k, gamma)
      y = Add(z, beta) })"),
            "LayerNormalization(x * gamma + beta) -> y of 11");
}

TEST(FindBlocks, NormsWithoutWeights) {
  const std::string head =
      "{ m = ReduceMean<axes = [-1]>(x) d = Sub(x, m) q = Mul(d, d) v = ReduceMean<axes = [-1]>(q) a = Add(v, e) ";
  EXPECT_EQ(norm(head + "r = Sqrt(a) n = Div(d, r) y = Mul(n, other) }"), "LayerNormalization(x) -> n of 7");
  // One number is no gamma.
  EXPECT_EQ(norm(head + "r = Sqrt(a) n = Div(d, r) y = Mul(n, two) }"), "LayerNormalization(x) -> n of 7");
}

TEST(FindBlocks, RmsNormalization) {
  EXPECT_EQ(norm(R"({ q = Pow(x, two) v = ReduceMean<axes = [-1]>(q) a = Add(v, e) s = Sqrt(a) r = Div(one, s)
      n = Mul(x, r) y = Mul(gamma, n) })"),
            "RMSNormalization(x * gamma) -> y of 7");
  EXPECT_EQ(norm(R"({ q = Mul(x, x) v = ReduceMean<axes = [-1]>(q) a = Add(v, e) s = Sqrt(a) n = Div(x, s)
      z = Mul(gamma, n) y = MatMul(z, w) })"),
            "RMSNormalization(x * gamma) -> z of 6");
}

TEST(FindBlocks, WhatIsNoNorm) {
  for (const char* body :
       {// epsilon is no constant
        "{ m = ReduceMean<axes = [-1]>(x) d = Sub(x, m) q = Pow(d, two) v = ReduceMean<axes = [-1]>(q) a = Add(v, "
        "other) r = Sqrt(a) n = Div(d, r) z = Mul(n, gamma) y = Add(z, beta) }",
        // the variance is read outside
        "{ m = ReduceMean<axes = [-1]>(x) d = Sub(x, m) q = Pow(d, two) v = ReduceMean<axes = [-1]>(q) a = Add(v, e) "
        "r = Sqrt(a) n = Div(d, r) z = Mul(n, gamma) y = Add(z, v) }",
        // dimensions are dropped
        "{ m = ReduceMean<axes = [-1]>(x) d = Sub(x, m) q = Pow(d, two) v = ReduceMean<axes = [-1], keepdims = "
        "0>(q) a = Add(v, e) r = Sqrt(a) n = Div(d, r) z = Mul(n, gamma) y = Add(z, beta) }",
        // raised to 3
        "{ q = Pow(x, three) v = ReduceMean<axes = [-1]>(q) a = Add(v, e) r = Sqrt(a) n = "
        "Div(x, r) y = Mul(n, gamma) }",
        // the root divides something else
        "{ q = Mul(x, x) v = ReduceMean<axes = [-1]>(q) a = Add(v, e) r = Sqrt(a) y = Div(other, r) }",
        // a quotient the wrong way round
        "{ q = Mul(x, x) v = ReduceMean<axes = [-1]>(q) a = Add(v, e) r = Sqrt(a) y = Div(r, x) }"}) {
    EXPECT_EQ(norm(body), "") << body;
  }
  // Mean and variance over different axes: a norm, but not by this mean.
  EXPECT_EQ(
      norm("{ m = ReduceMean<axes = [1]>(x) d = Sub(x, m) q = Mul(d, d) v = ReduceMean<axes = [-1]>(q) a = Add(v, "
           "e) r = Sqrt(a) y = Div(d, r) }"),
      "RMSNormalization(d) -> y of 5");
}

TEST(FindBlocks, L2Normalization) {
  const std::string head =
      "g (float[b,8] x) => (float[b,8] y) <float least = {1e-12}, float two = {2}, float half = {0.5}> { z = Shape(x) ";
  EXPECT_EQ(blocks_of(head + "l = ReduceL2<axes = [1]>(x) c = Clip(l, least) k = Expand(c, z) y = Div(x, k) }"),
            "L2Normalization(x) -> y of 4");
  EXPECT_EQ(
      blocks_of("g (float[b,8] x) => (float[b,8] y) <float two = {2}, float half = {0.5}, int64[1] axes = {1}> { a = "
                "Abs(x) q = Pow(a, two) s = ReduceSum(q, axes) l = Pow(s, half) y = Div(x, l) }"),
      "L2Normalization(x) -> y of 5");
  EXPECT_EQ(blocks_of(head + "l = ReduceL2<axes = [1]>(x) c = Clip(l, least) k = Expand(c, z) y = Div(k, x) }"), "");
}

std::string activation(const std::string& body, const std::string& more = {}) {
  return blocks_of(
      "g (float[n,8] a, float[n,8] b) => (float[n,8] y) <float half = {0.5}, float two = {2}, float three = {3}, float "
      "one = {1}, float root2 = {1.4142135}, float inverse = {0.70710677}, float c = {0.044715}, float k = "
      "{0.7978846}, "
      "float quick = {1.702}, float zero = {0}, float six = {6}, float sixth = {0.16666667}" +
      more + "> { x = Add(a, b) " + body + " }");
}

TEST(FindBlocks, GeluInEveryOrder) {
  for (const char* body :
       {"d = Div(x, root2) e = Erf(d) s = Add(e, one) p = Mul(x, s) y = Mul(p, half)",    // PyTorch
        "h = Mul(x, half) d = Mul(x, inverse) e = Erf(d) s = Add(one, e) y = Mul(h, s)",  // its newer exporter
        "d = Mul(inverse, x) e = Erf(d) s = Add(e, one) h = Mul(half, s) y = Mul(x, h)",  // TensorFlow
        "d = Div(x, root2) e = Erf(d) s = Add(e, one) p = Mul(x, s) y = Div(p, two)",
        "d = Div(x, root2) e = Erf(d) h = Mul(e, half) s = Add(h, half) y = Mul(s, x)",
        "d = Div(x, root2) e = Erf(d) h = Mul(e, x) s = Add(h, x) y = Mul(s, half)"}) {
    EXPECT_EQ(activation(body), "GELU (erf)(x) -> y of 5") << body;
  }
}

TEST(FindBlocks, GeluByTanh) {
  EXPECT_EQ(activation("q = Pow(x, three) r = Mul(c, q) i = Add(x, r) t = Mul(k, i) e = Tanh(t) s = Add(e, one) h = "
                       "Mul(x, half) y = Mul(h, s)"),
            "GELU (tanh)(x) -> y of 8");
  EXPECT_EQ(
      activation("q = Mul(x, x) q2 = Mul(q, x) r = Mul(c, q2) i = Add(x, r) t = Mul(i, k) e = Tanh(t) s = Add(one, "
                 "e) h = Mul(s, half) y = Mul(x, h)"),
      "GELU (tanh)(x) -> y of 9");
  EXPECT_EQ(
      activation("q = Mul(x, x) r = Mul(c, q) i = Add(one, r) u = Mul(x, k) t = Mul(u, i) e = Tanh(t) s = Add(one, "
                 "e) p = Mul(x, s) y = Mul(p, half)"),
      "GELU (tanh)(x) -> y of 9");
}

TEST(FindBlocks, SigmoidsAndHardSwish) {
  EXPECT_EQ(activation("e = Sigmoid(x) y = Mul(x, e)"), "SiLU(x) -> y of 2");
  EXPECT_EQ(activation("t = Mul(x, quick) e = Sigmoid(t) y = Mul(e, x)"), "GELU (sigmoid)(x) -> y of 3");
  EXPECT_EQ(activation("t = Add(x, three) e = Clip(t, zero, six) p = Mul(x, e) y = Div(p, six)"),
            "HardSwish(x) -> y of 4");
  EXPECT_EQ(activation("t = Add(x, three) e = Clip(t, zero, six) p = Mul(e, sixth) y = Mul(x, p)"),
            "HardSwish(x) -> y of 4");
  EXPECT_EQ(activation("e = HardSigmoid<alpha = 0.16666667, beta = 0.5>(x) y = Mul(x, e)"), "HardSwish(x) -> y of 2");
}

TEST(FindBlocks, WhatIsNoActivation) {
  for (const char* body :
       {"d = Div(x, two) e = Erf(d) s = Add(e, one) p = Mul(x, s) y = Mul(p, half)",    // another factor
        "d = Div(x, root2) e = Erf(d) s = Add(e, one) p = Mul(a, s) y = Mul(p, half)",  // another x
        "d = Div(x, root2) e = Erf(d) s = Add(e, two) p = Mul(x, s) y = Mul(p, half)",
        "d = Div(x, root2) e = Erf(d) s = Add(e, one) y = Mul(x, s)",                                 // not halved
        "d = Div(x, root2) e = Erf(d) s = Add(e, one) p = Mul(x, s) q = Mul(p, half) y = Add(q, e)",  // e read
                                                                                                      // elsewhere
        "d = Div(root2, x) e = Erf(d) s = Add(e, one) p = Mul(x, s) y = Mul(p, half)", "e = Sigmoid(a) y = Mul(x, e)",
        "e = HardSigmoid(x) y = Mul(x, e)",
        "t = Add(x, three) e = Clip(t, zero, three) p = Mul(x, e) y = Div(p, six)"}) {
    EXPECT_EQ(activation(body), "") << body;
  }
}

TEST(FindBlocks, Softmax) {
  const std::string head = "g (float[b,s] x) => (float[b,s] y) <int64[1] axes = {-1}, int64[1] first = {0}> ";
  EXPECT_EQ(blocks_of(head + "{ m = ReduceMax<axes = [-1]>(x) d = Sub(x, m) e = Exp(d) s = ReduceSum(e, axes) y = "
                             "Div(e, s) }"),
            "Softmax(x) -> y of 5");
  EXPECT_EQ(blocks_of(head + "{ m = ReduceMax<axes = [-1]>(x) d = Sub(x, m) e = Exp(d) s = ReduceSum(e, axes) r = "
                             "Reciprocal(s) y = Mul(r, e) }"),
            "Softmax(x) -> y of 6");
  EXPECT_EQ(blocks_of(head + "{ e = Exp(x) s = ReduceSum(e, axes) y = Div(e, s) }"), "");  // overflows
  EXPECT_EQ(blocks_of(head + "{ m = ReduceMax<axes = [-1]>(x) d = Sub(x, m) e = Exp(d) s = ReduceSum(e, first) y = "
                             "Div(e, s) }"),
            "");
  EXPECT_EQ(blocks_of(head + "{ m = ReduceMax<axes = [-1]>(x) d = Sub(x, m) e = Exp(d) s = ReduceSum(e, axes) y = "
                             "Div(s, e) }"),
            "");
}

std::string attention(const std::string& body) {
  return blocks_of(
      "g (float[b,4,s,8] q, float[b,4,8,s] k, float[b,4,s,8] v, float[b,1,1,s] mask, bool[b,1,s,s] seen) => "
      "(float[b,4,s,8] y) <float scale = {0.35}, float eight = {2.83}, float zero = {0}, float[1] low = {-10000}, "
      "float[b,4,8,8] w, int64[1] axes = {-1}> { " +
      body + " }");
}

TEST(FindBlocks, Attention) {
  EXPECT_EQ(attention("s = MatMul(q, k) p = Softmax<axis = -1>(s) y = MatMul(p, v)"), "attention(q, k, v) -> y of 3");
  EXPECT_EQ(attention("s = MatMul(q, k) d = Div(s, eight) a = Add(d, mask) p = Softmax<axis = -1>(a) y = MatMul(p, v)"),
            "attention(q, k, v, mask) -> y of 5");
  EXPECT_EQ(attention("s = MatMul(q, k) d = Mul(scale, s) a = Add(mask, d) p = Softmax<axis = 3>(a) y = MatMul(p, v)"),
            "attention(q, k, v, mask) -> y of 5");
  EXPECT_EQ(attention("qs = Mul(q, scale) ks = Mul(k, scale) s = MatMul(qs, ks) a = Add(s, mask) p = Softmax<axis = "
                      "-1>(a) y = MatMul(p, v)"),
            "attention(q, k, v, mask) -> y of 6");
  EXPECT_EQ(attention("s = MatMul(q, k) d = Div(s, eight) a = Where(seen, d, low) p = Softmax<axis = -1>(a) y = "
                      "MatMul(p, v)"),
            "attention(q, k, v, seen) -> y of 5");
  EXPECT_EQ(
      attention("s = MatMul(q, k) a = Where(seen, low, s) p = Softmax<axis = -1>(a) n = IsNaN(p) g = Where(n, zero, "
                "p) y = MatMul(g, v)"),
      "attention(q, k, v, seen) -> y of 6");
}

TEST(FindBlocks, AttentionTakesItsSoftmaxIn) {
  EXPECT_EQ(
      attention("s = MatMul(q, k) m = ReduceMax<axes = [-1]>(s) d = Sub(s, m) e = Exp(d) t = ReduceSum(e, axes) p = "
                "Div(e, t) y = MatMul(p, v)"),
      "attention(q, k, v) -> y of 7");
}

TEST(FindBlocks, WhatIsNoAttention) {
  EXPECT_EQ(attention("s = MatMul(q, k) p = Softmax<axis = -1>(s) y = MatMul(v, p)"), "");
  EXPECT_EQ(attention("s = MatMul(q, k) p = Softmax<axis = -1>(s) z = MatMul(p, v) y = Add(z, p)"), "");
  EXPECT_EQ(attention("s = MatMul(q, k) p = Softmax<axis = 1>(s) y = MatMul(p, v)"), "");
  EXPECT_EQ(attention("s = Add(q, mask) p = Softmax<axis = -1>(s) y = MatMul(p, v)"), "");
}

TEST(FindBlocks, InSubgraphs) {
  EXPECT_EQ(blocks_of(R"(g (bool c, float[n,8] x) => (float[n,8] y) <float half = {0.5}> {
      y = If(c) <then_branch = then () => (float[n,8] t) { e = Sigmoid(x) t = Mul(e, x) },
                 else_branch = other () => (float[n,8] f) { e = Sigmoid(x) f = Mul(e, e) }> })"),
            "SiLU(x) -> t of 2");
  // A value between is read by a deeper graph.
  EXPECT_EQ(blocks_of(R"(g (bool c, float[n,8] x) => (float[n,8] y, float[n,8] z) {
      e = Sigmoid(x) z = Mul(e, x)
      y = If(c) <then_branch = then () => (float[n,8] t) { t = Neg(e) },
                 else_branch = other () => (float[n,8] f) { f = Neg(x) }> })"),
            "");
}

TEST(FindBlocks, StandsWhatMakesNoSense) {
  for (const char* body :
       {"{ y = Softmax() }", "{ y = Sqrt() }", "{ y = Pow(x) }", "{ a = Erf(x) y = Mul(a) }",
        "{ a = Sigmoid(x) y = Mul(a, a, x) }", "{ a = ReduceL2(x) y = Div(a) }",
        "{ a = Exp(x) b = ReduceSum(a) y = Div(a, b) }", "{ a = Pow(x, x) b = Sqrt(a) y = Div(x, b) }"}) {
    EXPECT_EQ(blocks_of(std::string("g (float[n,8] x) => (float[n,8] y) ") + body), "") << body;
  }
}

// Doubling formulas would be read an exponential number of times.
TEST(FindBlocks, StandsFormulasThatGrow) {
  std::string body = "x0 = Neg(x) ";
  for (int i = 0; i < 60; ++i)
    body += "x" + std::to_string(i + 1) + " = Add(x" + std::to_string(i) + ", x" + std::to_string(i) + ") ";
  EXPECT_EQ(blocks_of("g (float[n,8] x) => (float[n,8] y) { " + body + "e = Tanh(x60) y = Mul(e, x) }"), "");
}

TEST(ListBlocks, NamesNodes) {
  Model model = model_of("g (float[n,8] x) => (float[n,8] y) { e = Sigmoid(x) y = Mul(e, x) }");
  model.proto().mutable_graph()->mutable_node(0)->set_name("gate");
  const auto blocks = list_blocks(model);
  ASSERT_EQ(blocks.size(), 1u);
  EXPECT_EQ(blocks[0].kind, "SiLU");
  EXPECT_EQ(blocks[0].nodes, (std::vector<std::string>{"gate", "Mul(y)"}));
  EXPECT_EQ(blocks[0].output, "y");
}

}  // namespace
}  // namespace octet
