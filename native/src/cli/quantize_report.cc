#include "cli/quantize_report.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>

#include "cli/speed_reason.h"
#include "cli/terminal.h"
#include "cli/verdict_lines.h"
#include "engine/environment.h"
#include "engine/json_text.h"
#include "engine/measure_json.h"
#include "octet/report.h"

namespace octet {
namespace {

using Json = nlohmann::ordered_json;

// Fused kernels round differently; further apart than this they no longer compute the same.
constexpr double kConsistentDb = 20;

struct Judged {
  Verdict verdict;
  Explanation explanation;
};

Judged judged(const QuantizeReport& report, const Plan& plan) {
  VerdictInput input{report.input_bytes, report.output_bytes, {}, {}, false, report.thresholds};
  RunFacts facts;
  facts.calibrated_on = report.calibrated_on;
  if (report.verify && report.verify->verified) {
    input.sqnr_db = report.verify->worst_sqnr_db;
    input.synthetic = report.verify->synthetic;
    if (const auto& latency = report.verify->latency) {
      input.speedup = latency->speedup;
      facts.float_ms = latency->baseline.median_ms;
    }
    if (const auto& integers = report.verify->integers) {
      facts.integer_products = integers->integer_products();
      facts.conversions = integers->conversions;
    }
  }
  const Verdict verdict = judge(input);
  return {verdict, explain(verdict, input, plan, facts)};
}

// Nodes with weights, gathered by what became of them and why: a model of a thousand nodes has a dozen reasons.
std::string action_lines(const Plan& plan) {
  struct Group {
    int count = 0;
    std::string examples;
  };
  std::map<std::tuple<std::string, std::string, std::string>, Group> groups;
  for (const NodePlan& node : plan.nodes) {
    if (node.action == Action::kKeep && node.weights.empty()) continue;
    Group& group = groups[{std::string(name_of(node.action)), node.op, node.why}];
    if (++group.count <= 2) group.examples += (group.examples.empty() ? "" : ", ") + node.node;
  }
  std::string text;
  for (const auto& [key, group] : groups) {
    const auto& [action, op, why] = key;
    text += fmt::format("  {:<8} {} × {} ({}{}): {}\n", action == "keep" ? "float" : action, group.count, op,
                        group.examples, group.count > 2 ? ", …" : "", why);
  }
  return text;
}

std::string kept_lines(const Plan& plan) {
  std::map<std::string, std::pair<int, std::uint64_t>> reasons;
  for (const KeptTensor& tensor : plan.kept) {
    auto& [count, bytes] = reasons[tensor.why];
    ++count;
    bytes += tensor.bytes;
  }
  std::vector<std::tuple<std::uint64_t, int, std::string>> order;
  for (const auto& [why, sums] : reasons) order.emplace_back(sums.second, sums.first, why);
  std::sort(order.rbegin(), order.rend());
  std::string text;
  for (const auto& [bytes, count, why] : order)
    text += fmt::format("  {} in {} tensor{}: {}\n", format_bytes(bytes), count, count == 1 ? "" : "s", why);
  return text;
}

std::string verify_lines(const VerifyResult& verify) {
  if (!verify.verified) return fmt::format("not verified: {}\n", verify.why);
  std::string text = fmt::format("ran with ONNX Runtime {} on {}\n", verify.runtime, verify.samples_description);
  std::vector<std::vector<std::string>> rows = {{"output", "SQNR", "cosine", "largest error", "top-1 agreement"}};
  for (const OutputDrift& drift : verify.drift) {
    if (!drift.comparable)
      rows.push_back({drift.name, drift.why_not});
    else
      rows.push_back({drift.name, format_db(drift.sqnr_db), fmt::format("{:.5f}", drift.cosine),
                      fmt::format("{:.3g} of {:.3g}", drift.max_abs_error, drift.max_abs),
                      drift.top1_agreement ? fmt::format("{:.1f} %", 100 * *drift.top1_agreement) : "-"});
  }
  text += format_table(rows);
  if (const std::string accuracy = accuracy_line(verify); !accuracy.empty()) text += accuracy + "\n";
  if (verify.latency) {
    text += fmt::format("latency {} → {} (median of {}, one thread, interleaved): {} [{}, {}]\n",
                        format_ms(verify.latency->baseline.median_ms), format_ms(verify.latency->candidate.median_ms),
                        verify.latency->candidate.runs, format_times(verify.latency->speedup.ratio),
                        format_times(verify.latency->speedup.low), format_times(verify.latency->speedup.high));
  }
  if (verify.integers) text += integer_line(*verify.integers);
  text += speed_reason(verify);
  if (verify.consistency_sqnr_db < kConsistentDb) {
    text += fmt::format(
        "caution: with graph optimizations on, the runtime computes something else than with them off ({} between the "
        "two)\n",
        format_db(verify.consistency_sqnr_db));
  }
  if (!verify.why.empty()) text += verify.why + "\n";
  text += fmt::format("verified in {:.1f} s with {} in a process of its own\n", verify.seconds,
                      format_bytes(verify.peak_bytes));
  return text;
}

}  // namespace

std::string accuracy_line(const VerifyResult& verify) {
  if (!verify.accuracy_why_not.empty()) return "no accuracy: " + verify.accuracy_why_not;
  if (!verify.accuracy) return {};
  const Accuracy& accuracy = *verify.accuracy;
  return fmt::format("accuracy of {} by labels.json: {:.1f} % → {:.1f} % of {} rows", accuracy.output,
                     100 * accuracy.reference, 100 * accuracy.candidate, accuracy.rows);
}

std::string quantize_report_text(const QuantizeReport& report, Quantizer& quantizer) {
  const Plan& plan = quantizer.plan();
  const PlanSizes sizes = quantizer.sizes();
  std::string text =
      fmt::format("{} → {}\n{} → {} ({:.1f} % less), {} of {} float weights in {} for {}\n", report.input,
                  report.output, format_bytes(report.input_bytes), format_bytes(report.output_bytes),
                  report.input_bytes
                      ? 100.0 * (1 - static_cast<double>(report.output_bytes) / static_cast<double>(report.input_bytes))
                      : 0.0,
                  format_bytes(sizes.planned_bytes), format_bytes(sizes.float_bytes), format_bytes(sizes.stored_bytes),
                  name_of(plan.target));
  if (plan.tensors.empty())
    text += quantizer.facts().quantized_already ? "nothing was quantized: the model is quantized already\n"
                                                : "nothing was quantized: see why below\n";
  const std::string actions = action_lines(plan);
  if (!actions.empty()) text += "nodes with weights:\n" + actions;
  const std::string kept = kept_lines(plan);
  if (!kept.empty()) text += "left in float:\n" + kept;
  for (const PassReport& pass : quantizer.passes()) {
    for (const auto& note : pass.notes) text += "note: " + note + "\n";
  }
  for (const auto& note : plan.notes) text += "note: " + note + "\n";
  if (!report.changed.empty()) {
    text += report.first_sqnr_db
                ? fmt::format("outputs drifted to {}, so {} node{} went back towards float\n",
                              format_db(*report.first_sqnr_db), report.changed.size(),
                              report.changed.size() == 1 ? "" : "s")
                : fmt::format("{} nodes keep float arithmetic: the runtime refused their integer form\n",
                              report.changed.size());
  }
  if (report.verify)
    text += verify_lines(*report.verify);
  else
    text += "not verified: --no-verify\n";
  const Judged judgement = judged(report, plan);
  return text + verdict_lines(judgement.verdict, judgement.explanation);
}

std::string quantize_report_json(const QuantizeReport& report, Quantizer& quantizer) {
  Json json{{"octet", OCTET_VERSION}, {"input", report.input}, {"output", report.output}};
  json.update(Json::parse(quantizer_report_json(quantizer, report.output_bytes)));
  json["changed"] = report.changed;
  if (report.first_sqnr_db) json["first_sqnr_db"] = *report.first_sqnr_db;
  json["min_sqnr_db"] = report.thresholds.min_sqnr_db;
  json["thresholds"] = thresholds_json(report.thresholds);
  if (const std::string why = report.verify ? speed_reason(*report.verify) : ""; !why.empty()) json["speed"] = why;
  json["verify"] = report.verify ? Json::parse(json_text(to_json(*report.verify)))
                                 : Json{{"verified", false}, {"why", "--no-verify"}};
  if (report.verify) json["environment"] = to_json(this_environment());
  const Judged judgement = judged(report, quantizer.plan());
  json["verdict"] = Json::parse(verdict_to_json(judgement.verdict, judgement.explanation));
  return json_text(json, 1) + "\n";
}

}  // namespace octet
