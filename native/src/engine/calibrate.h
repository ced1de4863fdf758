// Runs samples through a model and observes what flows between its nodes, in memory that depends neither on the number
// of samples nor on the number of values observed.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "data/samples.h"
#include "octet/channels.h"
#include "octet/model.h"
#include "octet/ranges.h"

namespace octet {

struct CalibrationOptions {
  // Bytes of values alive at once, besides the weights, of all samples that run side by side. The model runs in as many
  // segments as that takes. More makes nothing faster: values are looked at soon after they were made. Where single
  // nodes make more, however the model is cut, samples that run side by side hold up to 128 MB.
  std::uint64_t memory_budget = std::uint64_t{16} << 20;
  unsigned threads = 0;                   // 0 = as many as the machine has; what is observed does not depend on it. Up
                                          // to four samples run at once and share them.
  bool observe = true;                    // without, only runs: what the rest of the work costs
  std::vector<ChannelTap> channels = {};  // values to be observed channel by channel, taps or not
  // Of the model, where it is known already; finding it reads every weight.
  std::optional<std::string> fingerprint = {};
  // Called after every segment with the share of the work that is done; from any thread, one call at a time.
  std::function<void(double fraction)> progress = {};
};

struct Calibration {
  Ranges ranges;
  ChannelObservations channels;
  std::vector<std::string> notes;  // tensors with values that were NaN or infinite, and where first; the first few
  std::size_t segments = 0;        // that the model ran in
  std::size_t side_by_side = 0;    // samples that ran at once, in the end
  double run_seconds = 0, observe_seconds = 0;  // added up over samples, several of which run at once
};

// `taps`: inputs of the model and values that nodes of its main graph make; what is no float tensor is left out. Runs
// without the runtime's optimizations, since they would do away with values. Throws Error(kData) when there are no
// samples, Error(kRun) naming the sample that does not run, Error(kUsage) for a tap that the model does not have.
Calibration run_calibration(const Model& prepared, const std::vector<std::string>& taps, SampleReader& samples,
                            const CalibrationOptions& options = {});

}  // namespace octet
