// octet prepare: clean up a model without changing what it computes, and prove it.
#include <fmt/format.h>

#include <iostream>
#include <memory>

#include "cli/commands.h"
#include "cli/model_options.h"
#include "cli/pending_model.h"
#include "cli/prepare_report.h"
#include "cli/terminal.h"
#include "octet/error.h"

namespace octet {
namespace {

struct Options {
  std::string model, output;
  InputOptions inputs;  // --dim and --fix change the model here, and the made-up inputs with it
  std::vector<std::string> passes;
  std::optional<int> opset;
  bool to_float32 = false, shapes = false, list_passes = false;
  bool force = false, json = false, external_data = false, no_verify = false;
};

void show_passes() {
  std::vector<std::vector<std::string>> rows;
  for (const PassInfo& info : list_passes()) rows.push_back({std::string(info.name), std::string(info.summary)});
  std::cout << format_table(rows, 2);
}

VerifyResult verify_prepared(const Options& options, const PrepareReport& report, const SyntheticOptions& synthetic,
                             const PendingModel& pending) {
  VerifyJob job;
  job.float_model = options.model;
  job.candidate = pending.path();
  job.data = options.inputs.path();
  job.samples = options.inputs.samples.sample_options(job.samples.limit);
  job.synthetic = synthetic;
  job.float_bytes = report.input_bytes;
  job.candidate_bytes = pending.bytes();
  job.probe = report.shapes.to_probe;
  return verify_in_child(job);
}

void run(const Options& options) {
  if (options.list_passes) return show_passes();
  if (options.model.empty() || options.output.empty())
    throw Error(ErrorCode::kUsage, "prepare", "it needs a MODEL and an --output", "see octet prepare --help");
  refuse_clash(options.model, options.output, options.force);
  if (options.no_verify && !options.inputs.data.empty())
    throw Error(ErrorCode::kUsage, "--no-verify --data", "samples are only used to verify", "leave one of the two out");
  Model model = open_model(options.model);
  PrepareReport report;
  report.input = options.model;
  report.output = options.output;
  report.input_bytes = model.file_bytes;
  report.before = facts_of(model);
  const SyntheticOptions synthetic = options.inputs.synthetic(report.before);
  PrepareOptions wanted;
  wanted.passes = options.passes;
  wanted.fixed = synthetic.fixed;
  wanted.dims = synthetic.dims;
  wanted.opset = options.opset;
  wanted.to_float32 = options.to_float32;
  if (!wanted.passes.empty() && (!wanted.fixed.empty() || !wanted.dims.empty() || wanted.opset || wanted.to_float32))
    throw Error(ErrorCode::kUsage, "--passes", "single passes run on the model as it is",
                "leave out --fix, --dim, --opset and --to-float32");
  report.passes = prepare(model, wanted);
  if (options.shapes) describe_values(model);
  report.after = facts_of(model);
  report.shapes = cover_shapes(model);
  PendingModel pending(model, options.output, options.force, options.external_data, !options.no_verify);
  report.output_bytes = pending.bytes();
  if (!options.no_verify) {
    report.verify = verify_prepared(options, report, synthetic, pending);
    report.probed = report.verify->probed.size();
    if (report.probed > 0) report.shapes = cover_shapes(model, report.verify->probed);
  }
  if (const std::string problem = failure(report); !problem.empty() && !options.force)
    throw Error(ErrorCode::kQuality, options.output, problem,
                "nothing was written; please report it, try --passes to find the step, or pass --force to take it");
  pending.commit();
  std::cout << (options.json ? prepare_report_json(report) : prepare_report_text(report));
}

}  // namespace

void add_prepare_command(CLI::App& app) {
  auto options = std::make_shared<Options>();
  auto* command = app.add_subcommand("prepare", "Clean up a model without changing what it computes; prove it");
  command->add_option("MODEL", options->model, "a model (.onnx)");
  command->add_option("-o,--output", options->output, "where the prepared model goes");
  options->inputs.add_to(*command, "size of a dimension from now on, by name or INPUT:AXIS",
                         "an input that becomes a constant; what depends on it is folded");
  command->add_option("--opset", options->opset, "convert to this version of ONNX's operators")->type_name("N");
  command->add_flag("--to-float32", options->to_float32,
                    "compute in float32 what the model computes in float16; inputs and outputs keep their types");
  command->add_flag("--shapes", options->shapes, "write the type and shape of every value into the file");
  command->add_option("--passes", options->passes, "only these passes, in this order")
      ->delimiter(',')
      ->type_name("LIST");
  command->add_flag("--list-passes", options->list_passes, "name every pass, and do nothing else");
  command->add_flag("--no-verify", options->no_verify, "do not run the result (never opens the runtime)");
  command->add_flag("--external-data", options->external_data, "weights in OUTPUT.data; always so above 2 GB");
  command->add_flag("--force", options->force, "replace existing outputs; write even what disagrees");
  command->add_flag("--json", options->json, "report as JSON");
  command->callback([options] { run(*options); });
}

}  // namespace octet
