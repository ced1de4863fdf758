#include "quantize/smooth_values.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <map>
#include <optional>

#include "model/graph_match.h"
#include "octet/error.h"
#include "prepare/linear_op.h"
#include "quantize/tensor_ids.h"

namespace octet {
namespace {

using onnx::TensorProto;

// Smoothed are values after which rounding is expected to leave less than this of its error, as a mean square.
constexpr double kWorthwhile = 0.9;
// How many nodes a division is led back through at most.
constexpr int kMaxDepth = 8;

[[noreturn]] void refuse(const std::string& value, const std::string& what) {
  throw Error(ErrorCode::kUsage, "plan: smoothed value '" + value + "'", what, "plan the model again");
}

// base^exponent for an exponent from 0 to 1, bit by bit of it: roots are rounded the same everywhere, unlike pow().
double power(double base, double exponent) {
  if (exponent >= 1) return base;
  double result = 1, root = base;
  for (int bit = 0; bit < 24 && exponent > 0; ++bit) {
    root = std::sqrt(root);
    exponent *= 2;
    if (exponent < 1) continue;
    result *= root;
    exponent -= 1;
  }
  return result;
}

std::optional<LinearOp> product(const GraphView& view, const NodeAt& at) {
  if (at.scope != &view.main() || (!is_op(*at.node, "MatMul") && !is_op(*at.node, "Gemm"))) return std::nullopt;
  auto op = linear_op(view, at);
  const bool fits = op && op->weight->initializer->data_type() == TensorProto::FLOAT && only_use(*op->weight) &&
                    int_attribute(*at.node, "transA", 0) == 0;
  return fits ? op : std::nullopt;
}

// What is known of the channels of a value and of the weights that meet them.
class Channels {
 public:
  explicit Channels(const ChannelObservation& observed)
      : ranges_(observed.ranges()), squares_(observed.mean_square()), weights_(ranges_.size(), 0.0) {}

  void add(const ChannelLayout& layout, std::vector<float> weight) {
    for (std::size_t i = 0; i < weight.size(); ++i) {
      double& most = weights_[channel(layout, i)];
      most = std::max(most, std::abs(static_cast<double>(weight[i])));
    }
    products_.emplace_back(layout, std::move(weight));
  }

  std::vector<float> factors(double alpha) const {
    std::vector<float> result;
    for (std::size_t c = 0; c < ranges_.size(); ++c) {
      const auto input = static_cast<double>(std::max(-ranges_[c].low, ranges_[c].high));
      const bool dead = !(input > 0) || !(weights_[c] > 0) || !std::isfinite(weights_[c]);
      const float factor =
          dead ? 1 : static_cast<float>(short_factor(power(input, alpha) / power(weights_[c], 1 - alpha)));
      result.push_back(std::clamp(factor, 0x1p-60f, 0x1p60f));
    }
    return result;
  }

  // Mean square of what rounding adds to all outputs together: uniform over a step, of 8 bits, of the values and of the
  // weights of each output.
  double noise(const std::vector<float>& factors) const {
    double low = 0, high = 0, power_of_values = 0;
    for (std::size_t c = 0; c < factors.size(); ++c) {
      const auto factor = static_cast<double>(factors[c]);
      low = std::min(low, static_cast<double>(ranges_[c].low) / factor);
      high = std::max(high, static_cast<double>(ranges_[c].high) / factor);
      power_of_values += squares_[c] / (factor * factor);
    }
    const double step = (high - low) / 255;
    double sum = 0;
    for (const auto& [layout, weight] : products_) {
      std::vector<double> most(weight.size() / factors.size(), 0.0);
      double power_of_weights = 0;
      for (std::size_t i = 0; i < weight.size(); ++i) {
        const double value = static_cast<double>(weight[i]) * static_cast<double>(factors[channel(layout, i)]);
        power_of_weights += value * value;
        double& own = most[layout.inner == 1 ? i / layout.columns : i % layout.inner];
        own = std::max(own, std::abs(value));
      }
      sum += step * step * power_of_weights;
      for (const double own : most) sum += own * own / (127.0 * 127.0) * power_of_values;
    }
    return sum / 12;
  }

 private:
  static std::size_t channel(const ChannelLayout& layout, std::size_t i) { return i / layout.inner % layout.columns; }

  std::vector<Interval> ranges_;
  std::vector<double> squares_, weights_;  // of weights the largest
  std::vector<std::pair<ChannelLayout, std::vector<float>>> products_;
};

// Leads a division of a value's last axis back to stored tensors of those who make it. Changes nothing until commit().
class Division {
 public:
  Division(Model& model, const GraphView& view, NameSet& names, const std::vector<double>& factors)
      : model_(model), view_(view), names_(names), factors_(factors) {
    for (const double factor : factors) inverse_.push_back(1 / factor);
  }

  bool reaches(const Value& value, int depth = 0) {
    if (!value.producer || value.scope != &view_.main() || depth > kMaxDepth) return false;
    const NodeAt at{value.producer, value.scope};
    const onnx::NodeProto& node = *at.node;
    if (is_op(node, "LayerNormalization") || is_op(node, "RMSNormalization")) {
      if (node.input_size() < 2 || node.output(0) != value.name) return false;
      return divides(at, 1, true) && (node.input_size() < 3 || node.input(2).empty() || divides(at, 2, true));
    }
    if (is_op(node, "Relu")) return leads_back(at, 0, depth);
    if (is_op(node, "Mul")) return divides(at, 1, false) || divides(at, 0, false);
    if (is_op(node, "Add")) {
      for (const int constant : {1, 0}) {
        const std::size_t before = edits_.size();
        if (divides(at, constant, true) && leads_back(at, 1 - constant, depth)) return true;
        edits_.resize(before);
      }
      return false;
    }
    auto op = product(view_, at);
    if (!op || op->by_output.channels() != factors_.size()) return false;
    product_ = std::move(op);
    return true;
  }

  bool commit() {
    if (product_ && !apply_to_output(model_, view_, *product_, {inverse_, {}}, names_).empty()) return false;
    for (const auto& edit : edits_) edit();
    return true;
  }

  TensorProto inverse_tensor(const std::string& name) const {
    return real_tensor(model_, name, TensorProto::FLOAT, {static_cast<std::int64_t>(inverse_.size())}, inverse_);
  }

 private:
  bool leads_back(const NodeAt& at, int input, int depth) {
    const Value* value = view_.input(at, input);
    return value && only_use(*value) && reaches(*value, depth + 1);
  }

  // A stored operand with one element per channel, or one for all: then it gets as many.
  bool divides(const NodeAt& at, int input, bool vector) {
    Value* value = view_.input(at, input);
    if (!value || !value->constant() || value->initializer->data_type() != TensorProto::FLOAT) return false;
    const std::int64_t rank = std::max(1, value->initializer->dims_size());
    auto elements = channel_values(model_, value, rank, rank - 1, factors_.size());
    if (!elements || (vector && elements->size() != factors_.size())) return false;
    elements->resize(factors_.size(), elements->front());
    for (std::size_t c = 0; c < elements->size(); ++c) (*elements)[c] *= inverse_[c];
    edits_.push_back([this, at, input, value, elements = std::move(*elements)] {
      std::vector<std::int64_t> dims(value->initializer->dims().begin(), value->initializer->dims().end());
      if (dims.empty()) dims.resize(1);
      dims.back() = static_cast<std::int64_t>(elements.size());
      const bool own = only_use(*value) && value->scope == at.scope;
      const std::string name = own ? value->name : names_.fresh(value->name + "_smoothed");
      TensorProto tensor = real_tensor(model_, name, TensorProto::FLOAT, dims, elements);
      if (own) {
        *value->initializer = std::move(tensor);
        return;
      }
      added_.push_back(std::move(tensor));
      at.node->set_input(input, name);
    });
    return true;
  }

 public:
  // New tensors, to be added once nobody looks at the view any more.
  std::vector<TensorProto> added_;

 private:
  Model& model_;
  const GraphView& view_;
  NameSet& names_;
  const std::vector<double>& factors_;
  std::vector<double> inverse_;
  std::optional<LinearOp> product_;
  std::vector<std::function<void()>> edits_;
};

}  // namespace

std::vector<Smoothing> smoothable(Model& model, const Plan& plan) {
  const GraphView view(model.proto());
  const NodeIds ids(view);
  std::map<std::string, const NodePlan*> planned;
  for (const NodePlan& node : plan.nodes) {
    if (node.action == Action::kStatic) planned.emplace(node.node, &node);
  }
  std::vector<Smoothing> found;
  std::map<std::string, std::size_t> index;
  for (const NodeAt& at : view.nodes()) {
    if (!planned.contains(ids.of(*at.node))) continue;
    const auto op = product(view, at);
    const Value* value = view.input(at, 0);
    if (!op || !value || value->constant() || value->scope != &view.main() || at.node->input(0) == at.node->input(1))
      continue;
    const auto [entry, added] = index.emplace(value->name, found.size());
    if (added) found.push_back({value->name, {}, {}});
    found[entry->second].products.push_back(ids.of(*at.node));
  }
  return found;
}

std::vector<float> smoothing_factors(Model& model, const Smoothing& smoothing, const ChannelObservation& observed,
                                     double alpha) {
  const GraphView view(model.proto());
  const NodeIds ids(view);
  Channels channels(observed);
  for (const NodeAt& at : view.nodes()) {
    if (std::find(smoothing.products.begin(), smoothing.products.end(), ids.of(*at.node)) == smoothing.products.end())
      continue;
    const auto op = product(view, at);
    if (!op || input_layout(*op)->channels() != observed.channels()) return {};
    channels.add(*input_layout(*op), tensor_as_float(model, *op->weight->initializer));
  }
  const std::vector<float> plain(observed.channels(), 1.0f);
  std::vector<float> factors = channels.factors(alpha);
  return channels.noise(factors) < kWorthwhile * channels.noise(plain) ? factors : std::vector<float>{};
}

bool smooth_value(Model& model, const Smoothing& smoothing) {
  GraphView view(model.proto());
  const NodeIds ids(view);
  NameSet names(model.proto());
  const Value* value = view.find(view.main(), smoothing.value);
  if (!value || value->constant()) refuse(smoothing.value, "the model makes no such value");
  std::vector<double> factors(smoothing.factors.begin(), smoothing.factors.end());
  if (!std::all_of(factors.begin(), factors.end(), [](double f) { return f > 0 && std::isfinite(f); }))
    refuse(smoothing.value, "its factors are not all above zero");
  std::vector<LinearOp> products;
  for (const NodeAt& at : view.nodes()) {
    if (std::find(smoothing.products.begin(), smoothing.products.end(), ids.of(*at.node)) == smoothing.products.end())
      continue;
    const auto op = product(view, at);
    if (!op || view.input(at, 0) != value) refuse(smoothing.value, "'" + ids.of(*at.node) + "' is no product of it");
    if (input_layout(*op)->channels() != factors.size())
      refuse(smoothing.value, "'" + ids.of(*at.node) + "' reads another number of channels");
    products.push_back(*op);
  }
  if (products.empty() || products.size() != smoothing.products.size())
    refuse(smoothing.value, "the model lacks products that read it");
  for (const LinearOp& op : products) {
    if (const std::string why = scale_weight(model, op, *input_layout(op), factors); !why.empty())
      refuse(smoothing.value, why);
  }
  Division division(model, view, names, factors);
  const bool alone = value->uses.size() == products.size() && value->graph_outputs == 0;
  const bool folded = alone && division.reaches(*value) && division.commit();
  auto& graph = *model.proto().mutable_graph();
  for (auto& tensor : division.added_) *graph.add_initializer() = std::move(tensor);
  if (folded) return true;
  const std::string vector = names.fresh(smoothing.value + "_smoothing"),
                    divided = names.fresh(smoothing.value + "_smoothed");
  for (const LinearOp& op : products) op.at.node->set_input(0, divided);
  *graph.add_initializer() = division.inverse_tensor(vector);
  auto& node = *graph.add_node();
  node.set_op_type("Mul");
  node.set_name(names.fresh(divided + "_Mul"));
  node.add_input(smoothing.value);
  node.add_input(vector);
  node.add_output(divided);
  sort_nodes(model.proto());
  return false;
}

}  // namespace octet
