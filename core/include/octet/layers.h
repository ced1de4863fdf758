// Which values and weights of a float model stand for which of a quantized one: what debugging its loss compares.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "octet/model.h"

namespace octet {

// A float value and what became of it. All names are of values of the main graphs.
struct ValuePair {
  std::string name;    // in the float model
  std::string node;    // that makes it there, by id; "" for an input
  std::string op;      // of that node
  std::string after;   // in the quantized model: behind DequantizeLinear, or of the same name where it is not rounded
  std::string before;  // in front of QuantizeLinear there; "" where the quantized model does not round it
  // What rounding clamps to besides its own range, since a Relu or Clip of the float model is left to it.
  std::optional<float> low, high;
};

// A stored tensor and the integers that stand for it, compared.
struct WeightDrift {
  std::string name;                // in the float model
  std::string stored;              // in the quantized model
  std::string type;                // of the integers: "INT8" …
  std::vector<std::string> nodes;  // of the float model that read it, by id
  std::uint64_t elements = 0;
  double sqnr_db = 0, max_abs_error = 0, max_abs = 0;  // formulas of OutputDrift
};

struct LayerPairs {
  std::vector<ValuePair> values;  // in graph order of the float model
  int rounded = 0;                // values that the quantized model rounds, by QuantizeLinear and DequantizeLinear
  int rounded_matched = 0;        // those of them among `values`
};

// Follows QuantizeLinear to DequantizeLinear in the quantized model, made by Octet or by the Python tool, and finds the
// value of the float model by the names around them; every other float value counts as its namesake. Inputs that are
// not rounded are left out.
LayerPairs match_values(Model& reference, Model& candidate);

// Every stored integer tensor of the quantized model that is a weight of the float model: by name, or by the place in
// the node that reads it; dequantized as that node does. `unmatched` counts those nothing is known of.
std::vector<WeightDrift> compare_weights(Model& reference, Model& candidate, int* unmatched = nullptr);

}  // namespace octet
