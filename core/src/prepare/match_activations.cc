// GELU, SiLU and HardSwish, written out.
//
// Exporters multiply x, 0.5 and 1 + erf(x/sqrt2) in every order there is. So formulas are compared instead of nodes:
// what enters the function (Erf, Tanh, Sigmoid, Clip, HardSigmoid) is a polynomial of x, and the result is one of x and
// of the function's value e.
#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>

#include "prepare/block_draft.h"

namespace octet {
namespace {

constexpr int kMaxDegree = 3;
constexpr int kMaxSteps = 64;  // nodes looked at for one formula
constexpr int kMaxDepth = 8;

// Coefficients of x^i · e^j.
struct Formula {
  std::array<std::array<double, 2>, kMaxDegree + 1> at{};

  static Formula term(int x, int e, double factor = 1) {
    Formula formula;
    formula.at[static_cast<std::size_t>(x)][static_cast<std::size_t>(e)] = factor;
    return formula;
  }
  Formula plus(const Formula& other, double factor = 1) const {
    Formula sum = *this;
    for (std::size_t i = 0; i < at.size(); ++i) {
      for (std::size_t j = 0; j < 2; ++j) sum.at[i][j] += factor * other.at[i][j];
    }
    return sum;
  }
  std::optional<Formula> times(const Formula& other) const {
    Formula product;
    for (std::size_t i = 0; i < at.size(); ++i) {
      for (std::size_t j = 0; j < 2; ++j) {
        if (at[i][j] == 0) continue;
        for (std::size_t k = 0; k < at.size(); ++k) {
          for (std::size_t l = 0; l < 2; ++l) {
            if (other.at[k][l] == 0) continue;
            if (i + k >= at.size() || j + l >= 2) return std::nullopt;
            product.at[i + k][j + l] += at[i][j] * other.at[k][l];
          }
        }
      }
    }
    return product;
  }
  // The largest relative distance of a coefficient; nothing when one is there that should not be, or far off.
  std::optional<double> distance(const Formula& wanted) const {
    double worst = 0;
    for (std::size_t i = 0; i < at.size(); ++i) {
      for (std::size_t j = 0; j < 2; ++j) {
        if (wanted.at[i][j] == 0 && at[i][j] == 0) continue;
        const double here = relative_distance(at[i][j], wanted.at[i][j]);
        if (!(here <= kConstantTolerance)) return std::nullopt;
        worst = std::max(worst, here);
      }
    }
    return worst;
  }
};

struct Activation {
  BlockKind kind;
  const char* function;
  Formula enters, result;
};

const std::vector<Activation>& activations() {
  static const double root = std::sqrt(2 / std::numbers::pi);
  static const Formula half_sum = Formula::term(1, 0, 0.5).plus(Formula::term(1, 1, 0.5));
  static const std::vector<Activation> all = {
      {BlockKind::kGeluErf, "Erf", Formula::term(1, 0, 1 / std::numbers::sqrt2), half_sum},
      {BlockKind::kGeluTanh, "Tanh", Formula::term(1, 0, root).plus(Formula::term(3, 0, 0.044715 * root)), half_sum},
      {BlockKind::kSilu, "Sigmoid", Formula::term(1, 0), Formula::term(1, 1)},
      {BlockKind::kQuickGelu, "Sigmoid", Formula::term(1, 0, 1.702), Formula::term(1, 1)},
      {BlockKind::kHardSwish, "Clip", Formula::term(1, 0).plus(Formula::term(0, 0, 3)), Formula::term(1, 1, 1.0 / 6)},
      {BlockKind::kHardSwish, "HardSigmoid", Formula::term(1, 0), Formula::term(1, 1)},
  };
  return all;
}

bool is_arithmetic(const onnx::NodeProto& node) {
  return is_op(node, "Mul") || is_op(node, "Add") || is_op(node, "Sub") || is_op(node, "Div") || is_op(node, "Pow") ||
         is_op(node, "Neg");
}

// Reads a value as a formula of x and e, taking in every node on the way.
class Reading {
 public:
  Reading(BlockDraft& draft, const Value* x, const Value* e) : draft_(draft), x_(x), e_(e) {}

  std::optional<Formula> of(const Value* value, int depth = kMaxDepth) {
    if (!value || depth == 0 || ++steps_ > kMaxSteps) return std::nullopt;
    if (value == x_) return Formula::term(1, 0);
    if (value == e_) return Formula::term(0, 1);
    if (const auto number = draft_.scalar(value)) return Formula::term(0, 0, *number);
    auto* node = draft_.maker(value);
    if (!node || !is_arithmetic(*node)) return std::nullopt;
    const bool alone = node->op_type() == "Neg";
    if (node->input_size() != (alone ? 1 : 2)) return std::nullopt;
    draft_.take(node);
    const auto first = of(draft_.in(node, 0), depth - 1);
    if (!first) return std::nullopt;
    if (alone) return Formula{}.plus(*first, -1);
    const auto second = of(draft_.in(node, 1), depth - 1);
    if (!second) return std::nullopt;
    if (node->op_type() == "Add") return first->plus(*second);
    if (node->op_type() == "Sub") return first->plus(*second, -1);
    if (node->op_type() == "Mul") return first->times(*second);
    const double number = second->at[0][0];
    if (number == 0 || second->plus(Formula::term(0, 0, -number)).at != Formula{}.at) return std::nullopt;
    if (node->op_type() == "Div") return first->times(Formula::term(0, 0, 1 / number));
    if (number == 2) return first->times(*first);
    const auto square = number == 3 ? first->times(*first) : std::nullopt;
    return square ? square->times(*first) : std::nullopt;
  }

 private:
  BlockDraft& draft_;
  const Value *x_, *e_;
  int steps_ = 0;
};

// Whatever could be x: the values above the function, through arithmetic, nearest first.
std::vector<const Value*> candidates(const BlockDraft& draft, const Value* above) {
  std::vector<const Value*> found;
  if (above && !above->constant()) found.push_back(above);
  for (std::size_t i = 0; i < found.size() && found.size() < 12; ++i) {
    const auto* node = draft.maker(found[i]);
    if (!node || !is_arithmetic(*node)) continue;
    for (int input = 0; input < node->input_size(); ++input) {
      const Value* next = draft.in(node, input);
      if (next && !next->constant() && std::find(found.begin(), found.end(), next) == found.end())
        found.push_back(next);
    }
  }
  return found;
}

bool has_right_limits(BlockDraft& draft, const onnx::NodeProto& function) {
  if (function.op_type() == "HardSigmoid") {
    const auto alpha = static_cast<double>(float_attribute(function, "alpha", 0.2f));
    const auto beta = static_cast<double>(float_attribute(function, "beta", 0.5f));
    const double far = std::max(relative_distance(alpha, 1.0 / 6), relative_distance(beta, 0.5));
    if (!(far <= kConstantTolerance)) return false;
    draft.deviate(far);
    return true;
  }
  if (function.op_type() != "Clip") return true;
  if (const auto* least = find_attribute(function, "min")) {
    const auto* most = find_attribute(function, "max");
    return least->f() == 0 && most && most->f() == 6;
  }
  return draft.scalar(draft.in(&function, 1)) == 0.0 && draft.scalar(draft.in(&function, 2)) == 6.0;
}

std::optional<Block> match_with(const Model& model, const GraphView& view, const NodeAt& function,
                                const Activation& activation, const Value* x) {
  BlockDraft draft(model, view, function);
  const Value* e = draft.out(function.node);
  const auto entering = Reading(draft, x, nullptr).of(draft.in(function.node, 0));
  const auto enters = entering ? entering->distance(activation.enters) : std::nullopt;
  if (!e || !enters || !has_right_limits(draft, *function.node)) return std::nullopt;
  draft.deviate(*enters);
  const Value* result = e;
  for (int step = 0; step < kMaxDepth; ++step) {
    const auto* next = draft.reader(result);
    if (!next || !is_arithmetic(*next)) return std::nullopt;
    result = draft.out(next);
    BlockDraft whole = draft;
    const auto formula = Reading(whole, x, e).of(result);
    const auto distance = formula ? formula->distance(activation.result) : std::nullopt;
    if (!distance) continue;
    whole.deviate(*distance);
    return whole.finish(activation.kind, {x}, result);
  }
  return std::nullopt;
}

}  // namespace

std::optional<Block> match_activation(const Model& model, const GraphView& view, const NodeAt& function) {
  const auto xs = candidates(BlockDraft(model, view, function), view.input(function, 0));
  for (const Activation& activation : activations()) {
    if (!is_op(*function.node, activation.function)) continue;
    for (const Value* x : xs) {
      if (auto block = match_with(model, view, function, activation, x)) return block;
    }
  }
  return std::nullopt;
}

}  // namespace octet
