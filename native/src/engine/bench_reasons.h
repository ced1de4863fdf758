// Why bench's verdicts are as they are: from the plan a model was made by or shows, and from what the runtime makes of
// the model.
#pragma once

#include <optional>
#include <vector>

#include "engine/bench.h"
#include "engine/integer_share.h"
#include "octet/plan.h"
#include "octet/verdict.h"

namespace octet {

class BenchReasons {
 public:
  explicit BenchReasons(const BenchJob& job) : job_(job), models_(job.models.size()) {}

  // Of models[model]; `float_ms` is the first model's median. Loads the model when its plan, and makes a session when
  // the runtime's graph is to be looked at; both once. Empty where nothing can be told.
  Explanation of(std::size_t model, const Verdict& verdict, const VerdictInput& figures, double float_ms);

 private:
  struct Seen {
    bool looked_at_plan = false, looked_at_graph = false;
    std::optional<Plan> plan;
    std::optional<IntegerShare> integers;
  };
  const std::optional<Plan>& plan_of(std::size_t model);
  const std::optional<IntegerShare>& integers_of(std::size_t model);

  const BenchJob& job_;
  std::vector<Seen> models_;
};

}  // namespace octet
