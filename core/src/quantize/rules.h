// Which inputs of an operator are weights, along which axis they may have a scale per channel, and whether the operator
// has an integer form. One row per operator in rules.cc; operators without a row stay in float and are reported.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "model/graph_view.h"
#include "octet/plan.h"

namespace octet {

struct RuleContext {
  const Model& model;
  const GraphView& view;
  NodeAt at;
  const PlanOptions& options;
};

// One weight input of one node. Axes count in the layout the node sees.
struct WeightSlot {
  int input = 0;
  std::optional<int> axis;  // first axis with a scale per element, where the operator allows one
  int axes = 1;
  bool swapped = false;  // the integer form wants the last two axes the other way round
};

enum class Family {
  kMatMul,     // MatMul, Gemm
  kConv,       // Conv, ConvTranspose
  kRecurrent,  // LSTM, GRU, RNN
  kGather,     // a table of which rows are read
  kAttention,  // com.microsoft Attention
  kTable,      // anything else that reads a large stored tensor: embeddings, positions, constants
};

struct Rule {
  std::string_view op, domain;
  Family family;
  std::vector<WeightSlot> (*slots)(const RuleContext&);
  // Why the node cannot compute in integers, "" when it can. Null: the operator has no integer form in dynamic mode.
  std::string (*no_dynamic)(const RuleContext&);
};

// Null when the operator has no row.
const Rule* find_rule(const onnx::NodeProto& node);

// A node input that is a stored float tensor, directly or through a Transpose of a matrix.
struct StoredWeight {
  Value* value = nullptr;                // the initializer
  onnx::NodeProto* transpose = nullptr;  // the Transpose between, if any
  Scope* transpose_scope = nullptr;
};
StoredWeight stored_weight(const GraphView& view, const NodeAt& at, int input);

// The form that costs no speed, by operator family and target; measured, see targets.cc.
Form weights_form(Family family, Target target);

}  // namespace octet
