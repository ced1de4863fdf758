// The automatic search against an engine that knows what every node costs: what it finds, that it ends as it should,
// and that stopping, going on and breaking off change nothing.
#include <gmock/gmock.h>

#include <set>

#include "auto_world.h"
#include "octet/error.h"
#include "octet/replay_engine.h"
#include "search/auto_choice.h"

namespace octet {
namespace {

using namespace worlds;
using pictures::message_of;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::UnorderedElementsAreArray;

// Answers one question after the other.
Outcome broken_off(const World& world, const AutoBudget& budget) {
  ReplayEngine engine([] { return 0.0; });
  MeasurementLog log;
  AutoSearch search(quantizer(), pictures::static_options(), budget, engine, log);
  while (const SearchQuestion* question = engine.run([&] { search.run(); })) {
    switch (question->kind) {
      case SearchQuestion::Kind::kCalibrate:
        engine.answer(world.learned(question->model, question->taps));
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

World with_one_bad() {
  World world;
  world.alone_db = {{"m4", 20}};
  return world;
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

TEST(AutoSearch, AnEndOfTheModelIsTriedInsteadOfAnIsland) {
  World world;
  world.alone_db = {{"m2", 12}};
  WorldEngine engine(world);
  MeasurementLog log;
  AutoSearch search(quantizer(), pictures::static_options(), {}, engine, log);
  search.run();
  const auto with = [&](const std::string& what) -> const AutoCandidate* {
    for (const AutoCandidate& candidate : search.candidates()) {
      if (candidate.what == what) return &candidate;
    }
    return nullptr;
  };
  const AutoCandidate *island = with("static, 1 node out of integers"),
                      *end = with("static, first 3 nodes out of integers");
  ASSERT_TRUE(island && end);
  EXPECT_THAT(end->moved, ElementsAre("m0", "m1", "m2"));
  EXPECT_GE(end->measured.sqnr_db, 25);
  EXPECT_LT(end->conversions, island->conversions);
  EXPECT_EQ(with("static, last 14 nodes out of integers"), nullptr) << "more than half in float";
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
  const Outcome found = searched(with_one_bad());
  EXPECT_THAT(found.moved, ElementsAre("m4"));
}

TEST(AutoSearch, ReadsTheRangeOfAValueOtherwiseWhereThatHelps) {
  World world;
  world.clipped = "r5";
  world.clipped_db = 10;
  const Outcome found = searched(world);
  EXPECT_EQ(found.what, "static, ranges by percentile");
  EXPECT_THAT(found.moved, IsEmpty());
  // One that is worse off for all but this value is read so there alone.
  world.percentile_db = 20;
  const Outcome one = searched(world);
  EXPECT_EQ(one.what, "static, ranges by minmax, 1 range read otherwise");
  EXPECT_THAT(one.moved, IsEmpty());
  const Plan plan = plan_from_json(one.plan);
  EXPECT_EQ(pictures::activation(plan, "r5").method, RangeMethod::kPercentile);
  EXPECT_NE(pictures::activation(plan, "r6").method, RangeMethod::kPercentile);
}

TEST(AutoSearch, CorrectsBiasesWhereThatSuffices) {
  World world;
  world.others_db = 36;  // 24 dB in all
  world.corrected_db = 3;
  const Outcome found = searched(world);
  EXPECT_EQ(found.what, "static, biases corrected");
  EXPECT_THAT(found.moved, IsEmpty());
  EXPECT_THAT(found.account, testing::Contains(HasSubstr("bias-correction: 24.0 dB → 27.0 dB, kept")));
  // Where it does not, what leaves integers is corrected no more.
  world.alone_db = {{"m4", 12}};
  const Outcome partly = searched(world);
  EXPECT_THAT(partly.moved, ElementsAre("m4"));
  const Plan plan = plan_from_json(partly.plan);
  EXPECT_EQ(plan.corrections.size(), kNodes - 1);
  for (const BiasCorrection& correction : plan.corrections) EXPECT_NE(correction.node, "m4");
}

TEST(AutoSearch, FewerScalesOnlyWhereTheFileIsMuchSmaller) {
  const auto measured = [](std::uint64_t bytes, double db) {
    AutoCandidate candidate;
    candidate.measured.runs = true;
    candidate.measured.bytes = bytes;
    candidate.measured.sqnr_db = db;
    candidate.measured.speedup = Speedup{2, 1.9, 2.1};
    return candidate;
  };
  EXPECT_EQ(choose({measured(1000, 30), measured(991, 26)}, {}), 0u) << "less than a percent is not worth 4 dB";
  EXPECT_EQ(choose({measured(1000, 30), measured(989, 26)}, {}), 1u) << "what is more is a larger file";
  EXPECT_EQ(choose({measured(1000, 30), measured(900, 26)}, {}), 1u);
  EXPECT_EQ(choose({measured(1000, 30), measured(900, 20)}, {}), 0u) << "out of the budget";
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
  WorldEngine engine(with_one_bad());
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
  WorldEngine engine(with_one_bad());
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
  world.corrected_db = 0.5;
  world.clipped = "r5";
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
  World world;
  world.no_integers = true;
  WorldEngine engine(world);
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
