// A quantization that measures as it goes: the accuracy steps, then the floor.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "octet/accuracy_steps.h"
#include "octet/floor_search.h"
#include "octet/search_engine.h"

namespace octet {

// How long the search for the nodes that hurt may take.
inline constexpr double kFloorSeconds = 180;

class Search {
 public:
  // Without a floor only the accuracy steps that `options` ask for are taken. What does not run at all goes back from
  // integers before nodes are looked at one by one. The engine stays the caller's.
  Search(Quantizer quantizer, const PlanOptions& options, std::optional<double> min_sqnr_db, SearchEngine& engine);

  // Goes on where an engine broke it off.
  void run();

  // As far as run() came.
  Quantizer& quantizer() { return steps_.quantizer(); }
  const std::vector<std::string>& changed() const { return changed_; }  // for the floor, worst first
  std::optional<double> sqnr_db() const;                                // of the plan, where it was measured
  std::optional<bool> reached() const;                                  // the floor, where there is one and it is known

 private:
  enum class Stage { kSteps, kFirstCheck, kRetreat, kFloor, kLastCheck, kDone };
  void step();

  std::optional<double> floor_;
  SearchEngine& engine_;
  AccuracySteps steps_;
  Stage stage_ = Stage::kSteps;
  std::optional<FloorSearch> floor_search_;
  std::optional<double> sqnr_db_;
  std::vector<std::string> changed_;
};

// What a plan below the floor should be told, where it was calibrated on so many samples (0: not at all).
void advise_more_samples(Plan& plan, std::size_t samples);

}  // namespace octet
