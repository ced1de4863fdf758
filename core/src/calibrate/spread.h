// A histogram read as a density: the values of a bin lie evenly between its ends.
#pragma once

#include <vector>

#include "octet/ranges.h"

namespace octet {

// `count` values evenly from low to high; all of them there when both are the same.
struct Slice {
  double low = 0, high = 0, count = 0;
};

class Spread {
 public:
  // Slices ascending and apart from each other.
  explicit Spread(std::vector<Slice> slices);

  const std::vector<Slice>& slices() const { return slices_; }
  double count() const { return before_.back(); }
  double count_below(double x) const;
  // The least value that `rank` values, of 0 to count(), are not above.
  double value_at(double rank) const;
  double sum_of_squares() const;
  // Of the same values without their signs.
  Spread magnitudes() const;

 private:
  std::vector<Slice> slices_;
  std::vector<double> before_;  // how many values lie below each slice, and all of them
};

// The first and the last bin end where the smallest and the largest value are.
Spread spread_of(const Observation& observed);

}  // namespace octet
