// z = View2(View1(x))   →   z = Reshape(x, shape), or View2 with the axes of both, or Identity(x)
// Views are Reshape, Squeeze, Unsqueeze, Flatten and a Transpose that only moves axes of size 1: they keep the order of
// elements, so the last one's shape is all that counts. It must be known as numbers and at most one -1, where an axis
// that x has in the same place may be copied with 0. Squeeze after Squeeze, and Unsqueeze after Unsqueeze, stay what
// they are. View1 goes with drop_unused, unless others read it.
#include <algorithm>

#include "model/graph_match.h"
#include "prepare/analysis.h"
#include "prepare/pass.h"
#include "prepare/shapes.h"

namespace octet {
namespace {

using Ints = std::vector<std::int64_t>;

// Whether the axes longer than 1 keep their order.
bool moves_only_ones(const onnx::NodeProto& node, const std::optional<Dims>& dims) {
  if (!dims) return false;
  const auto* perm = find_attribute(node, "perm");
  const auto rank = static_cast<std::int64_t>(dims->size());
  if (perm && perm->ints_size() != rank) return false;
  std::int64_t last = -1;
  for (std::int64_t i = 0; i < rank; ++i) {
    const std::int64_t axis = perm ? perm->ints(static_cast<int>(i)) : rank - 1 - i;
    if (axis < 0 || axis >= rank) return false;
    if ((*dims)[static_cast<std::size_t>(axis)].is(1)) continue;
    if (axis <= last) return false;
    last = axis;
  }
  return true;
}

bool is_view(const NodeAt& at, const Shapes& shapes) {
  static const std::unordered_set<std::string_view> kViews = {"Reshape", "Squeeze", "Unsqueeze", "Flatten"};
  const auto& node = *at.node;
  if (!is_standard(node) || node.input_size() == 0 || node.input(0).empty() || node.output_size() != 1) return false;
  if (kViews.contains(node.op_type())) return true;
  return node.op_type() == "Transpose" && moves_only_ones(node, shapes.input(at, 0).dims);
}

// What a Reshape of `from` has to be told to give `to`.
std::optional<Ints> shape_between(const Dims& from, const Dims& to, bool may_mix) {
  Ints shape;
  bool open = false, copies = false;
  for (std::size_t i = 0; i < to.size(); ++i) {
    if (const auto number = to[i].number()) {
      if (*number <= 0) return std::nullopt;
      shape.push_back(*number);
    } else if (i < from.size() && from[i] == to[i]) {
      shape.push_back(0);
      copies = true;
    } else if (!open) {
      shape.push_back(-1);
      open = true;
    } else {
      return std::nullopt;
    }
  }
  // Where a copied axis turns out to be 0, nothing can be told of an open one.
  if (open && copies && !may_mix) return std::nullopt;
  return shape;
}

// Sorted and counted from the front; nothing when they repeat or leave the rank.
std::optional<Ints> proper_axes(std::optional<Ints> axes, std::int64_t rank) {
  if (!axes || axes->empty()) return std::nullopt;
  for (auto& axis : *axes) {
    if (axis < 0) axis += rank;
    if (axis < 0 || axis >= rank) return std::nullopt;
  }
  std::sort(axes->begin(), axes->end());
  if (std::adjacent_find(axes->begin(), axes->end()) != axes->end()) return std::nullopt;
  return axes;
}

// Those of `inner` counted among the axes that `outer` leaves, and `outer` itself.
std::optional<Ints> joined_axes(const Ints& outer, const Ints& inner, std::int64_t rank) {
  Ints left;
  for (std::int64_t axis = 0; axis < rank; ++axis) {
    if (!std::binary_search(outer.begin(), outer.end(), axis)) left.push_back(axis);
  }
  Ints all = outer;
  for (const auto axis : inner) all.push_back(left.at(static_cast<std::size_t>(axis)));
  std::sort(all.begin(), all.end());
  return all;
}

class Merging {
 public:
  explicit Merging(Model& model)
      : model_(model),
        analysis_(analyze(model)),
        view_(analysis_->view),
        shapes_(analysis_->shapes()),
        opset_(opset_of(model.proto())) {}

  int run() {
    int changes = 0;
    for (const NodeAt& at : view_.nodes()) {
      if (opset_ >= 5 && is_view(at, shapes_)) changes += merge(at);
    }
    return changes;
  }

 private:
  bool merge(const NodeAt& second) {
    const auto first = producer_of(view_.input(second, 0));
    if (!first || first->scope != second.scope || !is_view(*first, shapes_)) return false;
    const auto& from = shapes_.input(*first, 0).dims;
    const auto& to = shapes_.output(second, 0).dims;
    const std::string source = first->node->input(0);
    if (from && to && *from == *to) {
      become(*second.node, "Identity", {source});
      return true;
    }
    const std::string op = second.node->op_type();
    if (op == first->node->op_type()) {
      if (op == "Transpose") return false;  // merge_chains
      if (op == "Squeeze" || op == "Unsqueeze") return from && merge_axes(*first, second, from->size());
    }
    if (op == "Reshape" && keeps_meaning(second, from)) {
      second.node->set_input(0, source);
      return true;
    }
    if (!from || !to) return false;
    const auto shape = shape_between(*from, *to, op == "Reshape" || first->node->op_type() == "Reshape");
    if (!shape) return false;
    become(*second.node, "Reshape", {source, analysis_->add_ints(second, "_shape", *shape)});
    return true;
  }

  // Whether a Reshape's shape says the same of another source: its zeros copy axes that are equal there.
  bool keeps_meaning(const NodeAt& at, const std::optional<Dims>& from) const {
    const auto& shape = shapes_.input(at, 1).data;
    if (!shape) return false;
    const auto& to = shapes_.output(at, 0).dims;
    for (std::size_t i = 0; i < shape->size(); ++i) {
      const auto number = (*shape)[i].number();
      if (number && *number != 0) continue;
      if (int_attribute(*at.node, "allowzero", 0) != 0) continue;
      if (!from || !to || i >= from->size() || i >= to->size() || !((*from)[i] == (*to)[i])) return false;
    }
    return true;
  }

  bool merge_axes(const NodeAt& first, const NodeAt& second, std::size_t source_rank) {
    auto inner = constant_ints(model_, view_, first, 1, "axes");
    auto outer = constant_ints(model_, view_, second, 1, "axes");
    if (!inner || !outer) return false;
    auto rank = static_cast<std::int64_t>(source_rank);
    const auto inner_count = static_cast<std::int64_t>(inner->size()),
               outer_count = static_cast<std::int64_t>(outer->size());
    std::optional<Ints> axes;
    if (is_op(*second.node, "Squeeze")) {
      inner = proper_axes(inner, rank);
      outer = proper_axes(outer, rank - inner_count);
      if (inner && outer) axes = joined_axes(*inner, *outer, rank);
    } else {
      rank += inner_count;
      inner = proper_axes(inner, rank);
      outer = proper_axes(outer, rank + outer_count);
      if (inner && outer) axes = joined_axes(*outer, *inner, rank + outer_count);
    }
    if (!axes) return false;
    const std::string op = second.node->op_type();
    if (opset_ < 13) {
      become(*second.node, op, {first.node->input(0)});
      set_attribute(*second.node, "axes", *axes);
    } else {
      become(*second.node, op, {first.node->input(0), analysis_->add_ints(second, "_axes", *axes)});
    }
    return true;
  }

  Model& model_;
  std::shared_ptr<Analysis> analysis_;
  GraphView& view_;
  const Shapes& shapes_;
  std::int64_t opset_;
};

}  // namespace

void run_merge_views(Model& model, PassReport& report) { report.changes += Merging(model).run(); }

}  // namespace octet
