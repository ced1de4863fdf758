// The engine of whoever cannot answer while a search waits: breaks the search off at the first question without an
// answer, hands the question out, and once it is answered has the search run again, which then comes one question
// further. What a search has settled is not asked again, so that a long search costs no more than a straight one.
#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "octet/auto_engine.h"

namespace octet {

struct SearchQuestion {
  enum class Kind { kCalibrate, kObserve, kCheck, kMeasure };
  Kind kind = Kind::kCheck;
  Model model;                            // to run
  std::vector<std::string> taps = {};     // kCalibrate: values whose ranges are wanted
  std::string fingerprint = {};           // kCalibrate: of the model
  std::vector<ChannelTap> channels = {};  // kObserve: values wanted by channels
  Effort effort = Effort::kDrift;         // kMeasure
  Plan plan = {};                         // kMeasure: that made the model
  std::string stage = {};                 // what it is for, in words, and how far that is
  std::size_t done = 0, total = 0;
};

class ReplayEngine final : public AutoEngine {
 public:
  // `seconds`: a clock. `given`: ranges known already, for the model that they were learned from.
  explicit ReplayEngine(std::function<double()> seconds, std::optional<LearnedRanges> given = {});

  // Runs `search`, which runs or goes on, until it ends or asks. The question stands until it is answered: till then
  // it is given again. Null at the end.
  const SearchQuestion* run(const std::function<void()>& search);

  // To the question that stands. Throw Error(kUsage) where none does, or one of another kind.
  void answer(LearnedRanges learned);
  void answer(ChannelObservations observed);
  void answer(std::optional<double> sqnr_db);
  void answer(std::optional<Measurement> measured);

  std::optional<LearnedRanges> calibrate(const Quantizer& quantizer) override;
  ChannelObservations observe(const Model& model, const std::vector<ChannelTap>& taps) override;
  std::optional<double> check(const Quantizer& quantizer, const Plan& plan) override;
  std::optional<Measurement> measure(const Quantizer& quantizer, const Plan& plan, Effort effort) override;
  void start_clock(double seconds) override;
  bool out_of_time() override;
  void tell(const std::string& stage, std::size_t done, std::size_t total) override;
  void settle() override;

 private:
  // Answers and what the clock said, in the order of asking.
  using Answer =
      std::variant<LearnedRanges, ChannelObservations, std::optional<double>, std::optional<Measurement>, bool>;
  struct BrokenOff {};

  template <class Kind>
  const Kind* next();
  [[noreturn]] void ask(SearchQuestion question);
  void take(SearchQuestion::Kind kind, Answer answer);

  std::function<double()> seconds_;
  std::optional<LearnedRanges> given_;
  std::vector<Answer> answers_;  // since what was settled last
  std::size_t at_ = 0;           // of them, in this run
  std::optional<SearchQuestion> question_;
  std::string stage_;
  std::size_t done_ = 0, total_ = 0;
  double end_ = 0;
};

}  // namespace octet
