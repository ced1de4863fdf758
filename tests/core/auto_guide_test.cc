// What guides the search for nodes that hurt: what calibration lets expect, and where a model parts easily.
#include <gmock/gmock.h>

#include <algorithm>
#include <cmath>

#include "search/cuts.h"
#include "search/drop_search.h"
#include "search/expected_noise.h"
#include "search/plan_edits.h"
#include "static_pictures.h"

namespace octet {
namespace {

using testing::ElementsAre;
using testing::UnorderedElementsAre;

// Three products in a row; in front of the second lies a value of which one element dwarfs the others.
const char* const kRow =
    "g (float[n,16] x) => (float[n,16] y) <float[16,16] u, float[16,16] v, float[16,16] w> { [first] p = MatMul(x, u) "
    "[a] "
    "q = Relu(p) [second] r = MatMul(q, v) [b] s = Relu(r) [third] y = MatMul(s, w) }";

std::vector<float> even(float largest) {
  std::vector<float> values;
  for (int i = -50; i <= 50; ++i) values.push_back(largest * static_cast<float>(i) / 50);
  return values;
}

std::vector<float> with_outlier(float outlier) {
  std::vector<float> values = even(1);
  values.push_back(outlier);
  return values;
}

struct Planned {
  Quantizer quantizer;
  Ranges ranges;
};

Planned planned(const std::string& text, const std::map<std::string, std::vector<float>>& values) {
  Planned result{Quantizer(pictures::model_of(text), pictures::static_options()), {}};
  result.ranges = pictures::seen(result.quantizer.model(), values);
  result.quantizer.set_ranges(result.ranges);
  return result;
}

TEST(ExpectedNoise, IsOfTheNodesAroundWhatRoundsBadly) {
  const Planned row = planned(kRow, {{"x", even(1)}, {"q", with_outlier(60)}, {"s", even(1)}, {"y", even(1)}});
  const ExpectedNoise expected(row.quantizer, row.quantizer.plan(), row.ranges);
  const auto nodes = expected.of_nodes();
  ASSERT_TRUE(nodes.contains("second") && nodes.contains("third"));
  EXPECT_GT(nodes.at("second"), 3 * nodes.at("third"));
  EXPECT_EQ(expected.doubtful_values(1), std::vector<std::string>{"q"});
  EXPECT_TRUE(expected.doubtful_values(0).empty());
}

TEST(ExpectedNoise, OfASumCountsByItsShare) {
  // Both branches round as badly; one is a hundredth of the sum.
  const char* const text =
      "g (float[1,4,8,8] x) => (float[1,4,8,8] y) <float[4,4,1,1] u, float[4,4,1,1] v, float[4,4,1,1] w> { [large] p = "
      "Conv(x, u) [small] q = Conv(x, v) [sum] s = Add(p, q) [last] y = Conv(s, w) }";
  const Planned model =
      planned(text, {{"x", even(1)}, {"p", even(1)}, {"q", even(0.1f)}, {"s", even(1)}, {"y", even(1)}});
  const auto nodes = ExpectedNoise(model.quantizer, model.quantizer.plan(), model.ranges).of_nodes();
  ASSERT_TRUE(nodes.contains("large") && nodes.contains("small"));
  EXPECT_GT(nodes.at("large"), nodes.at("small"));
}

TEST(ExpectedNoise, NothingIsKnownOfWhatWasNotSeen) {
  const Quantizer quantizer(pictures::model_of(kRow), pictures::static_options());
  Plan plan = quantizer.plan();
  plan.cache.reset();
  EXPECT_TRUE(ExpectedNoise(quantizer, plan, {}).of_nodes().empty());
}

TEST(CutCosts, CountsWhatCrosses) {
  // Past the second convolution of a residual block two values are on their way.
  const Quantizer quantizer(
      pictures::model_of("g (float[1,4,8,8] x) => (float[1,4,8,8] y) <float[4,4,1,1] t, float[4,4,1,1] u, "
                         "float[4,4,1,1] v, float[4,4,1,1] w> { [before] p = Conv(x, t) [one] q = Conv(p, u) [two] r = "
                         "Conv(q, v) [sum] s = Add(p, r) [behind] y = Conv(s, w) }"),
      pictures::static_options());
  const std::vector<std::string> nodes{"before", "one", "two", "behind"};
  EXPECT_THAT(cut_costs(quantizer.plan(), nodes, {}), ElementsAre(0, 1, 2, 1));
  EXPECT_THAT(cut_costs(quantizer.plan(), nodes, {{"a block", {"one", "two"}, "r"}}), ElementsAre(0, 1, 6, 1));
}

constexpr int kNodes = 40;

Plan row_of_nodes() {
  Plan plan;
  for (int i = 0; i < kNodes; ++i) {
    NodePlan node;
    node.node = "n" + std::to_string(i);
    node.op = "Gemm";
    node.action = Action::kDynamic;
    node.weights = {"w" + std::to_string(i)};
    plan.nodes.push_back(node);
    TensorPlan tensor;
    tensor.tensor = node.weights[0];
    plan.tensors.push_back(tensor);
  }
  return plan;
}

struct Looked {
  std::vector<std::string> moved;
  int glances = 0;
};

Looked look(const std::set<std::string>& bad, const std::map<std::string, double>& expected) {
  Looked looked;
  const auto measure = [&](const std::string&, const std::function<Plan()>& make, Effort effort) {
    looked.glances += effort == Effort::kGlance;
    double noise = 0;
    for (const NodePlan& node : make().nodes) {
      if (node.action == Action::kDynamic) noise += bad.contains(node.node) ? 0.05 : 1e-6;
    }
    Measurement measured;
    measured.runs = true;
    measured.sqnr_db = noise > 0 ? -10 * std::log10(noise) : kSqnrEqual;
    return measured;
  };
  DropSearch search(row_of_nodes(), 25, DropSearch::Level::kFloat, {expected, {}},
                    {measure, [](const Measurement& measured) { return measured.sqnr_db >= 25; }, [] { return false; },
                     [](const std::string&, std::size_t, std::size_t) {}});
  search.run();
  EXPECT_TRUE(search.reached());
  looked.moved = search.moved();
  return looked;
}

TEST(DropSearch, FindsInFewLooksWhatWasToBeExpected) {
  const std::set<std::string> bad{"n7", "n29"};
  const Looked blind = look(bad, {});
  EXPECT_THAT(blind.moved, UnorderedElementsAre("n7", "n29"));
  const Looked guided = look(bad, {{"n7", 0.05}, {"n29", 0.04}, {"n3", 1e-4}});
  EXPECT_THAT(guided.moved, UnorderedElementsAre("n7", "n29"));
  EXPECT_LT(guided.glances, blind.glances * 3 / 4);
}

TEST(DropSearch, AWrongGuideMisleadsNobody) {
  const std::set<std::string> bad{"n7", "n29"};
  EXPECT_THAT(look(bad, {{"n0", 1}, {"n20", 1}, {"n39", 1}}).moved, UnorderedElementsAre("n7", "n29"));
}

TEST(PlanEdits, OneScalePerWeightWhereThereWereMany) {
  const Quantizer quantizer(pictures::model_of(kRow), pictures::static_options());
  Plan plan = quantizer.plan();
  EXPECT_EQ(share_scales(plan), 3u);
  for (const TensorPlan& tensor : plan.tensors) EXPECT_FALSE(tensor.axis) << tensor.tensor;
  EXPECT_EQ(share_scales(plan), 0u);
  Model result = quantizer.apply(pictures::with_ranges(plan, -2, 2));
  pictures::expect_sound(result);
}

// The scales of a table's rows are gathered by a node of their own.
TEST(PlanEdits, OneScaleForAGatheredTable) {
  PlanOptions options;
  options.mode = Mode::kDynamic;
  const Quantizer quantizer(pictures::model_of(R"(g (int64[n] i) => (float[n,8] y) <float[1000,64] t, float[64,8] w> {
    x = Gather(t, i) y = MatMul(x, w) })"),
                            options);
  const auto gathers = [&](const Plan& plan) {
    const Model result = quantizer.apply(plan);
    const auto& nodes = result.proto().graph().node();
    return std::count_if(nodes.begin(), nodes.end(), [](const auto& node) { return node.op_type() == "Gather"; });
  };
  Plan plan = quantizer.plan();
  EXPECT_EQ(gathers(plan), 2);
  EXPECT_EQ(share_scales(plan), 2u);
  EXPECT_EQ(gathers(plan), 1);
}

}  // namespace
}  // namespace octet
