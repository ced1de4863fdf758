// octet compare: how far one model's outputs are from another's.
#include <fmt/format.h>

#include <iostream>
#include <limits>
#include <nlohmann/json.hpp>

#include "cli/commands.h"
#include "cli/compare_layers.h"
#include "cli/model_options.h"
#include "cli/quantize_report.h"
#include "cli/terminal.h"
#include "cli/text_file.h"
#include "engine/json_text.h"
#include "engine/verify.h"
#include "octet/error.h"
#include "octet/facts.h"

namespace octet {
namespace {

struct CompareOptions {
  std::string reference, candidate;
  InputOptions inputs;
  std::optional<double> min_sqnr;
  bool layers = false, json = false;
  std::string plan;
  std::size_t exclude_worst = 0, rows = 20;
};

struct Layers {
  std::optional<LayersResult> layers;
  std::vector<Exclusion> exclusions;
};

Layers look_at_layers(const CompareOptions& options, const VerifyJob& job) {
  Layers result;
  if (!options.layers) return result;
  LayersJob layers;
  layers.reference = job.float_model;
  layers.candidate = job.candidate;
  layers.data = job.data;
  layers.samples = job.samples;
  layers.synthetic = job.synthetic;
  layers.progress = [](double fraction) { Terminal::progress("comparing values", fraction); };
  result.layers = compare_layers(layers);
  Terminal::clear_progress();
  if (options.exclude_worst > 0) {
    const Plan plan = read_plan_file(options.plan);
    result.exclusions = exclude_worst(job, plan, rank_nodes(plan, *result.layers), options.exclude_worst);
  }
  return result;
}

void run(const CompareOptions& options) {
  if (!options.layers && (options.exclude_worst > 0 || !options.plan.empty()))
    throw Error(ErrorCode::kUsage, "--exclude-worst, --plan", "they go with --layers", "add it");
  if ((options.exclude_worst > 0) != !options.plan.empty())
    throw Error(ErrorCode::kUsage, "--exclude-worst", "the model is made again from its plan, without the worst nodes",
                "give both --exclude-worst N and --plan FILE, which octet quantize --save-plan writes");
  VerifyJob job;
  job.float_model = options.reference;
  job.candidate = options.candidate;
  Model reference = open_model(options.reference);
  job.float_bytes = reference.file_bytes;
  job.candidate_bytes = open_model(options.candidate).file_bytes;
  job.data = options.inputs.path();
  job.synthetic = options.inputs.synthetic(facts_of(reference));
  job.samples = options.inputs.samples.sample_options(0);
  job.latency_seconds = 0;
  job.sample_seconds = std::numeric_limits<double>::max();
  const VerifyResult result = verify(job);
  if (!result.verified)
    throw Error(ErrorCode::kRun, options.reference, result.why, "check both models with octet inspect");
  if (!result.runs) throw Error(ErrorCode::kRun, options.candidate, result.error, "check the model with octet inspect");
  const Layers layers = look_at_layers(options, job);
  if (options.json) {
    nlohmann::json document = to_json(result);
    if (layers.layers) document["layers"] = layers_json(*layers.layers);
    if (!layers.exclusions.empty()) document["exclusions"] = exclusions_json(layers.exclusions);
    std::cout << json_text(document, 1) << "\n";
  } else {
    std::vector<std::vector<std::string>> rows = {
        {"output", "SQNR", "cosine", "largest error", "largest value", "top-1 agreement"}};
    for (const OutputDrift& drift : result.drift) {
      if (!drift.comparable)
        rows.push_back({drift.name, drift.why_not});
      else
        rows.push_back({drift.name, format_db(drift.sqnr_db), fmt::format("{:.6f}", drift.cosine),
                        fmt::format("{:.4g}", drift.max_abs_error), fmt::format("{:.4g}", drift.max_abs),
                        drift.top1_agreement ? fmt::format("{:.2f} %", 100 * *drift.top1_agreement) : "-"});
    }
    std::cout << fmt::format("{} against {}, {}, ONNX Runtime {}\n", options.candidate, options.reference,
                             result.samples_description, result.runtime)
              << format_table(rows);
    const std::string accuracy = accuracy_line(result);
    if (!accuracy.empty()) std::cout << accuracy << "\n";
    if (!result.finite) std::cout << "the candidate gives NaN or infinity where the reference does not\n";
    if (layers.layers) std::cout << layers_text(*layers.layers, options.rows);
    if (!layers.exclusions.empty()) std::cout << exclusions_text(layers.exclusions, result.worst_sqnr_db);
  }
  if (options.min_sqnr && result.worst_sqnr_db < *options.min_sqnr) {
    throw Error(ErrorCode::kQuality, options.candidate,
                fmt::format("the worst output has {}, below {}", format_db(result.worst_sqnr_db),
                            format_db(*options.min_sqnr)));
  }
}

}  // namespace

void add_compare_command(CLI::App& app) {
  auto options = std::make_shared<CompareOptions>();
  auto* command = app.add_subcommand("compare", "Show the drift between two models, per output");
  command->add_option("A", options->reference, "the reference model")->required();
  command->add_option("B", options->candidate, "the model to judge")->required();
  options->inputs.add_to(*command);
  command->add_option("--min-sqnr", options->min_sqnr, "exit with status 10 when the worst output is below")
      ->type_name("DB");
  command->add_flag("--layers", options->layers,
                    "also each value and weight: what its rounding alone loses, and all loss up to there");
  command->add_option("--rows", options->rows, "with --layers: rows of each table, the worst first")
      ->type_name("N")
      ->capture_default_str()
      ->check(CLI::PositiveNumber);
  command
      ->add_option("--exclude-worst", options->exclude_worst,
                   "with --layers and --plan: leave the worst 1 to N nodes in float and measure what that gives back")
      ->type_name("N");
  command->add_option("--plan", options->plan, "the plan that B was made from (octet quantize --save-plan)")
      ->type_name("FILE");
  command->add_flag("--json", options->json, "report as JSON");
  command->callback([options] { run(*options); });
}

}  // namespace octet
