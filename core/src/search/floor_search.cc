#include "octet/floor_search.h"

#include <algorithm>
#include <utility>

#include "octet/measure.h"
#include "search/fewest.h"
#include "search/plan_edits.h"
#include "search/words.h"

namespace octet {
namespace {

// In dB; less than this is no reason to give up the usual layout.
constexpr double kWorthTurning = 1;

// Integers → fused kernel → folded → folded with scales along the other axis → float.
constexpr int kMostSteps = 4;

bool computes_in_integers(const Plan& plan, const std::string& name) {
  return std::any_of(plan.nodes.begin(), plan.nodes.end(), [&](const NodePlan& node) {
    return node.node == name && (node.action == Action::kDynamic || node.action == Action::kStatic);
  });
}

}  // namespace

FloorSearch::FloorSearch(const Quantizer& quantizer, Plan plan, double min_sqnr_db, double seconds,
                         SearchEngine& engine)
    : quantizer_(quantizer), plan_(std::move(plan)), floor_(min_sqnr_db), engine_(engine), nodes_(active_nodes(plan_)) {
  engine_.start_clock(seconds);
}

void FloorSearch::run() {
  if (!ranked_) rank();
  engine_.tell("holding the floor", 0, 1);
  for (; !reached_ && !nodes_.empty() && steps_ <= kMostSteps; ++steps_, engine_.settle()) reached_ = fewest(steps_);
  // Nodes that went back to stored weights may do better with scales along the other axis, at no cost.
  for (; turned_ < changed_.size(); ++turned_, engine_.settle()) {
    engine_.tell("turning scales", turned_, changed_.size());
    turn_where_better(changed_[turned_]);
  }
}

void FloorSearch::rank() {
  while (suspects_.size() < nodes_.size()) {
    engine_.tell("finding the nodes that hurt", suspects_.size(), nodes_.size());
    const std::string& node = nodes_[suspects_.size()];
    // Without time left the remaining nodes count as the worst: unknown is not good.
    const double db = engine_.out_of_time() ? -kSqnrEqual : sqnr_of(only(plan_, {node}));
    suspects_.push_back({node, db});
    engine_.settle();
  }
  std::stable_sort(suspects_.begin(), suspects_.end(),
                   [](const Suspect& a, const Suspect& b) { return a.sqnr_db < b.sqnr_db; });
  ranked_ = true;
}

bool FloorSearch::fewest(int steps) {
  const auto count = octet::fewest(
      suspects_.size(), [&](std::size_t many) { return holds(many, steps); }, [this] { return engine_.out_of_time(); });
  if (!count) return false;
  for (std::size_t i = 0; i < *count; ++i) {
    const std::string why = "alone it brings the output to " + decibels(suspects_[i].sqnr_db);
    for (auto& node : retreat_node(plan_, suspects_[i].node, steps, why)) changed_.push_back(std::move(node));
  }
  return true;
}

bool FloorSearch::holds(std::size_t count, int steps) {
  Plan trial = plan_;
  for (std::size_t i = 0; i < count; ++i) retreat_node(trial, suspects_[i].node, steps, "");
  return sqnr_of(trial) >= floor_;
}

void FloorSearch::turn_where_better(const std::string& node) {
  Plan turned = plan_;
  if (engine_.out_of_time() || !turn_scales(turned, node)) return;
  const double with = sqnr_of(turned), without = sqnr_of(plan_);
  if (with > without + kWorthTurning) plan_ = std::move(turned);
}

double FloorSearch::sqnr_of(const Plan& plan) { return engine_.check(quantizer_, plan).value_or(-kSqnrEqual); }

std::vector<std::string> retreat_from_integers(Plan& plan, const std::string& why) {
  std::vector<std::string> changed;
  for (const auto& node : active_nodes(plan)) {
    if (!computes_in_integers(plan, node)) continue;
    for (auto& name : demote(plan, node, why)) changed.push_back(name);
  }
  for (auto& name : fold_matrices(plan, why)) {
    if (std::find(changed.begin(), changed.end(), name) == changed.end()) changed.push_back(name);
  }
  return changed;
}

std::vector<std::string> fold_matrices(Plan& plan, const std::string& why) {
  std::vector<std::string> changed;
  for (NodePlan& node : plan.nodes) {
    if (node.form != Form::kDequantize) continue;
    node.form = Form::kFold;
    node.why = "weights only, folded when the session starts: " + why;
    changed.push_back(node.node);
  }
  return changed;
}

}  // namespace octet
