// Cross-layer equalization (Nagel et al., 2019): where one product feeds another through nothing but what scales along
// (Relu, LeakyRelu, pooling), channels may be scaled down in the first and up in the second. Done so that the largest
// weights of a channel are equal on both sides, no channel's weights drown in the range of the others.
//   y = B(Relu(A(x)))  →  y = (B · s)(Relu((A / s)(x))),  s = √(max|A's channel| / max|B's channel|)
#pragma once

#include "octet/model.h"

namespace octet {

// Changes stored weights and biases, in the order of the nodes; the same everywhere. What the model computes stays, up
// to rounding of floats. Returns how many pairs were equalized.
int equalize_model(Model& model);

}  // namespace octet
