#include "calibrate/spread.h"

#include <algorithm>
#include <utility>

namespace octet {

Spread::Spread(std::vector<Slice> slices) : slices_(std::move(slices)) {
  before_.reserve(slices_.size() + 1);
  double sum = 0;
  for (const Slice& slice : slices_) {
    before_.push_back(sum);
    sum += slice.count;
  }
  before_.push_back(sum);
}

double Spread::count_below(double x) const {
  const auto after = std::partition_point(slices_.begin(), slices_.end(), [&](const Slice& s) { return s.low < x; });
  if (after == slices_.begin()) return 0;
  const auto i = static_cast<std::size_t>(after - slices_.begin()) - 1;
  const Slice& slice = slices_[i];
  if (x > slice.high || slice.low == slice.high) return before_[i + 1];
  return before_[i] + slice.count * ((x - slice.low) / (slice.high - slice.low));
}

double Spread::value_at(double rank) const {
  // Products like 0.0005 · count may end just above the whole number that is meant.
  const double least = rank - 1e-9 * std::max(1.0, rank);
  const auto end = std::partition_point(before_.begin() + 1, before_.end() - 1, [&](double n) { return n < least; });
  const auto i = static_cast<std::size_t>(end - before_.begin()) - 1;
  const Slice& slice = slices_[i];
  const double share = std::clamp((rank - before_[i]) / slice.count, 0.0, 1.0);
  return slice.low + (slice.high - slice.low) * share;
}

double Spread::sum_of_squares() const {
  double sum = 0;
  for (const Slice& s : slices_) sum += s.count * ((s.low * s.low + s.low * s.high + s.high * s.high) / 3);
  return sum;
}

Spread Spread::magnitudes() const {
  std::vector<Slice> folded;
  for (const Slice& s : slices_) folded.push_back(s.low < 0 ? Slice{-s.high, -s.low, s.count} : s);
  std::sort(folded.begin(), folded.end(), [](const Slice& a, const Slice& b) {
    return a.low != b.low ? a.low < b.low : a.high != b.high ? a.high < b.high : a.count < b.count;
  });
  std::vector<Slice> joined;
  for (const Slice& s : folded) {
    // Bins of either sign match, but for the outermost, which may be cut.
    if (!joined.empty() && s.low <= joined.back().high) {
      joined.back().high = std::max(joined.back().high, s.high);
      joined.back().count += s.count;
    } else {
      joined.push_back(s);
    }
  }
  return Spread(std::move(joined));
}

Spread spread_of(const Observation& observed) {
  std::vector<Slice> slices;
  for (const Histogram::Bin& bin : observed.histogram().bins())
    slices.push_back({bin.low, bin.high, static_cast<double>(bin.count)});
  const Interval ends = observed.min_max();
  if (!slices.empty()) {
    slices.front().low = ends.low;
    slices.back().high = ends.high;
  }
  return Spread(std::move(slices));
}

}  // namespace octet
