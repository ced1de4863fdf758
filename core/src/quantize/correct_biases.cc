#include "quantize/correct_biases.h"

#include <algorithm>
#include <map>
#include <optional>

#include "model/graph_match.h"
#include "octet/bias_correction.h"
#include "octet/error.h"
#include "prepare/linear_op.h"

namespace octet {
namespace {

using onnx::TensorProto;

constexpr const char* kProductMark = "octet.product";  // on a node while a model is rewritten, with its id

// A product and where its bias stands.
struct Corrected {
  LinearOp op;
  std::optional<NodeAt> add;  // the Add behind a MatMul
  int vector = 0;             // and its input that is stored
};

std::optional<Corrected> corrected(const Model& model, const GraphView& view, const NodeAt& at) {
  if (at.scope != &view.main()) return std::nullopt;
  const auto op = linear_op(view, at);
  if (!op || op->weight->initializer->data_type() != TensorProto::FLOAT) return std::nullopt;
  const auto is_vector = [&](const Value* value) {
    if (!value || !value->constant() || value->initializer->data_type() != TensorProto::FLOAT) return false;
    const std::int64_t rank = std::max(1, value->initializer->dims_size());
    const auto elements = channel_values(model, value, rank, rank - 1, op->by_output.channels());
    return elements && elements->size() == op->by_output.channels();
  };
  const onnx::NodeProto& node = *at.node;
  if (!is_op(node, "MatMul")) {
    const bool biased = node.input_size() > 2 && !node.input(2).empty();
    return !biased || is_vector(view.input(at, 2)) ? std::optional(Corrected{*op, {}, 0}) : std::nullopt;
  }
  const Value* output = view.find(view.main(), node.output(0));
  const Use* use = output ? only_use(*output) : nullptr;
  if (!use || use->scope != &view.main() || !is_op(*use->node, "Add")) return std::nullopt;
  const Corrected result{*op, NodeAt{use->node, use->scope}, 1 - use->input};
  return is_vector(view.input(*result.add, result.vector)) ? std::optional(result) : std::nullopt;
}

[[noreturn]] void refuse(const std::string& node, const std::string& what) {
  throw Error(ErrorCode::kUsage, "plan: correction of node '" + node + "'", what, "plan the model again");
}

// The vector that an Add puts on top of a MatMul.
void shift_vector(Model& model, const GraphView& view, const Corrected& place, const std::vector<double>& shift,
                  NameSet& names) {
  Value* value = view.input(*place.add, place.vector);
  std::vector<double> elements = tensor_as_double(model, *value->initializer);
  for (std::size_t c = 0; c < elements.size(); ++c) elements[c] += shift[c];
  const std::vector<std::int64_t> dims(value->initializer->dims().begin(), value->initializer->dims().end());
  const std::string name = only_use(*value) ? value->name : names.fresh(value->name + "_corrected");
  TensorProto tensor = real_tensor(model, name, TensorProto::FLOAT, dims, elements);
  if (name == value->name) {
    *value->initializer = std::move(tensor);
    return;
  }
  place.add->node->set_input(place.vector, name);
  *model.proto().mutable_graph()->add_initializer() = std::move(tensor);
}

}  // namespace

void correct_biases(Model& model, const Plan& plan) {
  for (const BiasCorrection& entry : plan.corrections) {
    // A view for each: a product that gets a bias adds a tensor to the graph.
    const GraphView view(model.proto());
    const NodeIds ids(view);
    NameSet names(model.proto());
    const auto at = std::find_if(view.nodes().begin(), view.nodes().end(),
                                 [&](const NodeAt& node) { return ids.of(*node.node) == entry.node; });
    if (at == view.nodes().end()) refuse(entry.node, "the model has no such node");
    const auto place = corrected(model, view, *at);
    if (!place) refuse(entry.node, "it is no product with a bias of its own");
    if (place->op.by_output.channels() != entry.values.size()) refuse(entry.node, "it has another number of channels");
    const std::vector<double> shift(entry.values.begin(), entry.values.end());
    if (place->add) {
      shift_vector(model, view, *place, shift, names);
    } else if (const std::string why = apply_to_output(model, view, place->op, {{}, shift}, names); !why.empty()) {
      refuse(entry.node, why);
    }
  }
}

CorrectionRun correction_run(const Quantizer& quantizer) {
  Plan plan = quantizer.plan();
  plan.format = Format::kQdq;
  CorrectionRun run{quantizer.model().clone(), {}};
  std::map<std::string, std::size_t> taps;
  {
    const GraphView view(run.rounded.proto());
    const NodeIds ids(view);
    std::map<std::string, Action> actions;
    for (const NodePlan& node : plan.nodes) actions.emplace(node.node, node.action);
    for (const NodeAt& at : view.nodes()) {
      const std::string& id = ids.of(*at.node);
      const auto action = actions.find(id);
      if (action == actions.end() || action->second != Action::kStatic || !corrected(run.rounded, view, at)) continue;
      const int axis = is_op(*at.node, "MatMul") || is_op(*at.node, "Gemm") ? -1 : 1;
      taps.emplace(id, run.taps.size());
      run.taps.push_back({id, {at.node->output(0), axis}, {"", axis}});
      auto& mark = *at.node->add_metadata_props();
      mark.set_key(kProductMark);
      mark.set_value(id);
    }
  }
  apply_plan(run.rounded, plan);
  for (auto& node : *run.rounded.proto().mutable_graph()->mutable_node()) {
    auto& props = *node.mutable_metadata_props();
    const auto mark = std::find_if(props.begin(), props.end(), [](const auto& p) { return p.key() == kProductMark; });
    if (mark == props.end()) continue;
    run.taps[taps.at(mark->value())].rounded.value = node.output(0);
    props.erase(mark);
  }
  std::erase_if(run.taps, [](const CorrectionTap& tap) { return tap.rounded.value.empty(); });
  return run;
}

void add_correction(Plan& plan, const CorrectionTap& tap, const ChannelObservation& in_float,
                    const ChannelObservation& rounded) {
  if (!in_float.seen() || in_float.channels() != rounded.channels()) return;
  auto entry = std::find_if(plan.corrections.begin(), plan.corrections.end(),
                            [&](const BiasCorrection& other) { return other.node == tap.node; });
  if (entry == plan.corrections.end()) {
    plan.corrections.push_back({tap.node, std::vector<float>(in_float.channels(), 0.0f)});
    entry = plan.corrections.end() - 1;
  }
  const std::vector<double> wanted = in_float.mean(), found = rounded.mean();
  for (std::size_t c = 0; c < wanted.size(); ++c)
    entry->values[c] = static_cast<float>(static_cast<double>(entry->values[c]) + wanted[c] - found[c]);
}

}  // namespace octet
