#include <algorithm>
#include <cstdio>
#include <string>
#include <string_view>

#include "octet/samples.h"
#include "octet/verdict.h"

namespace octet {
namespace {

// More would be a list to read, not a next step.
constexpr std::size_t kMostAdvice = 3;

// What the plan does, as far as speed and drift depend on it.
class Traits {
 public:
  explicit Traits(const Plan& plan) : plan_(plan) {}

  bool in_integers() const { return any(Action::kDynamic) || any(Action::kStatic); }
  bool any(Action action) const {
    return std::any_of(plan_.nodes.begin(), plan_.nodes.end(),
                       [&](const NodePlan& node) { return node.action == action; });
  }
  bool any(Action action, std::string_view op) const {
    return std::any_of(plan_.nodes.begin(), plan_.nodes.end(),
                       [&](const NodePlan& node) { return node.action == action && node.op == op; });
  }
  bool any(Form form) const {
    return std::any_of(plan_.nodes.begin(), plan_.nodes.end(), [&](const NodePlan& node) { return node.form == form; });
  }
  bool has_op(std::string_view op) const {
    return std::any_of(plan_.nodes.begin(), plan_.nodes.end(), [&](const NodePlan& node) { return node.op == op; });
  }
  bool per_tensor() const {
    return !plan_.tensors.empty() && std::none_of(plan_.tensors.begin(), plan_.tensors.end(),
                                                  [](const TensorPlan& tensor) { return tensor.axis.has_value(); });
  }
  bool in_4_bits() const {
    return std::any_of(plan_.tensors.begin(), plan_.tensors.end(), [](const TensorPlan& tensor) {
      return tensor.type == QuantType::kInt4 || tensor.type == QuantType::kUint4;
    });
  }
  bool activations(QuantType a, QuantType b) const {
    return std::any_of(plan_.activations.begin(), plan_.activations.end(),
                       [&](const ActivationPlan& value) { return value.type == a || value.type == b; });
  }
  bool min_max() const {
    return std::any_of(plan_.activations.begin(), plan_.activations.end(), [](const ActivationPlan& value) {
      return value.same_as.empty() && value.method == RangeMethod::kMinMax;
    });
  }

 private:
  const Plan& plan_;
};

class Explainer {
 public:
  Explainer(const Plan& plan, const RunFacts& facts) : mode_(plan.mode), traits_(plan), facts_(facts) {}

  void slow() {
    if (mode_ == Mode::kDynamic && traits_.any(Action::kDynamic, "Conv")) {
      why_ = "Convolutions in dynamic mode have no fast integer kernel.";
      advise("static", "Static mode has one: give calibration samples");
      advise("weights", "Weights only: stores convolutions small and leaves their arithmetic in float");
    } else if (mode_ == Mode::kDynamic) {
      why_ = "Dynamic mode finds ranges and converts at every run, which here costs more than integers save.";
      if (short_run()) why_ += short_words();
      advise("static", "Static mode knows the ranges in advance: give calibration samples");
      advise("weights", "Weights only: as small, with the arithmetic left as it is");
    } else if (mode_ == Mode::kStatic) {
      slow_static();
    } else {
      slow_weights();
    }
  }

  void low(const VerdictInput& input) {
    const bool broken = !(*input.sqnr_db > -kSqnrEqual);
    why_ = broken ? "Outputs are not finite, or not zero where they must be."
                  : "Rounding lost too much; one or two layers often hold nearly all of it.";
    if (traits_.in_4_bits()) advise("bits8", "Store the weights in 8 bits");
    if (traits_.per_tensor()) advise("per_channel", "Use a scale per channel");
    if (traits_.any(Action::kStatic)) {
      if (traits_.min_max()) advise("method", "Let the range of each activation be chosen by its error (method best)");
      advise("keep_layers", "Find the layers that lose, and keep them in float");
      if (const auto more = more_samples_advice(facts_.calibrated_on); facts_.calibrated_on > 0 && !more.empty())
        advise("more_samples", "Calibrate on 500 samples or more");
      advise("activations16", "Round activations to 16 bits: nearer, and slower");
    } else if (traits_.in_integers()) {
      advise("keep_layers", "Find the layers that lose, and keep them in float");
      advise("weights", "Weights only: activations are then not rounded");
    }
    advise("train",
           "Beyond Octet: train with quantization in the loop, or distil; what that exports keeps its own Q and DQ");
  }

  void small() {
    if (!traits_.in_integers() && !traits_.any(Action::kWeights)) {
      why_ = "Hardly any of the file is float weights that can be stored small.";
    } else {
      why_ = "Most of the file is something else than the weights that became small.";
    }
  }

  void as_fast() {
    if (mode_ == Mode::kWeights) why_ = "Arithmetic stays in float: only the file shrinks.";
  }

  void advise(const char* code, const char* text) {
    if (next_.size() < kMostAdvice) next_.push_back({code, text});
  }

  Explanation result() && { return {std::move(why_), std::move(next_)}; }

 private:
  bool short_run() const { return facts_.float_ms && *facts_.float_ms < kShortRunMs; }

  std::string short_words() const {
    char text[120];
    std::snprintf(text, sizeof text,
                  " A float run takes only %.2g ms, and the work around each operator does not shrink.",
                  *facts_.float_ms);
    return text;
  }

  void slow_static() {
    const bool converts =
        facts_.conversions && facts_.integer_products && *facts_.conversions > *facts_.integer_products / 2;
    if (traits_.activations(QuantType::kInt16, QuantType::kUint16)) {
      why_ = "Activations of 16 bits have no integer kernels: the runtime converts around every operator.";
      advise("activations8", "Round activations to 8 bits (quint8)");
    } else if (traits_.activations(QuantType::kInt8, QuantType::kInt8)) {
      why_ = "Signed activations have slow kernels on most processors.";
      advise("unsigned_activations", "Use quint8 activations with qint8 weights");
    } else if (facts_.integer_products && *facts_.integer_products == 0) {
      why_ = "The runtime computes nothing of it in integers.";
    } else if (converts) {
      why_ = std::to_string(*facts_.conversions) + " conversions lie between integers and float.";
    } else if (!short_run()) {
      why_ = "What is no product, or has no faster integer kernel, takes the time.";
    }
    if (short_run()) why_ += why_.empty() ? short_words().substr(1) : short_words();
    if (traits_.has_op("MatMul") || traits_.has_op("Gemm"))
      advise("dynamic", "Dynamic mode: leaves what lies between matrices in float");
    advise("weights", "Weights only: as small, with the arithmetic left as it is");
  }

  void slow_weights() {
    if (traits_.any(Form::kBlocks)) {
      why_ = "Weights in blocks are unpacked at every run, which pays only where one row at a time is multiplied.";
      advise("bits8", "Store the weights in 8 bits without blocks");
    } else if (traits_.any(Form::kDequantize)) {
      why_ = "Stored weights are made float again at every run, which pays only where few rows are multiplied.";
      advise("fold", "Target any: weights are made float once, when the model is loaded");
    } else {
      why_ = "Arithmetic stays in float, so a run should not be slower.";
      advise("time_again", "Time it again on a quiet machine");
    }
    advise("static", "Static mode computes in integers: give calibration samples");
  }

  Mode mode_;
  Traits traits_;
  const RunFacts& facts_;
  std::string why_;
  std::vector<Advice> next_;
};

}  // namespace

Explanation explain(const Verdict& verdict, const VerdictInput& input, const Plan& plan, const RunFacts& facts) {
  Explainer explainer(plan, facts);
  const bool ships = verdict.judgement == Judgement::kShip, cannot_tell = verdict.judgement == Judgement::kCannotTell;
  if (verdict.decided_by == Decider::kDrift && input.synthetic && cannot_tell) {
    explainer.advise("real_samples", "Check it on real samples");
  } else if (verdict.decided_by == Decider::kDrift) {
    explainer.low(input);
  } else if (verdict.decided_by == Decider::kSpeed && cannot_tell) {
    explainer.advise("time_again", "Time it again on a quiet machine");
  } else if (verdict.decided_by == Decider::kSpeed && !ships) {
    explainer.slow();
  } else if (verdict.decided_by == Decider::kSize && !ships) {
    explainer.small();
  } else if (verdict.decided_by == Decider::kSize) {
    explainer.as_fast();
  }
  return std::move(explainer).result();
}

}  // namespace octet
