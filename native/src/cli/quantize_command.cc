// octet quantize: load, plan, write, prove.
#include <fmt/format.h>

#include <iostream>
#include <memory>
#include <nlohmann/json.hpp>

#include "cli/commands.h"
#include "cli/model_options.h"
#include "cli/pending_model.h"
#include "cli/quantize_report.h"
#include "cli/range_source.h"
#include "cli/session_engine.h"
#include "cli/terminal.h"
#include "cli/text_file.h"
#include "cli/threshold_options.h"
#include "data/mapped_file.h"
#include "octet/error.h"
#include "octet/quantizer.h"
#include "octet/search.h"

namespace octet {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kFloorSamples = 4;

struct QuantizeOptions {
  std::string model, output, plan, save_plan;
  QuantizationOptions quantization;
  InputOptions inputs;
  RangeSource ranges;
  ThresholdOptions thresholds;
  bool no_verify = false, force = false, json = false, external_data = false;
};

class QuantizeRun {
 public:
  explicit QuantizeRun(const QuantizeOptions& options)
      : options_(options), thresholds_(options.thresholds.thresholds()) {}

  void run() {
    refuse_clashes();
    const PlanOptions plan_options = options_.quantization.plan_options(options_.ranges.given());
    options_.ranges.check(plan_options.mode, !options_.plan.empty());
    std::optional<Plan> given;
    if (!options_.plan.empty()) given = read_plan_file(options_.plan);
    Model model = open_model(options_.model);
    input_bytes_ = model.file_bytes;
    Quantizer quantizer(
        std::move(model), plan_options, given ? &*given : nullptr, [](std::uint64_t done, std::uint64_t total) {
          Terminal::progress("planning", total ? static_cast<double>(done) / static_cast<double>(total) : 1);
        });
    synthetic_ = options_.inputs.synthetic(quantizer.facts());
    QuantizeReport report;
    SessionEngine::Check check;
    if (!options_.no_verify) check = [this](const Quantizer& of, const Plan& plan) { return sqnr_of(of, plan); };
    SessionEngine engine(options_.ranges, options_.inputs.samples.sample_options(0), std::move(check));
    // A plan that is given holds what was done already.
    AccuracySteps steps(std::move(quantizer), given ? PlanOptions{} : plan_options, engine);
    steps.run();
    calibrated_on_ = steps.samples();
    quantizer = std::move(steps.quantizer());
    auto pending = write(quantizer.plan(), quantizer);
    if (!options_.no_verify) pending = prove(quantizer, std::move(pending), report, engine);
    if (!options_.save_plan.empty())
      write_text_file(options_.save_plan, plan_to_json(quantizer.plan()) + "\n", options_.force);
    pending->commit();
    report.input = options_.model;
    report.output = options_.output;
    report.input_bytes = input_bytes_;
    report.output_bytes = pending->bytes();
    report.thresholds = thresholds_;
    report.calibrated_on = calibrated_on_;
    Terminal::clear_progress();
    std::cout << (options_.json ? quantize_report_json(report, quantizer) : quantize_report_text(report, quantizer));
  }

 private:
  static bool is_static(const Quantizer& quantizer) { return quantizer.plan().mode == Mode::kStatic; }
  double floor() const { return thresholds_.min_sqnr_db; }

  void refuse_clashes() const {
    refuse_clash(options_.model, options_.output, options_.force);
    const QuantizationOptions& asked = options_.quantization;
    if (!options_.plan.empty() && (asked.equalize || asked.bias_correction || asked.smooth_quant > 0))
      throw Error(ErrorCode::kUsage, "--plan",
                  "a plan holds such steps already, --equalize and the like make a new one",
                  "leave one of the two out");
    if (options_.no_verify && (options_.thresholds.slower || options_.thresholds.faster))
      throw Error(ErrorCode::kUsage, options_.thresholds.slower ? "--no-verify --slower" : "--no-verify --faster",
                  "speed needs a run to be judged", "leave one of the two out");
    if (options_.no_verify && options_.thresholds.min_sqnr)
      throw Error(ErrorCode::kUsage, "--no-verify --min-sqnr", "a floor needs a run to be held",
                  "leave one of the two out");
    if (options_.no_verify && !options_.inputs.data.empty())
      throw Error(ErrorCode::kUsage, "--no-verify --data", "samples are only used to verify",
                  "leave one of the two out");
  }

  std::unique_ptr<PendingModel> write(const Plan& plan, const Quantizer& quantizer) const {
    return std::make_unique<PendingModel>(quantizer.apply(plan), options_.output, options_.force,
                                          options_.external_data, !options_.no_verify);
  }

  VerifyResult verify_pending(const PendingModel& pending, bool whole, bool in_integers = false) const {
    VerifyJob job;
    job.float_model = options_.model;
    job.integers = in_integers;
    job.candidate = pending.path();
    // Without samples of their own, outputs are checked on those of calibration.
    job.data = options_.inputs.path() ? options_.inputs.path() : options_.ranges.calib.path();
    job.samples = options_.inputs.samples.sample_options(job.samples.limit);
    job.synthetic = synthetic_;
    job.float_bytes = input_bytes_;
    job.candidate_bytes = pending.bytes();
    if (!whole) job.samples.limit = kFloorSamples, job.latency_seconds = 0;
    return verify_in_child(job);
  }

  std::optional<double> sqnr_of(const Quantizer& quantizer, const Plan& plan) const {
    const VerifyResult result = verify_pending(*write(plan, quantizer), false);
    if (!result.verified) return std::nullopt;
    return result.loads && result.runs && result.finite ? result.worst_sqnr_db : -kSqnrEqual;
  }

  std::unique_ptr<PendingModel> prove(Quantizer& quantizer, std::unique_ptr<PendingModel> pending,
                                      QuantizeReport& report, SearchEngine& engine) {
    report.verify = verify_pending(*pending, true, is_static(quantizer));
    const auto fails = [&] {
      return report.verify->verified && !(report.verify->loads && report.verify->runs &&
                                          report.verify->plain_error.empty() && report.verify->finite);
    };
    if (fails()) {
      const std::string why = report.verify->error.empty() ? report.verify->plain_error : report.verify->error;
      report.changed = retreat_from_integers(quantizer.plan(), "the runtime refused its integer form (" + why + ")");
      if (!report.changed.empty()) {
        pending = write(quantizer.plan(), quantizer);
        report.verify = verify_pending(*pending, true, is_static(quantizer));
      }
      if (fails()) {
        throw Error(ErrorCode::kRun, options_.output,
                    report.verify->finite
                        ? "the quantized model does not run: " + report.verify->error + report.verify->plain_error
                        : "the quantized model gives NaN or infinity where the float one does not",
                    "nothing was written; try --mode weights, or leave nodes out with --nodes-to-exclude");
      }
    }
    pending = avoid_slow_form(quantizer, std::move(pending), report);
    const bool judged = report.verify->verified && !report.verify->synthetic;
    if (judged && report.verify->worst_sqnr_db < floor()) {
      report.first_sqnr_db = report.verify->worst_sqnr_db;
      const std::string advice = calibrated_on_ > 0 ? more_samples_advice(calibrated_on_) : "";
      advise_more_samples(quantizer.plan(), calibrated_on_);
      pending.reset();  // its name is needed again
      FloorSearch search(quantizer, quantizer.plan(), floor(), kFloorSeconds, engine);
      search.run();
      quantizer.plan() = search.plan();
      report.changed.insert(report.changed.end(), search.changed().begin(), search.changed().end());
      pending = write(quantizer.plan(), quantizer);
      report.verify = verify_pending(*pending, true, is_static(quantizer));
      if (report.verify->verified && report.verify->worst_sqnr_db < floor() && !options_.force) {
        throw Error(ErrorCode::kQuality, options_.output,
                    fmt::format("outputs drift to {}, below the floor of {}", format_db(report.verify->worst_sqnr_db),
                                format_db(floor())),
                    "nothing was written; lower --min-sqnr, leave nodes out, or pass --force to take it all the same" +
                        (advice.empty() ? "" : "; " + advice));
      }
    }
    return pending;
  }

  // The fused kernel for stored matrices wins with few rows and loses with many. Only a run tells which this model has.
  std::unique_ptr<PendingModel> avoid_slow_form(Quantizer& quantizer, std::unique_ptr<PendingModel> pending,
                                                QuantizeReport& report) const {
    if (!report.verify->latency || report.verify->latency->speedup.high >= thresholds_.slower || !options_.plan.empty())
      return pending;
    Plan folded = quantizer.plan();
    if (fold_matrices(folded, fmt::format("the fused form ran at {} of the float speed here",
                                          format_times(report.verify->latency->speedup.ratio)))
            .empty())
      return pending;
    pending.reset();
    auto other = write(folded, quantizer);
    VerifyResult measured = verify_pending(*other, true, is_static(quantizer));
    if (!measured.latency || measured.latency->speedup.ratio <= report.verify->latency->speedup.ratio)
      return write(quantizer.plan(), quantizer);
    quantizer.plan() = std::move(folded);
    report.verify = std::move(measured);
    return other;
  }

  const QuantizeOptions& options_;
  const Thresholds thresholds_;
  std::uint64_t input_bytes_ = 0;
  SyntheticOptions synthetic_;
  std::size_t calibrated_on_ = 0;  // samples; 0: not at all
};

}  // namespace

void add_quantize_command(CLI::App& app) {
  auto options = std::make_shared<QuantizeOptions>();
  auto* command =
      app.add_subcommand("quantize", "Make a model smaller; prove that it loads, runs and stays near the original");
  command->add_option("MODEL", options->model, "the float model (.onnx)")->required();
  command->add_option("-o,--output", options->output, "where the quantized model goes")->required();
  options->quantization.add_to(*command);
  options->inputs.add_to(*command);
  options->ranges.add_to(*command);
  options->thresholds.add_to(
      *command,
      "floor for the worst output in dB, with real samples (default 10); below it the worst nodes go back to float");
  command->add_flag("--no-verify", options->no_verify, "do not run the result (never opens the runtime)");
  command->add_option("--plan", options->plan, "use this plan instead of making one")->type_name("FILE");
  command->add_option("--save-plan", options->save_plan, "write the plan as JSON")->type_name("FILE");
  command->add_flag("--external-data", options->external_data, "weights in OUTPUT.data; always so above 2 GB");
  command->add_flag("--force", options->force, "replace existing outputs; write even below the floor");
  command->add_flag("--json", options->json, "report as JSON");
  command->callback([options] { QuantizeRun(*options).run(); });
}

}  // namespace octet
