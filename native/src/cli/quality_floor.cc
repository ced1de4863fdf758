#include "cli/quality_floor.h"

#include <algorithm>
#include <chrono>

#include "cli/terminal.h"

namespace octet {
namespace {

// In dB; less than this is no reason to give up the usual layout.
constexpr double kWorthTurning = 1;

using Clock = std::chrono::steady_clock;

struct Suspect {
  std::string node;
  double sqnr_db;  // of the whole model with this node alone quantized
};

bool share_tensor(const NodePlan& a, const NodePlan& b) {
  return std::any_of(a.weights.begin(), a.weights.end(), [&](const auto& tensor) {
    return std::find(b.weights.begin(), b.weights.end(), tensor) != b.weights.end();
  });
}

// Everything in float but `node`, and those it shares a stored tensor with: they cannot be told apart.
Plan only(const Plan& plan, const std::string& node) {
  Plan alone = plan;
  const auto self =
      std::find_if(plan.nodes.begin(), plan.nodes.end(), [&](const NodePlan& entry) { return entry.node == node; });
  for (const NodePlan& other : plan.nodes) {
    if (other.node == node || share_tensor(*self, other)) continue;
    while (!demote(alone, other.node, "").empty()) {
    }
  }
  return alone;
}

bool usable(const VerifyResult& result) { return result.verified && result.loads && result.runs; }

double sqnr_of(const VerifyResult& result) {
  return usable(result) && result.finite ? result.worst_sqnr_db : -kSqnrEqual;
}

bool is_product(const std::string& op) {
  return op == "Conv" || op == "ConvTranspose" || op == "MatMul" || op == "Gemm";
}

std::vector<std::string> active_nodes(const Plan& plan) {
  std::vector<std::string> nodes;
  for (const NodePlan& node : plan.nodes) {
    // What only lies between static products follows them. A product whose weight is small has none in the list.
    const bool between = node.action == Action::kStatic && node.weights.empty() && !is_product(node.op);
    if (node.action != Action::kKeep && !between) nodes.push_back(node.node);
  }
  return nodes;
}

bool computes_in_integers(const Plan& plan, const std::string& name) {
  return std::any_of(plan.nodes.begin(), plan.nodes.end(), [&](const NodePlan& node) {
    return node.node == name && (node.action == Action::kDynamic || node.action == Action::kStatic);
  });
}

// Integers → fused kernel → folded → folded with scales along the other axis → float.
constexpr int kMostSteps = 4;

std::vector<std::string> retreat_node(Plan& plan, const std::string& node, int steps, const std::string& why) {
  std::vector<std::string> changed;
  for (int step = 0; step < steps; ++step) {
    auto now = demote(plan, node, why);
    if (now.empty()) break;
    changed = std::move(now);
  }
  return changed;
}

class Search {
 public:
  Search(Plan& plan, double floor, double seconds, const TryPlan& attempt)
      : plan_(plan),
        floor_(floor),
        attempt_(attempt),
        end_(Clock::now() + std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(seconds))) {}

  bool run(std::vector<std::string>& changed) {
    order_ = ranked(active_nodes(plan_));
    if (order_.empty()) return false;
    for (int steps = 1; steps <= kMostSteps; ++steps) {
      if (fewest(steps, changed)) return true;
    }
    return false;
  }

  // Nodes that went back to stored weights may do better with scales along the other axis, at no cost.
  void turn_where_better(const std::vector<std::string>& changed) {
    for (const std::string& node : changed) {
      Plan turned = plan_;
      if (out_of_time() || !turn_scales(turned, node)) continue;
      if (sqnr_of(attempt_(turned)) > sqnr_of(attempt_(plan_)) + kWorthTurning) plan_ = std::move(turned);
    }
  }

 private:
  std::vector<Suspect> ranked(const std::vector<std::string>& nodes) {
    std::vector<Suspect> suspects;
    for (std::size_t i = 0; i < nodes.size(); ++i) {
      Terminal::progress("finding the nodes that hurt", static_cast<double>(i) / static_cast<double>(nodes.size()));
      // Without time left the remaining nodes count as the worst: unknown is not good.
      suspects.push_back({nodes[i], out_of_time() ? -kSqnrEqual : sqnr_of(attempt_(only(plan_, nodes[i])))});
    }
    std::stable_sort(suspects.begin(), suspects.end(),
                     [](const Suspect& a, const Suspect& b) { return a.sqnr_db < b.sqnr_db; });
    return suspects;
  }

  // Doubling finds a number of the worst nodes that suffices, halving the smallest that does.
  bool fewest(int steps, std::vector<std::string>& changed) {
    std::size_t low = 0, high = 1;
    while (!holds(high, steps)) {
      if (high == order_.size()) return false;
      low = high;
      high = out_of_time() ? order_.size() : std::min(order_.size(), 2 * high);
    }
    while (high - low > 1 && !out_of_time()) {
      const std::size_t middle = (low + high) / 2;
      (holds(middle, steps) ? high : low) = middle;
    }
    for (std::size_t i = 0; i < high; ++i) {
      for (auto& node :
           retreat_node(plan_, order_[i].node, steps, "alone it brings the output to " + format_db(order_[i].sqnr_db)))
        changed.push_back(node);
    }
    return true;
  }

  bool holds(std::size_t count, int steps) const {
    Plan trial = plan_;
    for (std::size_t i = 0; i < count; ++i) retreat_node(trial, order_[i].node, steps, "");
    return sqnr_of(attempt_(trial)) >= floor_;
  }

  bool out_of_time() const { return Clock::now() > end_; }

  Plan& plan_;
  std::vector<Suspect> order_;  // worst first
  double floor_;
  const TryPlan& attempt_;
  Clock::time_point end_;
};

}  // namespace

FloorResult hold_floor(Plan& plan, double min_sqnr_db, double seconds, const TryPlan& attempt) {
  FloorResult result;
  Search search(plan, min_sqnr_db, seconds, attempt);
  result.reached = search.run(result.changed);
  search.turn_where_better(result.changed);
  return result;
}

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
