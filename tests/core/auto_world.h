// An engine for the automatic search that knows what every node costs.
#pragma once

#include <cmath>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "fake_engine.h"
#include "octet/auto_search.h"
#include "static_pictures.h"

namespace octet::worlds {

inline constexpr std::size_t kNodes = 16;

// Products in a row, neighbours through nothing but a Relu.
inline std::string chain() {
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
  double corrected_db = 0;     // what correcting biases gives back
  std::string clipped;         // a value whose range is to be read by percentile, or there is
  double clipped_db = 20;      // so much noise
  double percentile_db = 200;  // noise of each other value that is read by percentile
  bool no_integers = false;    // nothing in integers runs

  LearnedRanges learned(const Model& model, const std::vector<std::string>& taps) const {
    LearnedRanges result{fakes::ranges_of(model, taps), {}, {}};
    const auto found = result.ranges.tensors.find(clipped);
    // One in ten thousand is far out.
    std::vector<float> values(10000, 0.5f);
    values.back() = 2000;
    if (found != result.ranges.tensors.end()) found->second.add(values);
    return result;
  }

  Measurement of(const Plan& plan, Effort effort) const {
    double noise = 0, speed = 1;
    bool any_integers = false;
    Measurement measured;
    for (const NodePlan& node : plan.nodes) {
      if (node.weights.empty()) continue;
      measured.bytes += node.action == Action::kKeep ? 4000 : 1000;
      const bool integers = node.action == Action::kStatic || node.action == Action::kDynamic;
      any_integers = any_integers || integers;
      const auto known = alone_db.find(node.node);
      if (integers) noise += std::pow(10, -(known == alone_db.end() ? others_db : known->second) / 10);
      if (node.action == Action::kWeights) noise += std::pow(10, -weights_db / 10);
      speed += node.action == Action::kStatic    ? gain
               : node.action == Action::kDynamic ? dynamic_gain
               : node.action == Action::kWeights ? weights_gain
                                                 : 0;
    }
    for (const ActivationPlan& activation : plan.activations) {
      if (activation.tensor == clipped && activation.method != RangeMethod::kPercentile)
        noise += std::pow(10, -clipped_db / 10);
      if (activation.tensor != clipped && activation.method == RangeMethod::kPercentile)
        noise += std::pow(10, -percentile_db / 10);
    }
    if (!plan.corrections.empty()) noise *= std::pow(10, -corrected_db / 10);
    measured.seconds = 1;
    if (no_integers && any_integers) {
      measured.error = "no kernel";
      measured.sqnr_db = -kSqnrEqual;
      return measured;
    }
    measured.runs = true;
    measured.samples = 4;
    measured.sqnr_db = noise > 0 ? -10 * std::log10(noise) : kSqnrEqual;
    measured.lowest_db = measured.highest_db = measured.sqnr_db;
    if (effort >= Effort::kSpeed) measured.speedup = Speedup{speed, speed - noise_in_time, speed + noise_in_time};
    return measured;
  }
};

class WorldEngine final : public AutoEngine {
 public:
  explicit WorldEngine(World world, int most = 1 << 20) : world_(std::move(world)), left_(most) {}

  std::optional<LearnedRanges> calibrate(const Quantizer& quantizer) override {
    if (quantizer.taps().empty()) return std::nullopt;
    return world_.learned(quantizer.model(), quantizer.taps());
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

inline Outcome outcome_of(const AutoSearch& search) {
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

inline Quantizer quantizer() { return {pictures::model_of(chain()), pictures::static_options()}; }

inline Outcome searched(const World& world, const AutoBudget& budget = {}) {
  WorldEngine engine(world);
  MeasurementLog log;
  AutoSearch search(quantizer(), pictures::static_options(), budget, engine, log);
  search.run();
  return outcome_of(search);
}

}  // namespace octet::worlds
