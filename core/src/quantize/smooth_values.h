// SmoothQuant: y = MatMul(x, W)  →  y = MatMul(x / s, s · W), s per input channel
// where a few channels of x are so much larger than the others that one scale for all leaves these no bits. The
// division happens where x is made, when that can be had for nothing:
//   x = LayerNormalization(v, gamma, beta)  →  its gamma / s, beta / s   (also where it is written out)
//   x = Add(v, b), Mul(v, g), Relu(v)       →  b / s and v / s, g / s, v / s
//   x = MatMul(v, W)                        →  its W / s
// and else by a Mul before the products that read x.
#pragma once

#include <string>
#include <vector>

#include "octet/channels.h"
#include "octet/plan.h"

namespace octet {

// Values that static products of a plan read whose stored matrices are theirs alone, with those products.
std::vector<Smoothing> smoothable(Model& model, const Plan& plan);

// s = max|x|^alpha / max|W|^(1 - alpha) per channel, W over all products that read x. Empty where too little is gained.
std::vector<float> smoothing_factors(Model& model, const Smoothing& smoothing, const ChannelObservation& observed,
                                     double alpha);

// Changes the model. True when it costs no node. Throws Error(kUsage) when the model has no such value and products.
bool smooth_value(Model& model, const Smoothing& smoothing);

}  // namespace octet
