// octet compare: how far one model's outputs are from another's.
#include <fmt/format.h>

#include <iostream>
#include <limits>

#include "cli/commands.h"
#include "cli/model_options.h"
#include "cli/quantize_report.h"
#include "cli/terminal.h"
#include "engine/verify.h"
#include "octet/error.h"
#include "octet/facts.h"

namespace octet {
namespace {

struct CompareOptions {
  std::string reference, candidate;
  InputOptions inputs;
  std::optional<double> min_sqnr;
  bool json = false;
};

void run(const CompareOptions& options) {
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
  if (options.json) {
    std::cout << to_json(result).dump(1, ' ', false, nlohmann::json::error_handler_t::replace) << "\n";
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
  command->add_flag("--json", options->json, "report as JSON");
  command->callback([options] { run(*options); });
}

}  // namespace octet
