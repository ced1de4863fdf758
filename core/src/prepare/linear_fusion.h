// One sweep over a graph that moves nodes into the weights of linear operators beside them. Values that a sweep has
// changed wait for the next one.
#pragma once

#include <optional>
#include <string>
#include <unordered_set>

#include "prepare/linear_op.h"
#include "prepare/pass.h"
#include "prepare/shapes.h"

namespace octet {

class LinearFusion {
 public:
  LinearFusion(Model& model, PassReport& report) : model_(model), report_(report), view_(model.proto()) {}

  // Calls visit(at) for every node, which says whether it was moved. False when none was.
  template <class Visit>
  bool sweep(Visit visit) {
    for (const NodeAt& at : view_.nodes()) {
      if (!touched_.has(at.node) && visit(at)) ++report_.changes;
    }
    remove_nodes(view_, dead_);
    return !dead_.empty();
  }

 protected:
  // The linear operator whose result `at` alone reads, at `input`.
  std::optional<LinearOp> producer(const NodeAt& at, int input) const {
    const Value* between = view_.input(at, input);
    const auto made = producer_of(between);
    if (!made || made->scope != at.scope || !only_use(*between) || touched_.has(made->node)) return std::nullopt;
    return linear_op(view_, *made);
  }

  // The Conv that alone reads the result of `at`, whose own input is `input`.
  std::optional<LinearOp> reader(const NodeAt& at, int input) const {
    const Value *before = view_.input(at, input), *between = view_.find(*at.scope, at.node->output(0));
    const Use* use = between ? only_use(*between) : nullptr;
    if (!before || !use || use->scope != at.scope || use->input != 0) return std::nullopt;
    if (touched_.has(use->node) || (before->producer && touched_.has(before->producer))) return std::nullopt;
    auto op = linear_op(view_, {use->node, use->scope});
    return op && op->by_input ? op : std::nullopt;
  }

  // `at` goes, `op` before it takes its output.
  bool move_back(const NodeAt& at, const LinearOp& op, const Affine& affine) {
    if (const auto why = apply_to_output(model_, view_, op, affine, names_); !why.empty()) return decline(at, op, why);
    op.at.node->set_output(0, at.node->output(0));
    return finish(*at.node, *op.at.node);
  }

  // `at` goes, `op` behind it reads its input.
  bool move_on(const NodeAt& at, int input, const LinearOp& op, const Affine& affine) {
    if (!affine.shift.empty() && !pads_nothing(*op.at.node)) return decline(at, op, "it pads with zeros in between");
    if (const auto why = apply_to_input(model_, view_, op, affine, names_); !why.empty()) return decline(at, op, why);
    op.at.node->set_input(0, at.node->input(input));
    return finish(*at.node, *op.at.node);
  }

  bool decline(const NodeAt& at, const LinearOp& op, const std::string& why) {
    // The first one says enough: a model that has one has many.
    if (report_.notes.empty())
      report_.notes.push_back(at.node->op_type() + " '" + at.node->name() + "' stays beside " + op.at.node->op_type() +
                              " '" + op.at.node->name() + "': " + why);
    return false;
  }

  // Of a node's input. Shapes are told of a sound graph, which it is not between the first change and the end of the
  // sweep: until then nothing is known, and the next sweep asks again.
  const TensorFacts& facts(const NodeAt& at, int input) {
    static const TensorFacts kNothing;
    if (!shapes_ && !dead_.empty()) return kNothing;
    if (!shapes_) shapes_.emplace(model_, view_);
    return shapes_->input(at, input);
  }

  Model& model_;
  PassReport& report_;
  GraphView view_;

 private:
  bool finish(const onnx::NodeProto& gone, onnx::NodeProto& survivor) {
    inherit_marks(gone, survivor);
    dead_.insert(&gone);
    touched_.add(&gone);
    touched_.add(&survivor);
    return true;
  }

  NameSet names_{model_.proto()};
  Touched touched_;
  std::unordered_set<const onnx::NodeProto*> dead_;
  std::optional<Shapes> shapes_;
};

}  // namespace octet
