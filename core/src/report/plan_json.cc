// The plan's JSON form. Enumerations are spelt as in the options; what is left out takes its default.
#include <nlohmann/json.hpp>

#include "octet/error.h"
#include "octet/plan.h"

namespace octet {
namespace {

using Json = nlohmann::ordered_json;

template <class T>
T required(std::optional<T> value, const char* field, const std::string& text) {
  if (!value)
    throw Error(ErrorCode::kMalformed, "plan", std::string(field) + " '" + text + "' is none that Octet knows",
                "see octet quantize --help");
  return *value;
}

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

TensorPlan tensor_from(const Json& json) {
  TensorPlan tensor;
  tensor.tensor = json.at("tensor").get<std::string>();
  const auto type = json.value("type", "qint8");
  tensor.type = required(weight_type_from(type), "type", type);
  if (json.contains("axis") && !json["axis"].is_null()) tensor.axis = json["axis"].get<int>();
  tensor.axes = json.value("axes", 1);
  tensor.symmetric = json.value("symmetric", true);
  tensor.reduce_range = json.value("reduce_range", false);
  tensor.across = json.value("across", false);
  tensor.transposed = json.value("transposed", false);
  tensor.block_size = json.value("block_size", 0);
  tensor.rank = json.value("rank", 0);
  tensor.bytes = json.value("bytes", std::uint64_t{0});
  if (tensor.block_size != 0 && (tensor.block_size < 16 || (tensor.block_size & (tensor.block_size - 1)) != 0)) {
    throw Error(ErrorCode::kMalformed, "plan: tensor '" + tensor.tensor + "'",
                "block_size must be a power of two, 16 or more");
  }
  return tensor;
}

}  // namespace

std::string plan_to_json(const Plan& plan) {
  Json json{{"octet_plan", 1},        {"mode", name_of(plan.mode)}, {"target", name_of(plan.target)},
            {"nodes", Json::array()}, {"tensors", Json::array()},   {"kept", Json::array()},
            {"notes", plan.notes}};
  for (const NodePlan& node : plan.nodes) {
    Json entry{{"node", node.node}, {"op", node.op}, {"action", name_of(node.action)}};
    if (node.form != Form::kNone) entry["form"] = name_of(node.form);
    if (!node.weights.empty()) entry["weights"] = node.weights;
    entry["why"] = node.why;
    json["nodes"].push_back(std::move(entry));
  }
  for (const TensorPlan& tensor : plan.tensors) json["tensors"].push_back(tensor_json(tensor));
  for (const KeptTensor& tensor : plan.kept)
    json["kept"].push_back({{"tensor", tensor.tensor}, {"bytes", tensor.bytes}, {"why", tensor.why}});
  return json.dump(1, ' ', false, Json::error_handler_t::replace);
}

Plan plan_from_json(std::string_view text) {
  Plan plan;
  try {
    const Json json = Json::parse(text);
    if (json.value("octet_plan", 0) != 1)
      throw Error(ErrorCode::kMalformed, "plan", "this is no Octet plan of version 1", "make one with --save-plan");
    const auto mode = json.value("mode", "dynamic"), target = json.value("target", "any");
    plan.mode = required(mode_from(mode), "mode", mode);
    plan.target = required(target_from(target), "target", target);
    for (const Json& entry : json.at("nodes")) {
      NodePlan node;
      node.node = entry.at("node").get<std::string>();
      node.op = entry.value("op", "");
      const auto action = entry.value("action", "keep"), form = entry.value("form", "none");
      node.action = required(action_from(action), "action", action);
      node.form = required(form_from(form), "form", form);
      node.weights = entry.value("weights", std::vector<std::string>{});
      node.why = entry.value("why", "");
      plan.nodes.push_back(std::move(node));
    }
    for (const Json& entry : json.at("tensors")) plan.tensors.push_back(tensor_from(entry));
    if (json.contains("kept")) {
      for (const Json& entry : json["kept"])
        plan.kept.push_back(
            {entry.at("tensor").get<std::string>(), entry.value("bytes", std::uint64_t{0}), entry.value("why", "")});
    }
    plan.notes = json.value("notes", std::vector<std::string>{});
  } catch (const Json::exception& fault) {
    const auto* parse = dynamic_cast<const Json::parse_error*>(&fault);
    throw Error(ErrorCode::kMalformed, "plan",
                parse ? "no JSON at byte " + std::to_string(parse->byte)
                      : std::string("a field is missing or of the wrong kind"),
                "make one with --save-plan");
  }
  return plan;
}

}  // namespace octet
