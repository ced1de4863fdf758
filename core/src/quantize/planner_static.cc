// The planner's part in static mode: which nodes it hands to StaticPlanner, and what it makes of the answer.
#include "model/tensor_access.h"
#include "quantize/marks.h"
#include "quantize/planner.h"

namespace octet {

std::string Planner::no_static_weight(const NodeAt& at) const {
  const StoredWeight weight = stored_weight(view_, at, 1);
  if (!weight.value || weight.transpose) return "its weight is no stored tensor";
  const auto& tensor = *weight.value->initializer;
  if (weight.value->scope != &view_.main()) return "its weight is stored outside the main graph";
  if (tensor.data_type() != onnx::TensorProto::FLOAT) return "integer kernels take float32 models";
  const int least = is_op(*at.node, "MatMul") || is_op(*at.node, "Gemm") ? 2 : 3;
  if (tensor.dims_size() < least || element_count(tensor) == 0) return "its weight has no matrix to multiply with";
  const auto found = candidate_index_.find(weight.value);
  if (found == candidate_index_.end()) return "its weight is none that can be stored in integers";
  return candidates_[found->second].keep.empty() ? "" : "its weight stays in float: " + candidates_[found->second].keep;
}

void Planner::choose_static() {
  std::map<const onnx::NodeProto*, const Step*> by_node;
  for (const Step& step : steps_) by_node.emplace(step.at.node, &step);
  static_.emplace(
      model_, view_, options_,
      [&](const NodeAt& at) {
        return has_mark(*at.node, kExcludeMark) ||
               (!options_.nodes_to_quantize.empty() && !has_mark(*at.node, kIncludeMark));
      },
      [&](const NodeAt& at) { return no_static_weight(at); });
  for (Step& step : steps_) {
    const auto found = static_->nodes().find(step.at.node);
    if (found != static_->nodes().end()) step.fixed = &found->second;
  }
  for (const auto& [node, entry] : static_->nodes()) {
    if (entry.absorbs)
      steps_[static_cast<std::size_t>(by_node.at(entry.absorbs) - steps_.data())].plan.why =
          "rounding to integers clamps as it does";
  }
  plan_.activations = static_->activations();
  plan_.format = options_.format;
}

bool Planner::is_static_product(const Reader& reader) const {
  const Step& step = steps_[reader.node];
  return step.fixed && step.fixed->rule->kind == StaticKind::kProduct && reader.slot.input == 1;
}

bool Planner::is_static_operand(const Reader& reader) const {
  const Step& step = steps_[reader.node];
  return step.fixed && !is_static_product(reader);
}

}  // namespace octet
