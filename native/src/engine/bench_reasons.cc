#include "engine/bench_reasons.h"

#include <utility>

#include "data/mapped_file.h"
#include "data/open_model.h"
#include "engine/engine.h"
#include "octet/error.h"
#include "octet/observed_plan.h"

namespace octet {

Explanation BenchReasons::of(std::size_t model, const Verdict& verdict, const VerdictInput& figures, double float_ms) {
  const std::optional<Plan>& plan = plan_of(model);
  if (!plan) return {};
  RunFacts facts;
  facts.float_ms = float_ms;
  if (model == 1) facts.calibrated_on = job_.calibrated_on;
  const bool slow = verdict.decided_by == Decider::kSpeed && verdict.judgement == Judgement::kDont;
  if (slow && plan->mode == Mode::kStatic) {
    if (const auto& integers = integers_of(model)) {
      facts.integer_products = integers->integer_products();
      facts.conversions = integers->conversions;
    }
  }
  return explain(verdict, figures, *plan, facts);
}

const std::optional<Plan>& BenchReasons::plan_of(std::size_t model) {
  Seen& seen = models_[model];
  if (std::exchange(seen.looked_at_plan, true)) return seen.plan;
  if (model == 1 && job_.plan) return seen.plan = job_.plan;
  try {
    Model loaded = open_model(job_.models[model]);
    seen.plan = observed_plan(loaded);
  } catch (const Error&) {  // a model that the runtime ran and Octet does not read: nothing is told of it
  }
  return seen.plan;
}

const std::optional<IntegerShare>& BenchReasons::integers_of(std::size_t model) {
  Seen& seen = models_[model];
  if (std::exchange(seen.looked_at_graph, true)) return seen.integers;
  try {
    const ScratchFile scratch(scratch_path("octet-optimized"));
    Session::from_file(job_.models[model], {.optimized_file = scratch.path()});
    seen.integers = integer_share(scratch.path());
  } catch (const Error&) {  // no room for it, or above what one file holds
  }
  return seen.integers;
}

}  // namespace octet
