#include "quantize/planner.h"

#include <algorithm>

#include "kernels/parallel.h"
#include "model/tensor_access.h"
#include "octet/error.h"
#include "quantize/marks.h"

namespace octet {
namespace {

// Tables are kept in float below this SQNR of their own values: they may be masks or measurements rather than weights.
constexpr double kMinTableSqnr = 25.0;

// Where a few large rows set the scale of all, half of the rows would be left fewer than 5 bits.
bool rows_differ(std::vector<float> row_scales, float table_scale) {
  const auto middle = row_scales.begin() + static_cast<std::ptrdiff_t>(row_scales.size() / 2);
  std::nth_element(row_scales.begin(), middle, row_scales.end());
  return middle != row_scales.end() && *middle < table_scale / 8;
}

}  // namespace

Planner::Planner(Model& model, const PlanOptions& options, const Progress& progress)
    : model_(model), options_(options), progress_(progress), view_(model.proto()), ids_(view_), node_ids_(view_) {
  plan_.mode = options.mode;
  plan_.target = options.target;
}

Plan Planner::run() {
  collect_nodes();
  decide_keeps();
  if (options_.mode == Mode::kStatic) choose_static();
  for (Candidate& candidate : candidates_) {
    if (candidate.keep.empty()) decide_layout(candidate);
  }
  scan_weights();
  decide_actions();
  for (Candidate& candidate : candidates_) {
    if (candidate.keep.empty()) plan_.tensors.push_back(candidate.plan);
  }
  for (Value* value : ids_.tensors()) {
    const auto& tensor = *value->initializer;
    if (!is_float_type(tensor.data_type())) continue;
    const auto found = candidate_index_.find(value);
    if (found != candidate_index_.end() && candidates_[found->second].keep.empty()) continue;
    std::string why = found != candidate_index_.end() ? candidates_[found->second].keep
                      : tensor.dims_size() < 2        ? "a vector (bias, scale or normalization parameter)"
                                                      : "no operator that can use it in 8 bits reads it";
    plan_.kept.push_back({ids_.of(*value), tensor_byte_size(tensor), std::move(why)});
  }
  plan_.cache = cache_;
  return std::move(plan_);
}

Planner::Candidate& Planner::candidate_for(Value* value) {
  const auto [at, added] = candidate_index_.emplace(value, candidates_.size());
  if (added) {
    candidates_.emplace_back();
    candidates_.back().value = value;
    candidates_.back().plan.tensor = ids_.of(*value);
    candidates_.back().plan.rank = value->initializer->dims_size();
    candidates_.back().plan.bytes = tensor_byte_size(*value->initializer);
  }
  return candidates_[at->second];
}

void Planner::collect_nodes() {
  const bool include_only = !options_.nodes_to_quantize.empty();
  for (const NodeAt& at : view_.nodes()) {
    Step step;
    step.at = at;
    step.rule = find_rule(*at.node);
    step.plan.node = node_ids_.of(*at.node);
    step.plan.op = at.node->op_type();
    if (has_mark(*at.node, kExcludeMark)) {
      step.plan.why = "left out by --nodes-to-exclude";
    } else if (include_only && !has_mark(*at.node, kIncludeMark)) {
      step.plan.why = "not named by --nodes-to-quantize";
    } else if (!options_.op_types.empty() && !has_mark(*at.node, kTypeMark)) {
      step.plan.why = "its type is not in --op-types";
    }
    step.blocked = !step.plan.why.empty();
    if (step.rule && step.rule->no_dynamic) step.no_dynamic = step.rule->no_dynamic({model_, view_, at, options_});
    steps_.push_back(std::move(step));
    collect_readers(steps_.back());
  }
}

void Planner::collect_readers(Step& step) {
  const std::size_t index = steps_.size() - 1;
  std::vector<WeightSlot> slots;
  if (step.rule) slots = step.rule->slots({model_, view_, step.at, options_});
  for (const WeightSlot& slot : slots) {
    const StoredWeight weight = stored_weight(view_, step.at, slot.input);
    if (!weight.value) continue;
    Candidate& candidate = candidate_for(weight.value);
    step.weights.push_back(static_cast<std::size_t>(&candidate - candidates_.data()));
    Reader reader{index, slot, slot.swapped != (weight.transpose != nullptr), weight.transpose != nullptr};
    if (weight.transpose && slot.axis) reader.slot.axis = 1 - *slot.axis;
    candidate.readers.push_back(reader);
    if (step.rule->family == Family::kTable) candidate.weak = true;
    if (step.blocked) candidate.keep = "node " + step.plan.node + " reads it: " + step.plan.why;
  }
}

void Planner::decide_keeps() {
  // A Transpose that only leads a tied table to a MatMul is no reader of its own.
  std::set<const onnx::NodeProto*> bridges;
  for (const Step& step : steps_) {
    if (!step.rule || step.rule->family == Family::kTable) continue;
    for (int input = 0; input < step.at.node->input_size(); ++input) {
      const StoredWeight weight = stored_weight(view_, step.at, input);
      if (weight.transpose) bridges.insert(weight.transpose);
    }
  }
  for (Step& step : steps_) {
    if (!bridges.contains(step.at.node)) continue;
    step.bridge = true;
    step.weights.clear();
    step.plan.why = "leads a stored matrix to its reader";
  }
  for (Candidate& candidate : candidates_) {
    std::erase_if(candidate.readers,
                  [&](const Reader& reader) { return bridges.contains(steps_[reader.node].at.node); });
    // Everyone who reads the tensor must be among those who can take it in few bits, else it would be stored twice.
    for (const Use& use : candidate.value->uses) {
      if (bridges.contains(use.node)) {
        const Value* out = view_.find(*use.scope, use.node->output(0));
        if (out->graph_outputs > 0 && candidate.keep.empty()) candidate.keep = "its transposed form is an output";
        for (const Use& next : out->uses) {
          const bool known = std::any_of(candidate.readers.begin(), candidate.readers.end(), [&](const Reader& r) {
            return steps_[r.node].at.node == next.node && r.slot.input == next.input;
          });
          if (!known && candidate.keep.empty())
            candidate.keep = "node " + node_ids_.of(*next.node) + " (" + next.node->op_type() + ") reads it in float";
        }
        continue;
      }
      const bool known = std::any_of(candidate.readers.begin(), candidate.readers.end(), [&](const Reader& r) {
        return steps_[r.node].at.node == use.node && r.slot.input == use.input;
      });
      if (!known && candidate.keep.empty())
        candidate.keep = "node " + node_ids_.of(*use.node) + " (" + use.node->op_type() + ") reads it in float";
    }
    if (candidate.value->graph_outputs > 0) candidate.keep = "it is an output of the graph";
  }
}

void Planner::scan_weights() {
  std::uint64_t total = 0, done = 0;
  std::vector<Candidate*> work;
  for (Candidate& candidate : candidates_) {
    if (!candidate.keep.empty()) continue;
    work.push_back(&candidate);
    total += tensor_byte_size(*candidate.value->initializer);
  }
  std::vector<std::shared_ptr<const WeightParams>> params(work.size());
  std::vector<std::string> keep(work.size());
  const TensorStore& store = model_.store();
  parallel_for(work.size(), options_.threads, [&](std::size_t i) {
    const auto& tensor = *work[i]->value->initializer;
    try {
      params[i] = std::make_shared<WeightParams>(compute_params(store, tensor, work[i]->plan));
      if (work[i]->gathered && !work[i]->plan.axis && options_.per_channel.value_or(true)) {
        TensorPlan by_row = work[i]->plan;
        by_row.axis = 0;
        auto rows = std::make_shared<WeightParams>(compute_params(store, tensor, by_row));
        if (rows_differ(rows->scale, params[i]->scale.front())) {
          work[i]->plan = by_row;
          params[i] = std::move(rows);
        }
      }
      if (work[i]->weak && weight_sqnr_db(store, tensor, work[i]->plan, *params[i]) < kMinTableSqnr)
        keep[i] = "8 bits would lose too much of its values";
    } catch (const Error& fault) {
      if (!work[i]->weak || fault.code() != ErrorCode::kNonFinite) throw;
      keep[i] = "it holds NaN or infinity (a mask?)";
    }
  });
  for (std::size_t i = 0; i < work.size(); ++i) {
    work[i]->keep = keep[i];
    if (params[i]) cache_->put(work[i]->plan, params[i]);
    done += tensor_byte_size(*work[i]->value->initializer);
    if (progress_) progress_(done, total);
  }
}

void Planner::decide_actions() {
  // The integer LSTM takes both its weights or none.
  for (Step& step : steps_) {
    if (step.rule && step.rule->family == Family::kRecurrent && step.no_dynamic.empty() && step.rule->no_dynamic) {
      const bool both =
          step.weights.size() == 2 && std::all_of(step.weights.begin(), step.weights.end(), [&](std::size_t i) {
            return candidates_[i].keep.empty() && candidates_[i].plan.transposed;
          });
      if (!both) step.no_dynamic = "one of its two weights stays in float or is shared";
    }
  }
  // Weights stored turned over for the integer form, whose node cannot take it after all, are stored plainly.
  for (Candidate& candidate : candidates_) {
    if (!candidate.keep.empty() || !candidate.plan.transposed) continue;
    for (const Reader& reader : candidate.readers) {
      const Step& step = steps_[reader.node];
      if (step.rule->family == Family::kRecurrent && !step.no_dynamic.empty()) candidate.plan.transposed = false;
    }
  }
  for (Step& step : steps_) {
    decide_action(step);
    const bool operand = step.rule && step.rule->family == Family::kMatMul;
    for (int input = 0; input < step.at.node->input_size() && !step.bridge; ++input) {
      const StoredWeight weight = stored_weight(view_, step.at, input);
      if (!weight.value || element_count(*weight.value->initializer) < kMinElements) continue;
      if (operand || weight.value->initializer->dims_size() >= 2) step.plan.weights.push_back(ids_.of(*weight.value));
    }
    plan_.nodes.push_back(step.plan);
  }
}

void Planner::decide_action(Step& step) {
  NodePlan& plan = step.plan;
  if (step.fixed) {
    const auto names = [](const std::vector<const Value*>& values) {
      std::vector<std::string> result;
      for (const Value* value : values) result.push_back(value->name);
      return result;
    };
    plan.action = Action::kStatic;
    plan.reads = names(step.fixed->reads);
    plan.writes = names(step.fixed->writes);
    if (step.fixed->absorbs) plan.absorbs = node_ids_.of(*step.fixed->absorbs);
    plan.why = step.fixed->rule->kind == StaticKind::kProduct ? "integer kernel" : "between integer nodes";
    if (!step.fixed->rule->integer_kernel) plan.why = "rounded as asked; the runtime computes it in float";
    return;
  }
  if (step.blocked) return;
  std::vector<const Candidate*> planned;
  std::string kept;
  for (std::size_t i : step.weights) {
    if (candidates_[i].keep.empty())
      planned.push_back(&candidates_[i]);
    else
      kept = candidates_[i].keep;
  }
  if (planned.empty()) {
    if (!plan.why.empty()) return;
    if (!step.rule)
      plan.why = "no rule for this operator";
    else if (!kept.empty())
      plan.why = "its weight stays in float: " + kept;
    else
      plan.why = "reads no stored float weight";
    return;
  }
  const bool blocks = planned.front()->plan.block_size > 0;
  const bool can_dynamic = options_.mode == Mode::kDynamic && step.rule->no_dynamic && step.no_dynamic.empty() &&
                           !blocks && bit_width(planned.front()->plan.type) == 8;
  if (can_dynamic) {
    plan.action = Action::kDynamic;
    plan.why = "integer kernel; activations are quantized while the model runs";
    return;
  }
  plan.action = Action::kWeights;
  plan.form = blocks ? Form::kBlocks : weights_form(step.rule->family, options_.target);
  const auto type = planned.front()->value->initializer->data_type();
  if (plan.form == Form::kDequantize &&
      (type != onnx::TensorProto::FLOAT || bit_width(planned.front()->plan.type) != 8 ||
       planned.front()->value->initializer->dims_size() != 2 || step.weights.size() != 1 ||
       planned.front()->readers.front().slot.input != 1 || planned.front()->value->scope != step.at.scope)) {
    plan.form =
        Form::kFold;  // the runtime's fusion knows float32 matrices on the right only, stored beside their reader
  }
  plan.why = "weights only";
  if (const std::string why = static_ ? static_->why_not(*step.at.node) : ""; !why.empty()) plan.why += ": " + why;
  if (options_.mode == Mode::kDynamic && !step.no_dynamic.empty())
    plan.why += ": " + step.no_dynamic;
  else if (options_.mode == Mode::kDynamic && !step.rule->no_dynamic && step.rule->family != Family::kTable &&
           step.rule->family != Family::kGather)
    plan.why += ": no integer kernel for this operator in dynamic mode";
}

Plan make_plan(Model& model, const PlanOptions& options, const Progress& progress) {
  return Planner(model, options, progress).run();
}

}  // namespace octet
