#include "octet/quantizer.h"

#include <algorithm>
#include <set>

#include "octet/error.h"
#include "quantize/rules.h"
#include "quantize/weight_params.h"

namespace octet {

void check_options(const PlanOptions& options) {
  const int bits = bit_width(options.weight_type);
  const auto type = std::string(name_of(options.weight_type));
  const auto refuse = [](const std::string& where, const std::string& what, const std::string& next) {
    throw Error(ErrorCode::kUsage, where, what, next);
  };
  if (options.mode == Mode::kDynamic && bits != 8)
    refuse("--weight-type " + type, "dynamic mode computes with 8-bit weights",
           "use qint8 or quint8, or --mode weights");
  if (options.mode == Mode::kDynamic && options.block_size > 0)
    refuse("--block-size", "blocks are for weights-only storage", "add --mode weights");
  if (bits == 16 && options.block_size > 0) refuse("--block-size", "blocks hold 4 or 8 bits", "use qint8 or qint4");
  if (options.block_size != 0 &&
      (options.block_size < 16 || (options.block_size & (options.block_size - 1)) != 0 || options.block_size > 65536)) {
    refuse("--block-size " + std::to_string(options.block_size), "the block operator takes powers of two from 16",
           "use 32, 64 or 128");
  }
  if (options.reduce_range && bits != 8) refuse("--reduce-range", "it is for 8-bit weights", "leave it out");
}

Quantizer::Quantizer(Model model, const PlanOptions& options, const Plan* given, const Progress& progress) {
  check_options(options);
  facts_ = facts_of(model);
  select_nodes(model, options);
  const bool prepared = given ? given->prepared : options.prepare;
  PrepareOptions preparation;
  preparation.keep_widened = true;
  passes_ = prepared ? prepare(model, preparation) : normalize(model);
  normalized_ = std::move(model);
  plan_ = given ? *given : make_plan(normalized_, options, progress);
  plan_.prepared = prepared;
}

ShapeCoverage Quantizer::shapes() const {
  Model copy = normalized_.clone();
  return cover_shapes(copy);
}

std::vector<BlockInfo> Quantizer::blocks() const {
  Model copy = normalized_.clone();
  return list_blocks(copy);
}

Model Quantizer::apply(const Plan& plan) const {
  Model result = normalized_.clone();
  apply_plan(result, plan);
  return result;
}

namespace {

bool turn_scales_of(Plan& plan, const NodePlan& node) {
  if (node.form != Form::kFold || (node.op != "MatMul" && node.op != "Gemm") || node.weights.size() != 1) return false;
  const auto tensor = std::find_if(plan.tensors.begin(), plan.tensors.end(),
                                   [&](const TensorPlan& entry) { return entry.tensor == node.weights[0]; });
  const auto readers = std::count_if(plan.nodes.begin(), plan.nodes.end(), [&](const NodePlan& entry) {
    return std::find(entry.weights.begin(), entry.weights.end(), node.weights[0]) != entry.weights.end();
  });
  if (tensor == plan.tensors.end() || tensor->across || tensor->axes != 1 || !tensor->axis || *tensor->axis > 1 ||
      tensor->rank != 2 || readers != 1)
    return false;
  tensor->axis = 1 - *tensor->axis;
  tensor->across = true;
  return true;
}

}  // namespace

bool turn_scales(Plan& plan, const std::string& name) {
  const auto node =
      std::find_if(plan.nodes.begin(), plan.nodes.end(), [&](const NodePlan& entry) { return entry.node == name; });
  if (node == plan.nodes.end() || node->action != Action::kWeights ||
      (node->form != Form::kFold && node->form != Form::kDequantize))
    return false;
  node->form = Form::kFold;
  return turn_scales_of(plan, *node);
}

std::vector<std::string> demote(Plan& plan, const std::string& name, const std::string& why) {
  const auto node =
      std::find_if(plan.nodes.begin(), plan.nodes.end(), [&](const NodePlan& entry) { return entry.node == name; });
  if (node == plan.nodes.end() || node->action == Action::kKeep) return {};
  if (node->action == Action::kDynamic) {
    node->action = Action::kWeights;
    node->form =
        weights_form(node->op == "MatMul" || node->op == "Gemm" ? Family::kMatMul : Family::kTable, plan.target);
    node->why = "weights only: " + why;
    return {name};
  }
  if (node->form == Form::kDequantize) {
    // The runtime's fused kernel quantizes activations as well; folded weights leave the arithmetic in float.
    node->form = Form::kFold;
    node->why = "weights only, arithmetic in float: " + why;
    return {name};
  }
  if (turn_scales_of(plan, *node)) {
    node->why = "weights only, a scale per row summed over: " + why;
    return {name};
  }
  // The tensors go back to float, and with them everyone who reads one.
  std::set<std::string> freed;
  for (const std::string& tensor : node->weights) {
    const auto planned = std::find_if(plan.tensors.begin(), plan.tensors.end(),
                                      [&](const TensorPlan& entry) { return entry.tensor == tensor; });
    if (planned == plan.tensors.end()) continue;
    plan.kept.push_back({tensor, planned->bytes, why});
    plan.tensors.erase(planned);
    freed.insert(tensor);
  }
  std::set<std::string> planned;
  for (const TensorPlan& tensor : plan.tensors) planned.insert(tensor.tensor);
  std::vector<std::string> changed;
  for (NodePlan& reader : plan.nodes) {
    const auto reads = [&](const std::set<std::string>& tensors) {
      return std::any_of(reader.weights.begin(), reader.weights.end(),
                         [&](const auto& weight) { return tensors.contains(weight); });
    };
    if (reader.action == Action::kKeep || !reads(freed)) continue;
    const bool partly = reads(planned);  // an LSTM may keep one of its two weights in few bits
    reader.action = partly ? Action::kWeights : Action::kKeep;
    reader.form = partly ? Form::kFold : Form::kNone;
    reader.why = why;
    changed.push_back(reader.node);
  }
  return changed;
}

}  // namespace octet
