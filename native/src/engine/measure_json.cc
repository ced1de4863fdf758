#include "engine/measure_json.h"

#include <cmath>
#include <limits>
#include <string>

#include "octet/report.h"

namespace octet {

using nlohmann::json;

json number_json(double value) { return std::isfinite(value) ? json(value) : json(nullptr); }

double number_from_json(const json& value) {
  return value.is_null() ? std::numeric_limits<double>::quiet_NaN() : value.get<double>();
}

json drift_json(const std::vector<OutputDrift>& outputs) { return json::parse(drift_to_json(outputs)); }

std::vector<OutputDrift> drift_from_json(const json& list) {
  std::vector<OutputDrift> outputs;
  for (const json& entry : list) {
    OutputDrift& output = outputs.emplace_back();
    output.name = entry.at("name").get<std::string>();
    output.comparable = entry.at("comparable").get<bool>();
    output.finite = entry.at("finite").get<bool>();
    output.sqnr_db = number_from_json(entry.at("sqnr_db"));
    output.cosine = number_from_json(entry.at("cosine"));
    output.max_abs_error = number_from_json(entry.at("max_abs_error"));
    output.max_abs = number_from_json(entry.at("max_abs"));
    output.elements = entry.at("elements").get<std::uint64_t>();
    output.why_not = entry.value("why_not", "");
    if (entry.contains("top1_agreement")) output.top1_agreement = number_from_json(entry.at("top1_agreement"));
  }
  return outputs;
}

json latency_json(const LatencyStats& stats) { return json::parse(latency_to_json(stats)); }

LatencyStats latency_from_json(const json& value) {
  LatencyStats stats;
  stats.runs = value.at("runs").get<std::uint64_t>();
  stats.median_ms = value.at("median_ms").get<double>();
  stats.mean_ms = value.at("mean_ms").get<double>();
  stats.min_ms = value.at("min_ms").get<double>();
  stats.max_ms = value.at("max_ms").get<double>();
  stats.p90_ms = value.at("p90_ms").get<double>();
  stats.stddev_ms = value.at("stddev_ms").get<double>();
  stats.mad_ms = value.at("mad_ms").get<double>();
  return stats;
}

json speedup_json(const Speedup& speedup) { return json::parse(speedup_to_json(speedup)); }

Speedup speedup_from_json(const json& value) {
  return {value.at("ratio").get<double>(), value.at("low").get<double>(), value.at("high").get<double>()};
}

json thresholds_json(const Thresholds& thresholds) {
  return {{"min_sqnr_db", thresholds.min_sqnr_db},
          {"min_smaller", thresholds.min_smaller},
          {"slower", thresholds.slower},
          {"faster", thresholds.faster}};
}

json error_json(const Error& error) {
  return {{"code", error.code()}, {"where", error.where()}, {"what", error.problem()}, {"next", error.next()}};
}

Error error_from_json(const json& value) {
  return {value.at("code").get<ErrorCode>(), value.at("where").get<std::string>(), value.at("what").get<std::string>(),
          value.at("next").get<std::string>()};
}

}  // namespace octet
