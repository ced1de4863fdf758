// Answers what searches ask by running models here.
#pragma once

#include <chrono>
#include <functional>
#include <optional>

#include "cli/range_source.h"
#include "octet/search_engine.h"

namespace octet {

class SessionEngine final : public SearchEngine {
 public:
  // What SearchEngine::check() says of it; empty: cannot be asked.
  using Check = std::function<std::optional<double>(const Quantizer&, const Plan&)>;

  SessionEngine(const RangeSource& ranges, SampleOptions samples, Check check)
      : ranges_(ranges), samples_(std::move(samples)), check_(std::move(check)) {}

  std::optional<LearnedRanges> calibrate(const Quantizer& quantizer) override;
  ChannelObservations observe(const Model& model, const std::vector<ChannelTap>& taps) override;
  bool checks() const override { return static_cast<bool>(check_); }
  std::optional<double> check(const Quantizer& quantizer, const Plan& plan) override { return check_(quantizer, plan); }
  void start_clock(double seconds) override;
  bool out_of_time() override { return Clock::now() > end_; }
  void tell(const std::string& stage, std::size_t done, std::size_t total) override;

 private:
  using Clock = std::chrono::steady_clock;

  const RangeSource& ranges_;
  SampleOptions samples_;
  Check check_;
  Clock::time_point end_;
};

}  // namespace octet
