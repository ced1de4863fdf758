#include "cli/session_engine.h"

#include "cli/terminal.h"

namespace octet {

std::optional<LearnedRanges> SessionEngine::calibrate(const Quantizer& quantizer) {
  return ranges_.learn(quantizer, samples_);
}

ChannelObservations SessionEngine::observe(const Model& model, const std::vector<ChannelTap>& taps) {
  return ranges_.observe(model, samples_, taps);
}

void SessionEngine::start_clock(double seconds) {
  end_ = Clock::now() + std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(seconds));
}

void SessionEngine::tell(const std::string& stage, std::size_t done, std::size_t total) {
  // What is one question tells of itself.
  if (total > 1) Terminal::progress(stage, static_cast<double>(done) / static_cast<double>(total));
}

}  // namespace octet
