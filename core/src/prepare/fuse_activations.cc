// a = Add(x, b), c = Clip(a, 0, m), y = Div(Mul(x, c), m) or Mul(x, Div(c, m))
//                                          →   c = HardSigmoid(x, alpha = 1 / m, beta = b / m), y = Mul(x, c)
// c = HardSigmoid(x, alpha = 1/6, beta = 1/2), y = Mul(x, c)      →   y = HardSwish(x), from opset 14
// y = Max(x, 0)                                                   →   y = Relu(x)
// a = Max(x, low), y = Min(a, high)                               →   y = Clip(x, low, high)
//   Constants are stored single numbers, Mul by 1 / m stands for Div by m, and the values between have no other reader.
//   Half the passes over memory, and Relu and Clip are what the runtime takes into a Conv before them. All of these
//   hand on a NaN as they get it.
#include <cmath>

#include "prepare/sweep.h"

namespace octet {
namespace {

constexpr double kSame = 1e-6;  // 1/6 is written with more or fewer digits

class Activations : public Sweep {
 public:
  Activations(Model& model, PassReport& report) : Sweep(model, report), opset_(opset_of(model.proto())) {}

  bool visit(const NodeAt& at) {
    return at.node->output_size() == 1 && (hard_sigmoid(at) || hard_swish(at) || clip(at) || relu(at));
  }

 private:
  // A stored float32 number without axes.
  std::optional<double> number(const Value* value) const {
    if (!value || !value->constant() || value->initializer->dims_size() > 0) return std::nullopt;
    if (value->initializer->data_type() != onnx::TensorProto::FLOAT) return std::nullopt;
    return scalar_of(model_, value);
  }

  // An operand that is one stored float32 number and gives the result no axis that `other` has not.
  std::optional<double> number_beside(const NodeAt& at, int input, int other) {
    const Value* value = view_.input(at, input);
    if (!value || !value->constant() || value->initializer->data_type() != onnx::TensorProto::FLOAT ||
        !view_.input(at, other))
      return std::nullopt;
    const int axes = value->initializer->dims_size();
    if (element_count(*value->initializer) != 1) return std::nullopt;
    if (axes > 0) {
      const auto& dims = facts(at, other).dims;
      if (!dims || dims->size() < static_cast<std::size_t>(axes)) return std::nullopt;
    }
    return scalar_of(model_, value);
  }

  // Where the other operand stands in `op(other, number)`, which is symmetric: Add, Mul, Max, Min.
  struct Operand {
    int other = 0;
    double number = 0;
  };
  std::optional<Operand> with_number(const NodeAt& at) {
    if (at.node->input_size() != 2) return std::nullopt;
    for (const int input : {1, 0}) {
      if (const auto value = number_beside(at, input, 1 - input)) return Operand{1 - input, *value};
    }
    return std::nullopt;
  }

  // Which input a division by a number has as dividend, and that number.
  std::optional<Operand> quotient(const NodeAt& at) {
    const bool division = is_op(*at.node, "Div");
    if (!division && !is_op(*at.node, "Mul")) return std::nullopt;
    auto operand = with_number(at);
    if (!operand || operand->number == 0) return std::nullopt;
    if (division) return operand->other == 0 ? operand : std::nullopt;
    operand->number = 1 / operand->number;
    return operand;
  }

  // Clip(Add(x, shift), 0, high), both read once.
  struct Ramp {
    NodeAt add, clip;
    const Value* x = nullptr;
    double shift = 0, high = 0;
  };
  std::optional<Ramp> ramp(const NodeAt& at, int input) {
    const auto clip = sole_producer(at, input, "Clip");
    const auto add = clip ? sole_producer(*clip, 0, "Add") : std::nullopt;
    const auto shift = add ? with_number(*add) : std::nullopt;
    if (!shift) return std::nullopt;
    Ramp found{*add, *clip, view_.input(*add, shift->other), shift->number, 0};
    double low = -1;
    if (opset_ < 11) {
      if (!find_attribute(*clip->node, "min") || !find_attribute(*clip->node, "max")) return std::nullopt;
      low = static_cast<double>(float_attribute(*clip->node, "min", 0));
      found.high = static_cast<double>(float_attribute(*clip->node, "max", 0));
    } else {
      const auto least = number(view_.input(*clip, 1)), most = number(view_.input(*clip, 2));
      if (!least || !most) return std::nullopt;
      low = *least;
      found.high = *most;
    }
    if (!found.x || low != 0 || !(found.high > 0) || !std::isfinite(found.high) || !std::isfinite(found.shift))
      return std::nullopt;
    return found;
  }

  bool hard_sigmoid(const NodeAt& at) {
    if (const auto outer = quotient(at)) {  // (x · c) / m
      const auto product = sole_producer(at, outer->other, "Mul");
      if (!product || product->node->input_size() != 2) return false;
      for (const int input : {0, 1}) {
        const auto found = ramp(*product, input);
        if (!found || view_.input(*product, 1 - input) != found->x || !divides(outer->number, found->high)) continue;
        take(*product->node, *at.node);
        return to_hard_sigmoid(at, *found);
      }
      return false;
    }
    if (!is_op(*at.node, "Mul") || at.node->input_size() != 2) return false;
    for (const int input : {0, 1}) {  // x · (c / m)
      auto inner = sole_producer(at, input, "Div");
      if (!inner) inner = sole_producer(at, input, "Mul");
      const auto operand = inner ? quotient(*inner) : std::nullopt;
      const auto found = operand ? ramp(*inner, operand->other) : std::nullopt;
      if (!found || view_.input(at, 1 - input) != found->x || !divides(operand->number, found->high)) continue;
      take(*inner->node, *at.node);
      return to_hard_sigmoid(at, *found);
    }
    return false;
  }

  static bool divides(double divisor, double high) { return std::abs(divisor / high - 1) <= kSame; }

  bool to_hard_sigmoid(const NodeAt& at, const Ramp& found) {
    onnx::NodeProto& clip = *found.clip.node;
    const std::string x = found.x->name, between = clip.output(0);
    become(clip, "HardSigmoid", {x});
    set_float(clip, "alpha", 1 / found.high);
    set_float(clip, "beta", found.shift / found.high);
    become(*at.node, "Mul", {x, between});
    take(*found.add.node, clip);
    return true;
  }

  static void set_float(onnx::NodeProto& node, const char* name, double value) {
    auto& attribute = *node.add_attribute();
    attribute.set_name(name);
    attribute.set_type(onnx::AttributeProto::FLOAT);
    attribute.set_f(static_cast<float>(value));
  }

  bool hard_swish(const NodeAt& at) {
    if (opset_ < 14 || !is_op(*at.node, "Mul") || at.node->input_size() != 2) return false;
    for (const int input : {0, 1}) {
      const auto sigmoid = sole_producer(at, input, "HardSigmoid");
      if (!sigmoid || view_.input(*sigmoid, 0) != view_.input(at, 1 - input)) continue;
      const auto& node = *sigmoid->node;
      if (std::abs(float_attribute(node, "alpha", 0.2f) - 1.0 / 6) > kSame ||
          std::abs(float_attribute(node, "beta", 0.5f) - 0.5) > kSame)
        continue;
      become(*at.node, "HardSwish", {node.input(0)});
      take(*sigmoid->node, *at.node);
      return true;
    }
    return false;
  }

  // Clip takes its bounds as inputs from opset 11 on; before that nothing is gained worth another form.
  bool clip(const NodeAt& at) {
    if (opset_ < 11 || !is_op(*at.node, "Min")) return false;
    const auto high = with_number(at);
    const auto inner = high ? sole_producer(at, high->other, "Max") : std::nullopt;
    const auto low = inner ? with_number(*inner) : std::nullopt;
    if (!low || !(low->number <= high->number) || !std::isfinite(low->number) || !std::isfinite(high->number))
      return false;
    const std::string least = inner->node->input(1 - low->other), most = at.node->input(1 - high->other);
    if (!number(view_.input(*inner, 1 - low->other)) || !number(view_.input(at, 1 - high->other))) return false;
    become(*at.node, "Clip", {inner->node->input(low->other), least, most});
    take(*inner->node, *at.node);
    return true;
  }

  bool relu(const NodeAt& at) {
    if (!is_op(*at.node, "Max")) return false;
    const auto operand = with_number(at);
    if (!operand || operand->number != 0) return false;
    // The lower half of a Clip, which comes later in this sweep or the next.
    const Value* result = view_.find(*at.scope, at.node->output(0));
    const Use* use = result ? only_use(*result) : nullptr;
    if (opset_ >= 11 && use && is_op(*use->node, "Min") && with_number({use->node, use->scope})) return false;
    become(*at.node, "Relu", {at.node->input(operand->other)});
    touched_.add(at.node);
    return true;
  }

  std::int64_t opset_;
};

}  // namespace

void run_fuse_activations(Model& model, PassReport& report) {
  // What version 6 and older meant by arithmetic depends on attributes that went since.
  if (opset_of(model.proto()) < 7) return;
  sweep_until_still<Activations>(model, report);
}

}  // namespace octet
