// y = Conv(x, w, b)  →  y = Conv(x, w, b + c)     y = Add(MatMul(x, w), b)  →  y = Add(MatMul(x, w), b + c)
// for the corrections c of a plan, before anything is quantized.
#pragma once

#include "octet/plan.h"

namespace octet {

// Throws Error(kUsage) for a plan of another model.
void correct_biases(Model& model, const Plan& plan);

}  // namespace octet
