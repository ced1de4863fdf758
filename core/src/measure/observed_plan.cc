#include "octet/observed_plan.h"

#include <algorithm>
#include <array>
#include <utility>

#include "model/graph_match.h"
#include "model/graph_view.h"

namespace octet {
namespace {

struct IntegerOp {
  std::string_view op, stands_for;
  Action action;
  int weight;  // place among the inputs
};
constexpr std::array<IntegerOp, 9> kIntegerOps = {{{"QLinearConv", "Conv", Action::kStatic, 3},
                                                   {"QLinearMatMul", "MatMul", Action::kStatic, 3},
                                                   {"QGemm", "Gemm", Action::kStatic, 3},
                                                   {"ConvInteger", "Conv", Action::kDynamic, 1},
                                                   {"MatMulInteger", "MatMul", Action::kDynamic, 1},
                                                   {"MatMulIntegerToFloat", "MatMul", Action::kDynamic, 1},
                                                   {"DynamicQuantizeMatMul", "MatMul", Action::kDynamic, 1},
                                                   {"DynamicQuantizeLSTM", "LSTM", Action::kDynamic, 1},
                                                   {"QAttention", "Attention", Action::kDynamic, 1}}};

std::optional<QuantType> quant_type(const Value* value) {
  if (!value || !value->constant()) return std::nullopt;
  switch (value->initializer->data_type()) {
    case onnx::TensorProto::INT4:
      return QuantType::kInt4;
    case onnx::TensorProto::UINT4:
      return QuantType::kUint4;
    case onnx::TensorProto::INT8:
      return QuantType::kInt8;
    case onnx::TensorProto::UINT8:
      return QuantType::kUint8;
    case onnx::TensorProto::INT16:
      return QuantType::kInt16;
    case onnx::TensorProto::UINT16:
      return QuantType::kUint16;
    default:
      return std::nullopt;
  }
}

bool several(const Value* scale) { return scale && scale->constant() && element_count(*scale->initializer) > 1; }

// What an input of a node comes from.
enum class Source { kFloat, kRounded, kDequantized, kFolded };

class Observer {
 public:
  explicit Observer(Model& model) : view_(model.proto()) {}

  std::optional<Plan> run() {
    for (const NodeAt& at : view_.nodes()) node(at);
    if (plan_.tensors.empty() && plan_.activations.empty() && !any(Action::kStatic) && !any(Action::kDynamic))
      return std::nullopt;
    plan_.mode = any(Action::kStatic) ? Mode::kStatic : any(Action::kDynamic) ? Mode::kDynamic : Mode::kWeights;
    return std::move(plan_);
  }

 private:
  bool any(Action action) const {
    return std::any_of(plan_.nodes.begin(), plan_.nodes.end(),
                       [&](const NodePlan& node) { return node.action == action; });
  }

  void node(const NodeAt& at) {
    const std::string& op = at.node->op_type();
    if (op == "QuantizeLinear") {
      activation(at);
    } else if (op == "DequantizeLinear") {
      if (const auto type = quant_type(view_.input(at, 0))) weight(at, 0, *type, several(view_.input(at, 1)));
    } else if (op == "MatMulNBits") {
      weight(at, 1, int_attribute(*at.node, "bits", 4) == 4 ? QuantType::kUint4 : QuantType::kUint8, true);
      add(at, "MatMul", Action::kWeights, Form::kBlocks);
    } else if (const auto known = std::find_if(kIntegerOps.begin(), kIntegerOps.end(),
                                               [&](const IntegerOp& row) { return row.op == op; });
               known != kIntegerOps.end()) {
      const bool scaled = known->action == Action::kStatic;  // with an input of scales right behind the weight
      const auto type = quant_type(view_.input(at, known->weight));
      // Where scales are multiplied further on, one per channel is taken for granted: nothing is said of it then.
      if (type) weight(at, known->weight, *type, !scaled || several(view_.input(at, known->weight + 1)));
      add(at, known->stands_for, known->action, Form::kNone);
    } else if (op != "DynamicQuantizeLinear") {
      floating(at);
    }
  }

  // A node in float is a static one where the runtime finds Q and DQ on its sides.
  void floating(const NodeAt& at) {
    bool rounded = false;
    Form form = Form::kNone;
    for (int i = 0; i < at.node->input_size(); ++i) {
      const Source source = source_of(view_.input(at, i));
      rounded = rounded || source == Source::kRounded;
      if (source == Source::kDequantized) form = Form::kDequantize;
      if (source == Source::kFolded) form = Form::kFold;
    }
    const Action action = rounded ? Action::kStatic : form == Form::kNone ? Action::kKeep : Action::kWeights;
    add(at, at.node->op_type(), action, rounded ? Form::kNone : form);
  }

  Source source_of(const Value* value) {
    // Turned or reshaped weights are still the same weights.
    auto from = producer_of(value);
    while (from && (is_op(*from->node, "Transpose") || is_op(*from->node, "Reshape")))
      from = producer_of(view_.input(*from, 0));
    if (!from) return Source::kFloat;
    if (is_op(*from->node, "DequantizeLinear")) {
      const Value* integers = view_.input(*from, 0);
      return integers && integers->constant() ? Source::kDequantized : Source::kRounded;
    }
    if (!is_op(*from->node, "Mul")) return Source::kFloat;
    for (int i = 0; i < 2; ++i) {
      auto inner = producer_of(view_.input(*from, i));
      if (inner && is_op(*inner->node, "Sub")) inner = producer_of(view_.input(*inner, 0));
      if (!inner || !is_op(*inner->node, "Cast")) continue;
      const auto type = quant_type(view_.input(*inner, 0));
      if (!type) continue;
      weight(*inner, 0, *type, several(view_.input(*from, 1 - i)));
      return Source::kFolded;
    }
    return Source::kFloat;
  }

  void add(const NodeAt& at, std::string_view op, Action action, Form form) {
    NodePlan node;
    node.node = at.node->name();
    node.op = op;
    node.action = action;
    node.form = form;
    plan_.nodes.push_back(std::move(node));
  }

  void weight(const NodeAt& at, int input, QuantType type, bool per_channel) {
    TensorPlan tensor;
    tensor.tensor = at.node->input(input);
    tensor.type = type;
    if (per_channel) tensor.axis = 0;  // which axis it is makes no difference here
    plan_.tensors.push_back(std::move(tensor));
  }

  void activation(const NodeAt& at) {
    ActivationPlan value;
    value.tensor = at.node->input(0);
    value.type = quant_type(view_.input(at, 2)).value_or(QuantType::kUint8);
    value.method = RangeMethod::kBest;
    plan_.activations.push_back(std::move(value));
  }

  GraphView view_;
  Plan plan_;
};

}  // namespace

std::optional<Plan> observed_plan(Model& model) { return Observer(model).run(); }

}  // namespace octet
