#include "cli/prepare_report.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "cli/terminal.h"
#include "engine/json_text.h"
#include "octet/report.h"

namespace octet {
namespace {

using Json = nlohmann::ordered_json;

bool is_float(const PrepareReport& report, const std::string& output) {
  for (const ValueFacts& facts : report.before.outputs) {
    if (facts.name == output) return facts.type.find("FLOAT") != std::string::npos || facts.type == "DOUBLE";
  }
  return true;
}

double relative_error(const OutputDrift& drift) {
  return drift.max_abs > 0 ? drift.max_abs_error / drift.max_abs : drift.max_abs_error;
}

std::string verify_text(const PrepareReport& report) {
  const VerifyResult& verify = *report.verify;
  if (!verify.verified) return fmt::format("not verified: {}\n", verify.why);
  double worst = 0;
  for (const OutputDrift& drift : verify.drift) {
    if (drift.comparable) worst = std::max(worst, relative_error(drift));
  }
  std::string text = fmt::format(
      "ran with ONNX Runtime {} on {}: {} output{}, largest error {:.2g} of the largest value\n", verify.runtime,
      verify.samples_description, verify.drift.size(), verify.drift.size() == 1 ? "" : "s", worst);
  if (verify.latency)
    text += fmt::format("latency {} → {} (median of {}, one thread, interleaved): {} [{}, {}]\n",
                        format_ms(verify.latency->baseline.median_ms), format_ms(verify.latency->candidate.median_ms),
                        verify.latency->candidate.runs, format_times(verify.latency->speedup.ratio),
                        format_times(verify.latency->speedup.low), format_times(verify.latency->speedup.high));
  if (!verify.why.empty()) text += verify.why + "\n";
  return text;
}

}  // namespace

std::string failure(const PrepareReport& report) {
  if (!report.verify || !report.verify->verified) return {};
  if (!report.verify->loads || !report.verify->runs) return "it does not run: " + report.verify->error;
  for (const auto* outputs : {&report.verify->drift, &report.verify->consistency}) {
    for (const OutputDrift& drift : *outputs) {
      if (!drift.comparable) return fmt::format("output '{}': {}", drift.name, drift.why_not);
      const double limit = is_float(report, drift.name) ? kPrepareTolerance : 0;
      if (!(relative_error(drift) <= limit))
        return fmt::format("output '{}' differs by {:.3g} of {:.3g}", drift.name, drift.max_abs_error, drift.max_abs);
    }
  }
  return {};
}

std::string coverage_text(const ShapeCoverage& shapes) {
  std::string text =
      fmt::format("of {} values between nodes: type known of {}, rank of {}, shape of {}{}\n", shapes.values,
                  shapes.typed, shapes.ranked, shapes.shaped, shapes.note.empty() ? "" : " (" + shapes.note + ")");
  for (const auto& missing : shapes.missing) text += "  unknown: " + missing + "\n";
  return text;
}

std::string prepare_report_text(const PrepareReport& report) {
  std::string text =
      fmt::format("{} → {}\n{} → {}, {} → {} nodes\n", report.input, report.output, format_bytes(report.input_bytes),
                  format_bytes(report.output_bytes), report.before.nodes, report.after.nodes);
  std::vector<std::vector<std::string>> rows;
  for (const PassReport& pass : report.passes) {
    if (pass.changes > 0) rows.push_back({"  " + pass.pass, fmt::format("{}", pass.changes)});
  }
  text += rows.empty() ? "nothing to do: the model was clean\n" : format_table(rows);
  for (const PassReport& pass : report.passes) {
    for (const auto& note : pass.notes) text += fmt::format("note: {}: {}\n", pass.pass, note);
  }
  text += coverage_text(report.shapes);
  if (report.probed > 0) text += fmt::format("  {} of them seen by running the model once\n", report.probed);
  return text + (report.verify ? verify_text(report) : "not verified: --no-verify\n");
}

std::string prepare_report_json(const PrepareReport& report) {
  Json json{{"octet", OCTET_VERSION}, {"input", report.input}, {"output", report.output}};
  json.update(
      Json::parse(preparation_json(report.before, report.after, report.output_bytes, report.passes, report.shapes)));
  json["verify"] = report.verify ? Json::parse(json_text(to_json(*report.verify)))
                                 : Json{{"verified", false}, {"why", "--no-verify"}};
  return json_text(json, 1) + "\n";
}

}  // namespace octet
