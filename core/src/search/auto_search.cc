#include "octet/auto_search.h"

#include <utility>

#include "search/auto_run.h"

namespace octet {

AutoSearch::AutoSearch(Quantizer quantizer, const PlanOptions& options, const AutoBudget& budget, AutoEngine& engine,
                       MeasurementLog& log)
    : impl_(std::make_unique<Impl>(std::move(quantizer), options, budget, engine, log)) {}
AutoSearch::~AutoSearch() = default;

void AutoSearch::run() { impl_->run(); }
const std::vector<AutoCandidate>& AutoSearch::candidates() const { return impl_->candidates; }
std::vector<std::size_t> AutoSearch::front() const { return pareto_front(impl_->candidates); }
const AutoCandidate* AutoSearch::chosen() const { return chosen_within(impl_->budget); }
const AutoCandidate* AutoSearch::chosen_within(const AutoBudget& other) const {
  const auto best = choose(impl_->candidates, other);
  return best ? &impl_->candidates[*best] : nullptr;
}
const Quantizer& AutoSearch::quantizer_of(const AutoCandidate& candidate) const {
  return impl_->bases[candidate.base]->quantizer;
}
std::string AutoSearch::unmet() const { return why_unmet(impl_->candidates, impl_->budget); }
std::size_t AutoSearch::tried() const { return impl_->counted.size(); }
double AutoSearch::seconds() const { return impl_->spent; }
std::optional<std::string> AutoSearch::ended_early() const { return impl_->ended; }

std::vector<Sensitivity> AutoSearch::sensitivities() const {
  const AutoCandidate* best = chosen();
  const DropSearch* looked = best ? impl_->bases[best->base]->drop.get() : nullptr;
  for (const auto& base : impl_->bases) {
    if (!looked) looked = base->drop.get();
  }
  return looked ? looked->sensitivities() : std::vector<Sensitivity>{};
}

std::vector<std::string> AutoSearch::account() const {
  std::vector<std::string> lines;
  const auto add = [&](std::vector<std::string> more) { lines.insert(lines.end(), more.begin(), more.end()); };
  const AutoCandidate* best = chosen();
  if (best) {
    lines.push_back("chosen: " + best->what + ": " + reason_for(*best, impl_->candidates, impl_->budget));
    const Impl::Base& base = *impl_->bases[best->base];
    add(account_of_moved(*best, base.whole ? &impl_->candidates[*base.whole] : nullptr,
                         base.drop ? base.drop->sensitivities() : std::vector<Sensitivity>{}));
  } else if (!impl_->candidates.empty()) {
    lines.push_back("nothing chosen: " + unmet());
  }
  for (const AutoCandidate& candidate : impl_->candidates) {
    if (&candidate != best) lines.push_back("tried: " + candidate.what + ": " + figures_of(candidate.measured));
  }
  for (const auto& note : impl_->step_notes) lines.push_back("tried: " + note);
  for (const auto& name : impl_->skipped)
    lines.push_back(name + ": not taken apart, since even all of it in integers is no faster than what there is");
  if (impl_->ended) lines.push_back("ended early: " + *impl_->ended);
  return lines;
}

}  // namespace octet
