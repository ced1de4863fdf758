// Scopes, producers and readers over nested graphs; order; names.
#include "model/graph_view.h"

#include <gmock/gmock.h>

#include "graph_pictures.h"

namespace octet {
namespace {

using pictures::lines;
using pictures::message_of;
using pictures::model_of;
using pictures::picture;
using testing::HasSubstr;

constexpr const char* kNested = R"(
  g (float[n,4] x, bool c) => (float[n,4] y) <float[4,4] w> {
    a = MatMul(x, w)
    y = If(c) <
      then_branch = t () => (float[n,4] b) <float[4,4] w> { b = MatMul(a, w) },
      else_branch = e () => (float[n,4] b) { b = MatMul(a, w) }
    >
  })";

TEST(GraphView, FindsWhatANameMeansInEachScope) {
  Model model = model_of(kNested);
  const GraphView view(model.proto());
  ASSERT_EQ(view.scopes().size(), 3u);
  const Scope &main = *view.scopes()[0], &then = *view.scopes()[1], &other = *view.scopes()[2];
  EXPECT_EQ(&main, &view.main());
  EXPECT_EQ(then.parent, &main);
  EXPECT_EQ(then.depth, 1);
  EXPECT_EQ(then.owner->op_type(), "If");
  const Value *outer = view.find(main, "w"), *inner = view.find(then, "w");
  EXPECT_NE(outer, inner) << "the branch's own weight hides the other";
  EXPECT_EQ(view.find(other, "w"), outer);
  EXPECT_EQ(outer->uses.size(), 2u);
  EXPECT_EQ(outer->uses[1].scope, &other);
  EXPECT_EQ(inner->uses.size(), 1u);
  EXPECT_EQ(view.find(then, "a")->uses.size(), 2u);
  EXPECT_EQ(view.find(main, "b"), nullptr) << "what a branch makes stays in it";
  EXPECT_EQ(view.find(main, ""), nullptr);
  EXPECT_TRUE(outer->constant());
  EXPECT_FALSE(view.find(main, "x")->constant());
}

TEST(GraphView, ListsSubgraphsRightAfterTheirNode) {
  Model model = model_of(kNested);
  const GraphView view(model.proto());
  std::string order;
  for (const NodeAt& at : view.nodes()) order += at.node->op_type() + std::to_string(at.scope->depth) + " ";
  EXPECT_EQ(order, "MatMul0 If0 MatMul1 MatMul1 ");
}

TEST(GraphView, RefusesReadsOfWhatComesLater) {
  Model model = model_of("g (float[n] x) => (float[n] y) { y = Relu(a) a = Abs(x) }");
  EXPECT_THAT(message_of(ErrorCode::kMalformed, [&] { GraphView{model.proto()}; }),
              HasSubstr("Relu of 'y': reads 'a'"));
}

TEST(GraphView, RefusesANameMadeTwice) {
  Model model = model_of("g (float[n] x) => (float[n] y) { y = Relu(x) y = Abs(x) }");
  EXPECT_THAT(message_of(ErrorCode::kMalformed, [&] { GraphView{model.proto()}; }),
              HasSubstr("defines 'y' a second time"));
  Model weight = model_of("g (float[n] x) => (float[4] w) <float[4] w = {1, 2, 3, 4}> { w = Relu(x) }");
  EXPECT_THAT(message_of(ErrorCode::kMalformed, [&] { GraphView{weight.proto()}; }),
              HasSubstr("defines 'w' a second time"));
}

TEST(GraphView, RefusesTwoStoredTensorsOfOneName) {
  Model model = model_of("g (float[4] x) => (float[4] y) <float[4] w = {1, 2, 3, 4}> { y = Add(x, w) }");
  *model.proto().mutable_graph()->add_initializer() = model.proto().graph().initializer(0);
  EXPECT_THAT(message_of(ErrorCode::kMalformed, [&] { GraphView{model.proto()}; }), HasSubstr("'w'"));
}

TEST(GraphView, RefusesAnOutputThatNothingMakes) {
  Model model = model_of("g (float[n] x) => (float[n] z) { y = Relu(x) }");
  EXPECT_THAT(message_of(ErrorCode::kMalformed, [&] { GraphView{model.proto()}; }),
              HasSubstr("output 'z': nothing defines it"));
}

TEST(SortNodes, PutsProducersFirstAndKeepsTheRest) {
  Model model = model_of(R"(g (float[n] x, bool c) => (float[n] y) {
    y = Add(b, p)
    p = Neg(x)
    b = If(c) <then_branch = t () => (float[n] z) { z = Relu(a) }, else_branch = e () => (float[n] z) { z = Abs(q) q = Neg(a) }>
    a = Exp(x)
  })");
  sort_nodes(model.proto());
  EXPECT_EQ(picture(model), lines(R"(
    p = Neg(x)
    a = Exp(x)
    b = If(c)
      then_branch:
        z = Relu(a)
      else_branch:
        q = Neg(a)
        z = Abs(q)
    y = Add(b, p))"));
  EXPECT_NO_THROW(GraphView{model.proto()});
}

TEST(SortNodes, NamesANodeOfACycle) {
  Model model = model_of("g (float[n] x) => (float[n] y) { a = Add(x, b) b = Relu(a) y = Neg(b) }");
  EXPECT_THAT(message_of(ErrorCode::kMalformed, [&] { sort_nodes(model.proto()); }), HasSubstr("the graph is cyclic"));
  Model own = model_of("g (float[n] x) => (float[n] y) { y = Add(x, y) }");
  EXPECT_THAT(message_of(ErrorCode::kMalformed, [&] { sort_nodes(own.proto()); }), HasSubstr("cyclic"));
  // A branch that reads what its own If makes.
  Model branch = model_of(R"(g (float[n] x, bool c) => (float[n] y) {
    y = If(c) <then_branch = t () => (float[n] z) { z = Relu(y) }, else_branch = e () => (float[n] z) { z = Abs(x) }> })");
  EXPECT_THAT(message_of(ErrorCode::kMalformed, [&] { sort_nodes(branch.proto()); }), HasSubstr("cyclic"));
}

TEST(NameSet, KnowsEveryScopeAndNeverRepeats) {
  const Model model = model_of(kNested);
  NameSet names(model.proto());
  EXPECT_TRUE(names.contains("b"));
  EXPECT_EQ(names.fresh("b"), "b_1");
  EXPECT_EQ(names.fresh("b"), "b_2");
  EXPECT_EQ(names.fresh("new"), "new");
  EXPECT_EQ(names.fresh("new"), "new_1");
}

TEST(NodeIds, AreUniqueWhateverTheModelNamed) {
  Model model = model_of(R"(
    g (float[n] x, bool c) => (float[n] y) {
      [one] a = Relu(x)
      [twin] b = Relu(a)
      [twin] d = Abs(b)
      y = If(c) <
        then_branch = t () => (float[n] z) { z = Neg(d) },
        else_branch = e () => (float[n] z) { z = Neg(b) }
      >
    })");
  const GraphView view(model.proto());
  const NodeIds ids(view);
  std::string all;
  std::set<std::string> seen;
  for (const NodeAt& at : view.nodes()) {
    all += ids.of(*at.node) + " ";
    EXPECT_TRUE(seen.insert(ids.of(*at.node)).second) << ids.of(*at.node);
  }
  EXPECT_EQ(all, "one Relu(b) Abs(d) If(y) Neg(z) Neg(z)#2 ");
}

TEST(NodeIds, AGivenNameWinsOverAMadeUpOne) {
  Model model = model_of(R"-(g (float[n] x) => (float[n] y) { a = Relu(x) ["Relu(a)"] y = Relu(a) })-");
  const GraphView view(model.proto());
  const NodeIds ids(view);
  EXPECT_EQ(ids.of(*view.nodes()[1].node), "Relu(a)");
  EXPECT_EQ(ids.of(*view.nodes()[0].node), "Relu(a)#2");
}

}  // namespace
}  // namespace octet
