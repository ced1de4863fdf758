// The state of make_plan, in the order its steps run.
#pragma once

#include <map>
#include <set>
#include <vector>

#include "octet/plan.h"
#include "quantize/params_cache.h"
#include "quantize/rules.h"
#include "quantize/static_planner.h"
#include "quantize/tensor_ids.h"

namespace octet {

// Below this the nodes that restore a weight take more room than 8 bits save.
constexpr std::uint64_t kMinElements = 256;

class Planner {
 public:
  Planner(Model& model, const PlanOptions& options, const Progress& progress);
  Plan run();

 private:
  // One reading of a stored tensor by a node that may use it in few bits. Axes in the tensor's stored layout.
  struct Reader {
    std::size_t node = 0;
    WeightSlot slot;
    bool wants_swapped = false;
    bool through_transpose = false;
  };
  struct Candidate {
    Value* value = nullptr;
    std::vector<Reader> readers;
    std::string keep;       // why it stays in float; "" = planned
    bool gathered = false;  // only whole rows of it are read
    bool weak = false;      // a table: kept in float rather than refused when 8 bits do not suit it
    TensorPlan plan;
  };
  struct Step {
    NodeAt at;
    const Rule* rule = nullptr;
    bool bridge = false;   // only turns a tied matrix over for its reader
    bool blocked = false;  // by the user's lists
    std::string no_dynamic;
    const StaticNode* fixed = nullptr;  // in static mode
    std::vector<std::size_t> weights;   // candidates it may read in few bits
    NodePlan plan;
  };

  void collect_nodes();
  void collect_readers(Step& step);
  void decide_keeps();
  void choose_static();
  std::string no_static_weight(const NodeAt& at) const;
  bool is_static_product(const Reader& reader) const;
  bool is_static_operand(const Reader& reader) const;
  void decide_layout(Candidate& candidate);
  bool wants_blocks(const Candidate& candidate) const;
  void scan_weights();
  void decide_actions();
  void decide_action(Step& step);
  Candidate& candidate_for(Value* value);

  Model& model_;
  const PlanOptions& options_;
  const Progress& progress_;
  GraphView view_;
  TensorIds ids_;
  NodeIds node_ids_;
  std::vector<Step> steps_;
  std::vector<Candidate> candidates_;
  std::map<Value*, std::size_t> candidate_index_;
  std::optional<StaticPlanner> static_;
  std::shared_ptr<ParamsCache> cache_ = std::make_shared<ParamsCache>();
  Plan plan_;
};

}  // namespace octet
