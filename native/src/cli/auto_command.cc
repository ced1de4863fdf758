// octet auto: the fastest model within a budget of drift, found by measuring.
#include <fmt/format.h>

#include <atomic>
#include <cmath>
#include <csignal>
#include <iostream>
#include <memory>

#include "cli/auto_report.h"
#include "cli/auto_session.h"
#include "cli/commands.h"
#include "cli/model_options.h"
#include "cli/pending_model.h"
#include "cli/range_source.h"
#include "cli/terminal.h"
#include "cli/text_file.h"
#include "engine/environment.h"
#include "octet/auto_search.h"
#include "octet/error.h"

namespace octet {
namespace {

namespace fs = std::filesystem;

// Samples that outputs are judged on; --limit says otherwise.
constexpr std::size_t kJudgedSamples = 16;

struct AutoOptions {
  std::string model, output, eval, labels, save_plan, log, target = "auto", nodes_to_exclude;
  SampleFlags flags;
  RangeSource ranges;
  AutoBudget budget;
  std::optional<double> min_sqnr, max_mb;
  std::uint64_t seed = 0;
  bool force = false, json = false, external_data = false;
};

std::atomic<bool> stop_asked{false};
void (*abandon)(int) = SIG_DFL;

// The first Ctrl-C ends the search with what it has; the second ends everything.
extern "C" void octet_stop_search(int number) {
  stop_asked = true;
  std::signal(number, abandon);
}

class StopOnInterrupt {
 public:
  StopOnInterrupt() {
    abandon = std::signal(SIGINT, SIG_IGN);
    if (abandon != SIG_IGN) std::signal(SIGINT, octet_stop_search);
  }
  ~StopOnInterrupt() { std::signal(SIGINT, abandon); }
};

class AutoRun {
 public:
  explicit AutoRun(const AutoOptions& options) : options_(options), budget_(options.budget) {}

  void run() {
    check();
    refuse_to_time_in_emulator("auto");
    Model model = open_model(options_.model);
    input_bytes_ = model.file_bytes;
    PlanOptions plan_options = plan_options_of();
    Quantizer quantizer(std::move(model), plan_options, nullptr, [](std::uint64_t done, std::uint64_t total) {
      Terminal::progress("planning", total ? static_cast<double>(done) / static_cast<double>(total) : 1);
    });
    MeasureJob job;
    job.float_model = options_.model;
    job.data = data();
    job.samples = judged_samples();
    if (!options_.labels.empty()) job.labels = options_.labels;
    job.needs_labels = budget_.max_drop || job.labels;
    CandidateMeter meter(job);
    MeasurementLog log(context());
    if (!options_.log.empty() && fs::exists(options_.log)) read_log(log);
    const auto measure = [&](const Quantizer& of, const Plan& plan, Effort effort) {
      if (!options_.log.empty() && log.size() > 0) write_text_file(options_.log, log.to_json(), true);
      const PendingModel pending(of.apply(plan), options_.output, true, options_.external_data, true);
      return meter.measure(pending.path(), pending.bytes(), effort);
    };
    AutoSession engine(options_.ranges, options_.flags.sample_options(0), measure, [] { return stop_asked.load(); });
    AutoSearch search(std::move(quantizer), plan_options, budget_, engine, log);
    {
      const StopOnInterrupt stop;
      search.run();
    }
    if (!options_.log.empty()) write_text_file(options_.log, log.to_json(), true);
    finish(search);
  }

 private:
  fs::path data() const { return options_.eval.empty() ? *options_.ranges.calib.path() : fs::path(options_.eval); }

  SampleOptions judged_samples() const {
    SampleOptions samples = options_.flags.sample_options(kJudgedSamples);
    if (options_.seed != 0) samples.shuffle = options_.seed;
    return samples;
  }

  void check() {
    refuse_clash(options_.model, options_.output, options_.force);
    if (options_.ranges.calib.calib.empty())
      throw Error(ErrorCode::kUsage, "--calib", "the search needs real samples to learn ranges from and to judge by",
                  "pass a folder of samples; octet quantize needs none");
    if (options_.min_sqnr && budget_.max_drop)
      throw Error(ErrorCode::kUsage, "--min-sqnr --max-drop", "drift has one budget", "leave one of the two out");
    const auto hold = [](const char* option, bool holds, const char* wanted) {
      if (!holds) throw Error(ErrorCode::kUsage, option, std::string("the value must be ") + wanted);
    };
    budget_.min_sqnr_db = options_.min_sqnr.value_or(budget_.min_sqnr_db);
    hold("--min-sqnr", std::isfinite(budget_.min_sqnr_db), "a number of decibels");
    hold("--max-drop", !budget_.max_drop || (*budget_.max_drop >= 0 && *budget_.max_drop <= 100), "from 0 to 100");
    hold("--max-mb", !options_.max_mb || (*options_.max_mb > 0 && std::isfinite(*options_.max_mb)), "above 0");
    hold("--min-speedup", !budget_.min_speedup || (*budget_.min_speedup > 0 && std::isfinite(*budget_.min_speedup)),
         "a ratio above 0");
    hold("--time-limit", budget_.seconds > 0 && std::isfinite(budget_.seconds), "a number of seconds above 0");
    if (options_.max_mb) budget_.max_bytes = static_cast<std::uint64_t>(*options_.max_mb * 1e6);
  }

  PlanOptions plan_options_of() const {
    QuantizationOptions asked;
    asked.target = options_.target;
    asked.nodes_to_exclude = options_.nodes_to_exclude;
    return asked.plan_options(true);
  }

  // What answers depend on beside the model and the plan.
  std::string context() const {
    const SampleOptions samples = judged_samples();
    return fmt::format("{}, {}, {}, labels {}, {}", fs::weakly_canonical(data()).string(), to_json(samples).dump(),
                       this_environment().cpu, options_.labels.empty() ? "beside them" : options_.labels,
                       runtime_version());
  }

  void read_log(MeasurementLog& log) const {
    try {
      log.read_json(read_text_file(options_.log));
    } catch (const Error& fault) {
      throw Error(fault.code(), options_.log, fault.problem(), fault.next());
    }
  }

  void finish(const AutoSearch& search) {
    const AutoCandidate* chosen = search.chosen();
    if (!chosen && search.candidates().empty())
      throw Error(ErrorCode::kInterrupted, options_.model, "stopped before anything was measured");
    if (!chosen)
      throw Error(ErrorCode::kQuality, options_.output, search.unmet(),
                  "nothing was written; allow more with --min-sqnr, --max-mb, --min-speedup or --time-limit");
    PendingModel pending(search.quantizer_of(*chosen).apply(chosen->plan), options_.output, options_.force,
                         options_.external_data, true);
    AutoReport report;
    VerifyJob job;
    job.float_model = options_.model;
    job.candidate = pending.path();
    job.data = data();
    job.samples = judged_samples();
    job.float_bytes = input_bytes_;
    job.candidate_bytes = pending.bytes();
    job.integers = true;
    Terminal::progress("verifying", 0);
    report.verify = verify_in_child(job);
    if (report.verify.verified && !(report.verify.loads && report.verify.runs && report.verify.finite))
      throw Error(ErrorCode::kRun, options_.output, "the chosen model does not run: " + report.verify.error,
                  "nothing was written; leave nodes out with --nodes-to-exclude");
    if (!options_.save_plan.empty())
      write_text_file(options_.save_plan, plan_to_json(chosen->plan) + "\n", options_.force);
    pending.commit();
    report.input = options_.model;
    report.output = options_.output;
    report.input_bytes = input_bytes_;
    report.output_bytes = pending.bytes();
    report.budget = budget_;
    report.samples = report.verify.samples_description;
    report.on_calibration = options_.eval.empty();
    Terminal::clear_progress();
    std::cout << (options_.json ? auto_report_json(report, search) : auto_report_text(report, search));
  }

  const AutoOptions& options_;
  AutoBudget budget_;
  std::uint64_t input_bytes_ = 0;
};

}  // namespace

void add_auto_command(CLI::App& app) {
  auto options = std::make_shared<AutoOptions>();
  auto* command = app.add_subcommand("auto", "Find the fastest model within a budget of drift, by measuring");
  command->add_option("MODEL", options->model, "the float model (.onnx)")->required();
  command->add_option("-o,--output", options->output, "where the chosen model goes")->required();
  options->ranges.calib.add_to(*command, options->flags);
  command->add_option("--eval", options->eval, "samples that outputs are judged on (default: those of --calib)")
      ->type_name("DATA");
  command->add_option("--labels", options->labels, "right answers for them (default: labels.json beside them)")
      ->type_name("FILE");
  command->add_option("--min-sqnr", options->min_sqnr, "least SQNR of the worst output (default 25)")->type_name("DB");
  command->add_option("--max-drop", options->budget.max_drop, "instead: most right answers lost, in percent of all")
      ->type_name("PERCENT");
  command->add_option("--max-mb", options->max_mb, "largest file")->type_name("N");
  command->add_option("--min-speedup", options->budget.min_speedup, "least speed against float, one thread")
      ->type_name("X");
  command->add_option("--time-limit", options->budget.seconds, "stop measuring after so long, with the best so far")
      ->type_name("SECONDS")
      ->capture_default_str();
  command->add_option("--seed", options->seed, "judge on other samples, drawn with this seed")->type_name("N");
  command->add_option("--target", options->target, "where the model is to run (default: this machine)")
      ->check(CLI::IsMember({"auto", "x64", "x64-novnni", "arm64", "wasm", "any"}));
  command
      ->add_option("--nodes-to-exclude", options->nodes_to_exclude, "leave these nodes in float: names, globs, op:TYPE")
      ->type_name("LIST");
  command->add_option("--save-plan", options->save_plan, "write the chosen plan as JSON")->type_name("FILE");
  command->add_option("--log", options->log, "keep what was measured in FILE; read it first where it exists")
      ->type_name("FILE");
  command->add_flag("--external-data", options->external_data, "weights in OUTPUT.data; always so above 2 GB");
  command->add_flag("--force", options->force, "replace existing outputs");
  command->add_flag("--json", options->json, "report as JSON");
  command->callback([options] { AutoRun(*options).run(); });
}

}  // namespace octet
