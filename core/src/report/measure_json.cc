#include <cmath>
#include <nlohmann/json.hpp>

#include "octet/report.h"
#include "report/json_text.h"

namespace octet {
namespace {

using Json = nlohmann::ordered_json;

Json number(double value) { return std::isfinite(value) ? Json(value) : Json(nullptr); }

Json figures(const OutputDrift& output) {
  Json entry = {{"comparable", output.comparable},
                {"finite", output.finite},
                {"sqnr_db", number(output.sqnr_db)},
                {"cosine", number(output.cosine)},
                {"max_abs_error", number(output.max_abs_error)},
                {"max_abs", number(output.max_abs)},
                {"elements", output.elements}};
  if (!output.comparable) entry["why_not"] = output.why_not;
  if (output.top1_agreement) entry["top1_agreement"] = number(*output.top1_agreement);
  return entry;
}

}  // namespace

std::string drift_to_json(const std::vector<OutputDrift>& outputs) {
  Json list = Json::array();
  for (const OutputDrift& output : outputs) {
    Json entry = {{"name", output.name}};
    entry.update(figures(output));
    list.push_back(std::move(entry));
  }
  return json_text(list);
}

std::string layers_to_json(const LayersResult& layers) {
  Json values = Json::array(), weights = Json::array();
  for (const LayerDrift& layer : layers.layers) {
    Json entry = {{"value", layer.pair.name},
                  {"node", layer.pair.node},
                  {"op", layer.pair.op},
                  {"quantized", layer.pair.after},
                  {"xmodel_err", figures(layer.model)}};
    if (layer.rounding) {
      entry["unrounded"] = layer.pair.before;
      entry["qdq_err"] = figures(*layer.rounding);
    }
    values.push_back(std::move(entry));
  }
  for (const WeightDrift& weight : layers.weights) {
    weights.push_back({{"weight", weight.name},
                       {"quantized", weight.stored},
                       {"type", weight.type},
                       {"nodes", weight.nodes},
                       {"elements", weight.elements},
                       {"sqnr_db", number(weight.sqnr_db)},
                       {"max_abs_error", number(weight.max_abs_error)},
                       {"max_abs", number(weight.max_abs)}});
  }
  return json_text({{"names_of_prepared_model", layers.prepared},
                    {"samples", layers.samples},
                    {"samples_description", layers.samples_description},
                    {"float_values", layers.float_values},
                    {"rounded", layers.rounded},
                    {"rounded_matched", layers.rounded_matched},
                    {"weights_unmatched", layers.weights_unmatched},
                    {"runs", layers.slices},
                    {"values", std::move(values)},
                    {"weights", std::move(weights)}});
}

std::string latency_to_json(const LatencyStats& stats) {
  return json_text({{"runs", stats.runs},
                    {"median_ms", stats.median_ms},
                    {"mean_ms", stats.mean_ms},
                    {"min_ms", stats.min_ms},
                    {"max_ms", stats.max_ms},
                    {"p90_ms", stats.p90_ms},
                    {"stddev_ms", stats.stddev_ms},
                    {"mad_ms", stats.mad_ms}});
}

std::string speedup_to_json(const Speedup& speedup) {
  return json_text({{"ratio", speedup.ratio}, {"low", speedup.low}, {"high", speedup.high}});
}

std::string verdict_to_json(const Verdict& verdict, const Explanation& explanation) {
  Json next = Json::array();
  for (const Advice& advice : explanation.next) next.push_back({{"code", advice.code}, {"text", advice.text}});
  return json_text({{"judgement", name_of(verdict.judgement)},
                    {"decided_by", name_of(verdict.decided_by)},
                    {"sentence", verdict.sentence},
                    {"why", explanation.why},
                    {"next", std::move(next)}});
}

}  // namespace octet
