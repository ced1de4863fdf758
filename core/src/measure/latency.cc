#include <algorithm>
#include <cmath>
#include <cstddef>

#include "octet/measure.h"
#include "samples/random.h"

namespace octet {
namespace {

double percentile_of_sorted(const std::vector<double>& sorted, double share) {
  const double place = share * static_cast<double>(sorted.size() - 1);
  const auto below = static_cast<std::size_t>(place);
  const std::size_t above = std::min(below + 1, sorted.size() - 1);
  return sorted[below] + (place - static_cast<double>(below)) * (sorted[above] - sorted[below]);
}

double median_of(std::vector<double>& values) {
  std::sort(values.begin(), values.end());
  return percentile_of_sorted(values, 0.5);
}

}  // namespace

LatencyStats latency_stats(std::span<const double> milliseconds) {
  LatencyStats stats;
  stats.runs = milliseconds.size();
  if (milliseconds.empty()) return stats;

  std::vector<double> values(milliseconds.begin(), milliseconds.end());
  stats.median_ms = median_of(values);  // and sorts
  stats.min_ms = values.front();
  stats.max_ms = values.back();
  stats.p90_ms = percentile_of_sorted(values, 0.9);

  const auto n = static_cast<double>(values.size());
  for (const double v : values) stats.mean_ms += v;
  stats.mean_ms /= n;
  double squares = 0;
  for (const double v : values) squares += (v - stats.mean_ms) * (v - stats.mean_ms);
  if (values.size() > 1) stats.stddev_ms = std::sqrt(squares / (n - 1));

  for (double& v : values) v = std::fabs(v - stats.median_ms);
  stats.mad_ms = median_of(values);
  return stats;
}

Speedup paired_speedup(std::span<const double> baseline_ms, std::span<const double> candidate_ms) {
  std::vector<double> ratios;
  for (std::size_t i = 0; i < std::min(baseline_ms.size(), candidate_ms.size()); ++i) {
    if (baseline_ms[i] > 0 && candidate_ms[i] > 0) ratios.push_back(baseline_ms[i] / candidate_ms[i]);
  }
  if (ratios.empty()) return {};

  constexpr std::size_t kResamples = 1000;
  SplitMix random(0);
  std::vector<double> medians(kResamples), resample(ratios.size());
  for (double& median : medians) {
    for (double& ratio : resample) ratio = ratios[random.below(ratios.size())];
    median = median_of(resample);
  }
  std::sort(medians.begin(), medians.end());
  return {median_of(ratios), percentile_of_sorted(medians, 0.05), percentile_of_sorted(medians, 0.95)};
}

}  // namespace octet
