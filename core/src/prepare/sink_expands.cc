// e = Expand(v, s), y = Add(x, e)     →   y = Add(x, v)                       where x has the sizes of e by itself
// e = Expand(v, s), y = Mul(e, 0.5)   →   u = Mul(v, 0.5), y = Expand(u, s)   where nothing else reads e
// The second computes on the small tensor and brings the Expand nearer to a reader that does without; masks are made
// that way. Each axis on which v is repeated must be one on which another input of the reader has the same size.
#include <algorithm>
#include <unordered_set>

#include "model/graph_match.h"
#include "model/tensor_access.h"
#include "prepare/analysis.h"
#include "prepare/pass.h"
#include "prepare/shapes.h"

namespace octet {
namespace {

constexpr std::int64_t kBroadcastsSince = 8;  // Min, Max and Sum as the last

bool is_one_of(const onnx::NodeProto& node, const std::unordered_set<std::string_view>& ops) {
  return is_standard(node) && ops.contains(node.op_type());
}

bool broadcasts(const onnx::NodeProto& node) {
  static const std::unordered_set<std::string_view> ops = {"Add",
                                                           "Sub",
                                                           "Mul",
                                                           "Div",
                                                           "Pow",
                                                           "Min",
                                                           "Max",
                                                           "Sum",
                                                           "And",
                                                           "Or",
                                                           "Xor",
                                                           "Mod",
                                                           "Less",
                                                           "Equal",
                                                           "Greater",
                                                           "Where",
                                                           "GreaterOrEqual",
                                                           "LessOrEqual"};
  return is_one_of(node, ops);
}

// One element of the result for one of the only input.
bool is_unary(const onnx::NodeProto& node) {
  static const std::unordered_set<std::string_view> ops = {"Abs",        "Cast",    "Ceil", "Erf",  "Exp",
                                                           "Floor",      "Log",     "Neg",  "Not",  "Relu",
                                                           "Reciprocal", "Sigmoid", "Sign", "Sqrt", "Tanh"};
  return is_one_of(node, ops) && node.input_size() == 1;
}

// The size of an axis counted from the last; 1 where there is none.
Dim from_end(const Dims& dims, std::size_t axis) { return axis < dims.size() ? dims[dims.size() - 1 - axis] : Dim(1); }

class Sinking {
 public:
  explicit Sinking(Analysis& analysis) : analysis_(analysis), view_(analysis.view), shapes_(analysis.shapes()) {}

  int sink(const NodeAt& at) {
    if (!is_op(*at.node, "Expand") || at.node->input_size() != 2 || at.node->output_size() != 1) return 0;
    const Value *in = view_.input(at, 0), *out = view_.find(*at.scope, at.node->output(0));
    if (!in || !out || touched_.has(at.node)) return 0;
    int changes = 0;
    for (const Use& use : out->uses) changes += skip(*in, *out, use);
    return changes > 0 ? changes : swap(at, *in, *out);
  }

 private:
  // The reader takes what was expanded.
  bool skip(const Value& in, const Value& out, const Use& use) {
    const auto &narrow = shapes_.of(&in).dims, &wide = shapes_.of(&out).dims;
    if (!broadcasts(*use.node) || touched_.has(use.node) || !narrow || !wide) return false;
    if (view_.find(*use.scope, in.name) != &in) return false;
    std::size_t other_rank = 0;
    std::vector<const Dims*> others;
    for (int i = 0; i < use.node->input_size(); ++i) {
      const auto& dims = shapes_.input({use.node, use.scope}, i).dims;
      if (i == use.input || !dims) continue;
      others.push_back(&*dims);
      other_rank = std::max(other_rank, dims->size());
    }
    if (other_rank < wide->size()) return false;
    for (std::size_t axis = 0; axis < wide->size(); ++axis) {
      const Dim size = from_end(*wide, axis);
      if (size == from_end(*narrow, axis)) continue;
      if (std::none_of(others.begin(), others.end(), [&](const Dims* dims) { return from_end(*dims, axis) == size; }))
        return false;
    }
    use.node->set_input(use.input, in.name);
    touched_.add(use.node);
    return true;
  }

  // The only reader goes first.
  bool swap(const NodeAt& at, const Value& in, const Value& out) {
    const Use* use = only_use(out);
    const auto& narrow = shapes_.of(&in).dims;
    if (!use || use->scope != at.scope || touched_.has(use->node) || use->node->output_size() != 1 || !narrow)
      return false;
    if (!is_unary(*use->node) && !(broadcasts(*use->node) && others_are_scalars(*use, narrow->size()))) return false;
    const auto& wide = shapes_.of(&out).dims;
    if (wide && *wide == *narrow) return false;  // expands nothing
    if (in.constant()) return false;             // the runtime would no longer see both as one constant
    onnx::NodeProto first = *use->node, second = *at.node;
    const std::string between = analysis_.names().fresh(first.output(0) + "_narrow");
    first.set_input(use->input, in.name);
    first.set_output(0, between);
    second.set_input(0, between);
    second.set_output(0, use->node->output(0));
    touched_.add(at.node);
    touched_.add(use->node);
    *at.node = std::move(first);
    *use->node = std::move(second);
    return true;
  }

  bool others_are_scalars(const Use& use, std::size_t rank) const {
    for (int i = 0; i < use.node->input_size(); ++i) {
      if (i == use.input) continue;
      const Value* value = view_.input({use.node, use.scope}, i);
      if (!value || !value->constant() || element_count(*value->initializer) != 1 ||
          static_cast<std::size_t>(value->initializer->dims_size()) > rank)
        return false;
    }
    return true;
  }

  Analysis& analysis_;
  const GraphView& view_;
  const Shapes& shapes_;
  Touched touched_;
};

bool has_expand(const GraphView& view) {
  return std::any_of(view.nodes().begin(), view.nodes().end(),
                     [](const NodeAt& at) { return is_op(*at.node, "Expand"); });
}

}  // namespace

void run_sink_expands(Model& model, PassReport& report) {
  const auto analysis = analyze(model);
  GraphView& view = analysis->view;
  if (opset_of(model.proto()) < kBroadcastsSince || !has_expand(view)) return;
  Sinking sinking(*analysis);
  for (const NodeAt& at : view.nodes()) report.changes += sinking.sink(at);
}

}  // namespace octet
