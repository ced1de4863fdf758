// Answers what the automatic search asks by running models here, and keeps what was measured in a log.
#pragma once

#include <chrono>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>

#include "cli/session_engine.h"
#include "engine/measure_candidates.h"
#include "octet/auto_engine.h"

namespace octet {

class AutoSession final : public AutoEngine {
 public:
  // Writes a model under a temporary name and has it measured.
  using Measure = std::function<Measurement(const Quantizer&, const Plan&, Effort)>;
  // `stopped`: whether there are to be no more.
  AutoSession(const RangeSource& ranges, SampleOptions samples, Measure measure, std::function<bool()> stopped)
      : runs_(ranges, std::move(samples), {}), measure_(std::move(measure)), stopped_(std::move(stopped)) {}

  std::optional<LearnedRanges> calibrate(const Quantizer& quantizer) override { return runs_.calibrate(quantizer); }
  ChannelObservations observe(const Model& model, const std::vector<ChannelTap>& taps) override {
    return runs_.observe(model, taps);
  }
  std::optional<double> check(const Quantizer& quantizer, const Plan& plan) override;
  std::optional<Measurement> measure(const Quantizer& quantizer, const Plan& plan, Effort effort) override;
  void start_clock(double seconds) override { runs_.start_clock(seconds); }
  bool out_of_time() override { return runs_.out_of_time(); }
  void tell(const std::string& stage, std::size_t done, std::size_t total) override;

 private:
  SessionEngine runs_;
  Measure measure_;
  std::function<bool()> stopped_;
  std::chrono::steady_clock::time_point last_ = std::chrono::steady_clock::now();
};

}  // namespace octet
