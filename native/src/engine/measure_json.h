// JSON forms of what core measures. A number that is not finite is null: JSON has no other way to say it.
#pragma once

#include <nlohmann/json.hpp>
#include <vector>

#include "octet/error.h"
#include "octet/measure.h"
#include "octet/verdict.h"

namespace octet {

nlohmann::json number_json(double value);
double number_from_json(const nlohmann::json& json);  // null: NaN

nlohmann::json drift_json(const std::vector<OutputDrift>& outputs);
std::vector<OutputDrift> drift_from_json(const nlohmann::json& json);

nlohmann::json latency_json(const LatencyStats& stats);
LatencyStats latency_from_json(const nlohmann::json& json);

nlohmann::json speedup_json(const Speedup& speedup);
Speedup speedup_from_json(const nlohmann::json& json);

nlohmann::json thresholds_json(const Thresholds& thresholds);

// An error on its way between processes, whole.
nlohmann::json error_json(const Error& error);
Error error_from_json(const nlohmann::json& json);

}  // namespace octet
