// Where static mode's ranges come from: samples that are run now, or what octet calibrate wrote.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "cli/model_options.h"
#include "octet/search_engine.h"

namespace octet {

struct RangeSource {
  CalibOptions calib;
  std::string ranges;

  void add_to(CLI::App& command);  // beside InputOptions
  bool given() const { return !calib.calib.empty() || !ranges.empty(); }
  // Throws Error(kUsage) when mode and source do not go together.
  void check(Mode mode, bool plan_given) const;
  // Runs the samples and observes values channel by channel. Throws Error(kUsage) where there are only ranges.
  ChannelObservations observe(const Model& model, const SampleOptions& samples,
                              const std::vector<ChannelTap>& taps) const;
  // The ranges that the plan lacks; nothing where no source is given.
  std::optional<LearnedRanges> learn(const Quantizer& quantizer, const SampleOptions& samples) const;
};

}  // namespace octet
