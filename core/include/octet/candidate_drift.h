// Outputs of a candidate of the automatic search, as they come, against the float model's.
#pragma once

#include <algorithm>
#include <cstddef>
#include <string>
#include <utility>

#include "octet/auto_engine.h"
#include "octet/labels.h"
#include "octet/measure.h"

namespace octet {

// How a candidate did on the samples that were run.
class CandidateDrift {
 public:
  explicit CandidateDrift(AccuracyMeter accuracy) : accuracy_(std::move(accuracy)) {}

  void add(std::size_t place, const std::string& name, const Sample& reference, const Sample& candidate) {
    DriftMeter alone;
    all_.add(reference, candidate);
    alone.add(reference, candidate);
    accuracy_.add(place, name, reference, candidate);
    lowest_ = std::min(lowest_, alone.worst_sqnr_db());
    highest_ = std::max(highest_, alone.worst_sqnr_db());
    ++samples_;
  }

  std::size_t samples() const { return samples_; }

  Measurement result() const {
    Measurement measured;
    measured.samples = samples_;
    measured.sqnr_db = all_.worst_sqnr_db();
    measured.lowest_db = lowest_;
    measured.highest_db = highest_;
    const auto outputs = all_.result();
    measured.runs = std::all_of(outputs.begin(), outputs.end(), [](const OutputDrift& one) { return one.finite; });
    if (!measured.runs) measured.error = "it gives NaN or infinity where the float model does not";
    if (const auto accuracy = accuracy_.result()) measured.drop = 100 * (accuracy->reference - accuracy->candidate);
    return measured;
  }

  const std::string& why_no_accuracy() const { return accuracy_.why_not(); }

 private:
  DriftMeter all_;
  AccuracyMeter accuracy_;
  double lowest_ = kSqnrEqual, highest_ = -kSqnrEqual;
  std::size_t samples_ = 0;
};

}  // namespace octet
