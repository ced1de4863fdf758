#include "search/auto_run.h"

#include "search/plan_edits.h"

namespace octet {
AutoSearch::Impl::Impl(Quantizer of_model, const PlanOptions& plan_options, const AutoBudget& wanted,
                       AutoEngine& runtime, MeasurementLog& answers)
    : given(std::move(of_model)), options(plan_options), budget(wanted), engine(runtime), log(answers), asking(*this) {
  // The search tries these itself.
  options.equalize = options.bias_correction = false;
  options.smooth_quant = 0;
}

void AutoSearch::Impl::run() {
  // What was asked in a stage that was broken off is asked again, and its time counted again, in the same order.
  spent = spent_before;
  share = kSearchShare;
  counted = counted_before;
  try {
    while (stage != Stage::kDone) {
      step();
      stage = static_cast<Stage>(static_cast<int>(stage) + 1);
      commit();
    }
    if (cut_short) ended = "the time was up";
  } catch (const Ended&) {
    stage = Stage::kDone;
    ended = "it was stopped";
  }
}

Measurement AutoSearch::Impl::ask(const Quantizer& of, const Plan& plan, Effort effort) {
  const std::string key = MeasurementLog::key(of, plan, effort);
  if (!log.find(key)) {
    std::optional<Measurement> measured = engine.measure(of, plan, effort);
    if (!measured) throw Ended();
    log.add(key, std::move(*measured));
    engine.settle();
  }
  return known_as(key);
}

const Measurement& AutoSearch::Impl::known_as(const std::string& key) {
  const Measurement& known = *log.find(key);
  if (counted.insert(key).second) spent += known.seconds;
  return known;
}

void AutoSearch::Impl::commit() {
  spent_before = spent;
  counted_before = counted;
  engine.settle();
}

bool AutoSearch::Impl::late() {
  const bool up = spent >= share * budget.seconds;
  cut_short = cut_short || up;
  return up;
}

std::optional<LearnedRanges> AutoSearch::Impl::calibrate(const Quantizer& of) {
  if (of.taps().empty()) return std::nullopt;
  const auto found = learned.find(of.fingerprint());
  if (found != learned.end()) {
    const auto taps = of.taps();
    const auto& known = found->second->ranges.tensors;
    if (std::all_of(taps.begin(), taps.end(), [&](const auto& tap) { return known.contains(tap); }))
      return *found->second;
  }
  std::optional<LearnedRanges> result = engine.calibrate(of);
  if (result) learned[of.fingerprint()] = std::make_shared<LearnedRanges>(*result);
  engine.settle();
  return result;
}

AutoSearch::Impl::Base* AutoSearch::Impl::base_of(const std::string& name) {
  const auto found = std::find_if(bases.begin(), bases.end(), [&](const auto& base) { return base->name == name; });
  return found == bases.end() ? nullptr : found->get();
}

AutoSearch::Impl::Base& AutoSearch::Impl::add_base(const std::string& name, Quantizer of) {
  if (const auto ranges = calibrate(of)) of.set_ranges(ranges->ranges);
  Plan plan = of.plan();
  bases.push_back(std::make_unique<Base>(Base{name, name, std::move(of), std::move(plan)}));
  return *bases.back();
}

AutoSearch::Impl::Base* AutoSearch::Impl::planned(const std::string& name, Mode mode, Action action,
                                                  QuantType activations) {
  if (Base* base = base_of(name)) return base;
  if (without.contains(name)) return nullptr;
  PlanOptions changed = options;
  changed.mode = mode;
  changed.activation_type = activations;
  Quantizer of = given.planned_as(changed);
  const auto& nodes = of.plan().nodes;
  if (std::none_of(nodes.begin(), nodes.end(), [&](const NodePlan& node) { return node.action == action; })) {
    without.insert(name);
    return nullptr;
  }
  return &add_base(name, std::move(of));
}

AutoSearch::Impl::Base* AutoSearch::Impl::best_static() {
  for (const char* name : {kBiasesCorrected, kCorrected}) {
    if (Base* better = base_of(name)) return better;
  }
  return base_of("static");
}

std::size_t AutoSearch::Impl::time_plan(const Base& base, const std::string& what, const Plan& plan,
                                        std::vector<std::string> moved, bool is_float) {
  const std::string key = MeasurementLog::key(base.quantizer, plan, Effort::kSpeed);
  if (const auto found = timed.find(key); found != timed.end()) {
    known_as(key);
    return found->second;
  }
  engine.tell("timing " + what, 0, 1);
  AutoCandidate candidate;
  candidate.measured = ask(base.quantizer, plan, Effort::kSpeed);
  candidate.what = what;
  candidate.base = static_cast<std::size_t>(
      std::find_if(bases.begin(), bases.end(), [&](const auto& one) { return one.get() == &base; }) - bases.begin());
  candidate.plan = plan;
  candidate.moved = std::move(moved);
  candidate.conversions = conversions(plan);
  candidate.is_float = is_float;
  candidates.push_back(std::move(candidate));
  return timed[key] = candidates.size() - 1;
}

void AutoSearch::Impl::whole(Base& base) { base.whole = time_plan(base, base.what, base.plan); }

bool AutoSearch::Impl::keeps(const Base* base) const {
  return base && base->whole && keeps_drift(candidates[*base->whole].measured, budget);
}

double AutoSearch::Impl::low_of_best() const {
  const auto best = choose(candidates, budget);
  return best ? candidates[*best].measured.speedup.value_or(Speedup{}).low : 0;
}

DropSearch::Hooks AutoSearch::Impl::hooks(Base& base) {
  return {[this, &base](const std::string& name, const std::function<Plan()>& make, Effort effort) {
            const std::string label = base.name + ": " + name + " " + std::to_string(static_cast<int>(effort));
            if (const auto found = answered.find(label); found != answered.end()) return known_as(found->second);
            const Plan plan = make();
            const Measurement measured = ask(base.quantizer, plan, effort);
            answered[label] = MeasurementLog::key(base.quantizer, plan, effort);
            return measured;
          },
          [this](const Measurement& measured) { return keeps_drift(measured, budget); }, [this] { return late(); },
          [this](const std::string& what, std::size_t done, std::size_t total) { engine.tell(what, done, total); }};
}

}  // namespace octet
