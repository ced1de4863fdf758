#include <cstdio>
#include <nlohmann/json.hpp>

#include "octet/auto_engine.h"
#include "octet/error.h"
#include "report/json_text.h"

namespace octet {
namespace {

using Json = nlohmann::ordered_json;

constexpr const char* kFormat = "octet auto log 1";

Json to_json(const Measurement& measured) {
  Json json = {{"runs", measured.runs},           {"samples", measured.samples},       {"sqnr_db", measured.sqnr_db},
               {"lowest_db", measured.lowest_db}, {"highest_db", measured.highest_db}, {"bytes", measured.bytes},
               {"seconds", measured.seconds}};
  if (!measured.error.empty()) json["error"] = measured.error;
  if (measured.drop) json["drop"] = *measured.drop;
  if (measured.speedup) {
    json["speedup"] = {measured.speedup->ratio, measured.speedup->low, measured.speedup->high};
    json["float_ms"] = measured.float_ms;
    json["candidate_ms"] = measured.candidate_ms;
  }
  return json;
}

Measurement from_json(const Json& json) {
  Measurement measured;
  json.at("runs").get_to(measured.runs);
  measured.error = json.value("error", "");
  json.at("samples").get_to(measured.samples);
  json.at("sqnr_db").get_to(measured.sqnr_db);
  json.at("lowest_db").get_to(measured.lowest_db);
  json.at("highest_db").get_to(measured.highest_db);
  json.at("bytes").get_to(measured.bytes);
  json.at("seconds").get_to(measured.seconds);
  if (json.contains("drop")) measured.drop = json.at("drop").get<double>();
  if (json.contains("speedup")) {
    const auto figures = json.at("speedup").get<std::vector<double>>();
    if (figures.size() != 3) throw Error(ErrorCode::kMalformed, "measurement", "a speedup has three figures");
    measured.speedup = Speedup{figures[0], figures[1], figures[2]};
    measured.float_ms = json.value("float_ms", 0.0);
    measured.candidate_ms = json.value("candidate_ms", 0.0);
  }
  return measured;
}

}  // namespace

std::string measurement_to_json(const Measurement& measured) { return json_text(to_json(measured)); }

Measurement measurement_from_json(std::string_view json) {
  try {
    return from_json(Json::parse(json));
  } catch (const Json::exception& fault) {
    throw Error(ErrorCode::kMalformed, "measurement", fault.what());
  }
}

std::string MeasurementLog::key(const Quantizer& quantizer, const Plan& plan, Effort effort) {
  // Words about a plan change nothing of what it makes.
  Plan bare = plan;
  bare.notes.clear();
  bare.kept.clear();
  for (NodePlan& node : bare.nodes) node.why.clear();
  std::uint64_t hash = 14695981039346656037u;
  for (const char letter : quantizer.fingerprint() + plan_to_json(bare))
    hash = (hash ^ static_cast<std::uint8_t>(letter)) * 1099511628211u;
  char text[24];
  std::snprintf(text, sizeof text, "%016llx-%d", static_cast<unsigned long long>(hash), static_cast<int>(effort));
  return text;
}

const Measurement* MeasurementLog::find(const std::string& key) const {
  const auto found = entries_.find(key);
  return found == entries_.end() ? nullptr : &found->second;
}

void MeasurementLog::add(const std::string& key, Measurement measured) { entries_[key] = std::move(measured); }

std::string MeasurementLog::to_json() const {
  Json json = {{"format", kFormat}, {"context", context_}, {"measurements", Json::object()}};
  for (const auto& [key, measured] : entries_) json["measurements"][key] = octet::to_json(measured);
  return json_text(json, 1) + "\n";
}

void MeasurementLog::read_json(std::string_view text) {
  const auto broken = [](const std::string& what) {
    return Error(ErrorCode::kMalformed, "log", what, "take another file name; octet auto writes a new one");
  };
  const Json json = Json::parse(text, nullptr, false);
  if (!json.is_object() || json.value("format", Json()) != kFormat) throw broken("it is no log of octet auto");
  try {
    if (json.at("context").get<std::string>() != context_)
      throw Error(ErrorCode::kUsage, "log", "its measurements are of other samples or settings",
                  "take another file name, or the options of then");
    for (const auto& [key, measured] : json.at("measurements").items()) entries_[key] = from_json(measured);
  } catch (const Json::exception& fault) {
    throw broken(fault.what());
  }
}

}  // namespace octet
