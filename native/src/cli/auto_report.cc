#include "cli/auto_report.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "cli/quantize_report.h"
#include "cli/speed_reason.h"
#include "cli/terminal.h"
#include "engine/json_text.h"
#include "engine/measure_json.h"
#include "octet/plan.h"

namespace octet {
namespace {

using Json = nlohmann::ordered_json;

std::string interval(const Speedup& speedup) { return fmt::format("{:.2f} to {:.2f}", speedup.low, speedup.high); }

std::string drift(const Measurement& measured) {
  std::string text = format_db(measured.sqnr_db);
  if (measured.samples > 1) text += fmt::format(" ({:.1f} to {:.1f})", measured.lowest_db, measured.highest_db);
  return text;
}

std::string table_of(const AutoReport& report, const AutoSearch& search) {
  std::vector<std::vector<std::string>> rows{
      {"", "size", "speed", "interval", "drift (samples)", "nodes out", "conversions"}};
  rows.push_back({"float, as given", format_bytes(report.input_bytes), "1.00×", "", "", "", ""});
  const AutoCandidate* chosen = search.chosen();
  for (const std::size_t i : search.front()) {
    const AutoCandidate& candidate = search.candidates()[i];
    const Measurement& measured = candidate.measured;
    const Speedup speed = measured.speedup.value_or(Speedup{});
    rows.push_back({(&candidate == chosen ? "→ " : "  ") + candidate.what, format_bytes(measured.bytes),
                    fmt::format("{:.2f}×", speed.ratio), interval(speed), drift(measured),
                    std::to_string(candidate.moved.size()), std::to_string(candidate.conversions)});
  }
  return format_table(rows);
}

std::string tally(const Plan& plan) {
  std::map<std::string, int> counts;
  for (const NodePlan& node : plan.nodes) {
    if (!node.weights.empty()) ++counts[std::string(name_of(node.action))];
  }
  std::string text;
  for (const auto& [action, count] : counts) text += fmt::format("{}{} {}", text.empty() ? "" : ", ", count, action);
  return text.empty() ? "none" : text;
}

Json to_json(const Measurement& measured) {
  Json json = {{"runs", measured.runs},
               {"bytes", measured.bytes},
               {"samples", measured.samples},
               {"sqnr_db", number_json(measured.sqnr_db)},
               {"sqnr_interval_db", {number_json(measured.lowest_db), number_json(measured.highest_db)}},
               {"seconds", measured.seconds}};
  if (!measured.error.empty()) json["error"] = measured.error;
  if (measured.drop) json["drop_percent"] = *measured.drop;
  if (measured.speedup) {
    json["speedup"] = speedup_json(*measured.speedup);
    json["float_ms"] = measured.float_ms;
    json["candidate_ms"] = measured.candidate_ms;
  }
  return json;
}

}  // namespace

std::string auto_report_text(const AutoReport& report, const AutoSearch& search) {
  const AutoCandidate& chosen = *search.chosen();
  std::string text = fmt::format("{} → {}: {} → {}\n", report.input, report.output, format_bytes(report.input_bytes),
                                 format_bytes(report.output_bytes));
  text += fmt::format("judged on {}{}, {} thread{}; {} measurements in {:.0f} s\n\n", report.samples,
                      report.on_calibration ? " (those of calibration, for want of --eval)" : "", report.threads,
                      report.threads == 1 ? "" : "s", search.tried(), search.seconds());
  text += table_of(report, search) + "\n";
  text += "nodes with weights: " + tally(chosen.plan) + "\n";
  for (const std::string& line : search.account()) text += line + "\n";
  if (report.verify.integers) text += integer_line(*report.verify.integers);
  if (report.verify.latency) text += speed_reason(report.verify);
  if (const std::string line = accuracy_line(report.verify); !line.empty()) text += line + "\n";
  if (report.verify.verified) {
    text += fmt::format("what was written, run once more on {}: drift {}", report.verify.samples_description,
                        format_db(report.verify.worst_sqnr_db));
    if (report.verify.latency) text += ", speed " + format_times(report.verify.latency->speedup.ratio);
    text += "\n";
  } else {
    text += "what was written was not verified: " + report.verify.why + "\n";
  }
  return text;
}

std::string auto_report_json(const AutoReport& report, const AutoSearch& search) {
  const AutoCandidate* chosen = search.chosen();
  const auto front = search.front();
  Json json = {{"input", report.input},
               {"output", report.output},
               {"input_bytes", report.input_bytes},
               {"output_bytes", report.output_bytes},
               {"samples", report.samples},
               {"threads", report.threads},
               {"measurements", search.tried()},
               {"seconds", search.seconds()}};
  Json& budget = json["budget"] = {{"seconds", report.budget.seconds}};
  if (report.budget.max_drop)
    budget["max_drop_percent"] = *report.budget.max_drop;
  else
    budget["min_sqnr_db"] = report.budget.min_sqnr_db;
  if (report.budget.max_bytes) budget["max_bytes"] = *report.budget.max_bytes;
  if (report.budget.min_speedup) budget["min_speedup"] = *report.budget.min_speedup;
  json["candidates"] = Json::array();
  for (std::size_t i = 0; i < search.candidates().size(); ++i) {
    const AutoCandidate& candidate = search.candidates()[i];
    Json entry = {{"what", candidate.what},
                  {"chosen", &candidate == chosen},
                  {"front", std::find(front.begin(), front.end(), i) != front.end()},
                  {"moved", candidate.moved},
                  {"conversions", candidate.conversions}};
    entry.update(to_json(candidate.measured));
    json["candidates"].push_back(std::move(entry));
  }
  json["chosen"] = chosen ? chosen->what : "";
  json["account"] = search.account();
  json["sensitivity"] = Json::array();
  for (const Sensitivity& one : search.sensitivities()) {
    Json entry = {{"nodes", one.nodes}, {"alone_db", number_json(one.alone_db)}};
    if (one.without_db) entry["without_db"] = number_json(*one.without_db);
    if (one.expected_db) entry["expected_db"] = number_json(*one.expected_db);
    json["sensitivity"].push_back(std::move(entry));
  }
  json["ended_early"] = search.ended_early() ? Json(*search.ended_early()) : Json(nullptr);
  if (chosen) {
    json["verify"] = to_json(report.verify);
    json["plan"] = Json::parse(plan_to_json(chosen->plan));
  }
  return json_text(json, 1) + "\n";
}

}  // namespace octet
