// octet compare --layers: where the loss comes from, and what leaving the worst nodes in float would give back.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "engine/layers.h"
#include "engine/verify.h"
#include "octet/plan.h"

namespace octet {

// Nodes of a plan by the worst that is known of them: rounding of what they write, and of what they read where no node
// of the plan wrote it; their weights. Nodes that only carry on what is rounded already are left out.
struct NodeLoss {
  std::string node, op, where;  // the value or weight that is worst
  double sqnr_db = 0;
};
std::vector<NodeLoss> rank_nodes(const Plan& plan, const LayersResult& layers);

// What the worst `excluded.size()` nodes in float come to, measured.
struct Exclusion {
  std::vector<std::string> excluded;
  std::uint64_t bytes = 0;
  double worst_sqnr_db = 0;
  std::string error;  // does not load or run
};
// Applies the plan to job.float_model again, without the worst node, without the worst two, and so on, and runs what
// comes out as `job` says. Throws Error(kUsage) for a plan that is not of this model.
std::vector<Exclusion> exclude_worst(const VerifyJob& job, const Plan& plan, const std::vector<NodeLoss>& ranked,
                                     std::size_t count);

nlohmann::json layers_json(const LayersResult& layers);
nlohmann::json exclusions_json(const std::vector<Exclusion>& exclusions);
// The worst `most` of the values and of the weights.
std::string layers_text(const LayersResult& layers, std::size_t most);
// `sqnr_db`: of the model as it is.
std::string exclusions_text(const std::vector<Exclusion>& exclusions, double sqnr_db);

}  // namespace octet
