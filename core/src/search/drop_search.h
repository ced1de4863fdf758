// Which nodes of a plan its loss comes from, and the fewest that must leave integers for a budget to hold.
//
// Rounding adds noise, and that of parts adds up about to that of the whole. So nodes are looked at in stretches, one
// stretch alone in integers at a time; the noisiest is parted until what is left of stretches no longer matters. What
// is expected of each node decides where, so that the few that hurt stand alone soon; what is measured decides the
// rest.
#pragma once

#include <cstddef>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "octet/auto_search.h"
#include "octet/prepare.h"

namespace octet {

class DropSearch {
 public:
  // What a node becomes. kStored: in the form that the target computes fastest with; kFolded: computed with as floats.
  enum class Level { kDynamic, kStored, kFolded, kFloat };

  struct Hooks {
    // Of the plan that is made; asked again under the same name, it costs nothing.
    std::function<Measurement(const std::string& name, const std::function<Plan()>& make, Effort effort)> measure;
    std::function<bool(const Measurement&)> holds;  // the budget
    std::function<bool()> late;
    std::function<void(const std::string& stage, std::size_t done, std::size_t total)> tell;
  };
  // What is known of a plan before anything runs: may be nothing.
  struct Guide {
    std::map<std::string, double> expected;  // noise over power at the outputs, by node (expected_noise)
    std::vector<BlockInfo> blocks;
  };
  // `floor_db`: about what holds. `first`: what nodes that leave integers become, where that suffices; else float. The
  // hooks stay good as long as this.
  DropSearch(Plan plan, double floor_db, Level first, const Guide& guide, Hooks hooks);

  // From the beginning: what was measured before an engine broke it off costs nothing.
  void run();

  bool reached() const { return reached_; }
  Plan plan() const { return with(levels_); }
  // The same with matrices in integers whose ranges are found while they run, where that holds.
  std::optional<Plan> mixed() const;
  std::vector<std::string> moved() const;  // worst first
  // Where what was found leaves islands of floats between integers: the fewest nodes at one end of the model that would
  // do as well. Empty where there are none.
  enum class End { kFirst, kLast };
  std::vector<std::string> end_out(End end) const;
  Plan without(const std::vector<std::string>& nodes) const;  // once reached
  std::vector<Sensitivity> sensitivities() const;

 private:
  using Levels = std::map<std::string, Level>;
  struct Group {
    std::size_t begin = 0, end = 0;  // of nodes_
    double alone_db = 0;
    std::optional<double> without_db = {};
    std::size_t size() const { return end - begin; }
  };

  void split(double share);
  std::size_t part(const Group& group) const;
  void weigh();
  bool fewest(Level to);
  std::optional<std::size_t> how_many(const std::vector<std::string>& order, std::size_t most, Level to) const;
  void put_back();
  void soften(Levels& levels, Level to, std::vector<std::string> nodes);
  bool holds(const Levels& levels) const;
  Plan with(const Levels& levels) const;
  static std::string name_of(const Levels& levels);
  std::string why(const std::string& node) const;
  double alone(std::size_t begin, std::size_t end) const;

  Plan plan_;
  double floor_;
  Level first_;
  Hooks hooks_;
  std::vector<std::string> nodes_;  // in graph order
  std::vector<double> share_;       // of what is expected in all, by node; evenly where nothing is
  std::vector<int> cuts_;           // what parting before a node costs
  std::map<std::string, double> expected_;
  double all_db_ = 0;
  std::vector<Group> groups_;
  std::vector<std::string> order_;  // single nodes, those first that must go first
  Levels levels_, mixed_;
  std::vector<std::string> moved_;
  bool reached_ = false;
};

}  // namespace octet
