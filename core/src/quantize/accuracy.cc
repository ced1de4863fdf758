#include "quantize/accuracy.h"

#include "octet/error.h"
#include "octet/quantizer.h"
#include "quantize/equalize.h"
#include "quantize/smooth_values.h"

namespace octet {

void change_model(Model& model, const Plan& plan) {
  if (plan.equalized) equalize_model(model);
  for (const Smoothing& smoothing : plan.smoothed) smooth_value(model, smoothing);
}

Quantizer Quantizer::copy() const {
  Quantizer result;
  result.options_ = options_;
  result.facts_ = facts_;
  result.normalized_ = normalized_.clone();
  result.fingerprint_ = fingerprint_;  // until the model is changed
  result.passes_ = passes_;
  result.plan_ = plan_;
  return result;
}

Quantizer Quantizer::planned_as(const PlanOptions& options) const {
  check_options(options);
  Quantizer result = copy();
  result.options_ = options;
  result.plan_ = make_plan(result.normalized_, options);
  result.plan_.prepared = plan_.prepared;
  result.plan_.equalized = plan_.equalized;
  result.plan_.smoothed = plan_.smoothed;
  return result;
}

void Quantizer::plan_again(const Plan& before) {
  plan_ = make_plan(normalized_, options_);
  plan_.prepared = before.prepared;
  plan_.equalized = before.equalized;
  plan_.smoothed = before.smoothed;
  plan_.notes = before.notes;
}

Equalized Quantizer::equalized() const {
  Equalized result{copy()};
  Plan plan = plan_;
  plan.equalized = true;
  result.quantizer.fingerprint_.clear();
  result.pairs = equalize_model(result.quantizer.normalized_);
  result.quantizer.plan_again(plan);
  return result;
}

std::vector<ChannelTap> Quantizer::smoothing_taps() const {
  Model model = normalized_.clone();
  std::vector<ChannelTap> taps;
  for (const Smoothing& smoothing : smoothable(model, plan_)) taps.push_back({smoothing.value, -1});
  return taps;
}

Smoothed Quantizer::smoothed(const ChannelObservations& observed, double alpha) const {
  if (!(alpha >= 0 && alpha <= 1))
    throw Error(ErrorCode::kUsage, "--smooth-quant", "must lie between 0 and 1", "use 0.5");
  Smoothed result{copy()};
  result.quantizer.fingerprint_.clear();
  Model& model = result.quantizer.normalized_;
  Plan plan = plan_;
  for (Smoothing& smoothing : smoothable(model, plan_)) {
    const auto found = observed.find(smoothing.value);
    if (found == observed.end() || !found->second.seen()) continue;
    smoothing.factors = smoothing_factors(model, smoothing, found->second, alpha);
    if (smoothing.factors.empty()) continue;
    ++(smooth_value(model, smoothing) ? result.folded : result.inserted);
    plan.smoothed.push_back(std::move(smoothing));
  }
  result.quantizer.plan_again(plan);
  return result;
}

}  // namespace octet
