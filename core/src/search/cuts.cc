#include "search/cuts.h"

#include <algorithm>
#include <map>

namespace octet {
namespace {

// As many conversions as a torn block is worth: the runtime can no longer fuse it.
constexpr int kTornBlock = 4;

struct Stretch {
  int first = 0, last = 0;  // places in the plan
};

}  // namespace

std::vector<int> cut_costs(const Plan& plan, const std::vector<std::string>& nodes,
                           const std::vector<BlockInfo>& blocks) {
  std::map<std::string, int> places, writers;
  for (std::size_t i = 0; i < plan.nodes.size(); ++i) {
    const int place = static_cast<int>(i);
    places.emplace(plan.nodes[i].node, place);
    for (const std::string& value : plan.nodes[i].writes) writers.emplace(value, place);
  }
  std::map<std::string, Stretch> crossing;
  for (std::size_t i = 0; i < plan.nodes.size(); ++i) {
    for (const std::string& value : plan.nodes[i].reads) {
      const auto writer = writers.find(value);
      if (writer != writers.end()) crossing[value] = {writer->second, static_cast<int>(i)};
    }
  }
  // At each place, what lies across the gap before it.
  std::vector<int> costs(plan.nodes.size() + 1);
  const auto add = [&](const Stretch& stretch, int cost) {
    for (int place = stretch.first + 1; place <= stretch.last; ++place) costs[static_cast<std::size_t>(place)] += cost;
  };
  for (const auto& [value, stretch] : crossing) add(stretch, 1);
  for (const BlockInfo& block : blocks) {
    Stretch stretch{static_cast<int>(plan.nodes.size()), -1};
    for (const std::string& node : block.nodes) {
      const auto place = places.find(node);
      if (place == places.end()) continue;
      stretch.first = std::min(stretch.first, place->second);
      stretch.last = std::max(stretch.last, place->second);
    }
    add(stretch, kTornBlock);
  }
  std::vector<int> of_nodes;
  for (const std::string& node : nodes) {
    const auto place = places.find(node);
    of_nodes.push_back(place == places.end() ? 0 : costs[static_cast<std::size_t>(place->second)]);
  }
  return of_nodes;
}

}  // namespace octet
