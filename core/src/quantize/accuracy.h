// Steps that a plan holds beside what becomes of each tensor: they change the model before anything is quantized.
#pragma once

#include "octet/plan.h"

namespace octet {

// Equalizes and smooths as the plan says. Throws Error(kUsage) for a plan of another model.
void change_model(Model& model, const Plan& plan);

}  // namespace octet
