#include "octet/accuracy_steps.h"

#include <algorithm>
#include <utility>

#include "octet/error.h"
#include "search/words.h"

namespace octet {
namespace {

constexpr const char* kCorrection = "bias-correction";

}  // namespace

AccuracySteps::AccuracySteps(Quantizer quantizer, const PlanOptions& options, SearchEngine& engine)
    : options_(options), engine_(engine), best_(std::move(quantizer)) {}

void AccuracySteps::run() {
  const auto step = [this] {
    switch (stage_) {
      case 0:
        return options_.equalize ? equalize() : void();
      case 1:
        return options_.smooth_quant > 0 ? smooth() : void();
      case 2:
        engine_.tell("calibrating", 0, 1);
        return calibrate(best_, calibrated_);
      case 3:
        return options_.bias_correction ? correct() : void();
      default:
        add_notes(std::move(calibrated_->notes));
        add_notes(std::move(notes_));
    }
  };
  for (constexpr std::size_t kStages = 5; stage_ < kStages; ++stage_, engine_.settle()) step();
}

void AccuracySteps::equalize() {
  const std::string step = "equalize";
  engine_.tell("equalizing", 0, 1);
  if (!candidate_) {
    Equalized equalized = best_.equalized();
    if (equalized.pairs == 0) {
      notes_.push_back(step + ": no product feeds another through nothing but Relu or pooling, nothing to do");
      return;
    }
    candidate_ =
        Candidate{std::move(equalized.quantizer), std::to_string(equalized.pairs) + " pairs of products", {}, {}};
  }
  choose(step);
}

void AccuracySteps::smooth() {
  const std::string step = "smooth-quant " + shortest(options_.smooth_quant);
  engine_.tell("smoothing", 0, 1);
  if (!candidate_) {
    const auto taps = best_.smoothing_taps();
    if (taps.empty()) {
      notes_.push_back(step + ": no matrix of its own reads a value in integers, nothing to do");
      return;
    }
    Smoothed smoothed = best_.smoothed(engine_.observe(best_.model(), taps), options_.smooth_quant);
    if (smoothed.values() == 0) {
      notes_.push_back(step + ": the channels of no value differ enough, nothing to do");
      return;
    }
    candidate_ =
        Candidate{std::move(smoothed.quantizer),
                  std::to_string(smoothed.values()) + " values, " + std::to_string(smoothed.folded) +
                      " of them where they are made and " + std::to_string(smoothed.inserted) + " by a multiplication",
                  {},
                  {}};
    engine_.settle();
  }
  choose(step);
}

// One product after the other (in large models a few at a time): what the earlier ones lacked is then no longer missing
// in the later, which would be given too much otherwise.
void AccuracySteps::correct() {
  engine_.tell("correcting biases", 0, 1);
  if (!correcting_) {
    std::vector<CorrectionTap> taps = correction_run(best_).taps;
    std::vector<ChannelTap> in_float;
    for (const CorrectionTap& tap : taps) in_float.push_back(tap.in_float);
    if (taps.empty()) {
      notes_.push_back(std::string(kCorrection) + ": no integer product has a bias that can be changed, nothing to do");
      return;
    }
    ChannelObservations wanted = engine_.observe(best_.model(), in_float);
    correcting_ = Correcting{best_.plan(), std::move(taps), std::move(wanted), 0, {}, {}};
    engine_.settle();
  }
  const auto& taps = correcting_->taps;
  const std::size_t part = (taps.size() + kCorrectionRuns - 1) / kCorrectionRuns;
  while (correcting_->done < taps.size()) {
    const std::size_t begin = correcting_->done, end = std::min(begin + part, taps.size());
    engine_.tell("correcting biases", begin, taps.size());
    // Making it costs more than most answers: not twice where the engine breaks off.
    if (!correcting_->run) correcting_->run = correction_run(best_);
    const CorrectionRun& run = *correcting_->run;
    std::vector<ChannelTap> rounded;
    for (std::size_t i = begin; i < end; ++i) rounded.push_back(run.taps[i].rounded);
    const ChannelObservations found = engine_.observe(run.rounded, rounded);
    for (std::size_t i = begin; i < end; ++i) {
      const auto in = correcting_->wanted.find(taps[i].in_float.value);
      const auto out = found.find(run.taps[i].rounded.value);
      if (in != correcting_->wanted.end() && out != found.end())
        add_correction(best_.plan(), taps[i], in->second, out->second);
    }
    correcting_->run.reset();
    correcting_->done = end;
    engine_.settle();
  }
  const std::string what = std::to_string(best_.plan().corrections.size()) + " products";
  if (!engine_.checks()) {
    notes_.push_back(kCorrection + (": " + what) + "; not measured");
  } else {
    measure(best_, best_.plan(), correcting_->measured);
    measure(best_, correcting_->before, measured_);
    if (keeps(kCorrection, correcting_->measured->db, what))
      measured_ = correcting_->measured;
    else
      best_.plan() = std::move(correcting_->before);
  }
  correcting_.reset();
}

// The better one of what there is and what a step made of it.
void AccuracySteps::choose(const std::string& step) {
  if (!engine_.checks()) {
    notes_.push_back(step + ": " + candidate_->what + "; not measured");
    replace(std::move(candidate_->quantizer));
    return;
  }
  calibrate(best_, calibrated_);
  measure(best_, best_.plan(), measured_);
  calibrate(candidate_->quantizer, candidate_->calibrated);
  measure(candidate_->quantizer, candidate_->quantizer.plan(), candidate_->measured);
  Candidate candidate = std::move(*candidate_);
  candidate_.reset();
  if (!keeps(step, candidate.measured->db, candidate.what)) return;
  replace(std::move(candidate.quantizer));
  calibrated_ = std::move(candidate.calibrated);
  measured_ = candidate.measured;
}

// Says what was measured.
bool AccuracySteps::keeps(const std::string& step, const std::optional<double>& db, const std::string& what) {
  if (!measured_->db || !db) {
    notes_.push_back(step + ": not used, since what it brings could not be measured");
    return false;
  }
  const bool better = *db > *measured_->db;
  notes_.push_back(step + ": " + decibels(*measured_->db) + " → " + decibels(*db) + ", " +
                   (better ? "kept" : "not used") + " (" + what + ")");
  return better;
}

void AccuracySteps::replace(Quantizer candidate) {
  best_ = std::move(candidate);
  candidate_.reset();
  calibrated_.reset();
  measured_.reset();
}

void AccuracySteps::calibrate(Quantizer& quantizer, std::optional<Calibrated>& calibrated) {
  if (calibrated) return;
  Calibrated result;
  if (std::optional<LearnedRanges> learned = engine_.calibrate(quantizer)) {
    try {
      quantizer.set_ranges(learned->ranges);
    } catch (const Error& fault) {
      if (learned->source.empty()) throw;
      throw Error(fault.code(), learned->source, fault.problem(), fault.next());
    }
    result = {static_cast<std::size_t>(learned->ranges.samples), std::move(learned->notes)};
  }
  calibrated = std::move(result);
  engine_.settle();
}

void AccuracySteps::measure(const Quantizer& quantizer, const Plan& plan, std::optional<Measured>& measured) {
  if (measured) return;
  measured = Measured{engine_.check(quantizer, plan)};
  engine_.settle();
}

void AccuracySteps::add_notes(std::vector<std::string> notes) {
  for (std::string& note : notes) best_.plan().notes.push_back(std::move(note));
}

}  // namespace octet
