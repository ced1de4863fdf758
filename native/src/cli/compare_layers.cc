#include "cli/compare_layers.h"

#include <algorithm>
#include <map>
#include <set>

#include "cli/model_options.h"
#include "cli/pending_model.h"
#include "cli/terminal.h"
#include "octet/error.h"
#include "octet/quantizer.h"

namespace octet {

std::vector<NodeLoss> rank_nodes(const Plan& plan, const LayersResult& layers) {
  std::map<std::string, double> values, weights;
  for (const LayerDrift& layer : layers.layers) {
    if (layer.rounding) values[layer.pair.name] = layer.rounding->sqnr_db;
  }
  for (const WeightDrift& weight : layers.weights) weights[weight.name] = weight.sqnr_db;
  std::set<std::string> written;
  for (const NodePlan& node : plan.nodes) written.insert(node.writes.begin(), node.writes.end());
  std::vector<NodeLoss> ranked;
  for (const NodePlan& node : plan.nodes) {
    if (node.action == Action::kKeep) continue;
    NodeLoss loss{node.node, node.op, {}, kSqnrEqual};
    const auto look = [&](const std::vector<std::string>& names, const std::map<std::string, double>& known) {
      for (const std::string& name : names) {
        const auto found = known.find(name);
        if (found == known.end() || found->second >= loss.sqnr_db) continue;
        if (&names == &node.reads && written.contains(name)) continue;  // the loss of who writes it
        loss.sqnr_db = found->second;
        loss.where = name;
      }
    };
    look(node.reads, values);
    look(node.writes, values);
    look(node.weights, weights);
    if (!loss.where.empty()) ranked.push_back(std::move(loss));
  }
  std::stable_sort(ranked.begin(), ranked.end(),
                   [](const NodeLoss& a, const NodeLoss& b) { return a.sqnr_db < b.sqnr_db; });
  return ranked;
}

std::vector<Exclusion> exclude_worst(const VerifyJob& job, const Plan& plan, const std::vector<NodeLoss>& ranked,
                                     std::size_t count) {
  Quantizer quantizer(open_model(job.float_model), PlanOptions{}, &plan);
  Plan changed = quantizer.plan();
  std::vector<Exclusion> exclusions;
  Exclusion exclusion;
  for (std::size_t i = 0; i < std::min(count, ranked.size()); ++i) {
    Terminal::progress("leaving out the worst nodes", static_cast<double>(i) / static_cast<double>(count));
    while (!demote(changed, ranked[i].node, "left in float").empty()) {
    }
    exclusion.excluded.push_back(ranked[i].node);
    const PendingModel pending(quantizer.apply(changed), std::filesystem::temp_directory_path() / "octet-excluded.onnx",
                               true, false, true);
    VerifyJob attempt = job;
    attempt.candidate = pending.path();
    attempt.candidate_bytes = exclusion.bytes = pending.bytes();
    const VerifyResult result = verify(attempt);
    exclusion.error = !result.verified ? result.why : result.runs ? "" : result.error;
    exclusion.worst_sqnr_db = result.worst_sqnr_db;
    exclusions.push_back(exclusion);
  }
  Terminal::clear_progress();
  return exclusions;
}

}  // namespace octet
