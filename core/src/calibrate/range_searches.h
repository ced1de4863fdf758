// The methods that search: each gives the range it finds best, of real values that were seen.
#pragma once

#include "calibrate/quantization_noise.h"
#include "calibrate/spread.h"
#include "octet/plan.h"

namespace octet {

// Least Kullback-Leibler divergence between the values and what 128 levels leave of them, over ranges around zero.
Interval entropy_range(const Spread& spread, Interval seen);

// Least noise over ranges with either end drawn in.
Interval mse_range(const QuantizationNoise& noise, Interval seen, bool symmetric);

}  // namespace octet
