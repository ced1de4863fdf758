// y = F(F(x))   →   y = F(x), for
//   Transpose: one permutation, or Identity;
//   Cast: where the first one loses nothing, the last one counts;
//   Concat: of the same axis, the inner one takes the place that it had in the outer one;
//   Slice: of different axes, one node cuts them all (opset 10), where only Slices read the inner one.
// Concat only where nothing else reads what stands between.
#include <algorithm>

#include "model/graph_match.h"
#include "prepare/analysis.h"
#include "prepare/pass.h"
#include "prepare/shapes.h"

namespace octet {
namespace {

using Ints = std::vector<std::int64_t>;

std::optional<Ints> permutation(const onnx::NodeProto& node) {
  const auto* perm = find_attribute(node, "perm");
  if (!perm) return std::nullopt;
  Ints axes(perm->ints().begin(), perm->ints().end());
  Ints sorted = axes;
  std::sort(sorted.begin(), sorted.end());
  for (std::size_t i = 0; i < sorted.size(); ++i) {
    if (sorted[i] != static_cast<std::int64_t>(i)) return std::nullopt;
  }
  return axes;
}

// Whether every value of one type is one of the other.
bool holds_all(int wide, int narrow) {
  using T = onnx::TensorProto;
  static const std::unordered_map<int, std::vector<int>> kWider = {
      {T::BOOL,
       {T::INT8, T::INT16, T::INT32, T::INT64, T::UINT8, T::UINT16, T::UINT32, T::UINT64, T::FLOAT16, T::BFLOAT16,
        T::FLOAT, T::DOUBLE}},
      {T::INT8, {T::INT16, T::INT32, T::INT64, T::FLOAT16, T::FLOAT, T::DOUBLE}},
      {T::UINT8, {T::INT16, T::INT32, T::INT64, T::UINT16, T::UINT32, T::UINT64, T::FLOAT16, T::FLOAT, T::DOUBLE}},
      {T::INT16, {T::INT32, T::INT64, T::FLOAT, T::DOUBLE}},
      {T::UINT16, {T::INT32, T::INT64, T::UINT32, T::UINT64, T::FLOAT, T::DOUBLE}},
      {T::INT32, {T::INT64, T::DOUBLE}},
      {T::UINT32, {T::INT64, T::UINT64, T::DOUBLE}},
      {T::FLOAT16, {T::FLOAT, T::DOUBLE}},
      {T::BFLOAT16, {T::FLOAT, T::DOUBLE}},
      {T::FLOAT, {T::DOUBLE}},
  };
  const auto found = kWider.find(narrow);
  return found != kWider.end() && std::find(found->second.begin(), found->second.end(), wide) != found->second.end();
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
      const auto& node = *at.node;
      if (node.output_size() != 1) continue;
      if (is_op(node, "Transpose")) changes += merge_transposes(at);
      if (is_op(node, "Cast")) changes += merge_casts(at);
      if (is_op(node, "Concat")) changes += merge_concats(at);
      if (is_op(node, "Slice")) changes += merge_slices(at);
    }
    return changes;
  }

 private:
  bool merge_transposes(const NodeAt& second) {
    const auto first = producer_of(view_, second, 0, "Transpose");
    if (!first || first->node->input_size() != 1) return false;
    const auto inner = permutation(*first->node), outer = permutation(*second.node);
    if (!inner || !outer || inner->size() != outer->size()) return false;
    Ints both;
    for (const auto axis : *outer) both.push_back((*inner)[static_cast<std::size_t>(axis)]);
    second.node->set_input(0, first->node->input(0));
    set_attribute(*second.node, "perm", both);
    return true;
  }

  bool merge_casts(const NodeAt& second) {
    const auto first = producer_of(view_, second, 0, "Cast");
    if (!first || first->node->input_size() != 1) return false;
    const int from = shapes_.input(*first, 0).type;
    if (!holds_all(static_cast<int>(int_attribute(*first->node, "to", 0)), from)) return false;
    second.node->set_input(0, first->node->input(0));
    return true;
  }

  // Axes may be counted from either end, but both lists say it the same way or the rank is known.
  bool same_axis(const NodeAt& first, const NodeAt& second) const {
    auto a = int_attribute(*first.node, "axis", 1), b = int_attribute(*second.node, "axis", 1);
    const auto& dims = shapes_.output(second, 0).dims;
    if (a < 0 && dims) a += static_cast<std::int64_t>(dims->size());
    if (b < 0 && dims) b += static_cast<std::int64_t>(dims->size());
    return a == b;
  }

  bool merge_concats(const NodeAt& outer) {
    std::vector<std::string> inputs;
    bool merged = false;
    for (int i = 0; i < outer.node->input_size(); ++i) {
      const Value* value = view_.input(outer, i);
      const auto inner = producer_of(view_, outer, i, "Concat");
      if (!inner || !only_use(*value) || !same_axis(*inner, outer)) {
        inputs.push_back(outer.node->input(i));
        continue;
      }
      inputs.insert(inputs.end(), inner->node->input().begin(), inner->node->input().end());
      merged = true;
    }
    if (!merged) return false;
    outer.node->clear_input();
    for (const auto& input : inputs) outer.node->add_input(input);
    return true;
  }

  struct Cut {
    Ints starts, ends, axes, steps;
  };

  std::optional<Cut> cut_of(const NodeAt& at, std::size_t rank) const {
    const auto& node = *at.node;
    const auto starts = constant_ints(model_, view_, at, 1, {}), ends = constant_ints(model_, view_, at, 2, {});
    if (!starts || !ends || starts->size() != ends->size() || starts->size() > rank) return std::nullopt;
    const auto given = [&](int index) { return index < node.input_size() && !node.input(index).empty(); };
    Cut cut{*starts, *ends, {}, Ints(starts->size(), 1)};
    for (std::size_t i = 0; i < starts->size(); ++i) cut.axes.push_back(static_cast<std::int64_t>(i));
    const auto take = [&](int index, Ints& into) {
      if (!given(index)) return true;
      const auto listed = constant_ints(model_, view_, at, index, {});
      if (!listed || listed->size() != starts->size()) return false;
      into = *listed;
      return true;
    };
    if (!take(3, cut.axes) || !take(4, cut.steps)) return std::nullopt;
    for (auto& axis : cut.axes) {
      if (axis < 0) axis += static_cast<std::int64_t>(rank);
      if (axis < 0 || axis >= static_cast<std::int64_t>(rank)) return std::nullopt;
    }
    return cut;
  }

  static bool read_by_slices(const Value& value) {
    return value.graph_outputs == 0 && std::all_of(value.uses.begin(), value.uses.end(), [](const Use& use) {
             return use.input == 0 && is_op(*use.node, "Slice");
           });
  }

  bool merge_slices(const NodeAt& second) {
    const auto first = producer_of(view_, second, 0, "Slice");
    const auto& dims = shapes_.input(second, 0).dims;
    if (opset_ < 10 || !first || !dims || !read_by_slices(*view_.input(second, 0))) return false;
    auto cut = cut_of(*first, dims->size());
    const auto more = cut_of(second, dims->size());
    if (!cut || !more) return false;
    for (const auto axis : more->axes) {
      if (std::find(cut->axes.begin(), cut->axes.end(), axis) != cut->axes.end()) return false;
    }
    for (const auto& [to, from] : {std::pair(&cut->starts, &more->starts), std::pair(&cut->ends, &more->ends),
                                   std::pair(&cut->axes, &more->axes), std::pair(&cut->steps, &more->steps)})
      to->insert(to->end(), from->begin(), from->end());
    std::vector<std::string> inputs = {first->node->input(0), analysis_->add_ints(second, "_starts", cut->starts),
                                       analysis_->add_ints(second, "_ends", cut->ends),
                                       analysis_->add_ints(second, "_axes", cut->axes)};
    if (std::any_of(cut->steps.begin(), cut->steps.end(), [](auto step) { return step != 1; }))
      inputs.push_back(analysis_->add_ints(second, "_steps", cut->steps));
    become(*second.node, "Slice", inputs);
    return true;
  }

  Model& model_;
  std::shared_ptr<Analysis> analysis_;
  GraphView& view_;
  const Shapes& shapes_;
  std::int64_t opset_;
};

}  // namespace

void run_merge_chains(Model& model, PassReport& report) { report.changes += Merging(model).run(); }

}  // namespace octet
