// The search behind octet/auto_search.h: what it keeps, how it asks, and its stages.
#pragma once

#include <algorithm>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "octet/accuracy_steps.h"
#include "octet/auto_search.h"
#include "search/auto_choice.h"
#include "search/drop_search.h"

namespace octet {

struct AutoSearch::Impl {
  struct Ended {};  // thrown where no more answers are to be had
  enum class Stage {
    kAnchors,
    kMethods,
    kValues,
    kCorrections,
    kBiases,
    kFirstDrop,
    kSecondDrop,
    kWide,
    kWeights,
    kJoin,
    kLoneProducts,
    kScales,
    kConfirm,
    kDone
  };

  // Names of bases that accuracy steps made of "static".
  static constexpr const char *kCorrected = "static, corrected", *kBiasesCorrected = "static, biases corrected";

  // A model as it is planned one way: what plans of candidates are changes of.
  struct Base {
    std::string name, what;  // what: in words
    Quantizer quantizer;
    Plan plan;
    std::optional<std::size_t> whole = {};  // the candidate with all of it
    std::optional<bool> worth = {};         // taking it apart
    std::unique_ptr<DropSearch> drop = {};
  };

  // Accuracy steps on the way from one base to another.
  struct Correcting {
    std::unique_ptr<AccuracySteps> steps = {};
    std::size_t notes_before = 0;
    bool done = false;
  };

  // Answers what the accuracy steps ask, through the log.
  class Asking final : public SearchEngine {
   public:
    explicit Asking(Impl& search) : search_(search) {}
    std::optional<LearnedRanges> calibrate(const Quantizer& quantizer) override { return search_.calibrate(quantizer); }
    ChannelObservations observe(const Model& model, const std::vector<ChannelTap>& taps) override {
      return search_.engine.observe(model, taps);
    }
    std::optional<double> check(const Quantizer& quantizer, const Plan& plan) override {
      return search_.ask(quantizer, plan, Effort::kDrift).sqnr_db;
    }
    void start_clock(double) override {}
    bool out_of_time() override { return search_.late(); }
    void tell(const std::string& what, std::size_t done, std::size_t total) override {
      search_.engine.tell(what, done, total);
    }
    void settle() override { search_.commit(); }

   private:
    Impl& search_;
  };

  Impl(Quantizer of_model, const PlanOptions& plan_options, const AutoBudget& wanted, AutoEngine& runtime,
       MeasurementLog& answers);
  void run();

  // From the log, else from the engine.
  Measurement ask(const Quantizer& of, const Plan& plan, Effort effort);
  // In the log already. Its time counts once.
  const Measurement& known_as(const std::string& key);
  std::optional<LearnedRanges> calibrate(const Quantizer& of);
  // What was asked so far is not asked again.
  void commit();
  // Asked where there is more to do: that it is true once is a reason why the search ended early.
  bool late();

  Base* base_of(const std::string& name);
  Base& add_base(const std::string& name, Quantizer of);
  // One whose plan has nodes of this action; null where there would be none.
  Base* planned(const std::string& name, Mode mode, Action action, QuantType activations = QuantType::kUint8);
  Base* best_static();
  // Times a plan, once. Returns which candidate it is.
  std::size_t time_plan(const Base& base, const std::string& what, const Plan& plan,
                        std::vector<std::string> moved = {}, bool is_float = false);
  void whole(Base& base);
  bool keeps(const Base* base) const;
  double low_of_best() const;
  DropSearch::Hooks hooks(Base& base);

  void step();
  void anchors();
  void shrink();
  void methods();
  void values();
  void change(Base& base, Plan plan, const std::string& what, std::vector<std::string>& notes);
  void corrections();
  void biases();
  void correct(Correcting& correcting, const Base& from, const PlanOptions& asked, const std::string& name);
  DropSearch::Level first_level(const Base& base);
  DropSearch::Guide guide(const Base& base) const;
  void drop_from(std::size_t turn);
  void drop(Base* base);
  void widen();
  void drop_weights();
  void join();
  void lone_products_out();
  void fewer_scales();
  void refine(const std::function<std::string(Plan&, std::vector<std::string>&)>& change);
  void confirm();

  Quantizer given;
  PlanOptions options;
  AutoBudget budget;
  AutoEngine& engine;
  MeasurementLog& log;
  Asking asking;

  Stage stage = Stage::kAnchors;
  std::vector<std::unique_ptr<Base>> bases;
  std::set<std::string> without, skipped;                         // bases: that have no nodes, that are no use
  std::map<std::string, std::shared_ptr<LearnedRanges>> learned;  // by the model's fingerprint
  std::vector<AutoCandidate> candidates;
  std::map<std::string, std::size_t> timed;       // candidates by the key of their measurement
  std::map<std::string, std::string> answered;    // keys by what was looked at
  std::set<std::string> counted, counted_before;  // whose time is in `spent`
  // Of the time, what may be gone before the search for nodes ends, so that what it found can still be timed.
  static constexpr double kSearchShare = 0.8;
  double spent = 0, spent_before = 0, share = kSearchShare;
  std::optional<std::vector<std::string>> drop_order;  // bases
  Correcting corrected, biased;
  std::optional<bool> float_wins, wide_wanted;
  std::optional<int> joined_to;  // a candidate; -1: none
  std::vector<std::string> step_notes;
  bool cut_short = false;
  std::optional<std::string> ended;
};

}  // namespace octet
