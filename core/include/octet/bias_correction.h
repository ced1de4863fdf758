// Bias correction: rounding takes something from what a product gives on average, channel by channel, and its bias can
// give that back for nothing. What is missing is measured by running the float model and the rounded one.
#pragma once

#include <string>
#include <vector>

#include "octet/channels.h"
#include "octet/plan.h"
#include "octet/quantizer.h"

namespace octet {

// What one product gives, in the float model (the quantizer's) and in the rounded one.
struct CorrectionTap {
  std::string node;
  ChannelTap in_float, rounded;
};

struct CorrectionRun {
  Model rounded;                    // what the plan makes of the model, in a form that shows floats everywhere
  std::vector<CorrectionTap> taps;  // in the order of the graph
};

// Of static products whose bias is stored or can be added without another node: Conv, ConvTranspose and Gemm, and a
// MatMul with an Add of a stored vector behind it. The plan has its ranges.
CorrectionRun correction_run(const Quantizer& quantizer);

// Adds to the plan what a tap's product lacks. The same product again: on top of what it has already.
void add_correction(Plan& plan, const CorrectionTap& tap, const ChannelObservation& in_float,
                    const ChannelObservation& rounded);

}  // namespace octet
