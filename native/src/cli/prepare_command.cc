// octet prepare: clean up a model without changing what it computes; prove it.
#include <fmt/format.h>

#include <iostream>
#include <memory>
#include <nlohmann/json.hpp>

#include "cli/commands.h"
#include "cli/model_options.h"
#include "cli/pending_model.h"
#include "cli/terminal.h"
#include "octet/error.h"
#include "octet/facts.h"
#include "octet/prepare.h"

namespace octet {
namespace {

namespace fs = std::filesystem;

struct Options {
  std::string model, output;
  std::vector<std::string> passes;
  bool list_passes = false, force = false, json = false, external_data = false, no_verify = false;
};

void run(const Options& options) {
  if (options.list_passes) {
    std::vector<std::vector<std::string>> rows;
    for (const PassInfo& info : list_passes()) rows.push_back({std::string(info.name), std::string(info.summary)});
    std::cout << format_table(rows, 2);
    return;
  }
  if (options.model.empty() || options.output.empty())
    throw Error(ErrorCode::kUsage, "prepare", "it needs a model and --output", "see octet prepare --help");
  Model model = open_model(options.model);
  const int nodes = facts_of(model).nodes;
  const auto input_bytes = model.file_bytes;
  PrepareOptions prepare_options;
  prepare_options.passes = options.passes;
  const auto reports = prepare(model, prepare_options);
  PendingModel pending(model, options.output, options.force, options.external_data, !options.no_verify);
  pending.commit();
  std::cout << fmt::format("{} → {}: {} → {}, {} → {} nodes\n", options.model, options.output,
                           format_bytes(input_bytes), format_bytes(pending.bytes()), nodes, facts_of(model).nodes);
  for (const auto& report : reports) {
    if (report.changes > 0) std::cout << fmt::format("  {:24} {}\n", report.pass, report.changes);
    for (const auto& note : report.notes) std::cout << fmt::format("  {:24} {}\n", report.pass, note);
  }
}

}  // namespace

void add_prepare_command(CLI::App& app) {
  auto options = std::make_shared<Options>();
  auto* command = app.add_subcommand("prepare", "Clean up a model without changing what it computes");
  command->add_option("MODEL", options->model, "a model (.onnx)");
  command->add_option("-o,--output", options->output, "where the prepared model goes");
  command->add_option("--passes", options->passes, "only these passes, in this order")
      ->delimiter(',')
      ->type_name("LIST");
  command->add_flag("--list-passes", options->list_passes, "name every pass, and do nothing else");
  command->add_flag("--no-verify", options->no_verify, "do not run the result (never opens the runtime)");
  command->add_flag("--external-data", options->external_data, "weights in OUTPUT.data; always so above 2 GB");
  command->add_flag("--force", options->force, "replace existing outputs");
  command->add_flag("--json", options->json, "report as JSON");
  command->callback([options] { run(*options); });
}

}  // namespace octet
