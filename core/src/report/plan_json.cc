// The plan's JSON form. Enumerations are spelt as in the options; what is left out takes its default.
#include <limits>
#include <nlohmann/json.hpp>
#include <optional>
#include <utility>

#include "octet/error.h"
#include "octet/plan.h"
#include "report/json_text.h"

namespace octet {
namespace {

using Json = nlohmann::ordered_json;

[[noreturn]] void fail(const std::string& where, const std::string& what) {
  throw Error(ErrorCode::kMalformed, where, what, "make one with --save-plan");
}

// One object of the plan; its fields are asked for by name, so that what is wrong with one can be said. What is left
// out takes the default given; without a default it must be there.
class Fields {
 public:
  Fields(const Json& json, std::string where) : json_(json), where_(std::move(where)) {
    if (!json.is_object()) fail(where_, "an object stands there in other plans");
  }

  std::string text(const char* name, std::optional<std::string> otherwise = {}) const {
    const Json* value = find(name, otherwise.has_value());
    if (value && !value->is_string()) refuse(name, "no text");
    return value ? value->get<std::string>() : *otherwise;
  }

  bool flag(const char* name, bool otherwise) const {
    const Json* value = find(name, true);
    if (value && !value->is_boolean()) refuse(name, "neither true nor false");
    return value ? value->get<bool>() : otherwise;
  }

  // Nothing for null.
  std::optional<int> number(const char* name, std::optional<int> otherwise) const {
    const Json* value = find(name, true);
    if (!value) return otherwise;
    if (value->is_null()) return std::nullopt;
    if (!value->is_number_integer()) refuse(name, "no whole number");
    const bool fits = value->is_number_unsigned() ? value->get<std::uint64_t>() <= std::numeric_limits<int>::max()
                                                  : value->get<std::int64_t>() >= std::numeric_limits<int>::min();
    if (!fits) refuse(name, "a number out of range");
    return value->get<int>();
  }

  // Nothing where it is missing or null.
  std::optional<double> real(const char* name) const {
    const Json* value = find(name, true);
    if (!value || value->is_null()) return std::nullopt;
    if (!value->is_number()) refuse(name, "no number");
    return value->get<double>();
  }

  std::uint64_t size(const char* name) const {
    const Json* value = find(name, true);
    if (value && !value->is_number_unsigned()) refuse(name, "no size");
    return value ? value->get<std::uint64_t>() : 0;
  }

  template <class T>
  T choice(const char* name, std::optional<T> (*from)(std::string_view), T otherwise) const {
    if (!find(name, true)) return otherwise;
    const std::string spelt = text(name);
    const auto value = from(spelt);
    if (!value) {
      throw Error(ErrorCode::kMalformed, where_, std::string(name) + " '" + spelt + "' is none that Octet knows",
                  "see octet quantize --help");
    }
    return *value;
  }

  std::vector<std::string> texts(const char* name) const {
    std::vector<std::string> result;
    for (const Json& entry : list(name, true)) {
      if (!entry.is_string()) refuse(name, "a list of something else than texts");
      result.push_back(entry.get<std::string>());
    }
    return result;
  }

  std::vector<float> reals(const char* name) const {
    std::vector<float> result;
    for (const Json& entry : list(name, false)) {
      if (!entry.is_number()) refuse(name, "a list of something else than numbers");
      result.push_back(entry.get<float>());
    }
    return result;
  }

  const Json& list(const char* name, bool optional) const {
    static const Json none = Json::array();
    const Json* value = find(name, optional);
    if (value && !value->is_array()) refuse(name, "no list");
    return value ? *value : none;
  }

 private:
  const Json* find(const char* name, bool optional) const {
    const auto found = json_.find(name);
    if (found != json_.end()) return &*found;
    if (!optional) fail(where_, std::string("'") + name + "' is missing");
    return nullptr;
  }
  [[noreturn]] void refuse(const char* name, const std::string& what) const {
    fail(where_, std::string("'") + name + "' is " + what);
  }

  const Json& json_;
  std::string where_;
};

Json tensor_json(const TensorPlan& tensor) {
  Json json{{"tensor", tensor.tensor},
            {"type", name_of(tensor.type)},
            {"axis", tensor.axis ? Json(*tensor.axis) : Json(nullptr)},
            {"symmetric", tensor.symmetric},
            {"bytes", tensor.bytes},
            {"rank", tensor.rank}};
  if (tensor.axes != 1) json["axes"] = tensor.axes;
  if (tensor.reduce_range) json["reduce_range"] = true;
  if (tensor.across) json["across"] = true;
  if (tensor.transposed) json["transposed"] = true;
  if (tensor.block_size > 0) json["block_size"] = tensor.block_size;
  return json;
}

NodePlan node_from(const Json& json) {
  NodePlan node;
  node.node = Fields(json, "plan: an entry of 'nodes'").text("node");
  const Fields fields(json, "plan: node '" + node.node + "'");
  node.op = fields.text("op", "");
  node.action = fields.choice("action", action_from, Action::kKeep);
  node.form = fields.choice("form", form_from, Form::kNone);
  node.weights = fields.texts("weights");
  node.reads = fields.texts("reads");
  node.writes = fields.texts("writes");
  node.absorbs = fields.text("absorbs", "");
  node.why = fields.text("why", "");
  return node;
}

TensorPlan tensor_from(const Json& json) {
  TensorPlan tensor;
  tensor.tensor = Fields(json, "plan: an entry of 'tensors'").text("tensor");
  const std::string where = "plan: tensor '" + tensor.tensor + "'";
  const Fields fields(json, where);
  tensor.type = fields.choice("type", quant_type_from, QuantType::kInt8);
  tensor.axis = fields.number("axis", {});
  tensor.axes = fields.number("axes", 1).value_or(1);
  tensor.symmetric = fields.flag("symmetric", true);
  tensor.reduce_range = fields.flag("reduce_range", false);
  tensor.across = fields.flag("across", false);
  tensor.transposed = fields.flag("transposed", false);
  tensor.block_size = fields.number("block_size", 0).value_or(0);
  tensor.rank = fields.number("rank", 0).value_or(0);
  tensor.bytes = fields.size("bytes");
  if (tensor.block_size != 0 && (tensor.block_size < 16 || (tensor.block_size & (tensor.block_size - 1)) != 0)) {
    throw Error(ErrorCode::kMalformed, where, "block_size must be a power of two, 16 or more");
  }
  return tensor;
}

Json activation_json(const ActivationPlan& activation) {
  Json json{{"tensor", activation.tensor}, {"type", name_of(activation.type)}};
  if (activation.symmetric) json["symmetric"] = true;
  if (!activation.same_as.empty()) {
    json["same_as"] = activation.same_as;
    return json;
  }
  json["method"] = name_of(activation.method);
  if (activation.method == RangeMethod::kPercentile || activation.method == RangeMethod::kBest)
    json["percentile"] = activation.percentile;
  if (activation.range) {
    json["low"] = activation.range->low;
    json["high"] = activation.range->high;
  }
  return json;
}

ActivationPlan activation_from(const Json& json) {
  ActivationPlan activation;
  activation.tensor = Fields(json, "plan: an entry of 'activations'").text("tensor");
  const std::string where = "plan: activation '" + activation.tensor + "'";
  const Fields fields(json, where);
  activation.type = fields.choice("type", quant_type_from, QuantType::kUint8);
  activation.symmetric = fields.flag("symmetric", false);
  activation.same_as = fields.text("same_as", "");
  activation.method = fields.choice("method", range_method_from, RangeMethod::kMinMax);
  activation.percentile = fields.real("percentile").value_or(activation.percentile);
  const auto low = fields.real("low"), high = fields.real("high");
  if (low.has_value() != high.has_value()) fail(where, "a range has both 'low' and 'high'");
  if (low) activation.range = Interval{static_cast<float>(*low), static_cast<float>(*high)};
  return activation;
}

KeptTensor kept_from(const Json& json) {
  const Fields fields(json, "plan: an entry of 'kept'");
  return {fields.text("tensor"), fields.size("bytes"), fields.text("why", "")};
}

Smoothing smoothing_from(const Json& json) {
  const Fields fields(json, "plan: an entry of 'smoothed'");
  return {fields.text("value"), fields.texts("products"), fields.reals("factors")};
}

BiasCorrection correction_from(const Json& json) {
  const Fields fields(json, "plan: an entry of 'corrections'");
  return {fields.text("node"), fields.reals("values")};
}

}  // namespace

std::string plan_to_json(const Plan& plan) {
  Json json{{"octet_plan", 1},           {"mode", name_of(plan.mode)}, {"target", name_of(plan.target)},
            {"prepared", plan.prepared}, {"nodes", Json::array()},     {"tensors", Json::array()},
            {"kept", Json::array()},     {"notes", plan.notes}};
  for (const NodePlan& node : plan.nodes) {
    Json entry{{"node", node.node}, {"op", node.op}, {"action", name_of(node.action)}};
    if (node.form != Form::kNone) entry["form"] = name_of(node.form);
    if (!node.weights.empty()) entry["weights"] = node.weights;
    if (!node.reads.empty()) entry["reads"] = node.reads;
    if (!node.writes.empty()) entry["writes"] = node.writes;
    if (!node.absorbs.empty()) entry["absorbs"] = node.absorbs;
    entry["why"] = node.why;
    json["nodes"].push_back(std::move(entry));
  }
  for (const TensorPlan& tensor : plan.tensors) json["tensors"].push_back(tensor_json(tensor));
  if (!plan.activations.empty()) json["format"] = name_of(plan.format);
  for (const ActivationPlan& activation : plan.activations) json["activations"].push_back(activation_json(activation));
  if (plan.equalized) json["equalized"] = true;
  for (const Smoothing& entry : plan.smoothed)
    json["smoothed"].push_back({{"value", entry.value}, {"products", entry.products}, {"factors", entry.factors}});
  for (const BiasCorrection& entry : plan.corrections)
    json["corrections"].push_back({{"node", entry.node}, {"values", entry.values}});
  for (const KeptTensor& tensor : plan.kept)
    json["kept"].push_back({{"tensor", tensor.tensor}, {"bytes", tensor.bytes}, {"why", tensor.why}});
  return json_text(json, 1);
}

Plan plan_from_json(std::string_view text) {
  Json json;
  try {
    json = Json::parse(text);
  } catch (const Json::parse_error& fault) {
    fail("plan", "no JSON at byte " + std::to_string(fault.byte));
  } catch (const Json::exception&) {
    fail("plan", "a number in it is out of range");
  }
  const Fields fields(json, "plan");
  if (fields.number("octet_plan", 0) != 1) fail("plan", "this is no Octet plan of version 1");
  Plan plan;
  plan.mode = fields.choice("mode", mode_from, Mode::kDynamic);
  plan.target = fields.choice("target", target_from, Target::kAny);
  plan.prepared = fields.flag("prepared", false);
  for (const Json& entry : fields.list("nodes", false)) plan.nodes.push_back(node_from(entry));
  for (const Json& entry : fields.list("tensors", false)) plan.tensors.push_back(tensor_from(entry));
  plan.format = fields.choice("format", format_from, Format::kQdq);
  for (const Json& entry : fields.list("activations", true)) plan.activations.push_back(activation_from(entry));
  plan.equalized = fields.flag("equalized", false);
  for (const Json& entry : fields.list("smoothed", true)) plan.smoothed.push_back(smoothing_from(entry));
  for (const Json& entry : fields.list("corrections", true)) plan.corrections.push_back(correction_from(entry));
  for (const Json& entry : fields.list("kept", true)) plan.kept.push_back(kept_from(entry));
  plan.notes = fields.texts("notes");
  return plan;
}

}  // namespace octet
