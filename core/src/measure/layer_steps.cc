#include "octet/layer_steps.h"

#include <algorithm>
#include <set>

#include "octet/dtype.h"
#include "octet/error.h"
#include "octet/prepare.h"
#include "octet/segments.h"
#include "octet/synthetic.h"

namespace octet {
namespace {

struct Match {
  Model reference;
  LayerPairs pairs;
  std::vector<WeightDrift> weights;
  int unmatched = 0;
  bool prepared = false;

  std::size_t found() const {
    return pairs.values.size() + weights.size() + static_cast<std::size_t>(pairs.rounded_matched);
  }
};

Match match(Model reference, Model& candidate, bool prepared) {
  Match result;
  result.prepared = prepared;
  result.pairs = match_values(reference, candidate);
  result.weights = compare_weights(reference, candidate, &result.unmatched);
  result.reference = std::move(reference);
  return result;
}

Match best_match(const std::function<Model()>& open_reference, Model& candidate) {
  Model prepared = open_reference();
  prepare_for_plan(prepared, true);
  Match best = match(std::move(prepared), candidate, true);
  Model plain = open_reference();
  prepare_for_plan(plain, false);
  Match other = match(std::move(plain), candidate, false);
  return other.found() > best.found() ? std::move(other) : std::move(best);
}

std::vector<std::string> input_names(const Model& model) {
  std::vector<std::string> names;
  for (const ValueInfo& input : inputs_of(model)) names.push_back(input.name);
  return names;
}

bool lists(const std::vector<std::string>& names, const std::string& name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

const Tensor* look_up(const std::string& name, const Sample& values, const Sample& inputs) {
  if (const auto found = values.find(name); found != values.end()) return &found->second;
  const auto input = inputs.find(name);
  return input == inputs.end() ? nullptr : &input->second;
}

Tensor clamped(const Tensor& tensor, const ValuePair& pair) {
  Tensor result = tensor;
  if (tensor.type != kFloat || !(pair.low || pair.high)) return result;
  std::vector<float> values = to_float(tensor);
  for (float& value : values) {
    if (pair.low) value = std::max(value, *pair.low);
    if (pair.high) value = std::min(value, *pair.high);
  }
  const auto* bytes = reinterpret_cast<const std::uint8_t*>(values.data());
  result.bytes.assign(bytes, bytes + values.size() * sizeof(float));
  return result;
}

Model tapped(const Model& model, const std::vector<std::string>& values) {
  Model copy = model.clone();
  add_outputs(copy, values);
  return copy;
}

}  // namespace

LayerSteps::LayerSteps(const std::function<Model()>& open_reference, Model candidate)
    : candidate_(std::move(candidate)) {
  Match match = best_match(open_reference, candidate_);
  reference_ = std::move(match.reference);
  pairs_ = std::move(match.pairs);
  weights_ = std::move(match.weights);
  weights_unmatched_ = match.unmatched;
  prepared_ = match.prepared;
  inputs_ = input_names(reference_);
  other_inputs_ = input_names(candidate_);
}

const std::vector<LayerSlice>& LayerSteps::cut(const Sample& sample, std::uint64_t budget) {
  std::vector<std::string> wanted;
  for (const ValuePair& pair : pairs_.values) {
    if (!lists(inputs_, pair.name)) wanted.push_back(pair.name);
  }
  std::map<std::string, std::vector<std::int64_t>> dims;
  for (const auto& [name, tensor] : sample) dims[name] = tensor.dims;
  const auto sizes = SegmentedModel(reference_, wanted).estimate(dims);
  constexpr std::uint64_t kCopies = 6;  // a value is there up to three times, each in the runtime and copied
  slices_.clear();
  pairs_of_.clear();
  meters_.clear();
  std::uint64_t filled = 0;
  std::set<std::string> listed;
  for (const ValuePair& pair : pairs_.values) {
    const auto size = sizes.find(pair.name);
    const std::uint64_t bytes = kCopies * (size == sizes.end() ? 0 : size->second);
    if (slices_.empty() || filled + bytes > budget) {
      slices_.emplace_back();
      pairs_of_.emplace_back();
      listed.clear();
      filled = 0;
    }
    filled += bytes;
    pairs_of_.back().push_back(&pair);
    if (!lists(inputs_, pair.name)) slices_.back().reference.push_back(pair.name);
    for (const std::string* name : {&pair.after, &pair.before}) {
      if (!name->empty() && !lists(other_inputs_, *name) && listed.insert(*name).second)
        slices_.back().candidate.push_back(*name);
    }
  }
  samples_of_.assign(slices_.size(), 0);
  return slices_;
}

const LayerSlice& LayerSteps::at(std::size_t slice) const {
  if (slice >= slices_.size())
    throw Error(ErrorCode::kUsage, "slice", "there are " + std::to_string(slices_.size()) + ", counted from 0");
  return slices_[slice];
}

Model LayerSteps::reference_model(std::size_t slice) const { return tapped(reference_, at(slice).reference); }

Model LayerSteps::candidate_model(std::size_t slice) const { return tapped(candidate_, at(slice).candidate); }

void LayerSteps::add(std::size_t slice, const Sample& inputs, const Sample& reference, const Sample& candidate) {
  at(slice);
  for (const ValuePair* pair : pairs_of_[slice]) add_pair(*pair, inputs, reference, candidate);
  ++samples_of_[slice];
}

void LayerSteps::add_pair(const ValuePair& pair, const Sample& inputs, const Sample& reference,
                          const Sample& candidate) {
  const Tensor* in_float = look_up(pair.name, reference, inputs);
  const Tensor* after = look_up(pair.after, candidate, inputs);
  const Tensor* before = pair.before.empty() ? nullptr : look_up(pair.before, candidate, inputs);
  if (!in_float || !after || !is_float_type(in_float->type)) return;
  meters_[pair.name].model.add({{"", *in_float}}, {{"", *after}});
  if (before) meters_[pair.name].rounding.add({{"", clamped(*before, pair)}}, {{"", *after}});
}

LayersResult LayerSteps::result() const {
  LayersResult result;
  result.samples = samples_of_.empty() ? 0 : samples_of_.front();
  result.prepared = prepared_;
  result.float_values = static_cast<int>(float_values(reference_).size());
  result.rounded = pairs_.rounded;
  result.rounded_matched = pairs_.rounded_matched;
  result.slices = slices_.size();
  for (const ValuePair& pair : pairs_.values) {
    const auto found = meters_.find(pair.name);
    if (found == meters_.end()) continue;
    LayerDrift layer{pair, found->second.model.result().front(), std::nullopt};
    if (const auto rounding = found->second.rounding.result(); !rounding.empty()) layer.rounding = rounding.front();
    result.layers.push_back(std::move(layer));
  }
  std::stable_sort(result.layers.begin(), result.layers.end(), [](const LayerDrift& a, const LayerDrift& b) {
    if (a.rounding.has_value() != b.rounding.has_value()) return a.rounding.has_value();
    return a.rounding ? a.rounding->sqnr_db < b.rounding->sqnr_db : a.model.sqnr_db < b.model.sqnr_db;
  });
  result.weights = weights_;
  std::stable_sort(result.weights.begin(), result.weights.end(),
                   [](const WeightDrift& a, const WeightDrift& b) { return a.sqnr_db < b.sqnr_db; });
  result.weights_unmatched = weights_unmatched_;
  return result;
}

}  // namespace octet
