#include "cli/accuracy_steps.h"

#include <fmt/format.h>

#include "cli/terminal.h"
#include "octet/bias_correction.h"
#include "octet/error.h"

namespace octet {
namespace {

// How often the rounded model runs over the samples at most.
constexpr std::size_t kCorrectionRuns = 64;

void add_notes(Plan& plan, std::vector<std::string> notes) {
  for (std::string& note : notes) plan.notes.push_back(std::move(note));
}

class Steps {
 public:
  Steps(Quantizer quantizer, const PlanOptions& options, const RangeSource& ranges, const SampleOptions& samples,
        const Measure& measure)
      : options_(options), ranges_(ranges), samples_(samples), measure_(measure), best_(std::move(quantizer)) {}

  Calibrated run() {
    if (options_.equalize) equalize();
    if (options_.smooth_quant > 0) smooth();
    fill();
    if (options_.bias_correction) correct();
    add_notes(best_.plan(), std::move(filled_->notes));
    add_notes(best_.plan(), std::move(notes_));
    return {std::move(best_), filled_->samples};
  }

 private:
  void equalize() {
    const std::string name = "equalize";
    Equalized equalized = best_.equalized();
    if (equalized.pairs == 0) {
      notes_.push_back(name + ": no product feeds another through nothing but Relu or pooling, nothing to do");
      return;
    }
    take(name, std::move(equalized.quantizer), fmt::format("{} pairs of products", equalized.pairs));
  }

  void smooth() {
    const std::string name = fmt::format("smooth-quant {}", options_.smooth_quant);
    const auto taps = best_.smoothing_taps();
    if (taps.empty()) {
      notes_.push_back(name + ": no matrix of its own reads a value in integers, nothing to do");
      return;
    }
    const ChannelObservations seen = ranges_.observe(best_.model(), samples_, taps);
    Smoothed smoothed = best_.smoothed(seen, options_.smooth_quant);
    if (smoothed.values() == 0) {
      notes_.push_back(name + ": the channels of no value differ enough, nothing to do");
      return;
    }
    take(name, std::move(smoothed.quantizer),
         fmt::format("{} values, {} of them where they are made and {} by a multiplication", smoothed.values(),
                     smoothed.folded, smoothed.inserted));
  }

  // One product after the other (in large models a few at a time): what the earlier ones lacked is then no longer
  // missing in the later, which would be given too much otherwise.
  void correct() {
    const std::string name = "bias-correction";
    const Plan before = best_.plan();
    const std::vector<CorrectionTap> taps = correction_run(best_).taps;
    std::vector<ChannelTap> in_float;
    for (const CorrectionTap& tap : taps) in_float.push_back(tap.in_float);
    if (taps.empty()) {
      notes_.push_back(name + ": no integer product has a bias that can be changed, nothing to do");
      return;
    }
    const ChannelObservations wanted = ranges_.observe(best_.model(), samples_, in_float);
    const std::size_t part = (taps.size() + kCorrectionRuns - 1) / kCorrectionRuns;
    for (std::size_t begin = 0; begin < taps.size(); begin += part) {
      const CorrectionRun run = correction_run(best_);
      std::vector<ChannelTap> rounded;
      for (std::size_t i = begin; i < std::min(begin + part, taps.size()); ++i) rounded.push_back(run.taps[i].rounded);
      const ChannelObservations found = ranges_.observe(run.rounded, samples_, rounded);
      for (std::size_t i = begin; i < std::min(begin + part, taps.size()); ++i) {
        const auto in = wanted.find(taps[i].in_float.value), out = found.find(run.taps[i].rounded.value);
        if (in != wanted.end() && out != found.end()) add_correction(best_.plan(), taps[i], in->second, out->second);
      }
    }
    if (!measure_) {
      notes_.push_back(fmt::format("{}: {} products; not measured", name, best_.plan().corrections.size()));
      return;
    }
    const std::optional<double> db = measure_(best_);
    Plan after = std::move(best_.plan());
    best_.plan() = before;
    if (!best_db_) best_db_ = measure_(best_);
    if (keeps(name, db, fmt::format("{} products", after.corrections.size()))) {
      best_.plan() = std::move(after);
      best_db_ = db;
    }
  }

  // Says what was measured.
  bool keeps(const std::string& name, std::optional<double> db, const std::string& what) {
    if (!best_db_ || !db) {
      notes_.push_back(fmt::format("{}: not used, since what it brings could not be measured", name));
      return false;
    }
    const bool better = *db > *best_db_;
    notes_.push_back(fmt::format("{}: {} → {}, {} ({})", name, format_db(*best_db_), format_db(*db),
                                 better ? "kept" : "not used", what));
    return better;
  }

  // The better one of what there is and what a step made of it.
  void take(const std::string& name, Quantizer candidate, const std::string& what) {
    if (!measure_) {
      notes_.push_back(fmt::format("{}: {}; not measured", name, what));
      replace(std::move(candidate));
      return;
    }
    fill();
    if (!best_db_) best_db_ = measure_(best_);
    RangeSource::Filled filled = ranges_.fill(candidate, samples_);
    const std::optional<double> db = measure_(candidate);
    if (!keeps(name, db, what)) return;
    replace(std::move(candidate));
    filled_ = std::move(filled);
    best_db_ = db;
  }

  void replace(Quantizer candidate) {
    best_ = std::move(candidate);
    filled_.reset();
    best_db_.reset();
  }

  void fill() {
    if (!filled_) filled_ = ranges_.fill(best_, samples_);
  }

  const PlanOptions& options_;
  const RangeSource& ranges_;
  const SampleOptions& samples_;
  const Measure& measure_;
  Quantizer best_;
  std::optional<RangeSource::Filled> filled_;  // once best_ has its ranges
  std::optional<double> best_db_;
  std::vector<std::string> notes_;
};

}  // namespace

Calibrated take_accuracy_steps(Quantizer quantizer, const PlanOptions& options, const RangeSource& ranges,
                               const SampleOptions& samples, const Measure& measure) {
  return Steps(std::move(quantizer), options, ranges, samples, measure).run();
}

}  // namespace octet
