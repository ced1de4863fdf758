#include "quantize/static_values.h"

#include <cmath>
#include <cstring>
#include <limits>

#include "model/tensor_access.h"
#include "octet/error.h"
#include "quantize/static_rules.h"
#include "quantize/weight_params.h"

namespace octet {
namespace {

using onnx::TensorProto;

[[noreturn]] void refuse(const std::string& value, const std::string& what, const std::string& next) {
  throw Error(ErrorCode::kUsage, "plan: activation '" + value + "'", what, next);
}

std::vector<std::uint8_t> integer_bytes(std::int32_t value, int bits) {
  std::vector<std::uint8_t> bytes(static_cast<std::size_t>(bits / 8));
  std::memcpy(bytes.data(), &value, bytes.size());  // little-endian
  return bytes;
}

// A tensor as choose_params and its like want it described.
TensorPlan describe(const ActivationPlan& plan) {
  TensorPlan tensor;
  tensor.type = plan.type;
  tensor.symmetric = plan.symmetric;
  return tensor;
}

}  // namespace

void activation_params(const ActivationPlan& plan, Interval range, float& scale, std::int32_t& zero_point) {
  choose_params(range.low, range.high, describe(plan), TensorProto::FLOAT, scale, zero_point);
}

StaticValues::StaticValues(Rewriter& rewriter, const Plan& plan) : rewriter_(rewriter) {
  for (const ActivationPlan& activation : plan.activations) {
    const Value* value = rewriter.view().find(rewriter.view().main(), activation.tensor);
    if (!value || value->constant()) refuse(activation.tensor, "the model makes no such value", "plan the model again");
    if (bit_width(activation.type) == 4) refuse(activation.tensor, "activations take 8 or 16 bits", "");
    if (!entries_.emplace(activation.tensor, Entry{&activation, {}, {}, {}, false}).second)
      refuse(activation.tensor, "it is listed twice", "take one of the two out");
  }
  for (const NodePlan& node : plan.nodes) {
    if (node.action != Action::kStatic) continue;
    for (const std::string& value : node.writes) entry(value).made_here = true;
    for (const std::string& value : node.reads) entry(value);
  }
  for (auto& [name, entry] : entries_) {
    const ActivationPlan& root = *root_of(entry).plan;
    if (root.type != entry.plan->type)
      refuse(name, "it is the same as '" + root.tensor + "', but of another type", "give both one type");
    if (!root.range) refuse(name, "it has no range", "calibrate first: pass --calib DATA or --ranges FILE");
    if (!std::isfinite(root.range->low) || !std::isfinite(root.range->high) || root.range->low > root.range->high)
      refuse(name, "its range is no finite interval", "give it low <= high");
    activation_params(root, *root.range, entry.params.scale, entry.params.zero_point);
  }
}

const ActivationPlan* StaticValues::plan_of(const std::string& value) const {
  const auto found = entries_.find(value);
  return found == entries_.end() ? nullptr : found->second.plan;
}

StaticValues::Entry& StaticValues::entry(const std::string& value) {
  const auto found = entries_.find(value);
  if (found == entries_.end())
    refuse(value, "a static node reads or writes it, but it is not among the activations", "plan the model again");
  return found->second;
}

const StaticValues::Entry& StaticValues::root_of(const Entry& start) const {
  const Entry* at = &start;
  for (std::size_t steps = 0; !at->plan->same_as.empty(); ++steps) {
    const auto next = entries_.find(at->plan->same_as);
    if (next == entries_.end() || steps > entries_.size())
      refuse(at->plan->tensor, "what it is the same as has no range", "plan the model again");
    at = &next->second;
  }
  return *at;
}

bool StaticValues::share_params(const std::string& one, const std::string& other) const {
  return &root_of(entry(one)) == &root_of(entry(other));
}

const StoredParams& StaticValues::params(const std::string& value) {
  Entry& own = entry(value);
  if (!own.params.scale_name.empty()) return own.params;
  // Values that only carry others on share their tensors: so the runtime sees that nothing is rounded between them.
  const Entry& root = root_of(own);
  if (&root != &own) return own.params = params(root.plan->tensor);
  Scope& main = rewriter_.view().main();
  const int bits = bit_width(own.plan->type);
  own.params.scale_name = rewriter_.add_floats(main, value + "_scale", TensorProto::FLOAT, {}, {own.params.scale});
  own.params.zero_point_name = rewriter_.add_tensor(main, value + "_zero_point", element_type(own.plan->type), {},
                                                    integer_bytes(own.params.zero_point, bits));
  return own.params;
}

void StaticValues::place(onnx::NodeProto& node, bool per_axis, int bits) const {
  const int needed = bits == 16 ? 21 : per_axis ? 13 : 10;
  if (rewriter_.opset() < needed) node.set_domain("com.microsoft");
}

void StaticValues::restore_output(const onnx::NodeProto* producer, const std::string& value) {
  const StoredParams stored = params(value);
  const std::string integers = integers_of(value);
  place(rewriter_.node_after(producer, "DequantizeLinear", {integers, stored.scale_name, stored.zero_point_name},
                             {value}),
        false, bit_width(entry(value).plan->type));
}

void StaticValues::round_output(const onnx::NodeProto* producer, const std::string& raw, const std::string& value) {
  const StoredParams stored = params(value);
  Entry& own = entry(value);
  if (own.integers.empty()) own.integers = rewriter_.fresh(value + "_quantized");
  place(rewriter_.node_after(producer, "QuantizeLinear", {raw, stored.scale_name, stored.zero_point_name},
                             {own.integers}),
        false, bit_width(own.plan->type));
  restore_output(producer, value);
}

// A convolution or Gemm in float that reads what a static node rounded, and whose own output is rounded: between such
// a DQ and Q the runtime rounds float weights to 8 bits of its own, one scale for all channels, as if nobody had left
// the node in float for a reason. It looks through clamps, and moves Q and DQ past what only carries elements on.
bool StaticValues::tempts_runtime(const Value& value) const {
  const auto passes_on = [](const onnx::NodeProto& node) {
    const StaticRule* rule = find_static_rule(node);
    return rule && (rule->kind == StaticKind::kClamp || rule->kind == StaticKind::kCarry) && node.input_size() > 0;
  };
  const auto producer_of = [&](const std::string& name) -> const onnx::NodeProto* {
    const Value* found = rewriter_.view().find(rewriter_.view().main(), name);
    return found ? found->producer : nullptr;
  };
  const onnx::NodeProto* node = value.producer;
  while (node && passes_on(*node)) node = producer_of(node->input(0));
  if (!node || node->input_size() == 0 ||
      !(is_op(*node, "Conv") || is_op(*node, "ConvTranspose") || is_op(*node, "Gemm")))
    return false;
  for (std::string input = node->input(0);;) {
    const auto read = entries_.find(input);
    if (read != entries_.end() && read->second.made_here) return true;
    const onnx::NodeProto* before = producer_of(input);
    if (!before || !passes_on(*before)) return false;
    input = before->input(0);
  }
}

void StaticValues::quantize_float(const std::string& value, Entry& own) {
  const StoredParams stored = params(value);
  own.integers = rewriter_.fresh(value + "_quantized");
  const Value* source = rewriter_.view().find(rewriter_.view().main(), value);
  std::string rounded = value;
  if (tempts_runtime(*source)) {
    // The larger of a value and the lowest there is: the value, by an operator that the runtime does not look through.
    rounded = rewriter_.fresh(value + "_guarded");
    const std::string lowest = rewriter_.add_floats(rewriter_.view().main(), value + "_lowest", TensorProto::FLOAT, {},
                                                    {std::numeric_limits<float>::lowest()});
    rewriter_.node_after(source->producer, "Max", {value, lowest}, {rounded});
  }
  place(rewriter_.node_after(source->producer, "QuantizeLinear", {rounded, stored.scale_name, stored.zero_point_name},
                             {own.integers}),
        false, bit_width(own.plan->type));
}

const std::string& StaticValues::integers_of(const std::string& value) {
  Entry& own = entry(value);
  if (!own.integers.empty()) return own.integers;
  if (own.made_here)
    own.integers = rewriter_.fresh(value + "_quantized");
  else
    quantize_float(value, own);
  return own.integers;
}

const std::string& StaticValues::rounded(const std::string& value) {
  Entry& own = entry(value);
  if (own.made_here) return own.plan->tensor;  // everyone reads it rounded
  if (!own.rounded.empty()) return own.rounded;
  const std::string integers = integers_of(value);
  const StoredParams stored = params(value);
  own.rounded = rewriter_.fresh(value + "_dequantized");
  const Value* source = rewriter_.view().find(rewriter_.view().main(), value);
  place(rewriter_.node_after(source->producer, "DequantizeLinear",
                             {integers, stored.scale_name, stored.zero_point_name}, {own.rounded}),
        false, bit_width(own.plan->type));
  return own.rounded;
}

StaticValues::Constant StaticValues::constant(const NodeAt& at, int input, const ActivationPlan& like) {
  const int bits = bit_width(like.type);
  if (Quantized* planned = rewriter_.quantized(at, input);
      planned && planned->plan->type == like.type && !planned->plan->axis && !planned->plan->transposed) {
    return {rewriter_.data(*planned),
            {planned->params->scale.front(), planned->params->zero_point.front(), rewriter_.flat_scale(*planned),
             rewriter_.zero_point(*planned)}};
  }
  const Value* value = rewriter_.view().input(at, input);
  const TensorProto& tensor = *value->initializer;
  TensorPlan plan = describe(like);
  plan.tensor = value->name;
  const WeightParams params = compute_params(rewriter_.model().store(), tensor, plan);
  std::vector<std::uint8_t> bytes(element_count(tensor) * static_cast<std::size_t>(bits / 8));
  quantize_weight(rewriter_.model().store(), tensor, plan, params, bytes);
  Scope& main = rewriter_.view().main();
  Constant result;
  result.params.scale = params.scale.front();
  result.params.zero_point = params.zero_point.front();
  result.data = rewriter_.add_tensor(main, value->name + "_quantized", element_type(like.type),
                                     {tensor.dims().begin(), tensor.dims().end()}, std::move(bytes));
  result.params.scale_name =
      rewriter_.add_floats(main, value->name + "_scale", TensorProto::FLOAT, {}, {result.params.scale});
  result.params.zero_point_name = rewriter_.add_tensor(main, value->name + "_zero_point", element_type(like.type), {},
                                                       integer_bytes(result.params.zero_point, bits));
  return result;
}

}  // namespace octet
