// Integers that a quantized model stores, as the floats that its nodes make of them.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "model/graph_view.h"

namespace octet {

struct Restored {
  std::vector<std::int64_t> dims;
  std::vector<float> values;    // row-major
  std::string value;            // the float value that the model makes of them; "" where a node reads integers itself
  const Use* reader = nullptr;  // of the floats, or of the integers
};

// By the first reader that tells: DequantizeLinear, Cast → (Sub) → Mul, an operator with scale inputs of its own, or
// one whose scale is found by the tools' names. Nothing for other tensors.
std::optional<Restored> restore_integers(const Model& model, const GraphView& view, const Value& stored);

}  // namespace octet
