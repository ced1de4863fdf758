// What brings a static base nearer without taking nodes out of integers: its ranges read otherwise, and the steps of
// AccuracySteps.
#include "search/auto_run.h"
#include "search/expected_noise.h"
#include "search/plan_edits.h"
#include "search/words.h"

namespace octet {
namespace {

constexpr double kSmoothing = 0.5;
// How many values are looked at one by one for another range, and what one must bring, in decibels.
constexpr std::size_t kMostTensors = 4;
constexpr double kWorthAMethod = 0.1;
// Of the time, what correcting biases may take, and how much longer than a run one takes that is watched.
constexpr double kBiasesShare = 0.2, kWatchedRun = 2;

constexpr RangeMethod kMethods[] = {RangeMethod::kMinMax, RangeMethod::kPercentile, RangeMethod::kEntropy};

std::string at_a_glance(double db) { return decibels(db) + " on " + std::to_string(kGlanceSamples) + " samples"; }

}  // namespace

// The same ranges read another way.
void AutoSearch::Impl::methods() {
  Base* base = base_of("static");
  if (!base || keeps(base)) return;
  const auto ranges = learned.find(base->quantizer.fingerprint());
  if (ranges == learned.end()) return;
  Plan best = base->plan;
  const double usual_db = ask(base->quantizer, best, Effort::kGlance).sqnr_db;
  double best_db = usual_db;
  std::string method_of_best;
  std::vector<std::string> notes{"ranges by " + std::string(name_of(options.method)) + ": " + at_a_glance(usual_db)};
  for (const RangeMethod method : kMethods) {
    if (late()) break;
    engine.tell("trying ranges", 0, 1);
    Plan plan = with_method(base->plan, ranges->second->ranges, method);
    const double db = ask(base->quantizer, plan, Effort::kGlance).sqnr_db;
    notes.push_back("ranges by " + std::string(name_of(method)) + ": " + at_a_glance(db));
    if (db <= best_db) continue;
    best_db = db;
    best = std::move(plan);
    method_of_best = name_of(method);
  }
  if (!method_of_best.empty()) change(*base, std::move(best), "ranges by " + method_of_best, notes);
  step_notes.insert(step_notes.end(), notes.begin(), notes.end());
}

// The same value by value, where that is expected to matter most.
void AutoSearch::Impl::values() {
  Base* base = base_of("static");
  if (!base) return;
  whole(*base);
  const auto ranges = learned.find(base->quantizer.fingerprint());
  if (keeps(base) || ranges == learned.end()) return;
  const ExpectedNoise expected(base->quantizer, base->plan, ranges->second->ranges);
  Plan best = base->plan;
  double best_db = ask(base->quantizer, best, Effort::kGlance).sqnr_db;
  std::vector<std::string> notes;
  for (const std::string& value : expected.doubtful_values(kMostTensors)) {
    std::string method_of_best;
    Plan best_of_value = best;
    for (const RangeMethod method : kMethods) {
      if (late()) break;
      engine.tell("trying ranges value by value", 0, 1);
      Plan plan = with_method(best, ranges->second->ranges, method, value);
      const double db = ask(base->quantizer, plan, Effort::kGlance).sqnr_db;
      if (db < best_db + kWorthAMethod) continue;
      best_db = db;
      best_of_value = std::move(plan);
      method_of_best = name_of(method);
    }
    if (method_of_best.empty()) continue;
    best = std::move(best_of_value);
    notes.push_back("the range of " + value + " by " + method_of_best + ": " + at_a_glance(best_db));
  }
  const std::size_t changed = notes.size();
  if (changed > 0) change(*base, std::move(best), plural(changed, "range") + " read otherwise", notes);
  step_notes.insert(step_notes.end(), notes.begin(), notes.end());
}

// A few samples may mislead: only where all of them say so too.
void AutoSearch::Impl::change(Base& base, Plan plan, const std::string& what, std::vector<std::string>& notes) {
  const double before = ask(base.quantizer, base.plan, Effort::kDrift).sqnr_db;
  const double after = ask(base.quantizer, plan, Effort::kDrift).sqnr_db;
  const bool better = after > before;
  notes.push_back(what + ": " + decibels(before) + " → " + decibels(after) + " on all, " +
                  (better ? "kept" : "not used"));
  if (!better) return;
  base.what += ", " + what;
  base.quantizer.plan() = plan;
  base.plan = std::move(plan);
  base.whole.reset();
}

// What was begun is ended; what it made of the base is a base of its own: candidates are of the model as it was.
void AutoSearch::Impl::correct(Correcting& correcting, const Base& from, const PlanOptions& asked,
                               const std::string& name) {
  if (!correcting.steps) {
    correcting.steps = std::make_unique<AccuracySteps>(from.quantizer.copy(), asked, asking);
    correcting.notes_before = from.quantizer.plan().notes.size();
  }
  correcting.steps->run();
  if (correcting.done) return;
  correcting.done = true;
  const Plan &before = from.quantizer.plan(), &plan = correcting.steps->quantizer().plan();
  for (std::size_t i = correcting.notes_before; i < plan.notes.size(); ++i) step_notes.push_back(plan.notes[i]);
  if (plan.equalized == before.equalized && plan.smoothed.size() == before.smoothed.size() && plan.corrections.empty())
    return;
  bases.push_back(std::make_unique<Base>(Base{name, name, correcting.steps->quantizer().copy(), plan}));
}

void AutoSearch::Impl::corrections() {
  Base* base = base_of("static");
  if (!base) return;
  whole(*base);
  if (corrected.steps || (!keeps(base) && !late())) {
    PlanOptions asked = options;
    asked.mode = Mode::kStatic;
    asked.equalize = true;
    asked.smooth_quant = kSmoothing;
    correct(corrected, *base, asked, kCorrected);
  }
  if (Base* better = base_of(kCorrected)) whole(*better);
}

// One run over the samples for each product: fewer at once would be corrected too much. Only where there is time.
void AutoSearch::Impl::biases() {
  Base* base = base_of(kCorrected) ? base_of(kCorrected) : base_of("static");
  if (!base) return;
  const auto ranges = learned.find(base->quantizer.fingerprint());
  if (biased.steps || (!keeps(base) && ranges != learned.end() && !late())) {
    const double samples = static_cast<double>(ranges->second->ranges.samples);
    const double run = kWatchedRun * samples * candidates[*base->whole].measured.float_ms / 1000;
    const double runs = 1 + static_cast<double>(std::min(static_products(base->plan), AccuracySteps::kCorrectionRuns));
    PlanOptions asked = options;
    asked.mode = Mode::kStatic;
    asked.bias_correction = true;
    if (biased.steps || runs * run <= kBiasesShare * budget.seconds)
      correct(biased, *base, asked, kBiasesCorrected);
    else
      step_notes.push_back("bias-correction: not tried, it would take too much of the time");
  }
  if (Base* better = base_of(kBiasesCorrected)) whole(*better);
}

}  // namespace octet
