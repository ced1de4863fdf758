// A natural logarithm that is the same on every platform: additions, multiplications and one division in a fixed order.
#pragma once

namespace octet {

// x > 0 and finite; denormals included. Within 2 units in the last place of the true value (measured against 80-bit
// logarithms by calibrate_logarithm_test).
double natural_log(double x);

}  // namespace octet
