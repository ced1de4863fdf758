#include <cmath>
#include <nlohmann/json.hpp>

#include "octet/report.h"

namespace octet {
namespace {

using Json = nlohmann::ordered_json;

Json number(double value) { return std::isfinite(value) ? Json(value) : Json(nullptr); }
std::string text_of(const Json& json) { return json.dump(-1, ' ', false, Json::error_handler_t::replace); }

}  // namespace

std::string drift_to_json(const std::vector<OutputDrift>& outputs) {
  Json list = Json::array();
  for (const OutputDrift& output : outputs) {
    Json entry = {{"name", output.name},
                  {"comparable", output.comparable},
                  {"finite", output.finite},
                  {"sqnr_db", number(output.sqnr_db)},
                  {"cosine", number(output.cosine)},
                  {"max_abs_error", number(output.max_abs_error)},
                  {"max_abs", number(output.max_abs)},
                  {"elements", output.elements}};
    if (!output.comparable) entry["why_not"] = output.why_not;
    if (output.top1_agreement) entry["top1_agreement"] = number(*output.top1_agreement);
    list.push_back(std::move(entry));
  }
  return text_of(list);
}

std::string latency_to_json(const LatencyStats& stats) {
  return text_of({{"runs", stats.runs},
                  {"median_ms", stats.median_ms},
                  {"mean_ms", stats.mean_ms},
                  {"min_ms", stats.min_ms},
                  {"max_ms", stats.max_ms},
                  {"p90_ms", stats.p90_ms},
                  {"stddev_ms", stats.stddev_ms},
                  {"mad_ms", stats.mad_ms}});
}

std::string speedup_to_json(const Speedup& speedup) {
  return text_of({{"ratio", speedup.ratio}, {"low", speedup.low}, {"high", speedup.high}});
}

std::string verdict_to_json(const Verdict& verdict) {
  const char* judgement = verdict.judgement == Judgement::kShip   ? "ship"
                          : verdict.judgement == Judgement::kDont ? "dont"
                                                                  : "cannot_tell";
  return text_of({{"judgement", judgement}, {"sentence", verdict.sentence}});
}

}  // namespace octet
