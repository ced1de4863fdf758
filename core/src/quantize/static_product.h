// Weight and bias of a product (Conv, ConvTranspose, MatMul, Gemm) in integers.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "quantize/static_values.h"

namespace octet {

struct ProductWeight {
  std::string data, scale_name, zero_point_name;
  std::vector<float> scale;  // one, or one per channel
  std::optional<int> axis;   // of the scales in the stored tensor
};

// Of input 1. A Gemm's alpha goes into the scales.
ProductWeight product_weight(Rewriter& rewriter, const NodeAt& at);

struct ProductBias {
  // int32 with scale (input's scale × weight's scale) per channel, zero point 0. Empty: the node has no bias, or one
  // that must be added behind it.
  std::string data;
  std::string scale_name;
  bool per_channel = false;
  std::string behind;  // float, for an Add behind the product
};

// Of input 2, a Gemm's beta with it. Constant biases become integers here, computed ones while the model runs.
ProductBias product_bias(Rewriter& rewriter, const NodeAt& at, const ProductWeight& weight, float input_scale);

// Widens weight scales where a bias would not fit int32, or where a channel's weights are all zero and its bias alone
// counts. To be called before any static node is rewritten.
void fit_scales_to_biases(Rewriter& rewriter, StaticValues& values, const std::vector<NodeAt>& products);

}  // namespace octet
