// What quantizing costs, from the histogram alone: rounding inside the range and clipping outside of it.
#pragma once

#include <limits>

#include "calibrate/spread.h"
#include "octet/plan.h"

namespace octet {

class QuantizationNoise {
 public:
  QuantizationNoise(const Spread& spread, QuantType type, bool symmetric)
      : spread_(spread), type_(type), symmetric_(symmetric) {}

  // Sum over the values of (value - quantized value)², with the scale and zero point that choose_params makes of the
  // range: exact for values that lie evenly in their bins. Something of at least `limit` where it reaches that.
  double of(Interval range, double limit = std::numeric_limits<double>::infinity()) const;

 private:
  const Spread& spread_;
  QuantType type_;
  bool symmetric_;
};

// 10·log10(signal / noise) within ±kSqnrEqual; kSqnrEqual without noise.
double sqnr_db(double signal, double noise);

}  // namespace octet
