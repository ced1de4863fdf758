#include "cli/accuracy_steps.h"

#include <fmt/format.h>

#include "cli/terminal.h"
#include "octet/error.h"

namespace octet {
namespace {

void add_notes(Plan& plan, std::vector<std::string> notes) {
  for (std::string& note : notes) plan.notes.push_back(std::move(note));
}

class Steps {
 public:
  Steps(Quantizer quantizer, const PlanOptions& options, const RangeSource& ranges, const SampleOptions& samples,
        const Measure& measure)
      : options_(options), ranges_(ranges), samples_(samples), measure_(measure), best_(std::move(quantizer)) {}

  Calibrated run() {
    if (options_.smooth_quant > 0) smooth();
    fill();
    add_notes(best_.plan(), std::move(filled_->notes));
    add_notes(best_.plan(), std::move(notes_));
    return {std::move(best_), filled_->samples};
  }

 private:
  void smooth() {
    const std::string name = fmt::format("smooth-quant {}", options_.smooth_quant);
    const auto taps = best_.smoothing_taps();
    if (taps.empty()) {
      notes_.push_back(name + ": no matrix of its own reads a value in integers, nothing to do");
      return;
    }
    const ChannelObservations seen = ranges_.observe(best_, samples_, taps);
    Smoothed smoothed = best_.smoothed(seen, options_.smooth_quant);
    if (smoothed.values() == 0) {
      notes_.push_back(name + ": the channels of no value differ enough, nothing to do");
      return;
    }
    take(name, std::move(smoothed.quantizer),
         fmt::format("{} values, {} of them where they are made and {} by a multiplication", smoothed.values(),
                     smoothed.folded, smoothed.inserted));
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
    if (!best_db_ || !db) {
      notes_.push_back(fmt::format("{}: not used, since what it brings could not be measured", name));
      return;
    }
    const bool better = *db > *best_db_;
    notes_.push_back(fmt::format("{}: {} → {}, {} ({})", name, format_db(*best_db_), format_db(*db),
                                 better ? "kept" : "not used", what));
    if (!better) return;
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
