#include "quantize/static_rules.h"

#include <algorithm>

namespace octet {
namespace {

constexpr bool kJoins = true, kAsked = false;
constexpr bool kInteger = true, kFloat = false;

const std::vector<StaticRule>& rules() {
  static const std::vector<StaticRule> table = {
      {"Conv", StaticKind::kProduct, {0}, kJoins, kInteger, "QLinearConv"},
      {"MatMul", StaticKind::kProduct, {0}, kJoins, kInteger, "QLinearMatMul"},
      {"Gemm", StaticKind::kProduct, {0}, kJoins, kInteger, "QGemm"},
      // No integer kernel in ONNX Runtime: in float between Q and DQ, and its weight unfolds at every run.
      {"ConvTranspose", StaticKind::kProduct, {0}, kAsked, kFloat},
      {"Relu", StaticKind::kClamp, {0}, kJoins},
      {"Clip", StaticKind::kClamp, {0}, kJoins},
      {"MaxPool", StaticKind::kCarry, {0}, kJoins},
      {"Reshape", StaticKind::kCarry, {0}, kJoins},
      {"Flatten", StaticKind::kCarry, {0}, kJoins},
      {"Transpose", StaticKind::kCarry, {0}, kJoins},
      {"Squeeze", StaticKind::kCarry, {0}, kJoins},
      {"Unsqueeze", StaticKind::kCarry, {0}, kJoins},
      {"Slice", StaticKind::kCarry, {0}, kJoins},
      {"Gather", StaticKind::kCarry, {0}, kJoins},
      {"GatherElements", StaticKind::kCarry, {0}, kAsked, kFloat},
      {"GatherND", StaticKind::kCarry, {0}, kAsked, kFloat},
      {"Expand", StaticKind::kCarry, {0}, kAsked},
      {"Tile", StaticKind::kCarry, {0}, kAsked},
      {"DepthToSpace", StaticKind::kCarry, {0}, kJoins},
      {"SpaceToDepth", StaticKind::kCarry, {0}, kJoins},
      {"Split", StaticKind::kCarry, {0}, kJoins},
      {"Resize", StaticKind::kCarry, {0}, kJoins},
      {"Pad", StaticKind::kCompute, {0}, kAsked, kFloat},
      {"ArgMax", StaticKind::kCompute, {0}, kAsked},
      {"Add", StaticKind::kCompute, {0, 1}, kJoins, kInteger, "QLinearAdd"},
      {"Mul", StaticKind::kCompute, {0, 1}, kJoins, kInteger, "QLinearMul"},
      {"Sigmoid", StaticKind::kCompute, {0}, kJoins, kInteger, "QLinearSigmoid"},
      {"LeakyRelu", StaticKind::kCompute, {0}, kJoins, kInteger, "QLinearLeakyRelu"},
      {"GlobalAveragePool", StaticKind::kCompute, {0}, kJoins, kInteger, "QLinearGlobalAveragePool"},
      {"AveragePool", StaticKind::kCompute, {0}, kJoins, kInteger, "QLinearAveragePool"},
      {"Concat", StaticKind::kCompute, {-1}, kJoins, kInteger, "QLinearConcat"},
      {"Where", StaticKind::kCompute, {1, 2}, kAsked, kInteger, "QLinearWhere"},
      {"Softmax", StaticKind::kCompute, {0}, kAsked, kInteger, "QLinearSoftmax"},
      {"Sub", StaticKind::kCompute, {0, 1}, kAsked, kFloat},
      {"Div", StaticKind::kCompute, {0, 1}, kAsked, kFloat},
      {"Min", StaticKind::kCompute, {-1}, kAsked, kFloat},
      {"Max", StaticKind::kCompute, {-1}, kAsked, kFloat},
      {"Tanh", StaticKind::kCompute, {0}, kAsked, kFloat},
      {"Exp", StaticKind::kCompute, {0}, kAsked, kFloat},
      {"Elu", StaticKind::kCompute, {0}, kAsked, kFloat},
      {"Gelu", StaticKind::kCompute, {0}, kAsked, kFloat},
      {"HardSwish", StaticKind::kCompute, {0}, kAsked, kFloat},
      {"HardSigmoid", StaticKind::kCompute, {0}, kAsked, kFloat},
      {"PRelu", StaticKind::kCompute, {0}, kAsked, kFloat},
      {"ReduceMean", StaticKind::kCompute, {0}, kAsked, kFloat},
      {"CumSum", StaticKind::kCompute, {0}, kAsked, kFloat},
      {"TopK", StaticKind::kCarry, {0}, kAsked, kFloat},
      {"LayerNormalization", StaticKind::kCompute, {0}, kAsked, kFloat},
      {"InstanceNormalization", StaticKind::kCompute, {0}, kAsked, kFloat},
      {"BatchNormalization", StaticKind::kCompute, {0}, kAsked, kFloat},
  };
  return table;
}

}  // namespace

bool StaticRule::takes(int input) const {
  return inputs.front() < 0 || std::find(inputs.begin(), inputs.end(), input) != inputs.end();
}

const StaticRule* find_static_rule(const onnx::NodeProto& node) {
  for (const StaticRule& rule : rules()) {
    if (is_op(node, rule.op)) return &rule;
  }
  return nullptr;
}

}  // namespace octet
