// Timings and outputs whose truth is known, made up with noise and outliers: what measuring and judging say of them.
#include <gmock/gmock.h>

#include <cmath>
#include <cstring>

#include "octet/verdict.h"
#include "samples/random.h"

namespace octet {
namespace {

constexpr int kSeeds = 300, kRuns = 50;

class Noise {
 public:
  explicit Noise(std::uint64_t seed) : random_(seed) {}
  double uniform() { return static_cast<double>(random_.next() >> 11) * 0x1p-53; }
  // A bell around 0 with standard deviation 1, as near as twelve uniform numbers come to it.
  double bell() {
    double sum = -6;
    for (int i = 0; i < 12; ++i) sum += uniform();
    return sum;
  }

 private:
  SplitMix random_;
};

struct Injected {
  double speed = 1;      // true speedup
  double spread = 0.03;  // of a run against the next, in the logarithm: the median of the ratios stays what it is
  double db = 33;        // true SQNR
};

// Interleaved runs on a machine that slows down and recovers, and is at something else in one of twenty runs.
Speedup timed(const Injected& truth, Noise& noise) {
  std::vector<double> baseline, candidate;
  for (int run = 0; run < kRuns; ++run) {
    const double machine = 10 * (1 + 0.3 * std::sin(run * 0.2));
    const auto one = [&](double ms) {
      const double outlier = noise.uniform() < 0.05 ? 3 : 1;
      return ms * outlier * std::exp(truth.spread * noise.bell());
    };
    baseline.push_back(one(machine));
    candidate.push_back(one(machine / truth.speed));
  }
  return paired_speedup(baseline, candidate);
}

Sample outputs(const std::vector<float>& values) {
  Tensor tensor{kFloat, {static_cast<std::int64_t>(values.size())}, {}};
  tensor.bytes.resize(values.size() * sizeof(float));
  std::memcpy(tensor.bytes.data(), values.data(), tensor.bytes.size());
  return {{"y", tensor}};
}

double drifted(const Injected& truth, Noise& noise) {
  DriftMeter meter;
  for (int sample = 0; sample < 8; ++sample) {
    std::vector<float> reference(500), candidate(500);
    for (std::size_t i = 0; i < reference.size(); ++i) {
      const double value = noise.bell();
      reference[i] = static_cast<float>(value);
      candidate[i] = static_cast<float>(value + std::pow(10, -truth.db / 20) * noise.bell());
    }
    meter.add(outputs(reference), outputs(candidate));
  }
  return meter.worst_sqnr_db();
}

struct Outcome {
  VerdictInput figures;
  Verdict verdict;
};

Outcome injected(const Injected& truth, int seed) {
  Noise noise(static_cast<std::uint64_t>(seed) + 1);
  VerdictInput input;
  input.float_bytes = 4000;
  input.output_bytes = 1000;
  input.speedup = timed(truth, noise);
  input.sqnr_db = drifted(truth, noise);
  return {input, judge(input)};
}

std::string told(const Verdict& verdict) {
  return std::string(name_of(verdict.judgement)) + " by " + std::string(name_of(verdict.decided_by));
}

TEST(VerdictInjection, EveryVerdictIsTheTruth) {
  struct Case {
    Injected truth;
    const char *verdict, *words;
  };
  for (const auto& [truth, verdict, words] : {
           Case{{.speed = 0.8}, "dont by speed", "slower here"},
           Case{{.speed = 1.0}, "ship by size", "as fast as before here"},
           Case{{.speed = 1.3}, "ship by speed", "faster here"},
           // Drift below the floor outweighs any speed.
           Case{{.speed = 0.8, .db = 6}, "dont by drift", "drifted below 10 dB"},
           Case{{.speed = 1.0, .db = 6}, "dont by drift", "drifted below 10 dB"},
           Case{{.speed = 1.3, .db = 6}, "dont by drift", "drifted below 10 dB"},
           Case{{.speed = 1.3, .db = 14}, "ship by speed", "faster here"},
       }) {
    for (int seed = 0; seed < kSeeds / 3; ++seed) {
      const Outcome outcome = injected(truth, seed);
      EXPECT_NEAR(*outcome.figures.sqnr_db, truth.db, 0.5);
      EXPECT_EQ(told(outcome.verdict), verdict) << truth.speed << "x, " << truth.db << " dB, seed " << seed;
      EXPECT_THAT(outcome.verdict.sentence, testing::HasSubstr(words));
    }
  }
}

// The interval is said to hold 9 of 10 resampled medians; so it should hold the truth about as often. By chance alone
// 300 seeds lie within 4 deviations of 1.7 %; the bootstrap of a median at 50 runs is itself off by a few.
TEST(VerdictInjection, IntervalsHoldTheTruthAsOftenAsTheySay) {
  for (const double speed : {0.8, 1.0, 1.3}) {
    int held = 0;
    for (int seed = 0; seed < kSeeds; ++seed) {
      Noise noise(static_cast<std::uint64_t>(seed) * 977 + 5);
      const Speedup found = timed({.speed = speed}, noise);
      EXPECT_LE(found.low, found.ratio);
      EXPECT_GE(found.high, found.ratio);
      held += found.low <= speed && speed <= found.high;
    }
    EXPECT_GE(held, kSeeds * 83 / 100) << speed;
    EXPECT_LE(held, kSeeds * 97 / 100) << speed;
  }
}

// A machine so busy that nothing can be told is never taken for a faster or slower model.
TEST(VerdictInjection, NoiseIsNotTakenForSpeed) {
  int cannot_tell = 0, wrong = 0;
  for (int seed = 0; seed < kSeeds; ++seed) {
    const Verdict verdict = injected({.speed = 1, .spread = 0.8}, seed).verdict;
    cannot_tell += verdict.judgement == Judgement::kCannotTell && verdict.decided_by == Decider::kSpeed;
    wrong +=
        verdict.sentence.find("faster") != std::string::npos || verdict.sentence.find("slower") != std::string::npos;
  }
  EXPECT_GE(cannot_tell, kSeeds * 9 / 10);
  EXPECT_LE(wrong, kSeeds / 10);  // as often as an interval of 9 in 10 leaves the truth out on either side
}

// Whatever the noise, a slower model is not shipped as a faster one.
TEST(VerdictInjection, SlowerIsNeverShippedForItsSpeed) {
  for (const double spread : {0.01, 0.05, 0.2}) {
    for (int seed = 0; seed < kSeeds / 3; ++seed) {
      const Verdict verdict = injected({.speed = 0.8, .spread = spread}, seed).verdict;
      EXPECT_NE(told(verdict), "ship by speed") << spread << " seed " << seed << ": " << verdict.sentence;
      if (spread < 0.1) {
        EXPECT_NE(name_of(verdict.judgement), "ship") << verdict.sentence;
      }
    }
  }
}

}  // namespace
}  // namespace octet
