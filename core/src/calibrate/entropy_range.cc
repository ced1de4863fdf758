// The reference tool's search, on 2048 even bins from -T to T with T = max |value|. A candidate keeps the bins within a
// distance of the middle. P: their counts, with what lies outside added to the outermost two. Q: the counts alone
// summed into 128 groups of equal length and spread over each group again, in whole numbers: (sum of the group) / (bins
// of the group that are not empty), rounded down; what the division into groups leaves over counts in the last group
// and is spread over nothing. In both, empty bins get a count of 10^-4, taken from the others in equal parts. The
// candidate with the least KL(P ‖ Q) wins, the smallest of several. Other than there all is in double, and sums over
// bins come from running totals, so that a candidate costs 128 logarithms instead of one per bin.
#include <algorithm>
#include <array>
#include <cstdint>
#include <limits>
#include <utility>
#include <vector>

#include "calibrate/logarithm.h"
#include "calibrate/range_searches.h"

namespace octet {
namespace {

constexpr std::size_t kBins = 2048, kMiddle = kBins / 2, kGroups = 128;
constexpr double kEmpty = 1e-4;

double edge_of(std::size_t i, double most) {
  return most * ((static_cast<double>(i) - static_cast<double>(kMiddle)) / static_cast<double>(kMiddle));
}

// Whole numbers, as counting the values themselves would give: the running total is rounded, not each bin.
std::vector<double> even_bins(const Spread& spread, double most) {
  std::vector<double> counts(kBins);
  double before = 0;
  for (std::size_t i = 0; i < kBins; ++i) {
    double next = spread.count();
    if (i + 1 < kBins)
      next = static_cast<double>(static_cast<std::uint64_t>(spread.count_below(edge_of(i + 1, most)) + 0.5));
    counts[i] = next - before;
    before = next;
  }
  return counts;
}

// Sums over the bins that are not empty, of what stands in them.
struct Sums {
  double bins = 0, count = 0, log = 0, count_log = 0;

  void add(double n, double sign = 1) {
    if (n == 0) return;
    const double l = natural_log(n);
    bins += sign;
    count += sign * n;
    log += sign * l;
    count_log += sign * n * l;
  }
};

class Search {
 public:
  explicit Search(std::vector<double> counts) : counts_(std::move(counts)), running_(kBins + 1) {
    for (std::size_t i = 0; i < kBins; ++i) {
      running_[i + 1] = running_[i];
      running_[i + 1].add(counts_[i]);
    }
  }

  // Infinite where nothing is left inside.
  double divergence(std::size_t start, std::size_t end) const {
    const std::size_t size = end - start, length = size / kGroups;
    const double total = running_[kBins].count;
    const double first = counts_[start] + running_[start].count;
    const double last = counts_[end - 1] + total - running_[end].count;

    // Of P over the whole candidate: Σ p log p.
    Sums p = between(start + 1, end - 1);
    p.add(first);
    p.add(last);
    const double p_empty = static_cast<double>(size) - p.bins, p_loss = kEmpty * p_empty / p.bins;
    double sum = p.count_log - p_loss * (p.log + p.bins) + p_empty * kEmpty * log_empty_;

    // Less Σ p log q, group by group: q is the same all over a group.
    std::array<double, kGroups> levels, masses;
    double q_bins = 0, q_sum = 0;
    for (std::size_t g = 0; g < kGroups; ++g) {
      const std::size_t from = start + g * length, to = from + length;
      const bool has_first = g == 0, has_last = to == end;
      const Sums inner = between(from, to);
      double kept = inner.count, count = inner.count, bins = inner.bins;
      if (g + 1 == kGroups) kept = running_[end].count - running_[from].count;
      if (has_first) {
        count += first - counts_[start];
        bins += counts_[start] == 0 && first > 0 ? 1 : 0;
      }
      if (has_last) {
        count += last - counts_[end - 1];
        bins += counts_[end - 1] == 0 && last > 0 ? 1 : 0;
      }
      levels[g] = bins > 0 ? static_cast<double>(static_cast<std::uint64_t>(kept / bins)) : 0;
      masses[g] = count - p_loss * bins + kEmpty * (static_cast<double>(length) - bins);
      if (levels[g] > 0) {
        q_bins += static_cast<double>(length);
        q_sum += levels[g] * static_cast<double>(length);
      }
    }
    if (q_bins == 0) return std::numeric_limits<double>::infinity();
    const double q_loss = kEmpty * (static_cast<double>(size) - q_bins) / q_bins;
    double mass_of_rest = total;
    for (std::size_t g = 0; g < kGroups; ++g) {
      sum -= masses[g] * (levels[g] > 0 ? natural_log(levels[g] - q_loss) : log_empty_);
      mass_of_rest -= masses[g];
    }
    sum -= mass_of_rest * log_empty_;
    return sum / total - natural_log(total) + natural_log(q_sum);
  }

 private:
  Sums between(std::size_t from, std::size_t to) const {
    const Sums &a = running_[from], &b = running_[to];
    return {b.bins - a.bins, b.count - a.count, b.log - a.log, b.count_log - a.count_log};
  }

  std::vector<double> counts_;
  std::vector<Sums> running_;  // over the bins before each
  double log_empty_ = natural_log(kEmpty);
};

}  // namespace

Interval entropy_range(const Spread& spread, Interval seen) {
  const double most = std::max(-static_cast<double>(seen.low), static_cast<double>(seen.high));
  if (most <= 0) return seen;
  const Search search(even_bins(spread, most));
  double least = std::numeric_limits<double>::infinity();
  Interval best = seen;
  for (std::size_t half = kGroups / 2; half <= kMiddle; ++half) {
    const std::size_t start = kMiddle - half, end = std::min(kMiddle + half + 1, kBins);
    const double divergence = search.divergence(start, end);
    if (divergence >= least) continue;
    least = divergence;
    best = {std::clamp(static_cast<float>(edge_of(start, most)), seen.low, seen.high),
            std::clamp(static_cast<float>(edge_of(end, most)), seen.low, seen.high)};
  }
  return best;
}

}  // namespace octet
