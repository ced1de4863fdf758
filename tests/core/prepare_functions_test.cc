// inline_functions, and the lists of names that must reach into what is inlined.
#include <gmock/gmock.h>

#include "graph_pictures.h"
#include "prepare/pass.h"

namespace octet {
namespace {

using pictures::lines;
using pictures::message_of;
using pictures::model_of;
using pictures::picture;
using pictures::planned;
using testing::HasSubstr;

constexpr const char* kTwoCalls = R"(<ir_version: 8, opset_import: ["" : 17, "mine" : 1]>
  g (float[n,32] x) => (float[n,32] y) <float[32,32] w, float[32,32] v> {
    [first] a = mine.Layer(x, w)
    [second] y = mine.Layer(a, v)
  }
  <domain: "mine", opset_import: ["" : 17]>
  Layer (a, w) => (b) { [product] m = MatMul(a, w) b = Relu(m) })";

void inline_all(Model& model) {
  PassReport report;
  run_inline_functions(model, report);
}

TEST(InlineFunctions, CallsBecomeTheirBodies) {
  Model model = model_of(kTwoCalls);
  inline_all(model);
  EXPECT_EQ(model.proto().functions_size(), 0);
  std::string operators;
  for (const auto& node : model.proto().graph().node()) operators += node.op_type() + " ";
  EXPECT_EQ(operators, "MatMul Relu MatMul Relu ");
  EXPECT_NO_THROW(GraphView{model.proto()});
}

TEST(InlineFunctions, ImportsTheDomainsThatBodiesNeed) {
  Model model = model_of(R"(<ir_version: 8, opset_import: ["" : 17, "mine" : 1]>
    g (float[n,16] x) => (float[n,16] y) { y = mine.Act(x) }
    <domain: "mine", opset_import: ["" : 17, "com.microsoft" : 1]>
    Act (a) => (b) { b = com.microsoft.FastGelu(a) })");
  inline_all(model);
  EXPECT_EQ(opset_of(model.proto(), "com.microsoft"), 1);
}

TEST(InlineFunctions, ImportsAFunctionsOwnDomainWhereTheModelForgotIt) {
  Model model = model_of(R"(<ir_version: 8, opset_import: ["" : 17]>
    g (float[n,16] x) => (float[n,16] y) { y = mine.Act(x) }
    <domain: "mine", opset_import: ["" : 17]>
    Act (a) => (b) { b = Relu(a) })");
  inline_all(model);
  EXPECT_EQ(picture(model), "\ny = Relu(x)\n");
}

TEST(InlineFunctions, FollowsCallsWithinCallsAndSubgraphs) {
  Model model = model_of(R"(<ir_version: 8, opset_import: ["" : 17, "mine" : 1]>
    g (float[n] x, bool c) => (float[n] y) {
      y = If(c) <then_branch = t () => (float[n] z) { z = mine.Outer(x) }, else_branch = e () => (float[n] z) { z = mine.Inner(x) }> }
    <domain: "mine", opset_import: ["" : 17, "mine" : 1]>
    Outer (a) => (b) { c = mine.Inner(a) b = Neg(c) }
    <domain: "mine", opset_import: ["" : 17]>
    Inner (a) => (b) { b = Relu(a) })");
  normalize(model);
  std::string operators;
  const GraphView view(model.proto());
  for (const NodeAt& at : view.nodes()) operators += at.node->op_type() + " ";
  EXPECT_EQ(operators, "If Relu Neg Relu ");
}

TEST(InlineFunctions, RefusesOneThatCallsItself) {
  Model direct = model_of(R"(<ir_version: 8, opset_import: ["" : 17, "mine" : 1]>
    g (float[n] x) => (float[n] y) { y = mine.F(x) }
    <domain: "mine", opset_import: ["" : 17, "mine" : 1]>
    F (a) => (b) { c = mine.G(a) b = Neg(c) }
    <domain: "mine", opset_import: ["" : 17, "mine" : 1]>
    G (a) => (b) { b = mine.F(a) })");
  EXPECT_THAT(message_of(ErrorCode::kMalformed, [&] { normalize(direct); }), HasSubstr("calls itself"));
  Model nested = model_of(R"(<ir_version: 8, opset_import: ["" : 17, "mine" : 1]>
    g (float[n] x, bool c) => (float[n] y) { y = mine.F(x, c) }
    <domain: "mine", opset_import: ["" : 17, "mine" : 1]>
    F (a, c) => (b) { b = If(c) <then_branch = t () => (float[n] z) { z = mine.F(a, c) }, else_branch = e () => (float[n] z) { z = Neg(a) }> })");
  EXPECT_THAT(message_of(ErrorCode::kMalformed, [&] { normalize(nested); }), HasSubstr("calls itself"));
}

std::string levels(int count, const std::string& body) {
  std::string text =
      "<ir_version: 8, opset_import: [\"\" : 17, \"mine\" : 1]> g (float[n] x) => (float[n] y) { y = mine.F0(x) }\n";
  for (int i = 0; i < count; ++i) {
    std::string here = body;
    for (auto at = here.find("NEXT"); at != std::string::npos; at = here.find("NEXT"))
      here.replace(at, 4, "mine.F" + std::to_string(i + 1));
    text += "<domain: \"mine\", opset_import: [\"\" : 17, \"mine\" : 1]> F" + std::to_string(i) + " (a) => (b) { " +
            here + " }\n";
  }
  return text + "<domain: \"mine\", opset_import: [\"\" : 17]> F" + std::to_string(count) +
         " (a) => (b) { b = Neg(a) }";
}

TEST(InlineFunctions, RefusesWhatMultipliesBeyondMeasure) {
  Model model = model_of(levels(40, "c = NEXT(a) d = NEXT(c) b = NEXT(d)"));
  EXPECT_THAT(message_of(ErrorCode::kUnsupported, [&] { normalize(model); }), HasSubstr("more nodes than"));
  Model selected = model_of(levels(40, "c = NEXT(a) d = NEXT(c) b = NEXT(d)"));
  PlanOptions options;
  options.nodes_to_exclude = {"op:F0"};
  EXPECT_THAT(message_of(ErrorCode::kUnsupported, [&] { select_nodes(selected, options); }),
              HasSubstr("more nodes than"));
  Model some = model_of(levels(5, "c = NEXT(a) d = NEXT(c) b = NEXT(d)"));
  normalize(some);
  EXPECT_EQ(some.proto().graph().node_size(), 243);
}

TEST(InlineFunctions, RefusesATowerOfCalls) {
  Model model = model_of(levels(3000, "b = NEXT(a)"));
  EXPECT_THAT(message_of(ErrorCode::kUnsupported, [&] { normalize(model); }), HasSubstr("deep"));
}

std::string what_became(const Plan& plan) {
  std::string text;
  for (const NodePlan& node : plan.nodes) {
    if (node.op == "MatMul") text += std::string(name_of(node.action)) + " ";
  }
  return text;
}

TEST(FunctionsAndNames, OneCallOfTwoIsLeftOut) {
  PlanOptions options;
  options.nodes_to_exclude = {"first"};
  EXPECT_EQ(what_became(planned(kTwoCalls, options)), "keep dynamic ");
  options.nodes_to_exclude = {"sec*"};
  EXPECT_EQ(what_became(planned(kTwoCalls, options)), "dynamic keep ");
}

TEST(FunctionsAndNames, OneCallOfTwoIsNamed) {
  PlanOptions options;
  options.nodes_to_quantize = {"second"};
  EXPECT_EQ(what_became(planned(kTwoCalls, options)), "keep dynamic ");
}

TEST(FunctionsAndNames, ANodeOfTheBodyMeansEveryCall) {
  PlanOptions options;
  options.nodes_to_exclude = {"product"};
  EXPECT_EQ(what_became(planned(kTwoCalls, options)), "keep keep ");
  options.nodes_to_exclude = {"op:Layer"};
  EXPECT_EQ(what_became(planned(kTwoCalls, options)), "keep keep ");
  options.nodes_to_exclude = {"op:MatMul"};
  EXPECT_EQ(what_became(planned(kTwoCalls, options)), "keep keep ");
}

TEST(FunctionsAndNames, BothListsMeetInOneModel) {
  PlanOptions options;
  options.nodes_to_quantize = {"op:Layer"};
  options.nodes_to_exclude = {"first"};
  EXPECT_EQ(what_became(planned(kTwoCalls, options)), "keep dynamic ");
}

TEST(FunctionsAndNames, SurviveTheChangeOfAFunctionsOpset) {
  // The body was written for another opset: it is converted while it is inlined.
  std::string text = kTwoCalls;
  text.replace(text.rfind("\"\" : 17"), 7, "\"\" : 13");
  PlanOptions options;
  options.nodes_to_exclude = {"first"};
  EXPECT_EQ(what_became(planned(text, options)), "keep dynamic ");
}

}  // namespace
}  // namespace octet
