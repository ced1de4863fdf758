// One range out of what was seen.
#include <algorithm>
#include <array>

#include "calibrate/quantization_noise.h"
#include "calibrate/range_searches.h"
#include "calibrate/spread.h"
#include "octet/ranges.h"

namespace octet {
namespace {

// As the reference cuts: the rarest values of both ends together, or those of largest magnitude.
Interval percentile_range(const Spread& spread, Interval seen, const RangeRule& rule) {
  const double percentile = std::clamp(rule.percentile, 0.0, 100.0);
  if (rule.symmetric) {
    const Spread magnitudes = spread.magnitudes();
    const auto end = static_cast<float>(magnitudes.value_at(percentile / 100 * magnitudes.count()));
    return {std::max(-end, seen.low), std::min(end, seen.high)};
  }
  const double cut = (100 - percentile) / 200;
  const auto low = static_cast<float>(spread.value_at(cut * spread.count()));
  const auto high = static_cast<float>(spread.value_at((1 - cut) * spread.count()));
  return {std::clamp(low, seen.low, seen.high), std::clamp(high, seen.low, seen.high)};
}

Interval range_by(RangeMethod method, const Observation& observed, const Spread& spread, const RangeRule& rule,
                  const QuantizationNoise& noise) {
  const Interval seen = observed.min_max();
  Interval range = seen;
  switch (method) {
    case RangeMethod::kMinMax:
    case RangeMethod::kBest:
      break;
    case RangeMethod::kAverage:
      range = observed.average();
      break;
    case RangeMethod::kPercentile:
      range = percentile_range(spread, seen, rule);
      break;
    case RangeMethod::kEntropy:
      range = entropy_range(spread, seen);
      break;
    case RangeMethod::kMse:
      range = mse_range(noise, seen, rule.symmetric);
      break;
  }
  // A range of nothing but zero, as of a tensor that is hardly ever anything else, would erase what there is.
  const bool erased = range.low >= 0 && range.high <= 0;
  return erased ? seen : range;
}

}  // namespace

ChosenRange choose_range(const Observation& observed, const RangeRule& rule) {
  if (!observed.seen()) return {};
  const Spread spread = spread_of(observed);
  const QuantizationNoise noise(spread, rule.type, rule.symmetric);
  const double signal = spread.sum_of_squares();
  const auto by = [&](RangeMethod method, double& cost) {
    const Interval range = range_by(method, observed, spread, rule, noise);
    cost = noise.of(range);
    return ChosenRange{range, method, sqnr_db(signal, cost)};
  };
  double least = 0;
  if (rule.method != RangeMethod::kBest) return by(rule.method, least);
  ChosenRange best = by(RangeMethod::kMinMax, least);
  for (const RangeMethod method : {RangeMethod::kPercentile, RangeMethod::kEntropy, RangeMethod::kMse}) {
    double cost = 0;
    const ChosenRange next = by(method, cost);
    if (cost < least) best = next, least = cost;
  }
  return best;
}

}  // namespace octet
