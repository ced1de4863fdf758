// octet bench: several models timed against each other in one run.
#include <fmt/format.h>

#include <iostream>

#include "cli/commands.h"
#include "cli/model_options.h"
#include "cli/terminal.h"
#include "cli/threshold_options.h"
#include "engine/bench.h"
#include "octet/error.h"
#include "octet/facts.h"

namespace octet {
namespace {

struct BenchOptions {
  std::vector<std::string> models;
  InputOptions inputs;
  std::vector<unsigned> threads;
  std::size_t warmup = 5, runs = 50;
  double seconds = 20;
  ThresholdOptions thresholds;
  bool no_memory = false, json = false;
};

std::string speedup_text(const Speedup& speedup) {
  return fmt::format("{} [{}, {}]", format_times(speedup.ratio), format_times(speedup.low), format_times(speedup.high));
}

std::string bench_text(const BenchResult& result) {
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
    if (row.verdict)
      text += fmt::format("{}, {} thread{}: {}\n", row.model.filename().string(), row.threads,
                          row.threads == 1 ? "" : "s", row.verdict->sentence);
  }
  if (result.cut_short) text += "fewer runs were made than asked for: the time was up (--seconds)\n";
  return text;
}

void run(const BenchOptions& options) {
  BenchJob job;
  job.thresholds = options.thresholds.thresholds();
  std::optional<ModelFacts> facts;
  for (const auto& model : options.models) {
    job.models.emplace_back(model);
    Model opened = open_model(model);
    job.model_bytes.push_back(opened.file_bytes);
    if (!facts) facts = facts_of(opened);
  }
  job.data = options.inputs.path();
  job.samples = options.inputs.samples.sample_options(job.samples.limit);
  job.synthetic = options.inputs.synthetic(*facts);
  job.threads = options.threads;
  if (job.threads.empty())
    job.threads = machine_threads() > 1 ? std::vector<unsigned>{1, machine_threads()} : std::vector<unsigned>{1};
  job.warmup = options.warmup;
  job.runs = options.runs;
  job.seconds = options.seconds;
  job.memory = !options.no_memory;
  const BenchResult result = bench(job);
  if (options.json) {
    nlohmann::json report = to_json(result);
    report["octet"] = OCTET_VERSION;
    std::cout << report.dump(1, ' ', false, nlohmann::json::error_handler_t::replace) << "\n";
    return;
  }
  std::cout << bench_text(result);
}

}  // namespace

void add_bench_command(CLI::App& app) {
  auto options = std::make_shared<BenchOptions>();
  auto* command = app.add_subcommand("bench", "Time models against each other; the first is the baseline");
  command->add_option("MODELS", options->models, "models that take the same inputs")->required()->expected(1, -1);
  options->inputs.add_to(*command);
  command->add_option("--threads", options->threads, "thread counts to measure (default: one and all)")->delimiter(',');
  command->add_option("--warmup", options->warmup, "runs not counted")->capture_default_str();
  command->add_option("--runs", options->runs, "timed runs of each model")
      ->capture_default_str()
      ->check(CLI::PositiveNumber);
  command->add_option("--seconds", options->seconds, "time limit per model and thread count")->capture_default_str();
  options->thresholds.add_to(*command, "verdict: lowest SQNR of the worst output in dB (default 10)");
  command->add_flag("--no-memory", options->no_memory, "do not measure peak memory, which runs each model once more");
  command->add_flag("--json", options->json, "report as JSON");
  command->callback([options] { run(*options); });
}

}  // namespace octet
