// octet bench: several models timed against each other in one run.
#include <fmt/format.h>

#include <iostream>

#include "cli/commands.h"
#include "cli/model_options.h"
#include "cli/terminal.h"
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
  bool json = false;
};

void run(const BenchOptions& options) {
  BenchJob job;
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
  const BenchResult result = bench(job);
  if (options.json) {
    nlohmann::json report = to_json(result);
    report["octet"] = OCTET_VERSION;
    std::cout << report.dump(1, ' ', false, nlohmann::json::error_handler_t::replace) << "\n";
    return;
  }
  std::cout << to_text(result.environment) << "\n"
            << fmt::format("Octet {}, ONNX Runtime {}, {}; {} warm-up and {} timed runs each, interleaved\n",
                           OCTET_VERSION, result.runtime, result.samples_description, result.warmup, result.runs);
  std::vector<std::vector<std::string>> rows = {
      {"model", "threads", "size", "median", "mean", "spread", "per second", "load", "speedup", "drift"}};
  for (const BenchRow& row : result.rows) {
    const auto name = row.model.filename().string();
    if (!row.error.empty()) {
      rows.push_back({name, std::to_string(row.threads), format_bytes(row.file_bytes), row.error});
      continue;
    }
    const std::string rate = row.tokens_per_second ? fmt::format("{:.0f} tokens", *row.tokens_per_second)
                                                   : fmt::format("{:.1f} samples", row.samples_per_second);
    rows.push_back({name, std::to_string(row.threads), format_bytes(row.file_bytes), format_ms(row.latency.median_ms),
                    format_ms(row.latency.mean_ms), "±" + format_ms(row.latency.mad_ms), rate, format_ms(row.load_ms),
                    row.speedup ? fmt::format("{} [{}, {}]", format_times(row.speedup->ratio),
                                              format_times(row.speedup->low), format_times(row.speedup->high))
                                : "-",
                    row.speedup ? format_db(row.worst_sqnr_db) : "-"});
  }
  std::cout << format_table(rows);
  for (const BenchRow& row : result.rows) {
    if (!row.verdict.empty())
      std::cout << fmt::format("{}, {} thread{}: {}\n", row.model.filename().string(), row.threads,
                               row.threads == 1 ? "" : "s", row.verdict);
  }
  if (result.cut_short) std::cout << "fewer runs were made than asked for: the time was up (--seconds)\n";
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
  command->add_flag("--json", options->json, "report as JSON");
  command->callback([options] { run(*options); });
}

}  // namespace octet
