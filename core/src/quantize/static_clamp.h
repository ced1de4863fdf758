// Clamps by constants: Relu, Clip, and Max or Min with one number. Rounding to integers saturates at the ends of a
// range, which makes a clamp before it superfluous when both its bounds round to the ends.
#pragma once

#include <cstdint>
#include <optional>

#include "model/graph_view.h"
#include "quantize/weight_params.h"

namespace octet {

struct Clamp {
  int input = 0;  // what it clamps
  std::optional<double> low, high;
};

// Nothing when the node is no clamp, or one whose bounds are not known.
std::optional<Clamp> clamp_of(const Model& model, const GraphView& view, const NodeAt& at);

// Whether every value rounds and saturates to the same integer with the clamp and without.
bool is_superfluous(const Clamp& clamp, float scale, std::int32_t zero_point, IntegerRange integers);

}  // namespace octet
