#include "search/expected_noise.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "calibrate/quantization_noise.h"
#include "calibrate/spread.h"
#include "model/graph_view.h"
#include "quantize/params_cache.h"
#include "quantize/tensor_ids.h"
#include "quantize/weight_params.h"

namespace octet {
namespace {

bool joins(const onnx::NodeProto& node) {
  return is_op(node, "Add") || is_op(node, "Sub") || is_op(node, "Sum") || is_op(node, "Concat");
}

// Of all values but the very largest, which often stand for themselves: what is told by the others is lost first.
double power_of_most(const Spread& spread) {
  constexpr double kMost = 0.999;
  const Spread magnitudes = spread.magnitudes();
  const double end = magnitudes.value_at(kMost * magnitudes.count());
  double sum = 0;
  for (const Slice& slice : magnitudes.slices()) {
    if (slice.high <= end) sum += Spread({slice}).sum_of_squares();
  }
  return sum > 0 ? sum : spread.sum_of_squares();
}

double width(const Interval& range) { return static_cast<double>(range.high) - static_cast<double>(range.low); }

// Noise of stored weights over their power, by tensor.
std::map<std::string, double> weight_noise(const Model& model, const GraphView& view, const Plan& plan) {
  const TensorIds tensors(view);
  std::map<std::string, double> noise;
  for (const TensorPlan& tensor : plan.tensors) {
    const auto params = plan.cache ? plan.cache->find(tensor) : nullptr;
    const Value* stored = tensors.find(tensor.tensor);
    if (!params || !stored) continue;
    noise[tensor.tensor] = std::pow(10, -weight_sqnr_db(model.store(), *stored->initializer, tensor, *params) / 10);
  }
  return noise;
}

}  // namespace

ExpectedNoise::ExpectedNoise(const Quantizer& quantizer, const Plan& plan, const Ranges& ranges)
    : quantizer_(quantizer), plan_(plan), ranges_(ranges) {
  for (const auto& [name, seen] : ranges.tensors) {
    if (seen.seen()) powers_[name] = spread_of(seen).sum_of_squares();
  }
  find_gains();
}

// From the outputs back.
void ExpectedNoise::find_gains() {
  const onnx::GraphProto& graph = quantizer_.model().proto().graph();
  const auto raise = [&](const std::string& name, double gain) { gains_[name] = std::max(gains_[name], gain); };
  for (const auto& output : graph.output()) raise(output.name(), 1);
  for (int i = graph.node_size() - 1; i >= 0; --i) {
    const onnx::NodeProto& node = graph.node(i);
    double behind = 0;
    for (const std::string& output : node.output()) behind = std::max(behind, gains_[output]);
    for (const std::string& input : node.input()) {
      const auto part = powers_.find(input), whole = powers_.find(node.output(0));
      const bool known = joins(node) && part != powers_.end() && whole != powers_.end() && whole->second > 0;
      raise(input, behind * (known ? std::min(1.0, part->second / whole->second) : 1));
    }
  }
}

double ExpectedNoise::gain(const std::string& value) const {
  const auto found = gains_.find(value);
  return found == gains_.end() ? 1 : found->second;
}

double ExpectedNoise::rounding(const std::string& value) const {
  if (!powers_.contains(value) || powers_.at(value) <= 0) return 0;
  const Observation& seen = ranges_.tensors.at(value);
  const auto entry = std::find_if(plan_.activations.begin(), plan_.activations.end(),
                                  [&](const ActivationPlan& one) { return one.tensor == value; });
  const bool planned = entry != plan_.activations.end();
  // Ranges that are found while the model runs are those of 8 bits.
  const Spread spread = spread_of(seen);
  const QuantizationNoise noise(spread, planned ? entry->type : QuantType::kUint8, planned && entry->symmetric);
  return noise.of(planned && entry->range ? *entry->range : seen.min_max()) / power_of_most(spread) * gain(value);
}

std::map<std::string, double> ExpectedNoise::of_nodes() const {
  Model model = quantizer_.model().clone();
  const GraphView view(model.proto());
  const NodeIds ids(view);
  const auto weights = weight_noise(model, view, plan_);
  std::map<std::string, const onnx::NodeProto*> by_id;
  for (const NodeAt& at : view.nodes()) by_id.emplace(ids.of(*at.node), at.node);
  std::map<std::string, double> expected;
  for (const NodePlan& node : plan_.nodes) {
    const auto found = by_id.find(node.node);
    if (found == by_id.end() || (node.action != Action::kStatic && node.action != Action::kDynamic)) continue;
    double noise = node.action == Action::kDynamic ? rounding(found->second->input(0)) : 0;
    for (const std::string& value : node.reads) noise += rounding(value);
    for (const std::string& value : node.writes) noise += rounding(value);
    for (const std::string& weight : node.weights) {
      const auto known = weights.find(weight);
      if (known != weights.end()) noise += known->second * gain(found->second->output(0));
    }
    if (noise > 0) expected[node.node] = noise;
  }
  return expected;
}

std::vector<std::string> ExpectedNoise::doubtful_values(std::size_t most) const {
  std::vector<std::pair<double, std::string>> values;
  for (const ActivationPlan& activation : plan_.activations) {
    const auto seen = ranges_.tensors.find(activation.tensor);
    if (!activation.range || !activation.same_as.empty() || seen == ranges_.tensors.end() || !seen->second.seen())
      continue;
    double narrowest = width(seen->second.min_max());
    const double widest = narrowest;
    for (const RangeMethod method : {RangeMethod::kPercentile, RangeMethod::kEntropy}) {
      const RangeRule rule{method, activation.percentile, activation.type, activation.symmetric};
      narrowest = std::min(narrowest, width(choose_range(seen->second, rule).range));
    }
    if (narrowest < widest)
      values.emplace_back(rounding(activation.tensor) * (1 - narrowest / widest), activation.tensor);
  }
  std::stable_sort(values.begin(), values.end(), [](const auto& a, const auto& b) { return a.first > b.first; });
  std::vector<std::string> names;
  for (std::size_t i = 0; i < std::min(most, values.size()); ++i) names.push_back(values[i].second);
  return names;
}

}  // namespace octet
