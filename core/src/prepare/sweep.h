// One walk over a graph that takes nodes into others. What it has changed waits for the next walk, since the view no
// longer tells the truth about it.
#pragma once

#include <optional>
#include <string_view>
#include <unordered_set>

#include "model/graph_match.h"
#include "prepare/analysis.h"
#include "prepare/pass.h"

namespace octet {

class Sweep {
 public:
  Sweep(Model& model, PassReport& report)
      : model_(model), report_(report), analysis_(analyze(model)), view_(analysis_->view) {}

  // Calls visit(at) for every node, which says whether it changed something. False when nothing was.
  template <class Visit>
  bool over_nodes(Visit visit) {
    for (const NodeAt& at : view_.nodes()) {
      if (touched_.has(at.node) || !visit(at)) continue;
      ++report_.changes;
      changed_ = true;
    }
    remove_nodes(view_, dead_);
    return changed_;
  }

 protected:
  // The node that makes an input, when it stands beside `at` and nobody else reads what it makes.
  std::optional<NodeAt> sole_producer(const NodeAt& at, int input) const {
    const Value* between = view_.input(at, input);
    const auto made = producer_of(between);
    if (!made || made->scope != at.scope || !only_use(*between) || touched_.has(made->node)) return std::nullopt;
    return made;
  }
  std::optional<NodeAt> sole_producer(const NodeAt& at, int input, std::string_view op) const {
    const auto made = sole_producer(at, input);
    return made && is_op(*made->node, op) && made->node->output_size() == 1 ? made : std::nullopt;
  }

  // Of a node's input. Shapes are told of a sound graph, which it is not between the first change and the end of the
  // walk: until then nothing is known, and the next walk asks again.
  const ShapeFacts& facts(const NodeAt& at, int input) {
    static const ShapeFacts kNothing;
    if (!analysis_->has_shapes() && changed_) return kNothing;
    return analysis_->shapes().input(at, input);
  }

  // `gone` goes, `survivor` does what both did.
  void take(const onnx::NodeProto& gone, onnx::NodeProto& survivor) {
    inherit_marks(gone, survivor);
    dead_.insert(&gone);
    touched_.add(&gone);
    touched_.add(&survivor);
  }

  Model& model_;
  PassReport& report_;
  std::shared_ptr<Analysis> analysis_;
  GraphView& view_;
  Touched touched_;

 private:
  bool changed_ = false;
  std::unordered_set<const onnx::NodeProto*> dead_;
};

// Walks until nothing changes.
template <class Fusion>
void sweep_until_still(Model& model, PassReport& report) {
  for (bool again = true; again;) {
    Fusion fusion(model, report);
    again = fusion.over_nodes([&](const NodeAt& at) { return fusion.visit(at); });
  }
}

}  // namespace octet
