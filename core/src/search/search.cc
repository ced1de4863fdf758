#include "octet/search.h"

#include <utility>

#include "octet/measure.h"
#include "octet/samples.h"

namespace octet {

Search::Search(Quantizer quantizer, const PlanOptions& options, std::optional<double> min_sqnr_db, SearchEngine& engine)
    : floor_(min_sqnr_db), engine_(engine), steps_(std::move(quantizer), options, engine) {}

void Search::run() {
  while (stage_ != Stage::kDone) {
    step();
    engine_.settle();
  }
}

void Search::step() {
  switch (stage_) {
    case Stage::kSteps:
      steps_.run();
      sqnr_db_ = steps_.sqnr_db();
      stage_ = floor_ ? Stage::kFirstCheck : Stage::kDone;
      break;
    case Stage::kFirstCheck:
      engine_.tell("looking whether the floor holds", 0, 1);
      if (!sqnr_db_) sqnr_db_ = engine_.check(quantizer(), quantizer().plan());
      stage_ = !sqnr_db_ || *sqnr_db_ >= *floor_ ? Stage::kDone
               : *sqnr_db_ <= -kSqnrEqual        ? Stage::kRetreat
                                                 : Stage::kFloor;
      break;
    case Stage::kRetreat: {
      engine_.tell("looking whether the floor holds", 0, 1);
      Plan plan = quantizer().plan();
      std::vector<std::string> changed = retreat_from_integers(plan, "the runtime refused its integer form");
      if (!changed.empty()) sqnr_db_ = engine_.check(quantizer(), plan);
      quantizer().plan() = std::move(plan);
      changed_ = std::move(changed);
      stage_ = sqnr_db_ && *sqnr_db_ < *floor_ ? Stage::kFloor : Stage::kDone;
      break;
    }
    case Stage::kFloor:
      if (!floor_search_) {
        advise_more_samples(quantizer().plan(), steps_.samples());
        floor_search_.emplace(quantizer(), quantizer().plan(), *floor_, kFloorSeconds, engine_);
      }
      floor_search_->run();
      changed_.insert(changed_.end(), floor_search_->changed().begin(), floor_search_->changed().end());
      quantizer().plan() = floor_search_->plan();
      floor_search_.reset();
      stage_ = Stage::kLastCheck;
      break;
    case Stage::kLastCheck:
      engine_.tell("looking whether the floor holds", 0, 1);
      sqnr_db_ = engine_.check(quantizer(), quantizer().plan());
      stage_ = Stage::kDone;
      break;
    case Stage::kDone:
      break;
  }
}

std::optional<double> Search::sqnr_db() const { return sqnr_db_; }

std::optional<bool> Search::reached() const {
  if (!floor_ || !sqnr_db_) return std::nullopt;
  return *sqnr_db_ >= *floor_;
}

void advise_more_samples(Plan& plan, std::size_t samples) {
  if (samples == 0) return;
  if (const std::string advice = more_samples_advice(samples); !advice.empty())
    plan.notes.push_back("below the floor: " + advice);
}

}  // namespace octet
