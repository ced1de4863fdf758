// The automatic search against an engine that knows what every node costs: what it finds, that it ends as it should,
// and that stopping, going on and breaking off change nothing.
#include <gmock/gmock.h>

#include <cmath>
#include <map>
#include <set>

#include "fake_engine.h"
#include "octet/auto_search.h"
#include "octet/error.h"
#include "octet/replay_engine.h"
#include "static_pictures.h"

namespace octet {
namespace {

using pictures::message_of;
using pictures::model_of;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::UnorderedElementsAreArray;

constexpr std::size_t kNodes = 16;

// Products in a row, neighbours through nothing but a Relu.
std::string chain() {
  std::string weights, nodes;
  for (std::size_t i = 0; i < kNodes; ++i) {
    const std::string n = std::to_string(i), in = i == 0 ? "x" : "r" + std::to_string(i - 1);
    const std::string out = i + 1 == kNodes ? "y" : "p" + n;
    weights += (i ? ", " : "") + std::string("float[32,32] w") + n + ", float[32] b" + n;
    nodes += " [m" + n + "] " + out + " = Gemm(" + in + ", w" + n + ", b" + n + ")";
    if (i + 1 < kNodes) nodes += " r" + n + " = Relu(p" + n + ")";
  }
  return "g (float[n,32] x) => (float[n,32] y) <" + weights + "> {" + nodes + " }";
}

// What a plan is worth: noise of nodes in integers adds up, and each of them makes the model faster.
struct World {
  std::map<std::string, double> alone_db;                    // of nodes in integers that are worse than the others
  double others_db = 50, weights_db = 60;                    // of each node in integers, and stored in few bits
  double gain = 0.1, dynamic_gain = 0.05, weights_gain = 0;  // in speed, of each node
  double noise_in_time = 0.01;

  Measurement of(const Plan& plan, Effort effort) const {
    double noise = 0, speed = 1;
    Measurement measured;
    for (const NodePlan& node : plan.nodes) {
      if (node.weights.empty()) continue;
      measured.bytes += node.action == Action::kKeep ? 4000 : 1000;
      const bool integers = node.action == Action::kStatic || node.action == Action::kDynamic;
      const auto known = alone_db.find(node.node);
      if (integers) noise += std::pow(10, -(known == alone_db.end() ? others_db : known->second) / 10);
      if (node.action == Action::kWeights) noise += std::pow(10, -weights_db / 10);
      speed += node.action == Action::kStatic    ? gain
               : node.action == Action::kDynamic ? dynamic_gain
               : node.action == Action::kWeights ? weights_gain
                                                 : 0;
    }
    measured.runs = true;
    measured.samples = 4;
    measured.sqnr_db = noise > 0 ? -10 * std::log10(noise) : kSqnrEqual;
    measured.lowest_db = measured.highest_db = measured.sqnr_db;
    measured.seconds = 1;
    if (effort >= Effort::kSpeed) measured.speedup = Speedup{speed, speed - noise_in_time, speed + noise_in_time};
    return measured;
  }
};

class WorldEngine final : public AutoEngine {
 public:
  explicit WorldEngine(World world, int most = 1 << 20) : world_(std::move(world)), left_(most) {}

  std::optional<LearnedRanges> calibrate(const Quantizer& quantizer) override {
    if (quantizer.taps().empty()) return std::nullopt;
    return LearnedRanges{fakes::ranges_of(quantizer.model(), quantizer.taps()), {}, {}};
  }
  ChannelObservations observe(const Model&, const std::vector<ChannelTap>& taps) override {
    return fakes::channels_of(taps);
  }
  std::optional<double> check(const Quantizer&, const Plan&) override { return std::nullopt; }
  std::optional<Measurement> measure(const Quantizer&, const Plan& plan, Effort effort) override {
    if (left_-- == 0) return std::nullopt;
    ++answers;
    return world_.of(plan, effort);
  }
  void start_clock(double) override {}
  bool out_of_time() override { return false; }
  void tell(const std::string&, std::size_t, std::size_t) override {}

  int answers = 0;

 private:
  World world_;
  int left_;
};

struct Outcome {
  std::string plan, what, unmet;
  std::vector<std::string> moved, account;
  std::vector<std::size_t> front;
  bool ended = false;

  bool operator==(const Outcome&) const = default;
};

Outcome outcome_of(const AutoSearch& search) {
  Outcome outcome;
  if (const AutoCandidate* chosen = search.chosen()) {
    outcome.plan = plan_to_json(chosen->plan);
    outcome.what = chosen->what;
    outcome.moved = chosen->moved;
  }
  outcome.unmet = search.unmet();
  outcome.account = search.account();
  outcome.front = search.front();
  outcome.ended = search.ended_early().has_value();
  return outcome;
}

Quantizer quantizer() { return {model_of(chain()), pictures::static_options()}; }

Outcome searched(const World& world, const AutoBudget& budget = {}) {
  WorldEngine engine(world);
  MeasurementLog log;
  AutoSearch search(quantizer(), pictures::static_options(), budget, engine, log);
  search.run();
  return outcome_of(search);
}

// Answers one question after the other.
Outcome broken_off(const World& world, const AutoBudget& budget) {
  ReplayEngine engine([] { return 0.0; });
  MeasurementLog log;
  AutoSearch search(quantizer(), pictures::static_options(), budget, engine, log);
  while (const SearchQuestion* question = engine.run([&] { search.run(); })) {
    switch (question->kind) {
      case SearchQuestion::Kind::kCalibrate:
        engine.answer(LearnedRanges{fakes::ranges_of(question->model, question->taps), {}, {}});
        break;
      case SearchQuestion::Kind::kObserve:
        engine.answer(fakes::channels_of(question->channels));
        break;
      case SearchQuestion::Kind::kMeasure:
        engine.answer(std::optional(world.of(question->plan, question->effort)));
        break;
      case SearchQuestion::Kind::kCheck:
        ADD_FAILURE() << "not asked for by this search";
        engine.answer(std::optional<double>());
        break;
    }
  }
  return outcome_of(search);
}

TEST(AutoSearch, TakesEverythingWhereThatKeepsTheBudget) {
  const Outcome found = searched({});
  EXPECT_EQ(found.what, "static");
  EXPECT_THAT(found.moved, IsEmpty());
  EXPECT_THAT(found.account.front(), HasSubstr("the fastest that keeps 25.0 dB"));
  EXPECT_FALSE(found.ended);
}

TEST(AutoSearch, FindsExactlyTheLayersThatAreBad) {
  const std::vector<std::set<int>> cases = {{0}, {15}, {7}, {3, 4}, {0, 15}, {2, 9, 13}, {1, 5, 6, 10, 14}};
  for (const auto& bad : cases) {
    World world;
    std::vector<std::string> names;
    for (const int node : bad) {
      names.push_back("m" + std::to_string(node));
      world.alone_db[names.back()] = 12 + node % 3;
    }
    const Outcome found = searched(world);
    EXPECT_THAT(found.moved, UnorderedElementsAreArray(names)) << testing::PrintToString(bad);
    const Plan plan = plan_from_json(found.plan);
    for (const NodePlan& node : plan.nodes) {
      if (node.op != "Gemm") continue;
      const bool is_bad = std::find(names.begin(), names.end(), node.node) != names.end();
      EXPECT_EQ(node.action == Action::kStatic, !is_bad) << node.node;
    }
  }
}

TEST(AutoSearch, WhatDoesNotHurtEnoughStaysIn) {
  // Either of two is too much with the other, so that one of them has to go: the worse.
  World world;
  world.alone_db = {{"m4", 26}, {"m11", 27}};
  const Outcome found = searched(world);
  EXPECT_THAT(found.moved, ElementsAre("m4"));
}

TEST(AutoSearch, MatricesMayFindTheirRangesWhileTheyRun) {
  // Static integers are what hurts; this world knows no node that is better off in float than dynamic.
  World world;
  world.alone_db = {{"m4", 20}};
  const Outcome found = searched(world);
  EXPECT_THAT(found.moved, ElementsAre("m4"));
}

TEST(AutoSearch, ABudgetOutOfReachEndsInWeightsOrFloatAndSaysWhy) {
  World world;
  world.others_db = 20;
  world.weights_db = 80;
  AutoBudget budget;
  budget.min_sqnr_db = 60;
  const Outcome weights = searched(world, budget);
  EXPECT_THAT(weights.what, HasSubstr("weights only"));
  EXPECT_THAT(weights.account.front(), HasSubstr("nothing that keeps 60.0 dB is faster than float"));
  world.weights_db = 20;
  const Outcome plain = searched(world, budget);
  EXPECT_EQ(plain.what, "float, prepared");
  EXPECT_THAT(plain.account.front(), HasSubstr("nothing in fewer bits keeps 60.0 dB"));
  EXPECT_THAT(plain.unmet, IsEmpty()) << "float is an answer";
}

TEST(AutoSearch, WhereIntegersAreSlowerTheSmallestThatIsNotIsTaken) {
  World world;
  world.gain = world.dynamic_gain = -0.02;
  EXPECT_THAT(searched(world).what, HasSubstr("weights only"));
  world.weights_gain = -0.02;
  const Outcome plain = searched(world);
  EXPECT_EQ(plain.what, "float, prepared");
  EXPECT_THAT(plain.account.front(), HasSubstr("in fewer bits is slower here"));
}

TEST(AutoSearch, SizeAndSpeedAreConditions) {
  AutoBudget budget;
  budget.max_bytes = 10;
  EXPECT_THAT(searched({}, budget).unmet, HasSubstr("the smallest within 25.0 dB is"));
  budget = {};
  budget.min_speedup = 50;
  const Outcome slow = searched({}, budget);
  EXPECT_THAT(slow.unmet, HasSubstr("the fastest within 25.0 dB is static with 2.60×"));
  EXPECT_THAT(slow.what, IsEmpty());
  EXPECT_THAT(slow.account.front(), HasSubstr("nothing chosen"));
  // A size that only weights keep to is a reason for them.
  World world;
  world.alone_db = {{"m3", 10}, {"m8", 10}};
  budget = {};
  budget.max_bytes = 16 * 1000;
  EXPECT_EQ(searched(world, budget).unmet, "");
}

TEST(AutoSearch, TheFrontHasNothingThatIsOutdone) {
  WorldEngine engine({{{"m4", 20}}});
  MeasurementLog log;
  AutoSearch search(quantizer(), pictures::static_options(), {}, engine, log);
  search.run();
  const auto front = search.front();
  ASSERT_FALSE(front.empty());
  for (const std::size_t i : front) {
    const Measurement& one = search.candidates()[i].measured;
    for (const AutoCandidate& other : search.candidates()) {
      EXPECT_FALSE(other.measured.bytes < one.bytes && other.measured.sqnr_db > one.sqnr_db &&
                   other.measured.speedup->ratio > one.speedup->ratio)
          << other.what << " outdoes " << search.candidates()[i].what;
    }
  }
}

TEST(AutoSearch, SaysWhatNodesCost) {
  WorldEngine engine({{{"m4", 20}}});
  MeasurementLog log;
  AutoSearch search(quantizer(), pictures::static_options(), {}, engine, log);
  search.run();
  const auto costs = search.sensitivities();
  ASSERT_FALSE(costs.empty());
  EXPECT_THAT(costs.front().nodes, ElementsAre("m4"));
  EXPECT_NEAR(costs.front().alone_db, 20, 0.01);
  ASSERT_TRUE(costs.front().without_db);
  EXPECT_NEAR(*costs.front().without_db, 38.2, 0.1);
}

World hard() {
  World world;
  world.alone_db = {{"m2", 14}, {"m9", 15}, {"m13", 24}};
  return world;
}

TEST(AutoSearch, GivesTheSameTwice) {
  EXPECT_EQ(searched(hard()).plan, searched(hard()).plan);
  EXPECT_TRUE(searched(hard()) == searched(hard()));
}

TEST(AutoSearch, StoppedAndResumedItEndsAsIfItHadNotBeen) {
  WorldEngine whole(hard());
  MeasurementLog whole_log;
  AutoSearch uninterrupted(quantizer(), pictures::static_options(), {}, whole, whole_log);
  uninterrupted.run();
  const Outcome wanted = outcome_of(uninterrupted);
  for (int stop = 0; stop < whole.answers; ++stop) {
    SCOPED_TRACE(stop);
    MeasurementLog log;
    WorldEngine first(hard(), stop);
    AutoSearch stopped(quantizer(), pictures::static_options(), {}, first, log);
    stopped.run();
    EXPECT_TRUE(stopped.ended_early());
    MeasurementLog read;
    read.read_json(log.to_json());
    WorldEngine second(hard());
    AutoSearch resumed(quantizer(), pictures::static_options(), {}, second, read);
    resumed.run();
    EXPECT_TRUE(outcome_of(resumed) == wanted) << testing::PrintToString(outcome_of(resumed).account);
    EXPECT_EQ(second.answers, whole.answers - stop) << "what is known is not asked again";
  }
}

TEST(AutoSearch, BrokenOffAtEveryQuestionItEndsAsStraight) {
  for (const double seconds : {5.0, 12.0, 20.0, 30.0, 1000.0}) {
    SCOPED_TRACE(seconds);
    AutoBudget budget;
    budget.seconds = seconds;
    const Outcome wanted = searched(hard(), budget), found = broken_off(hard(), budget);
    EXPECT_TRUE(found == wanted) << testing::PrintToString(found.account) << testing::PrintToString(wanted.account);
    EXPECT_EQ(found.ended, seconds < 100);
  }
}

TEST(AutoSearch, OutOfTimeItGivesTheBestSoFar) {
  for (double seconds = 1; seconds < 40; seconds += 3) {
    AutoBudget budget;
    budget.seconds = seconds;
    const Outcome found = searched(hard(), budget);
    EXPECT_NE(found.plan, "") << seconds;
    EXPECT_EQ(found.unmet, "") << seconds;
  }
}

TEST(AutoSearch, WhatDoesNotRunIsSaid) {
  class Refusing final : public AutoEngine {
   public:
    std::optional<LearnedRanges> calibrate(const Quantizer& quantizer) override {
      if (quantizer.taps().empty()) return std::nullopt;
      return LearnedRanges{fakes::ranges_of(quantizer.model(), quantizer.taps()), {}, {}};
    }
    ChannelObservations observe(const Model&, const std::vector<ChannelTap>& taps) override {
      return fakes::channels_of(taps);
    }
    std::optional<double> check(const Quantizer&, const Plan&) override { return std::nullopt; }
    std::optional<Measurement> measure(const Quantizer&, const Plan& plan, Effort effort) override {
      Measurement measured = World().of(plan, effort);
      if (std::any_of(plan.nodes.begin(), plan.nodes.end(), [](const NodePlan& node) {
            return node.action == Action::kStatic || node.action == Action::kDynamic;
          })) {
        measured = {};
        measured.error = "no kernel";
        measured.sqnr_db = -kSqnrEqual;
        measured.seconds = 1;
      }
      return measured;
    }
    void start_clock(double) override {}
    bool out_of_time() override { return false; }
    void tell(const std::string&, std::size_t, std::size_t) override {}
  };
  Refusing engine;
  MeasurementLog log;
  AutoSearch search(quantizer(), pictures::static_options(), {}, engine, log);
  search.run();
  ASSERT_TRUE(search.chosen());
  EXPECT_THAT(search.chosen()->what, HasSubstr("weights only"));
  EXPECT_THAT(search.account(), testing::Contains(HasSubstr("does not run (no kernel)")));
}

TEST(MeasurementLog, KeepsToItsContext) {
  MeasurementLog log("eight samples");
  log.add("a", World().of({}, Effort::kSpeed));
  MeasurementLog same("eight samples");
  same.read_json(log.to_json());
  EXPECT_EQ(same.to_json(), log.to_json());
  EXPECT_EQ(same.size(), 1u);
  MeasurementLog other("nine samples");
  EXPECT_THAT(message_of(ErrorCode::kUsage, [&] { other.read_json(log.to_json()); }), HasSubstr("other samples"));
  for (const char* text :
       {"", "[]", "{}", "{\"format\": \"octet auto log 1\"}",
        "{\"format\": \"octet auto log 1\", \"context\": \"nine samples\", \"measurements\": {\"a\": {}}}"})
    EXPECT_THAT(message_of(ErrorCode::kMalformed, [&] { other.read_json(text); }), HasSubstr("log"));
}

}  // namespace
}  // namespace octet
