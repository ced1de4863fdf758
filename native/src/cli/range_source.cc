#include "cli/range_source.h"

#include "cli/terminal.h"
#include "cli/text_file.h"
#include "engine/calibrate.h"
#include "octet/error.h"
#include "octet/samples.h"

namespace octet {

void RangeSource::add_to(CLI::App& command) {
  calib.add_to(command);
  command.add_option("--ranges", ranges, "ranges that octet calibrate wrote, instead of --calib")->type_name("FILE");
}

void RangeSource::check(Mode mode, bool plan_given) const {
  const auto refuse = [](const std::string& where, const std::string& what, const std::string& next) {
    throw Error(ErrorCode::kUsage, where, what, next);
  };
  if (!calib.calib.empty() && !ranges.empty())
    refuse("--calib --ranges", "ranges come from one of the two", "leave one out");
  if (given() && mode != Mode::kStatic && !plan_given)
    refuse(ranges.empty() ? "--calib" : "--ranges", "ranges are for static mode",
           "leave --mode out; to check outputs on samples use --data");
  if (!given() && mode == Mode::kStatic && !plan_given)
    refuse("--mode static", "needs samples to learn the ranges of activations from",
           "pass --calib DATA, or --ranges FILE from octet calibrate; dynamic mode needs neither");
}

ChannelObservations RangeSource::observe(const Model& model, const SampleOptions& options,
                                         const std::vector<ChannelTap>& taps) const {
  if (calib.calib.empty())
    throw Error(ErrorCode::kUsage, "--ranges", "they say nothing of single channels", "pass samples with --calib");
  const auto samples = open_samples(calib.calib, inputs_of(model), options);
  CalibrationOptions calibration;
  calibration.channels = taps;
  calibration.fingerprint = "";  // of ranges, of which there are none
  calibration.progress = [](double fraction) { Terminal::progress("looking at channels", fraction); };
  return run_calibration(model, {}, *samples, calibration).channels;
}

std::optional<LearnedRanges> RangeSource::learn(const Quantizer& quantizer, const SampleOptions& options) const {
  if (!ranges.empty()) return LearnedRanges{read_ranges_file(ranges), {}, ranges};
  if (calib.calib.empty()) return std::nullopt;
  const auto samples = open_samples(calib.calib, inputs_of(quantizer.model()), options);
  CalibrationOptions calibration;
  calibration.fingerprint = quantizer.fingerprint();
  calibration.progress = [](double fraction) { Terminal::progress("calibrating", fraction); };
  Calibration result = run_calibration(quantizer.model(), quantizer.taps(), *samples, calibration);
  LearnedRanges learned{std::move(result.ranges), std::move(result.notes), {}};
  if (std::string hint = few_samples_hint(samples->size()); !hint.empty()) learned.notes.push_back(std::move(hint));
  return learned;
}

}  // namespace octet
