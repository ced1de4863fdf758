// --equalize, --smooth-quant, --bias-correction: one after another, each kept only where measuring says that it helps.
#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "octet/bias_correction.h"
#include "octet/search_engine.h"

namespace octet {

class AccuracySteps {
 public:
  // How often bias correction runs the rounded model over the samples at most.
  static constexpr std::size_t kCorrectionRuns = 64;

  // Which steps: `options`. The engine stays the caller's.
  AccuracySteps(Quantizer quantizer, const PlanOptions& options, SearchEngine& engine);

  // Takes the steps and fills the plan's ranges. What was measured then stands in the notes of the plan. Where the
  // engine cannot check, every step is taken as asked. Goes on where an engine broke it off.
  void run();

  // As far as run() came.
  Quantizer& quantizer() { return best_; }
  std::size_t samples() const { return calibrated_ ? calibrated_->samples : 0; }  // that ranges were learned from
  // Of the quantizer's plan, where a step measured it.
  std::optional<double> sqnr_db() const { return measured_ ? measured_->db : std::nullopt; }

 private:
  struct Calibrated {
    std::size_t samples = 0;
    std::vector<std::string> notes;
  };
  struct Measured {
    std::optional<double> db;
  };
  // What a step makes of the best so far, until it is known which of both is better.
  struct Candidate {
    Quantizer quantizer;
    std::string what;
    std::optional<Calibrated> calibrated;
    std::optional<Measured> measured;
  };
  struct Correcting {
    Plan before;
    std::vector<CorrectionTap> taps;
    ChannelObservations wanted;
    std::size_t done = 0;              // of the taps
    std::optional<CorrectionRun> run;  // that the next ones are observed in
    std::optional<Measured> measured;
  };

  void equalize();
  void smooth();
  void correct();
  void choose(const std::string& step);
  bool keeps(const std::string& step, const std::optional<double>& db, const std::string& what);
  void replace(Quantizer candidate);
  void calibrate(Quantizer& quantizer, std::optional<Calibrated>& calibrated);
  void measure(const Quantizer& quantizer, const Plan& plan, std::optional<Measured>& measured);
  void add_notes(std::vector<std::string> notes);

  PlanOptions options_;
  SearchEngine& engine_;
  Quantizer best_;
  std::size_t stage_ = 0;
  std::optional<Calibrated> calibrated_;  // once best_ has its ranges
  std::optional<Measured> measured_;      // best_
  std::optional<Candidate> candidate_;
  std::optional<Correcting> correcting_;
  std::vector<std::string> notes_;
};

}  // namespace octet
