// A walk that moves nodes into the weights of linear operators beside them.
#pragma once

#include <string>

#include "prepare/linear_op.h"
#include "prepare/sweep.h"

namespace octet {

class LinearFusion : public Sweep {
 public:
  using Sweep::Sweep;

 protected:
  // The linear operator whose result `at` alone reads, at `input`.
  std::optional<LinearOp> producer(const NodeAt& at, int input) const {
    const auto made = sole_producer(at, input);
    return made ? linear_op(view_, *made) : std::nullopt;
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
    take(*at.node, *op.at.node);
    return true;
  }

  // `at` goes, `op` behind it reads its input.
  bool move_on(const NodeAt& at, int input, const LinearOp& op, const Affine& affine) {
    if (!affine.shift.empty() && !pads_nothing(*op.at.node)) return decline(at, op, "it pads with zeros in between");
    if (const auto why = apply_to_input(model_, view_, op, affine, names_); !why.empty()) return decline(at, op, why);
    op.at.node->set_input(0, at.node->input(input));
    take(*at.node, *op.at.node);
    return true;
  }

  bool decline(const NodeAt& at, const LinearOp& op, const std::string& why) {
    // The first one says enough: a model that has one has many.
    if (report_.notes.empty())
      report_.notes.push_back(at.node->op_type() + " '" + at.node->name() + "' stays beside " + op.at.node->op_type() +
                              " '" + op.at.node->name() + "': " + why);
    return false;
  }

  NameSet names_{model_.proto()};
};

}  // namespace octet
