// y = Unsqueeze(Gather(x, i))   →   y = Gather(x, [i])    of the axis that was taken away
// y = Squeeze(Slice(x, i, i+1)) →   y = Gather(x, i)      of the axis that is cut to one and taken away
// Only where nothing else reads what stands between. A list that says the shape of a Reshape keeps the first form: ONNX
// Runtime knows it, and gives that Reshape a constant shape.
#include <algorithm>
#include <limits>

#include "model/graph_match.h"
#include "prepare/analysis.h"
#include "prepare/pass.h"
#include "prepare/shapes.h"

namespace octet {
namespace {

using Ints = std::vector<std::int64_t>;

class Picks {
 public:
  explicit Picks(Model& model)
      : model_(model), analysis_(analyze(model)), view_(analysis_->view), shapes_(analysis_->shapes()) {}

  int run() {
    int changes = 0;
    for (const NodeAt& at : view_.nodes()) {
      if (at.node->output_size() != 1) continue;
      if (is_op(*at.node, "Unsqueeze")) changes += gather_list(at);
      if (is_op(*at.node, "Squeeze")) changes += gather_one(at);
    }
    return changes;
  }

 private:
  bool shapes_a_reshape(const NodeAt& at) const {
    const auto readers = [&](const NodeAt& of) {
      const Value* value = view_.find(*of.scope, of.node->output(0));
      return value ? std::span<const Use>(value->uses) : std::span<const Use>();
    };
    for (const Use& use : readers(at)) {
      if (!is_op(*use.node, "Concat") || use.node->output_size() == 0) continue;
      for (const Use& reader : readers({use.node, use.scope})) {
        if (is_op(*reader.node, "Reshape")) return true;
      }
    }
    return false;
  }

  std::optional<std::int64_t> single(const NodeAt& at, int input, std::string_view attribute = {}) const {
    const auto listed = constant_ints(model_, view_, at, input, attribute);
    return listed && listed->size() == 1 ? std::optional(listed->front()) : std::nullopt;
  }

  bool gather_list(const NodeAt& unsqueeze) {
    const auto gather = producer_of(view_, unsqueeze, 0, "Gather");
    if (!gather || gather->node->input_size() != 2 || !only_use(*view_.input(unsqueeze, 0)) ||
        shapes_a_reshape(unsqueeze))
      return false;
    const auto index = single(*gather, 1), taken = single(unsqueeze, 1, "axes");
    const auto& dims = shapes_.input(*gather, 0).dims;
    if (!shapes_.input(*gather, 1).has_rank(0) || !index || !taken || !dims) return false;
    const auto rank = static_cast<std::int64_t>(dims->size());
    const auto axis = int_attribute(*gather->node, "axis", 0);
    if (from_front(axis, rank) != from_front(*taken, rank)) return false;
    become_gather(unsqueeze, gather->node->input(0), *index, true, axis);
    return true;
  }

  bool gather_one(const NodeAt& squeeze) {
    const auto slice = producer_of(view_, squeeze, 0, "Slice");
    if (!slice || !only_use(*view_.input(squeeze, 0))) return false;
    const auto& dims = shapes_.input(*slice, 0).dims;
    const auto start = single(*slice, 1, "starts"), end = single(*slice, 2, "ends"), taken = single(squeeze, 1, "axes");
    if (!dims || !start || !end || !taken) return false;
    const auto rank = static_cast<std::int64_t>(dims->size());
    const bool names_axis = find_attribute(*slice->node, "axes") || given(*slice->node, 3);
    const auto cut = names_axis ? single(*slice, 3, "axes") : std::optional<std::int64_t>(0);
    if (!cut || from_front(*cut, rank) != from_front(*taken, rank)) return false;
    if (given(*slice->node, 4) && single(*slice, 4) != 1) return false;
    const bool last = *start == -1 && *end >= std::numeric_limits<std::int32_t>::max();
    if (!last && (*start == -1 || *start == std::numeric_limits<std::int64_t>::max() || *end != *start + 1))
      return false;
    become_gather(squeeze, slice->node->input(0), *start, false, *cut);
    return true;
  }

  static bool given(const onnx::NodeProto& node, int input) {
    return input < node.input_size() && !node.input(input).empty();
  }
  static std::int64_t from_front(std::int64_t axis, std::int64_t rank) { return axis < 0 ? axis + rank : axis; }

  void become_gather(const NodeAt& at, const std::string& source, std::int64_t index, bool list, std::int64_t axis) {
    const std::string name = analysis_->names().fresh(at.node->output(0) + "_index");
    auto tensor = int_tensor(model_, name, {index});
    if (!list) tensor.clear_dims();
    *at.scope->graph->add_initializer() = std::move(tensor);
    become(*at.node, "Gather", {source, name});
    set_attribute(*at.node, "axis", axis);
  }

  Model& model_;
  std::shared_ptr<Analysis> analysis_;
  GraphView& view_;
  const Shapes& shapes_;
};

}  // namespace

void run_simplify_picks(Model& model, PassReport& report) { report.changes += Picks(model).run(); }

}  // namespace octet
