// --min-sqnr: below the floor, the worst nodes go back towards float until it holds: integers → weights only → float.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "octet/search_engine.h"

namespace octet {

class FloorSearch {
 public:
  // Changes a copy of the plan, which is of the quantizer's model. Measures each node alone, then moves the fewest of
  // the worst that make the floor hold. Without time left after `seconds`, what was not measured counts as the worst.
  // Quantizer and engine stay the caller's.
  FloorSearch(const Quantizer& quantizer, Plan plan, double min_sqnr_db, double seconds, SearchEngine& engine);

  // Goes on where an engine broke it off.
  void run();

  const Plan& plan() const { return plan_; }
  bool reached() const { return reached_; }
  const std::vector<std::string>& changed() const { return changed_; }  // nodes moved towards float, worst first

 private:
  struct Suspect {
    std::string node;
    double sqnr_db;  // of the whole model with this node alone quantized
  };

  void rank();
  bool fewest(int steps);
  bool holds(std::size_t count, int steps);
  void turn_where_better(const std::string& node);
  double sqnr_of(const Plan& plan);

  const Quantizer& quantizer_;
  Plan plan_;
  double floor_;
  SearchEngine& engine_;
  std::vector<std::string> nodes_;  // that could go towards float
  std::vector<Suspect> suspects_;   // worst first, once all are measured
  bool ranked_ = false, reached_ = false;
  int steps_ = 1;           // towards float that were tried
  std::size_t turned_ = 0;  // of the changed nodes
  std::vector<std::string> changed_;
};

// The nearest plan that any runtime loads and runs: everything that computes in integers becomes weights only, folded.
std::vector<std::string> retreat_from_integers(Plan& plan, const std::string& why);

// Every matrix stored for the fused kernel is stored in the foldable form instead. Returns the nodes changed.
std::vector<std::string> fold_matrices(Plan& plan, const std::string& why);

}  // namespace octet
