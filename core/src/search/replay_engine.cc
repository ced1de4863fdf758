#include "octet/replay_engine.h"

#include <utility>

#include "octet/error.h"

namespace octet {

ReplayEngine::ReplayEngine(std::function<double()> seconds, std::optional<LearnedRanges> given)
    : seconds_(std::move(seconds)), given_(std::move(given)) {}

const SearchQuestion* ReplayEngine::run(const std::function<void()>& search) {
  if (question_) return &*question_;
  at_ = 0;
  try {
    search();
  } catch (const BrokenOff&) {
    return &*question_;
  }
  return nullptr;
}

void ReplayEngine::answer(LearnedRanges learned) { take(SearchQuestion::Kind::kCalibrate, std::move(learned)); }

void ReplayEngine::answer(ChannelObservations observed) { take(SearchQuestion::Kind::kObserve, std::move(observed)); }

void ReplayEngine::answer(std::optional<double> sqnr_db) { take(SearchQuestion::Kind::kCheck, sqnr_db); }

void ReplayEngine::answer(std::optional<Measurement> measured) {
  take(SearchQuestion::Kind::kMeasure, std::move(measured));
}

void ReplayEngine::take(SearchQuestion::Kind kind, Answer answer) {
  if (!question_ || question_->kind != kind)
    throw Error(ErrorCode::kUsage, "answer", question_ ? "another question stands" : "nothing was asked",
                "ask for what comes next first");
  answers_.push_back(std::move(answer));
  question_.reset();
}

// The answer that comes next, where there is one. A search that asks otherwise than before would read another's.
template <class Kind>
const Kind* ReplayEngine::next() {
  if (at_ == answers_.size()) return nullptr;
  const Kind* answer = std::get_if<Kind>(&answers_[at_++]);
  if (!answer) throw Error(ErrorCode::kInternal, "", "the search asks otherwise than before");
  return answer;
}

void ReplayEngine::ask(SearchQuestion question) {
  question.stage = stage_;
  question.done = done_;
  question.total = total_;
  question_ = std::move(question);
  throw BrokenOff();
}

std::optional<LearnedRanges> ReplayEngine::calibrate(const Quantizer& quantizer) {
  std::vector<std::string> taps = quantizer.taps();
  if (taps.empty()) return std::nullopt;
  if (given_ && given_->ranges.model == quantizer.fingerprint()) return given_;
  if (const LearnedRanges* learned = next<LearnedRanges>()) return *learned;
  SearchQuestion question{SearchQuestion::Kind::kCalibrate, quantizer.model().clone()};
  question.taps = std::move(taps);
  question.fingerprint = quantizer.fingerprint();
  ask(std::move(question));
}

ChannelObservations ReplayEngine::observe(const Model& model, const std::vector<ChannelTap>& taps) {
  if (const ChannelObservations* observed = next<ChannelObservations>()) return *observed;
  SearchQuestion question{SearchQuestion::Kind::kObserve, model.clone()};
  question.channels = taps;
  ask(std::move(question));
}

std::optional<double> ReplayEngine::check(const Quantizer& quantizer, const Plan& plan) {
  if (const auto* sqnr_db = next<std::optional<double>>()) return *sqnr_db;
  ask(SearchQuestion{SearchQuestion::Kind::kCheck, quantizer.apply(plan)});
}

std::optional<Measurement> ReplayEngine::measure(const Quantizer& quantizer, const Plan& plan, Effort effort) {
  if (const auto* measured = next<std::optional<Measurement>>()) return *measured;
  SearchQuestion question{SearchQuestion::Kind::kMeasure, quantizer.apply(plan)};
  question.effort = effort;
  question.plan = plan;
  ask(std::move(question));
}

void ReplayEngine::start_clock(double seconds) { end_ = seconds_() + seconds; }

bool ReplayEngine::out_of_time() {
  if (const bool* over = next<bool>()) return *over;
  const bool over = seconds_() > end_;
  answers_.emplace_back(over);
  at_ = answers_.size();
  return over;
}

void ReplayEngine::tell(const std::string& stage, std::size_t done, std::size_t total) {
  stage_ = stage;
  done_ = done;
  total_ = total;
}

void ReplayEngine::settle() {
  answers_.clear();
  at_ = 0;
}

}  // namespace octet
