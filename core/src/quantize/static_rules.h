// Which operators compute in integers when the ranges of their activations are known, and how. One row per operator in
// static_rules.cc.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "model/graph_view.h"
#include "octet/plan.h"

namespace octet {

enum class StaticKind {
  kProduct,  // sums of products with a stored weight: what is worth computing in integers
  kCarry,    // its output holds elements of its input, which keep scale and zero point
  kCompute,  // a kernel of its own between integers, which costs little where its neighbours are in integers
  kClamp,    // Relu, Clip: what rounding to integers does anyway where the range begins at 0
};

struct StaticRule {
  std::string_view op;
  StaticKind kind;
  // Activation inputs; {-1}: every input. Inputs that are not float or not there are passed over.
  std::vector<int> inputs;
  // Joins a chain of integer nodes by itself; others only when --op-types names them.
  bool joins = false;
  // ONNX Runtime has an integer kernel for it, fused from Q/DQ on both sides.
  bool integer_kernel = true;
  std::string_view qlinear = {};  // its QOperator form; empty: none, it keeps DQ and Q around it

  bool takes(int input) const;  // in integers
};

// Null when the operator has no static form.
const StaticRule* find_static_rule(const onnx::NodeProto& node);

}  // namespace octet
