// Both ends are shares of the seen ones. Every share of a geometric series is tried for each end while the other
// stands, starting from the whole range and from the best with equal shares, until neither end moves; then smaller
// steps.
#include <algorithm>
#include <array>
#include <limits>

#include "calibrate/range_searches.h"

namespace octet {
namespace {

constexpr double kStep = 0.84089641525371454303;  // 2^(-1/4)
constexpr int kSteps = 48;                        // down to a part in 4096
constexpr int kRounds = 4;
constexpr std::array kFiner = {0.91700404320467123, 0.95760328069857365, 0.97857206208770008,  // its roots
                               0.98922801319397548, 0.99459942348363317};

class Search {
 public:
  Search(const QuantizationNoise& noise, Interval ends) : noise_(noise), ends_(ends) {}

  struct Point {
    double low = 1, high = 1, noise = 0;
  };

  // Its noise is only right below the limit.
  Point at(double low, double high, double limit) const { return {low, high, noise_.of(range({low, high}), limit)}; }
  Interval range(const Point& point) const {
    return {static_cast<float>(ends_.low * point.low), static_cast<float>(ends_.high * point.high)};
  }

  // The best of the series for the ends that `moves`, the other staying where it is.
  Point scan(Point best, bool low, bool high) const {
    double share = 1;
    const Point start = best;
    for (int i = 0; i <= kSteps; ++i, share *= kStep) {
      const Point next = at(low ? share : start.low, high ? share : start.high, best.noise);
      if (next.noise < best.noise) best = next;
    }
    return best;
  }

  Point descend(Point best, bool low, bool high) const {
    for (int round = 0; round < kRounds; ++round) {
      const double before = best.noise;
      if (high) best = scan(best, false, true);
      if (low && (high || round == 0)) best = scan(best, true, false);
      if (best.noise >= before || !(low && high)) break;
    }
    return best;
  }

  Point refine(Point best, bool low, bool high, bool together) const {
    for (const double step : kFiner) {
      for (bool moved = true; moved;) {
        moved = false;
        const auto attempt = [&](double l, double h) {
          const Point next = at(std::min(l, 1.0), std::min(h, 1.0), best.noise);
          if (next.noise < best.noise) best = next, moved = true;
        };
        for (const double by : {step, 1 / step}) {
          if (low && !together) attempt(best.low * by, best.high);
          if (high && !together) attempt(best.low, best.high * by);
          if (together) attempt(best.low * by, best.high * by);
        }
      }
    }
    return best;
  }

 private:
  const QuantizationNoise& noise_;
  Interval ends_;
};

}  // namespace

Interval mse_range(const QuantizationNoise& noise, Interval seen, bool symmetric) {
  Interval ends = {std::min(seen.low, 0.0f), std::max(seen.high, 0.0f)};
  if (symmetric) ends = {-std::max(-ends.low, ends.high), std::max(-ends.low, ends.high)};
  const bool low = ends.low<0, high = ends.high> 0;
  if (!low && !high) return seen;
  const Search search(noise, ends);
  const Search::Point whole = search.at(1, 1, std::numeric_limits<double>::infinity());
  Search::Point best = whole;
  if (low && high) {
    best = search.scan(whole, true, true);
    if (!symmetric) {
      const Search::Point from_equal = search.descend(best, true, true), from_whole = search.descend(whole, true, true);
      best = from_whole.noise < from_equal.noise ? from_whole : from_equal;
    }
  } else {
    best = search.descend(whole, low, high);
  }
  best = search.refine(best, low, high, symmetric);
  const Interval found = search.range(best);
  return {std::clamp(found.low, seen.low, seen.high), std::clamp(found.high, seen.low, seen.high)};
}

}  // namespace octet
