// octet bench: several models timed against each other in one run.
#include <iostream>

#include "cli/bench_report.h"
#include "cli/commands.h"
#include "cli/model_options.h"
#include "cli/text_file.h"
#include "cli/threshold_options.h"
#include "data/mapped_file.h"
#include "engine/bench.h"
#include "engine/json_text.h"
#include "octet/error.h"
#include "octet/facts.h"
#include "report/report_page.h"

namespace octet {
namespace {

struct BenchOptions {
  std::vector<std::string> models;
  InputOptions inputs;
  std::vector<unsigned> threads;
  std::size_t warmup = 5, runs = 50;
  double seconds = 20;
  ThresholdOptions thresholds;
  std::string html;
  bool no_memory = false, profile = false, json = false, force = false;
};

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
  job.profile = options.profile;
  std::optional<OutputFile> page;  // a name that cannot be had is told before anything is timed
  if (!options.html.empty()) {
    for (const auto& model : job.models) refuse_clash(model, options.html, options.force);
    page.emplace(options.html, options.force);
  }
  const BenchResult result = bench(job);
  const std::string report = json_text(to_json(result), 1);
  if (page) {
    append_text(*page, report_page({place_from_json(nlohmann::json::parse(report), "octet bench")}));
    page->commit();
  }
  std::cout << (options.json ? report + "\n" : bench_report_text(result));
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
  command->add_flag("--profile", options->profile,
                    "afterwards, the time per operator and which run in integers, by the runtime's profiler");
  command->add_option("--html", options->html, "also writes the report as one HTML file with charts")
      ->type_name("FILE");
  command->add_flag("--force", options->force, "replace that file");
  command->add_flag("--json", options->json, "report as JSON");
  command->callback([options] { run(*options); });
}

}  // namespace octet
