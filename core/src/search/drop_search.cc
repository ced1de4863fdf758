#include "search/drop_search.h"

#include <algorithm>
#include <cmath>
#include <set>
#include <tuple>
#include <utility>

#include "octet/measure.h"
#include "search/cuts.h"
#include "search/fewest.h"
#include "search/plan_edits.h"
#include "search/words.h"

namespace octet {
namespace {

// Stretches that stay whole may hold this much of the noise that the budget allows, first and at last.
constexpr double kFirstShare = 0.3, kLastShare = 1e-3;
// Below this the output is hardly the model's any more, and leaving a single node out shows nothing.
constexpr double kTellingDb = 6;
// A part may have so much more or less than half of what is expected, for a better place to cut.
constexpr double kUneven = 0.15;
// How many nodes are looked at one by one.
constexpr std::size_t kWeighed = 8, kPutBack = 12;

double noise(double db) { return std::pow(10, -db / 10); }

}  // namespace

DropSearch::DropSearch(Plan plan, double floor_db, Level first, const Guide& guide, Hooks hooks)
    : plan_(std::move(plan)),
      floor_(floor_db),
      first_(first),
      hooks_(std::move(hooks)),
      nodes_(active_nodes(plan_)),
      cuts_(cut_costs(plan_, nodes_, guide.blocks)),
      expected_(guide.expected) {
  double all = 0;
  for (const std::string& node : nodes_) all += expected_.contains(node) ? expected_.at(node) : 0;
  for (const std::string& node : nodes_) {
    const double expected = all > 0 && expected_.contains(node) ? expected_.at(node) / all : 0;
    share_.push_back(expected + 1 / static_cast<double>(nodes_.size()));
  }
}

void DropSearch::run() {
  if (nodes_.empty()) return;
  levels_.clear();
  moved_.clear();
  reached_ = false;
  all_db_ = hooks_
                .measure(
                    name_of(levels_), [&] { return plan_; }, Effort::kGlance)
                .sqnr_db;
  groups_ = {Group{0, nodes_.size(), all_db_}};
  for (double share = kFirstShare; !reached_ && share > kLastShare; share /= 8) {
    split(share);
    weigh();
    reached_ = fewest(first_);
    if (!reached_ && first_ != Level::kFloat) reached_ = fewest(Level::kFloat);
    const bool all_single =
        std::all_of(groups_.begin(), groups_.end(), [](const Group& group) { return group.size() == 1; });
    if (all_single || hooks_.late()) break;
  }
  if (!reached_) return;
  put_back();
  if (levels_.at(moved_.front()) == Level::kFloat) soften(levels_, Level::kFolded, moved_);
  mixed_ = levels_;
  soften(mixed_, Level::kDynamic, moved_);
}

double DropSearch::alone(std::size_t begin, std::size_t end) const {
  const auto make = [&] {
    return only(plan_, {nodes_.begin() + static_cast<std::ptrdiff_t>(begin),
                        nodes_.begin() + static_cast<std::ptrdiff_t>(end)});
  };
  return hooks_.measure("only " + std::to_string(begin) + " to " + std::to_string(end), make, Effort::kGlance).sqnr_db;
}

void DropSearch::split(double share) {
  while (!hooks_.late()) {
    double whole = 0;
    Group* worst = nullptr;
    for (Group& group : groups_) {
      if (group.size() == 1) continue;
      whole += noise(group.alone_db);
      if (!worst || group.alone_db < worst->alone_db) worst = &group;
    }
    if (!worst || whole < share * noise(floor_)) return;
    hooks_.tell("finding the nodes that hurt", groups_.size(), nodes_.size());
    const std::size_t middle = part(*worst);
    const Group left{worst->begin, middle, alone(worst->begin, middle)};
    const Group right{middle, worst->end, alone(middle, worst->end)};
    *worst = left;
    groups_.push_back(right);
  }
}

// Where about the same is expected on both sides; of such places the one where the fewest values cross.
std::size_t DropSearch::part(const Group& group) const {
  double whole = 0, before = 0;
  for (std::size_t i = group.begin; i < group.end; ++i) whole += share_[i];
  std::size_t best = group.begin + 1;
  auto best_cost = std::make_tuple(1.0, 0, 1.0);
  for (std::size_t i = group.begin + 1; i < group.end; ++i) {
    before += share_[i - 1];
    const double uneven = std::abs(before / whole - 0.5);
    const bool even = uneven <= kUneven;
    const auto cost = std::make_tuple(even ? 0.0 : uneven, even ? cuts_[i] : 0, uneven);
    if (cost >= best_cost) continue;
    best_cost = cost;
    best = i;
  }
  return best;
}

// What the worst give back when they alone stay in float: parts do not always add up. Makes the order to go in.
void DropSearch::weigh() {
  std::vector<Group*> singles;
  for (Group& group : groups_) {
    if (group.size() == 1) singles.push_back(&group);
  }
  std::stable_sort(singles.begin(), singles.end(),
                   [](const Group* a, const Group* b) { return a->alone_db < b->alone_db; });
  for (std::size_t i = 0; i < std::min(kWeighed, singles.size()) && all_db_ > kTellingDb && !hooks_.late(); ++i) {
    Group& group = *singles[i];
    hooks_.tell("weighing what they give back", i, kWeighed);
    if (group.without_db) continue;
    const Levels without{{nodes_[group.begin], Level::kFloat}};
    group.without_db = hooks_
                           .measure(
                               name_of(without), [&] { return with(without); }, Effort::kGlance)
                           .sqnr_db;
  }
  std::stable_sort(singles.begin(), singles.end(), [](const Group* a, const Group* b) {
    if (a->without_db && b->without_db) return *a->without_db > *b->without_db;
    return a->without_db.has_value() && !b->without_db;
  });
  order_.clear();
  for (const Group* group : singles) order_.push_back(nodes_[group->begin]);
}

bool DropSearch::fewest(Level to) {
  hooks_.tell("finding how many must go", 0, 1);
  const auto count = how_many(order_, order_.size(), to);
  if (!count) return false;
  moved_.assign(order_.begin(), order_.begin() + static_cast<std::ptrdiff_t>(*count));
  for (const std::string& node : moved_) levels_[node] = to;
  return true;
}

std::optional<std::size_t> DropSearch::how_many(const std::vector<std::string>& order, std::size_t most,
                                                Level to) const {
  const auto suffice = [&](std::size_t count) {
    Levels levels;
    for (std::size_t i = 0; i < count; ++i) levels[order[i]] = to;
    return holds(levels);
  };
  return octet::fewest(most, suffice, hooks_.late);
}

std::vector<std::string> DropSearch::end_out(End end) const {
  if (!reached_ || hooks_.late() || conversions(plan()) <= conversions(plan_)) return {};
  hooks_.tell("leaving one end in float", 0, 1);
  std::vector<std::string> order = nodes_;
  if (end == End::kLast) std::reverse(order.begin(), order.end());
  // More than half of a model in float gains nothing.
  const auto count = how_many(order, order.size() / 2, levels_.at(moved_.front()));
  order.resize(count.value_or(0));
  return order;
}

Plan DropSearch::without(const std::vector<std::string>& nodes) const {
  Levels levels;
  for (const std::string& node : nodes) levels[node] = levels_.at(moved_.front());
  return with(levels);
}

// All but the last may turn out not to be needed once it is gone too.
void DropSearch::put_back() {
  if (moved_.size() < 2) return;
  const std::vector<std::string> tried(moved_.begin(), moved_.end() - 1);
  for (std::size_t i = tried.size(); i > 0 && tried.size() - i < kPutBack && !hooks_.late(); --i) {
    hooks_.tell("putting nodes back", tried.size() - i, tried.size());
    Levels levels = levels_;
    levels.erase(tried[i - 1]);
    if (holds(levels)) levels_ = std::move(levels);
  }
  std::erase_if(moved_, [&](const std::string& node) { return !levels_.contains(node); });
}

// All together where that holds, else one by one, those first that hurt least.
void DropSearch::soften(Levels& levels, Level to, std::vector<std::string> nodes) {
  std::erase_if(nodes, [&](const std::string& node) {
    Levels one;
    one[node] = to;
    const NodePlan *entry = find_node(plan_, node), *moved = nullptr;
    const Plan changed = with(one);
    moved = find_node(changed, node);
    const Action wanted = to == Level::kDynamic ? Action::kDynamic : Action::kWeights;
    return moved->action != wanted || entry->action == wanted;
  });
  if (nodes.empty() || hooks_.late()) return;
  Levels all = levels;
  for (const std::string& node : nodes) all[node] = to;
  if (holds(all)) {
    levels = std::move(all);
    return;
  }
  for (std::size_t i = nodes.size(); i > 0 && nodes.size() - i < kPutBack && nodes.size() > 1 && !hooks_.late(); --i) {
    hooks_.tell("looking what else they can be", nodes.size() - i, nodes.size());
    Levels one = levels;
    one[nodes[i - 1]] = to;
    if (holds(one)) levels = std::move(one);
  }
}

bool DropSearch::holds(const Levels& levels) const {
  return hooks_.holds(hooks_.measure(
      name_of(levels), [&] { return with(levels); }, Effort::kDrift));
}

std::string DropSearch::name_of(const Levels& levels) {
  std::string name = "moved";
  for (const auto& [node, level] : levels) name += " " + node + ":" + std::to_string(static_cast<int>(level));
  return name;
}

Plan DropSearch::with(const Levels& levels) const {
  Plan plan = plan_;
  for (const auto& [node, level] : levels) {
    if (level == Level::kFloat)
      to_float(plan, node, why(node));
    else if (level == Level::kStored || level == Level::kFolded)
      to_weights(plan, node, level == Level::kFolded, why(node));
    else
      to_dynamic(plan, node, why(node));
  }
  return plan;
}

std::optional<Plan> DropSearch::mixed() const {
  if (!reached_ || mixed_ == levels_) return std::nullopt;
  return with(mixed_);
}

std::vector<std::string> DropSearch::moved() const { return moved_; }

std::string DropSearch::why(const std::string& node) const {
  for (const Group& group : groups_) {
    if (group.size() == 1 && nodes_[group.begin] == node)
      return "alone in integers it brings the output to " + decibels(group.alone_db);
  }
  return "the budget holds without it";
}

std::vector<Sensitivity> DropSearch::sensitivities() const {
  std::vector<Sensitivity> list;
  for (const Group& group : groups_) {
    double expected = 0;
    for (std::size_t i = group.begin; i < group.end; ++i)
      expected += expected_.contains(nodes_[i]) ? expected_.at(nodes_[i]) : 0;
    list.push_back({{nodes_.begin() + static_cast<std::ptrdiff_t>(group.begin),
                     nodes_.begin() + static_cast<std::ptrdiff_t>(group.end)},
                    group.alone_db,
                    group.without_db,
                    expected > 0 ? std::optional(-10 * std::log10(expected)) : std::nullopt});
  }
  std::stable_sort(list.begin(), list.end(),
                   [](const Sensitivity& a, const Sensitivity& b) { return a.alone_db < b.alone_db; });
  return list;
}

}  // namespace octet
