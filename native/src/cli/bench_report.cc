#include "cli/bench_report.h"

#include <fmt/format.h>

#include <algorithm>

#include "cli/terminal.h"
#include "cli/verdict_lines.h"

namespace octet {
namespace {

// Of a model with a hundred operators, those that take the time.
constexpr std::size_t kOperators = 12, kNodes = 5;

std::string profile_lines(const BenchRow& row) {
  const Profile& profile = *row.profile;
  const std::string title =
      fmt::format("{}, {} thread{}", row.model.filename().string(), row.threads, row.threads == 1 ? "" : "s");
  if (!profile.why_not.empty()) return fmt::format("{}: no profile: {}\n", title, profile.why_not);
  std::string text =
      fmt::format("\n{}: {:.0f} % of the time in integers; {} watched runs, the faster half, took {} each\n", title,
                  100 * profile.integer_share, profile.runs, format_ms(profile.run_ms));
  std::vector<std::vector<std::string>> table = {{"operator", "per run", "time", "share", "in integers"}};
  for (std::size_t i = 0; i < std::min(kOperators, profile.operators.size()); ++i) {
    const Profile::Operator& entry = profile.operators[i];
    table.push_back({entry.op, fmt::format("{:.4g}", entry.count), format_ms(entry.ms),
                     fmt::format("{:.1f} %", 100 * entry.share), entry.integers ? "yes" : "-"});
  }
  if (profile.operators.size() > kOperators) {
    double count = 0, ms = 0, share = 0;
    for (std::size_t i = kOperators; i < profile.operators.size(); ++i) {
      count += profile.operators[i].count;
      ms += profile.operators[i].ms;
      share += profile.operators[i].share;
    }
    table.push_back({fmt::format("{} others", profile.operators.size() - kOperators), fmt::format("{:.4g}", count),
                     format_ms(ms), fmt::format("{:.1f} %", 100 * share)});
  }
  text += format_table(table) + "longest nodes:";
  for (std::size_t i = 0; i < std::min(kNodes, profile.nodes.size()); ++i) {
    const Profile::Node& node = profile.nodes[i];
    text += fmt::format("{} {} ({}) {}", i > 0 ? "," : "", node.name, node.op, format_ms(node.ms));
  }
  return text + "\n";
}

std::string speedup_text(const Speedup& speedup) {
  return fmt::format("{} [{}, {}]", format_times(speedup.ratio), format_times(speedup.low), format_times(speedup.high));
}

}  // namespace

std::string bench_report_text(const BenchResult& result) {
  std::string text = fmt::format("{}\nOctet {}, ONNX Runtime {}, {}; {} warm-up and {} timed runs each, interleaved\n",
                                 to_text(result.environment), OCTET_VERSION, result.runtime, result.samples_description,
                                 result.warmup, result.runs);
  std::vector<std::vector<std::string>> rows = {{"model", "threads", "size", "memory", "median", "mean", "spread",
                                                 "outliers", "per second", "load", "speedup", "drift"}};
  bool measured = false;
  for (const BenchRow& row : result.rows) {
    measured = measured || row.memory.bytes > 0;
    const auto name = row.model.filename().string();
    if (!row.error.empty()) {
      rows.push_back({name, std::to_string(row.threads), format_bytes(row.file_bytes), row.error});
      continue;
    }
    const std::string rate = row.tokens_per_second ? fmt::format("{:.0f} tokens", *row.tokens_per_second)
                                                   : fmt::format("{:.1f} samples", row.samples_per_second);
    rows.push_back({name, std::to_string(row.threads), format_bytes(row.file_bytes),
                    row.memory.bytes > 0 ? format_bytes(row.memory.bytes) : "-", format_ms(row.latency.median_ms),
                    format_ms(row.latency.mean_ms), "±" + format_ms(row.latency.mad_ms),
                    fmt::format("{} of {}", row.outliers, row.latency.runs), rate, format_ms(row.load_ms),
                    row.speedup ? speedup_text(*row.speedup) : "-", row.speedup ? format_db(row.worst_sqnr_db) : "-"});
  }
  text += format_table(rows);
  text += fmt::format(
      "spread: median absolute deviation; outliers: runs beyond the median and {:.0f} spreads, left in; speedup: "
      "median "
      "of paired runs, with the interval that holds 9 of 10 resampled medians\n",
      kOutlierDeviations);
  if (measured) text += "memory: peak of a process that loads and runs this model alone, with the runtime's own\n";
  for (const BenchRow& row : result.rows) {
    if (row.error.empty() && !row.memory.why_not.empty())
      text += fmt::format("memory of {} not measured: {}\n", row.model.filename().string(), row.memory.why_not);
    if (row.verdict) {
      text += fmt::format("{}, {} thread{}: {}", row.model.filename().string(), row.threads,
                          row.threads == 1 ? "" : "s", verdict_lines(*row.verdict, row.explanation));
    }
  }
  if (result.cut_short) text += "fewer runs were made than asked for: the time was up (--seconds)\n";
  for (const BenchRow& row : result.rows) {
    if (row.profile) text += profile_lines(row);
  }
  return text;
}

}  // namespace octet
