// Lists of nodes: names, globs, op:TYPE, and what no list may name.
#include <gmock/gmock.h>

#include "graph_pictures.h"
#include "quantize/marks.h"

namespace octet {
namespace {

using pictures::message_of;
using pictures::model_of;
using testing::HasSubstr;

constexpr const char* kModel = R"(g (float[n,32] x, bool c) => (float[n,32] y) <float[32,32] w> {
  ["block.0/fc"] a = MatMul(x, w)
  ["block.1/fc"] b = MatMul(a, w)
  d = Relu(b)
  ["branch"] y = If(c) <
    then_branch = t () => (float[n,32] z) { ["inner"] z = MatMul(d, w) },
    else_branch = e () => (float[n,32] z) { z = Neg(d) }
  >
})";

std::string marked(const std::vector<std::string>& exclude, const std::vector<std::string>& include = {}) {
  Model model = model_of(kModel);
  PlanOptions options;
  options.nodes_to_exclude = exclude;
  options.nodes_to_quantize = include;
  select_nodes(model, options);
  const GraphView view(model.proto());
  const NodeIds ids(view);
  std::string text;
  for (const NodeAt& at : view.nodes()) {
    if (has_mark(*at.node, kExcludeMark)) text += "-" + ids.of(*at.node) + " ";
    if (has_mark(*at.node, kIncludeMark)) text += "+" + ids.of(*at.node) + " ";
  }
  return text;
}

TEST(SelectNodes, ByName) { EXPECT_EQ(marked({"block.0/fc"}), "-block.0/fc "); }

TEST(SelectNodes, ByGlob) {
  EXPECT_EQ(marked({"block.*"}), "-block.0/fc -block.1/fc ");
  EXPECT_EQ(marked({"block.?/fc"}), "-block.0/fc -block.1/fc ");
  EXPECT_EQ(marked({"*1*"}), "-block.1/fc ");
  EXPECT_EQ(marked({"*"}), "-block.0/fc -block.1/fc -branch -inner -Neg(z) ")
      << "a node that holds graphs takes what is in them along";
}

TEST(SelectNodes, ByType) {
  EXPECT_EQ(marked({"op:MatMul"}), "-block.0/fc -block.1/fc -inner ");
  EXPECT_EQ(marked({"op:Re*"}), "-Relu(d) ");
}

TEST(SelectNodes, ByTheIdOfANodeWithoutName) { EXPECT_EQ(marked({"Relu(d)"}), "-Relu(d) "); }

TEST(SelectNodes, ANodeWithGraphsMeansWhatIsInThem) { EXPECT_EQ(marked({"branch"}), "-branch -inner -Neg(z) "); }

TEST(SelectNodes, BothListsAtOnce) {
  EXPECT_EQ(marked({"block.0/fc"}, {"op:MatMul"}), "-block.0/fc +block.0/fc +block.1/fc +inner ");
}

TEST(SelectNodes, RefusesWhatNamesNothing) {
  for (const char* name : {"nowhere", "no*", "op:Softmax", "op:", "", "block.0", "Relu(x)"}) {
    EXPECT_THAT(message_of(ErrorCode::kUsage, [&] { marked({name}); }),
                HasSubstr(std::string("--nodes-to-exclude '") + name + "'"));
  }
  EXPECT_THAT(message_of(ErrorCode::kUsage,
                         [&] {
                           marked({}, {"inner", "nowhere"});
                         }),
              HasSubstr("--nodes-to-quantize 'nowhere'"));
}

TEST(SelectNodes, LongGlobsEnd) {
  auto proto = pictures::proto_of("g (float[n] x) => (float[n] y) { y = Relu(x) }");
  proto.mutable_graph()->mutable_node(0)->set_name(std::string(20000, 'a'));
  Model model = fixtures::load(proto);
  PlanOptions options;
  std::string glob;
  for (int i = 0; i < 200; ++i) glob += "*a";
  options.nodes_to_exclude = {glob + "b"};
  message_of(ErrorCode::kUsage, [&] { select_nodes(model, options); });
}

TEST(SelectNodes, DoesNotBelieveMarksOfTheFile) {
  auto proto = pictures::proto_of("g (float[n,32] x) => (float[n,32] y) <float[32,32] w> { y = MatMul(x, w) }");
  for (const char* key : {kExcludeMark, "octet.other"}) {
    auto& entry = *proto.mutable_graph()->mutable_node(0)->add_metadata_props();
    entry.set_key(key);
    entry.set_value("1");
  }
  const Quantizer quantizer(fixtures::load(proto), {});
  EXPECT_EQ(quantizer.plan().nodes[0].action, Action::kDynamic);
}

TEST(SelectNodes, NamesOfTheFileHoldThoughNormalizingRenames) {
  // The MatMul is named before the Identity behind it goes.
  const std::string text = "g (float[n,32] x) => (float[n,32] y) <float[32,32] w> { a = MatMul(x, w) y = Identity(a) }";
  PlanOptions options;
  options.nodes_to_exclude = {"MatMul(a)"};
  const Plan plan = pictures::planned(text, options);
  EXPECT_EQ(plan.nodes[0].action, Action::kKeep);
  EXPECT_THAT(plan.nodes[0].why, HasSubstr("--nodes-to-exclude"));
}

TEST(SelectNodes, SharedWeightsOfALeftOutNodeStayInFloat) {
  PlanOptions options;
  options.nodes_to_exclude = {"block.0/fc"};
  const Plan plan = pictures::planned(kModel, options);
  EXPECT_TRUE(plan.tensors.empty());
  ASSERT_EQ(plan.kept.size(), 1u);
  EXPECT_THAT(plan.kept[0].why, HasSubstr("block.0/fc"));
}

}  // namespace
}  // namespace octet
