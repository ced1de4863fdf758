// octet auto: which nodes compute in integers, and how, so that the model is as fast as it gets within a budget of
// drift. Candidates go out, measurements come back; see octet/auto_engine.h.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "octet/auto_engine.h"
#include "octet/quantizer.h"

namespace octet {

struct AutoBudget {
  double min_sqnr_db = 25;                 // of the worst output
  std::optional<double> max_drop;          // instead of it: right answers lost, in percent
  std::optional<std::uint64_t> max_bytes;  // of the file
  std::optional<double> min_speedup;       // the median of paired runs
  double seconds = 120;                    // of measuring, after which the best so far is taken
};

// What nodes cost, measured. A block is a stretch of nodes that were looked at together.
struct Sensitivity {
  std::vector<std::string> nodes;
  double alone_db = 0;                // of the whole model with these alone quantized
  std::optional<double> without_db;   // and with these alone in float
  std::optional<double> expected_db;  // what calibration alone let expect of alone_db
};

struct AutoCandidate {
  std::string what;      // in words
  std::size_t base = 0;  // whose quantizer its plan is of
  Plan plan;
  std::vector<std::string> moved;  // nodes that left the integers of the base
  Measurement measured;
  int conversions = 0;
  bool is_float = false, confirmed = false;
};

class AutoSearch {
 public:
  // `quantizer`: of the model in any mode; what it was made from decides about target, lists and types. The engine
  // stays the caller's, the log too.
  AutoSearch(Quantizer quantizer, const PlanOptions& options, const AutoBudget& budget, AutoEngine& engine,
             MeasurementLog& log);
  ~AutoSearch();

  // Goes on where an engine broke it off.
  void run();

  // As far as run() came: everything that was timed, in the order of trying.
  const std::vector<AutoCandidate>& candidates() const;
  // Of them: none of the others is smaller, faster and nearer.
  std::vector<std::size_t> front() const;
  // The fastest that keeps the budget; float where nothing else does. Null before anything ran.
  const AutoCandidate* chosen() const;
  const AutoCandidate* chosen_within(const AutoBudget& other) const;  // of the same candidates
  const Quantizer& quantizer_of(const AutoCandidate& candidate) const;
  // Why no candidate keeps to the size or speed asked for; empty where one does.
  std::string unmet() const;
  std::vector<Sensitivity> sensitivities() const;  // of what the chosen one comes from, worst first
  std::vector<std::string> account() const;        // what was tried and why it is as it is, a line each
  std::size_t tried() const;                       // candidates measured at all
  double seconds() const;                          // that measuring took
  std::optional<std::string> ended_early() const;  // why, where it did

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace octet
