#include "cli/auto_session.h"

#include "cli/terminal.h"

namespace octet {

std::optional<double> AutoSession::check(const Quantizer& quantizer, const Plan& plan) {
  const auto measured = measure(quantizer, plan, Effort::kDrift);
  return measured ? std::optional(measured->sqnr_db) : std::nullopt;
}

std::optional<Measurement> AutoSession::measure(const Quantizer& quantizer, const Plan& plan, Effort effort) {
  if (stopped_()) return std::nullopt;
  Measurement measured = measure_(quantizer, plan, effort);
  // With what was done since the answer before: planning and calibrating are part of the time.
  const auto now = std::chrono::steady_clock::now();
  measured.seconds = std::chrono::duration<double>(now - last_).count();
  last_ = now;
  return measured;
}

void AutoSession::tell(const std::string& stage, std::size_t done, std::size_t total) {
  Terminal::progress(stage, total > 1 ? static_cast<double>(done) / static_cast<double>(total) : 0);
}

}  // namespace octet
