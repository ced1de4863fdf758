// fuse_layer_normalization, fuse_gelu, fuse_softmax: blocks that become one operator.
#include <gmock/gmock.h>

#include "graph_pictures.h"
#include "prepare/pass.h"

namespace octet {
namespace {

using pictures::lines;
using pictures::model_of;
using pictures::picture;
using pictures::stored;

constexpr char kNorm[] =
    "m = ReduceMean<axes = [-1]>(x) d = Sub(x, m) q = Pow(d, two) v = ReduceMean<axes = [-1]>(q) a = Add(v, e) r = "
    "Sqrt(a) n = Div(d, r) z = Mul(n, gamma) y = Add(z, beta)";
constexpr char kConstants[] = "float[1] e = {0.25}, float two = {2}";

struct Outcome {
  Model model;
  PassReport report;
};
Outcome run(void (*pass)(Model&, PassReport&), const std::string& text, int opset) {
  Outcome outcome{model_of(text, opset), {}};
  pass(outcome.model, outcome.report);
  GraphView check(outcome.model.proto());
  return outcome;
}

std::string norm_text(const std::string& weights, const std::string& x = "float[b,s,8]",
                      const std::string& body = kNorm) {
  return "g (" + x + " x) => (" + x + " y) <" + kConstants + (weights.empty() ? "" : ", " + weights) + "> { " + body +
         " }";
}

TEST(FuseLayerNormalization, FromOpset17) {
  auto [model, report] = run(run_fuse_layer_normalization, norm_text("float[8] gamma, float[8] beta"), 17);
  EXPECT_EQ(report.changes, 1);
  EXPECT_EQ(picture(model), "\ny = LayerNormalization<axis=-1, epsilon=0.25>(x, gamma, beta)\n");
  pictures::expect_sound(model);
  EXPECT_EQ(run(run_fuse_layer_normalization, norm_text("float[8] gamma, float[8] beta"), 16).report.changes, 0);
}

TEST(FuseLayerNormalization, MakesAFactorOfOnes) {
  auto [model, report] = run(run_fuse_layer_normalization,
                             norm_text("", "float[b,s,8]",
                                       "m = ReduceMean<axes = [-1]>(x) d = Sub(x, m) q = Mul(d, d) v = ReduceMean<axes "
                                       "= [-1]>(q) a = Add(v, e) r = Sqrt(a) y = Div(d, r)"),
                             17);
  EXPECT_EQ(picture(model), "\ny = LayerNormalization<axis=-1, epsilon=0.25>(x, y_ones)\n");
  EXPECT_EQ(tensor_as_float(model, model.proto().graph().initializer(2)), std::vector<float>(8, 1.0f));
  EXPECT_EQ(report.changes, 1);
}

TEST(FuseLayerNormalization, DropsLeadingOnesOfTheWeights) {
  auto [model, report] = run(run_fuse_layer_normalization, norm_text("float[1,8] gamma, float[8] beta"), 17);
  EXPECT_EQ(picture(model), "\ny = LayerNormalization<axis=-1, epsilon=0.25>(x, gamma_flat, beta)\n");
  EXPECT_THAT(stored(model), testing::HasSubstr("gamma_flat: FLOAT[8]\n"));
}

TEST(FuseLayerNormalization, OverSeveralAxes) {
  auto [model, report] = run(run_fuse_layer_normalization,
                             norm_text("float[4,8] gamma, float[4,8] beta", "float[b,4,8]",
                                       "m = ReduceMean<axes = [1, -1]>(x) d = Sub(x, m) q = Pow(d, two) v = "
                                       "ReduceMean<axes = [1, -1]>(q) a = Add(v, e) r = Sqrt(a) n = Div(d, r) z = "
                                       "Mul(n, gamma) y = Add(z, beta)"),
                             17);
  EXPECT_EQ(picture(model), "\ny = LayerNormalization<axis=-2, epsilon=0.25>(x, gamma, beta)\n");
}

TEST(FuseLayerNormalization, DeclinesWithAReason) {
  const auto note_of = [](const std::string& text) {
    const auto outcome = run(run_fuse_layer_normalization, text, 17);
    EXPECT_EQ(outcome.report.changes, 0) << picture(outcome.model);
    return outcome.report.notes.empty() ? std::string() : outcome.report.notes[0];
  };
  // What has size 1 is stretched by gamma; what is unknown may be 1.
  EXPECT_THAT(note_of("g (float[b,s,n] x) => (float[b,s,8] y) <float[8] gamma, float[8] beta, " +
                      std::string(kConstants) + "> { " + kNorm + " }"),
              testing::HasSubstr("not known"));
  EXPECT_THAT(note_of("g (float[b,1] x) => (float[b,8] y) <float[8] gamma, float[8] beta, " + std::string(kConstants) +
                      "> { " + kNorm + " }"),
              testing::HasSubstr("other sizes"));
  EXPECT_THAT(note_of("g (float[8] x) => (float[1,8] y) <float[1,8] gamma, float[8] beta, " + std::string(kConstants) +
                      "> { " + kNorm + " }"),
              testing::HasSubstr("other sizes"));
  EXPECT_THAT(note_of(norm_text("float[4,8] gamma, float[8] beta", "float[b,4,8]")), testing::HasSubstr("other sizes"));
  EXPECT_THAT(note_of("g (double[b,8] x) => (double[b,8] y) <double[8] gamma, double[8] beta, double e = {0.25}, "
                      "double two = {2}> { " +
                      std::string(kNorm) + " }"),
              testing::HasSubstr("float32"));
  // Over the channels.
  EXPECT_THAT(note_of(norm_text("", "float[b,8,4]",
                                "m = ReduceMean<axes = [1]>(x) d = Sub(x, m) q = Pow(d, two) v = ReduceMean<axes = "
                                "[1]>(q) a = Add(v, e) r = Sqrt(a) y = Div(d, r)")),
              testing::HasSubstr("last ones"));
  EXPECT_THAT(note_of(norm_text("", "float[b,100000]",
                                "m = ReduceMean<axes = [1]>(x) d = Sub(x, m) q = Pow(d, two) v = ReduceMean<axes = "
                                "[1]>(q) a = Add(v, e) r = Sqrt(a) y = Div(d, r)")),
              testing::HasSubstr("large"));
}

TEST(FuseLayerNormalization, InASubgraphWithWeightsFromOutside) {
  auto [model, report] = run(run_fuse_layer_normalization,
                             "g (bool c, float[b,8] x) => (float[b,8] o) <float[8] gamma, float[8] beta, " +
                                 std::string(kConstants) + "> { o = If(c) <then_branch = then () => (float[b,8] y) { " +
                                 kNorm + " }, else_branch = other () => (float[b,8] f) { f = Neg(x) }> }",
                             17);
  EXPECT_EQ(report.changes, 1);
  EXPECT_THAT(picture(model), testing::HasSubstr("y = LayerNormalization<axis=-1, epsilon=0.25>(x, gamma, beta)\n"));
}

TEST(FuseLayerNormalization, KeepsNameAndMarks) {
  auto proto = pictures::proto_of(norm_text("float[8] gamma, float[8] beta"), 17);
  auto& nodes = *proto.mutable_graph()->mutable_node();
  nodes[8].set_name("last");
  auto* mark = nodes[3].add_metadata_props();
  mark->set_key("octet.exclude");
  mark->set_value("1");
  Model model = fixtures::load(proto);
  PassReport report;
  run_fuse_layer_normalization(model, report);
  const auto& node = model.proto().graph().node(0);
  EXPECT_EQ(node.name(), "last");
  ASSERT_EQ(node.metadata_props_size(), 1);
  EXPECT_EQ(node.metadata_props(0).key(), "octet.exclude");
}

TEST(FuseLayerNormalization, RmsFromOpset23) {
  const std::string text =
      norm_text("float[8] gamma", "float[b,8]",
                "q = Pow(x, two) v = ReduceMean(q, axes) a = Add(v, e) r = Sqrt(a) n = Div(x, r) y "
                "= Mul(n, gamma)");
  const auto with_axes = [&] {
    auto whole = text;
    return whole.replace(whole.find("float two"), 0, "int64[1] axes = {-1}, ");
  }();
  EXPECT_EQ(run(run_fuse_layer_normalization, with_axes, 22).report.changes, 0);
  auto [model, report] = run(run_fuse_layer_normalization, with_axes, 23);
  EXPECT_EQ(picture(model), "\ny = RMSNormalization<axis=-1, epsilon=0.25>(x, gamma)\n");
}

constexpr char kGeluHead[] =
    " x) => (float[n,8] y) <float half = {0.5}, float one = {1}, float[1,1] root2 = {1.4142135}, float about = "
    "{1.41416}, "
    "float c = {0.044715}, float k = {0.7978846}> ";

TEST(FuseGelu, FromOpset20) {
  const auto text = std::string("g (float[n,8]") + kGeluHead +
                    "{ d = Div(x, root2) e = Erf(d) s = Add(e, one) p = Mul(x, s) y = Mul(p, half) }";
  EXPECT_EQ(run(run_fuse_gelu, text, 19).report.changes, 0);
  auto [model, report] = run(run_fuse_gelu, text, 20);
  EXPECT_EQ(report.changes, 1);
  EXPECT_EQ(picture(model), "\ny = Gelu(x)\n");
  pictures::expect_sound(model);
}

TEST(FuseGelu, Tanh) {
  auto [model, report] =
      run(run_fuse_gelu,
          std::string("g (float[n,8]") + kGeluHead +
              "{ q = Mul(x, x) r = Mul(c, q) i = Add(one, r) u = Mul(x, k) t = Mul(u, i) e = Tanh(t) "
              "s = Add(one, e) p = Mul(x, s) y = Mul(p, half) }",
          20);
  EXPECT_EQ(picture(model), "\ny = Gelu<approximate=tanh>(x)\n");
}

TEST(FuseGelu, Declines) {
  // A constant adds an axis; a constant is not exact; nothing says what x is.
  for (const char* text : {"{ d = Div(z, root2) e = Erf(d) s = Add(e, one) p = Mul(z, s) y = Mul(p, half) }",
                           "{ d = Div(x, about) e = Erf(d) s = Add(e, one) p = Mul(x, s) y = Mul(p, half) }"}) {
    const auto outcome = run(run_fuse_gelu, std::string("g (float[8] z, float[n,8]") + kGeluHead + text, 20);
    EXPECT_EQ(outcome.report.changes, 0) << picture(outcome.model);
    EXPECT_EQ(outcome.report.notes.size(), 1u);
  }
}

constexpr char kSoftmaxText[] = "m = ReduceMax<axes = [AXIS]>(x) d = Sub(x, m) e = Exp(d) s = SUM y = Div(e, s)";
std::string softmax_text(const std::string& type, const std::string& axis, bool as_input) {
  std::string body = kSoftmaxText;
  body.replace(body.find("AXIS"), 4, axis);
  body.replace(body.find("SUM"), 3, as_input ? "ReduceSum(e, axes)" : "ReduceSum<axes = [" + axis + "]>(e)");
  return "g (" + type + " x) => (" + type + " y)" + (as_input ? "<int64[1] axes = {" + axis + "}>" : "") + " { " +
         body + " }";
}

TEST(FuseSoftmax, AlongAnyAxis) {
  auto [model, report] = run(run_fuse_softmax, softmax_text("float[a,b,c]", "1", true), 13);
  EXPECT_EQ(report.changes, 1);
  EXPECT_EQ(picture(model), "\ny = Softmax<axis=1>(x)\n");
  pictures::expect_sound(model);
  EXPECT_EQ(picture(run(run_fuse_softmax, softmax_text("float[a,b,c]", "-1", true), 17).model),
            "\ny = Softmax<axis=2>(x)\n");
}

TEST(FuseSoftmax, WithDimensionsDroppedAndPutBack) {
  const auto with = [](const std::string& back, const std::string& type = "float[a,b]") {
    return "g (" + type + " x) => (" + type +
           " y) <int64[1] axes = {1}, int64[2] shape = {0, 1}, float low = {-inf}> { m = "
           "ReduceMax<axes = [1], keepdims = 0>(x) g = Max(low, m) k = " +
           back +
           "(g, BACK) d = Sub(x, k) e = Exp(d) s = "
           "ReduceSum<keepdims = 0>(e, axes) t = " +
           back + "(s, BACK) y = Div(e, t) }";
  };
  const auto softmax = [&](std::string text, const std::string& name) {
    for (auto at = text.find("BACK"); at != std::string::npos; at = text.find("BACK")) text.replace(at, 4, name);
    return picture(run(run_fuse_softmax, text, 17).model);
  };
  EXPECT_EQ(softmax(with("Unsqueeze"), "axes"), "\ny = Softmax<axis=1>(x)\n");
  EXPECT_EQ(softmax(with("Reshape"), "shape"), "\ny = Softmax<axis=1>(x)\n");
  // Of three axes, the shape puts back another one.
  EXPECT_THAT(softmax(with("Reshape", "float[a,b,b]"), "shape"), testing::HasSubstr("ReduceMax"));
}

TEST(FuseSoftmax, AlongTheLastAxisBeforeOpset13) {
  EXPECT_EQ(picture(run(run_fuse_softmax, softmax_text("float[a,b]", "-1", false), 11).model),
            "\ny = Softmax<axis=1>(x)\n");
  const auto middle = run(run_fuse_softmax, softmax_text("float[a,b,c]", "1", false), 11);
  EXPECT_EQ(middle.report.changes, 0);
  EXPECT_THAT(middle.report.notes, testing::ElementsAre(testing::HasSubstr("opset 13")));
}

TEST(FuseSoftmax, Declines) {
  EXPECT_EQ(run(run_fuse_softmax, softmax_text("float16[a,b]", "-1", true), 17).report.changes, 0);
  EXPECT_EQ(run(run_fuse_softmax,
                "g (float[a,b] x) => (float[a,b] y, float[a,b] e) <int64[1] axes = {1}> { m = "
                "ReduceMax<axes = [1]>(x) d = Sub(x, m) e = Exp(d) s = ReduceSum(e, axes) y = Div(e, s) }",
                17)
                .report.changes,
            0);
}

}  // namespace
}  // namespace octet
