// Searches against engines that need no runtime: what they find, and that breaking off and going on changes nothing.
#include <gmock/gmock.h>

#include <map>

#include "fake_engine.h"
#include "model_fixtures.h"
#include "octet/error.h"
#include "octet/replay_engine.h"
#include "octet/search.h"
#include "static_pictures.h"

namespace octet {
namespace {

using fakes::StraightEngine;
using fakes::Worth;
using pictures::message_of;
using pictures::model_of;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::UnorderedElementsAre;

// Five products in a row, neighbours through nothing but a Relu.
const char* const kChain =
    "g (float[n,32] x) => (float[n,32] y) <float[32,32] w0, float[32] b0, float[32,32] w1, float[32] b1, "
    "float[32,32] w2, float[32] b2, float[32,32] w3, float[32] b3, float[32,32] w4, float[32] b4> { "
    "[m0] p0 = Gemm(x, w0, b0) r0 = Relu(p0) [m1] p1 = Gemm(r0, w1, b1) r1 = Relu(p1) [m2] p2 = Gemm(r1, w2, b2) "
    "r2 = Relu(p2) [m3] p3 = Gemm(r2, w3, b3) r3 = Relu(p3) [m4] y = Gemm(r3, w4, b4) }";

bool has_float(const Model& model, const std::string& name) {
  for (const auto& tensor : model.proto().graph().initializer()) {
    if (tensor.name() == name && tensor.data_type() == kFloat) return true;
  }
  return false;
}

// 60 dB, less what each weight in few bits costs.
Worth costs(std::map<std::string, double> cost) {
  return [cost](const Model& model) {
    double db = 60;
    for (const auto& [weight, price] : cost) db -= has_float(model, weight) ? 0 : price;
    return std::optional<double>(db);
  };
}

// Any worth at all, the same for the same model.
Worth chance(std::uint32_t seed) {
  return [seed](const Model& model) -> std::optional<double> {
    std::uint32_t state = seed;
    for (const char letter : fingerprint_of(model)) state = (state ^ static_cast<std::uint8_t>(letter)) * 16777619u;
    if (state % 11 == 0) return std::nullopt;
    if (state % 13 == 0) return -kSqnrEqual;
    return (state >> 8) % 600 / 10.0;
  };
}

PlanOptions all_steps() {
  PlanOptions options = pictures::static_options();
  options.equalize = options.bias_correction = true;
  options.smooth_quant = 0.5;
  return options;
}

Quantizer quantizer(const PlanOptions& options) { return {model_of(kChain), options}; }

PlanOptions dynamic() { return pictures::dynamic_options(); }

std::vector<std::string> in_float(const Plan& plan) {
  std::vector<std::string> names;
  for (const NodePlan& node : plan.nodes) {
    if (node.action == Action::kKeep && !node.weights.empty()) names.push_back(node.node);
  }
  return names;
}

struct Outcome {
  std::string plan;
  std::vector<std::string> changed;
  std::optional<double> sqnr_db;
  std::optional<bool> reached;
  int questions = 0;

  bool operator==(const Outcome&) const = default;
};

Outcome outcome_of(Search& search, int questions) {
  return {plan_to_json(search.quantizer().plan()), search.changed(), search.sqnr_db(), search.reached(), questions};
}

Outcome straight(const PlanOptions& options, std::optional<double> floor, const Worth& worth) {
  StraightEngine engine(worth);
  Search search(quantizer(options), options, floor, engine);
  search.run();
  return outcome_of(search, engine.questions);
}

// Answers one question after the other; `runs` counts how often the search was begun or gone on with.
Outcome broken_off(const PlanOptions& options, std::optional<double> floor, const Worth& worth) {
  ReplayEngine engine([] { return 0.0; });
  Search search(quantizer(options), options, floor, engine);
  int questions = 0;
  while (const SearchQuestion* question = engine.run([&] { search.run(); })) {
    ++questions;
    switch (question->kind) {
      case SearchQuestion::Kind::kCalibrate:
        engine.answer(LearnedRanges{fakes::ranges_of(question->model, question->taps), {"a note"}, {}});
        break;
      case SearchQuestion::Kind::kObserve:
        engine.answer(fakes::channels_of(question->channels));
        break;
      case SearchQuestion::Kind::kCheck:
        engine.answer(worth(question->model));
        break;
      case SearchQuestion::Kind::kMeasure:
        ADD_FAILURE() << "no question of this search";
        return {};
    }
  }
  return outcome_of(search, questions);
}

TEST(FloorSearch, FindsTheNodesThatHurt) {
  const PlanOptions options = dynamic();
  for (const bool replay : {false, true}) {
    const Outcome found = (replay ? broken_off : straight)(options, 50, costs({{"w1", 20}, {"w3", 9}, {"w4", 1}}));
    EXPECT_THAT(found.changed, UnorderedElementsAre("m1"));
    EXPECT_EQ(found.sqnr_db, 50);
    EXPECT_EQ(found.reached, true);
    EXPECT_THAT(in_float(plan_from_json(found.plan)), UnorderedElementsAre("m1"));
    const Outcome stricter = (replay ? broken_off : straight)(options, 59, costs({{"w1", 20}, {"w3", 9}, {"w4", 1}}));
    EXPECT_THAT(stricter.changed, UnorderedElementsAre("m1", "m3"));
    EXPECT_EQ(stricter.changed.front(), "m1") << "the worst first";
  }
}

TEST(FloorSearch, LeavesAPlanThatHoldsAlone) {
  StraightEngine engine(costs({{"w1", 5}}));
  Search search(quantizer(dynamic()), dynamic(), 50, engine);
  search.run();
  EXPECT_EQ(engine.questions, 1);
  EXPECT_THAT(search.changed(), IsEmpty());
  EXPECT_EQ(search.sqnr_db(), 55);
}

TEST(FloorSearch, SaysWhatIsOutOfReach) {
  const Outcome found = straight(dynamic(), 70, costs({{"w1", 5}}));
  EXPECT_EQ(found.reached, false);
  const Outcome unknown = straight(dynamic(), 70, [](const Model&) { return std::optional<double>(); });
  EXPECT_EQ(unknown.reached, std::nullopt);
  EXPECT_THAT(unknown.changed, IsEmpty());
}

TEST(Search, WhatDoesNotRunGoesBackFromIntegers) {
  // No runtime takes integers; what is stored in few bits is no worse for it.
  const Worth worth = [](const Model& model) -> std::optional<double> {
    for (const auto& node : model.proto().graph().node()) {
      if (node.op_type().find("Integer") != std::string::npos) return -kSqnrEqual;
    }
    return 60;
  };
  for (const bool replay : {false, true}) {
    const Outcome found = (replay ? broken_off : straight)(dynamic(), 50, worth);
    EXPECT_THAT(found.changed, ElementsAre("m0", "m1", "m2", "m3", "m4"));
    EXPECT_EQ(found.reached, true);
    EXPECT_EQ(found.questions, 2);
    for (const NodePlan& node : plan_from_json(found.plan).nodes)
      EXPECT_EQ(node.action, node.op == "Gemm" ? Action::kWeights : Action::kKeep) << node.node;
  }
}

TEST(FloorSearch, WhatWasNotMeasuredInTimeCountsAsTheWorst) {
  // Two of five are looked at: the other three go to float first, then what is known to hurt.
  StraightEngine engine(costs({{"w0", 20}, {"w1", 1}}), 1);
  const Quantizer of = quantizer(dynamic());
  FloorSearch search(of, of.plan(), 50, 1, engine);
  search.run();
  EXPECT_TRUE(search.reached());
  EXPECT_THAT(search.changed(), ElementsAre("m2", "m3", "m4", "m0", "m1"));
}

TEST(FloorSearch, TheClockIsReplayedAsItWas) {
  double now = 0;
  ReplayEngine engine([&] { return now; });
  const Quantizer of = quantizer(dynamic());
  const Worth worth = costs({{"w0", 20}, {"w1", 1}});
  FloorSearch search(of, of.plan(), 50, 10, engine);
  int questions = 0;
  while (const SearchQuestion* question = engine.run([&] { search.run(); })) {
    now += ++questions == 2 ? 100 : 1;  // while the second node is looked at
    engine.answer(worth(question->model));
  }
  EXPECT_TRUE(search.reached());
  EXPECT_THAT(search.changed(), ElementsAre("m2", "m3", "m4", "m0", "m1"));
}

// A worth that goes by what a step leaves behind in the plan.
class PlanEngine final : public StraightEngine {
 public:
  explicit PlanEngine(std::function<double(const Plan&)> worth)
      : StraightEngine(worth ? Worth([](const Model&) { return std::nullopt; }) : Worth()),
        of_plan_(std::move(worth)) {}
  std::optional<double> check(const Quantizer&, const Plan& plan) override { return of_plan_(plan); }

 private:
  std::function<double(const Plan&)> of_plan_;
};

Plan after_steps(std::function<double(const Plan&)> worth) {
  PlanEngine engine(std::move(worth));
  AccuracySteps steps(quantizer(all_steps()), all_steps(), engine);
  steps.run();
  EXPECT_EQ(steps.samples(), 2u);
  return steps.quantizer().plan();
}

TEST(AccuracySteps, AreKeptOneByOne) {
  const Plan all = after_steps([](const Plan& plan) {
    return 10.0 + plan.equalized + (plan.smoothed.empty() ? 0 : 1) + (plan.corrections.empty() ? 0 : 1);
  });
  EXPECT_TRUE(all.equalized);
  EXPECT_FALSE(all.smoothed.empty());
  EXPECT_FALSE(all.corrections.empty());
  EXPECT_THAT(all.notes, ElementsAre("a note", HasSubstr("equalize: 10.0 dB → 11.0 dB, kept (4 pairs of products)"),
                                     HasSubstr("smooth-quant 0.5: 11.0 dB → 12.0 dB, kept"),
                                     HasSubstr("bias-correction: 12.0 dB → 13.0 dB, kept (5 products)")));
  const Plan some = after_steps([](const Plan& plan) {
    return 10.0 - plan.equalized + (plan.smoothed.empty() ? 0 : 1) - (plan.corrections.empty() ? 0 : 1);
  });
  EXPECT_FALSE(some.equalized);
  EXPECT_FALSE(some.smoothed.empty());
  EXPECT_TRUE(some.corrections.empty());
  const Plan none = after_steps([](const Plan&) { return 10.0; });
  EXPECT_FALSE(none.equalized) << "no better is no reason";
  EXPECT_TRUE(none.smoothed.empty());
  for (const ActivationPlan& activation : none.activations)
    EXPECT_TRUE(activation.range || !activation.same_as.empty()) << activation.tensor;
}

TEST(AccuracySteps, AreTakenAsAskedWhereNothingIsMeasured) {
  const Plan plan = after_steps({});
  EXPECT_TRUE(plan.equalized);
  EXPECT_FALSE(plan.smoothed.empty());
  EXPECT_FALSE(plan.corrections.empty());
  EXPECT_THAT(plan.notes, ElementsAre("a note", HasSubstr("not measured"), HasSubstr("not measured"),
                                      HasSubstr("5 products; not measured")));
}

TEST(Replay, GivesWhatAStraightSearchGives) {
  int kept = 0, floors = 0;
  for (std::uint32_t seed = 1; seed <= 30; ++seed) {
    SCOPED_TRACE(seed);
    const Outcome wanted = straight(all_steps(), 45, chance(seed)), found = broken_off(all_steps(), 45, chance(seed));
    EXPECT_EQ(found.plan, wanted.plan);
    EXPECT_TRUE(found == wanted) << found.questions << " questions instead of " << wanted.questions;
    kept += wanted.plan.find("kept (") != std::string::npos;
    floors += !wanted.changed.empty();
  }
  EXPECT_GT(kept, 5) << "the chances are poor";
  EXPECT_GT(floors, 5) << "the chances are poor";
}

TEST(Replay, AQuestionStandsUntilItIsAnswered) {
  ReplayEngine engine([] { return 0.0; });
  EXPECT_THAT(message_of(ErrorCode::kUsage, [&] { engine.answer(std::optional<double>(1)); }),
              HasSubstr("nothing was asked"));
  Search search(quantizer(all_steps()), all_steps(), std::nullopt, engine);
  const auto go_on = [&] { return engine.run([&] { search.run(); }); };
  const SearchQuestion* first = go_on();
  ASSERT_TRUE(first);
  EXPECT_EQ(first->kind, SearchQuestion::Kind::kCalibrate);
  EXPECT_EQ(first->stage, "equalizing");
  EXPECT_EQ(go_on(), first);
  EXPECT_THAT(message_of(ErrorCode::kUsage, [&] { engine.answer(std::optional<double>(1)); }),
              HasSubstr("another question stands"));
  engine.answer(LearnedRanges{fakes::ranges_of(first->model, first->taps), {}, {}});
  ASSERT_TRUE(go_on());
  EXPECT_EQ(go_on()->kind, SearchQuestion::Kind::kCheck);
}

TEST(Replay, RangesOfAnotherModelEndTheSearch) {
  ReplayEngine engine([] { return 0.0; });
  const PlanOptions options = pictures::static_options();
  Search search(quantizer(options), options, std::nullopt, engine);
  const auto go_on = [&] { return engine.run([&] { search.run(); }); };
  const SearchQuestion* question = go_on();
  ASSERT_TRUE(question);
  Ranges ranges = fakes::ranges_of(question->model, question->taps);
  ranges.model = "another";
  engine.answer(LearnedRanges{ranges, {}, "their.json"});
  EXPECT_THAT(message_of(ErrorCode::kUsage, [&] { go_on(); }), HasSubstr("their.json: they were learned from another"));
}

TEST(Replay, GivenRangesAreNotAskedFor) {
  const PlanOptions options = pictures::static_options();
  const Quantizer of = quantizer(options);
  ReplayEngine engine([] { return 0.0; }, LearnedRanges{fakes::ranges_of(of.model(), of.taps()), {}, {}});
  Search search(quantizer(options), options, std::nullopt, engine);
  EXPECT_FALSE(engine.run([&] { search.run(); }));
  EXPECT_TRUE(search.quantizer().taps().empty());
}

TEST(Replay, FinishedStagesAreNotRunAgain) {
  // A stage without a question is worked through once, however many questions come behind it.
  ReplayEngine engine([] { return 0.0; });
  int worked = 0, done = 0;
  const Quantizer of = quantizer(dynamic());
  const auto search = [&] {
    for (; done < 10; ++done, engine.settle()) {
      ++worked;
      engine.check(of, of.plan());
    }
  };
  while (engine.run(search)) engine.answer(std::optional<double>(1));
  EXPECT_EQ(worked, 20) << "each once to ask and once to take the answer";
}

}  // namespace
}  // namespace octet
