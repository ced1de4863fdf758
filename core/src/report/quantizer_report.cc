#include <nlohmann/json.hpp>
#include <set>

#include "octet/report.h"
#include "report/json_text.h"

namespace octet {
namespace {

std::uint64_t measure(const Quantizer& quantizer) {
  const SaveResult sizes = measure_model(quantizer.apply(quantizer.plan()));
  return sizes.model_bytes + sizes.external_bytes;
}

// Of the float tensors that the runtime makes anew of folded ones when a session starts.
std::uint64_t unfolded_bytes(const Plan& plan) {
  std::set<std::string> folded;
  for (const NodePlan& node : plan.nodes) {
    if (node.form == Form::kFold) folded.insert(node.weights.begin(), node.weights.end());
  }
  std::uint64_t bytes = 0;
  for (const TensorPlan& tensor : plan.tensors) bytes += folded.contains(tensor.tensor) ? tensor.bytes : 0;
  return bytes;
}

}  // namespace

std::string quantizer_report_json(Quantizer& quantizer, std::optional<std::uint64_t> output_bytes) {
  using Json = nlohmann::ordered_json;
  const Plan& plan = quantizer.plan();
  const PlanSizes sizes = quantizer.sizes();
  Json json{{"model", Json::parse(facts_to_json(quantizer.facts()))}, {"passes", Json::array()}};
  for (const PassReport& pass : quantizer.passes()) {
    json["passes"].push_back({{"pass", pass.pass}, {"changes", pass.changes}, {"notes", pass.notes}});
  }
  json["plan"] = Json::parse(plan_to_json(plan));
  const std::uint64_t written = output_bytes ? *output_bytes : measure(quantizer);
  json["sizes"] = {{"input_bytes", quantizer.facts().file_bytes},
                   {"output_bytes", written},
                   {"loaded_bytes", written + unfolded_bytes(plan)},
                   {"float_weight_bytes", sizes.float_bytes},
                   {"weights_in_8_bits_bytes", sizes.planned_bytes},
                   {"stored_bytes", sizes.stored_bytes},
                   {"left_float", Json::array()}};
  for (const KeptTensor& tensor : plan.kept) {
    json["sizes"]["left_float"].push_back({{"name", tensor.tensor}, {"bytes", tensor.bytes}, {"why", tensor.why}});
  }
  return json_text(json, 1);
}

}  // namespace octet
