// y = Transpose(F(Transpose(x, p)), p⁻¹)   →   y = F(x)
// F is any tree of elementwise operators, Concat and Softmax between the two that nothing else reads; what flows into
// it is Transposes by p, and constants that are longer than 1 in at most one axis, whose axes follow. Exporters that
// change the layout around every layer leave such sandwiches. Nothing is added: the outer Transpose goes, the inner
// ones go unless others read them.
#include <algorithm>

#include "model/graph_match.h"
#include "prepare/analysis.h"
#include "prepare/pass.h"
#include "prepare/shapes.h"

namespace octet {
namespace {

using Ints = std::vector<std::int64_t>;

constexpr std::size_t kMaxNodes = 64;  // in one tree

// Each element of the output comes of those in the same place, after broadcasting.
bool is_elementwise(std::string_view op) {
  static const std::unordered_set<std::string_view> kOps = {"Abs",       "Add",       "And",        "Cast",
                                                            "Ceil",      "Clip",      "Cos",        "Div",
                                                            "Elu",       "Equal",     "Erf",        "Exp",
                                                            "Floor",     "Gelu",      "Greater",    "HardSigmoid",
                                                            "HardSwish", "LeakyRelu", "Less",       "Log",
                                                            "Max",       "Mean",      "Min",        "Mish",
                                                            "Mul",       "Neg",       "Not",        "Or",
                                                            "PRelu",     "Pow",       "Reciprocal", "Relu",
                                                            "Round",     "Selu",      "Sigmoid",    "Sign",
                                                            "Sin",       "Softplus",  "Softsign",   "Sqrt",
                                                            "Sub",       "Sum",       "Tanh",       "ThresholdedRelu",
                                                            "Where"};
  return kOps.contains(op);
}

std::optional<Ints> permutation(const onnx::NodeProto& node) {
  const auto* perm = find_attribute(node, "perm");
  if (!perm || node.input_size() != 1 || node.output_size() != 1) return std::nullopt;
  Ints axes(perm->ints().begin(), perm->ints().end()), sorted = axes;
  std::sort(sorted.begin(), sorted.end());
  for (std::size_t i = 0; i < sorted.size(); ++i) {
    if (sorted[i] != static_cast<std::int64_t>(i)) return std::nullopt;
  }
  return axes;
}

Ints inverse(const Ints& perm) {
  Ints result(perm.size());
  for (std::size_t i = 0; i < perm.size(); ++i)
    result[static_cast<std::size_t>(perm[i])] = static_cast<std::int64_t>(i);
  return result;
}

struct Edit {
  onnx::NodeProto* node;
  int input;
  std::string source;               // reads this from then on
  const Value* constant = nullptr;  // or this, with other dims
  Ints dims;
};

struct Tree {
  std::vector<NodeAt> nodes;
  std::vector<Edit> edits;
  bool transposed = false;  // whether there is anything to take out below
};

class Cancelling {
 public:
  explicit Cancelling(Model& model)
      : analysis_(analyze(model)),
        view_(analysis_->view),
        shapes_(analysis_->shapes()),
        opset_(opset_of(model.proto())) {}

  int run() {
    int changes = 0;
    if (opset_ < 7) return changes;  // constants were aligned by an attribute then
    for (const NodeAt& at : view_.nodes()) {
      if (is_op(*at.node, "Transpose")) changes += cancel(at);
    }
    return changes;
  }

 private:
  bool cancel(const NodeAt& outer) {
    const auto back = permutation(*outer.node);
    if (!back || touched_.has(outer.node)) return false;
    const Ints perm = inverse(*back);
    Tree tree;
    if (!follow(outer, 0, perm, tree) || tree.nodes.empty() || !tree.transposed) return false;
    for (Edit& edit : tree.edits) {
      if (edit.constant) edit.source = with_dims(*edit.constant, edit.dims, *outer.scope);
      edit.node->set_input(edit.input, edit.source);
    }
    for (const NodeAt& at : tree.nodes) {
      if (const auto axis = axis_of(at, perm.size()))
        set_attribute(*at.node, "axis", perm[static_cast<std::size_t>(*axis)]);
      forget_shape(at);
      touched_.add(at.node);
    }
    become(*outer.node, "Identity", {outer.node->input(0)});
    touched_.add(outer.node);
    return true;
  }

  // Adds what stands before an input of a node of the tree; false when it cannot be turned.
  bool follow(const NodeAt& at, int input, const Ints& perm, Tree& tree) const {
    const Value* value = view_.input(at, input);
    if (!value) return false;
    if (value->constant()) return follow_constant(*value, at, input, perm, tree);
    const auto producer = producer_of(value);
    if (!producer || producer->scope != at.scope || !is_standard(*producer->node) ||
        producer->node->output_size() != 1 || touched_.has(producer->node) || tree.nodes.size() >= kMaxNodes)
      return false;
    const auto& node = *producer->node;
    if (node.op_type() == "Transpose") {
      if (permutation(node) != perm) return false;
      tree.edits.push_back({at.node, input, node.input(0), nullptr, {}});
      tree.transposed = true;
      return true;
    }
    if (!only_use(*value) || !shapes_.of(value).has_rank(perm.size())) return false;
    if (!is_elementwise(node.op_type()) && !axis_of(*producer, perm.size())) return false;
    tree.nodes.push_back(*producer);
    for (int i = 0; i < node.input_size(); ++i) {
      if (node.op_type() == "Clip" && i > 0) break;  // its bounds are single numbers
      if (!node.input(i).empty() && !follow(*producer, i, perm, tree)) return false;
    }
    return true;
  }

  static bool follow_constant(const Value& value, const NodeAt& at, int input, const Ints& perm, Tree& tree) {
    const auto& tensor = *value.initializer;
    const auto rank = perm.size(), own = static_cast<std::size_t>(tensor.dims_size());
    if (own > rank || is_op(*at.node, "Concat")) return false;
    Ints dims(rank, 1);
    int longer = 0;
    for (std::size_t i = 0; i < own; ++i) {
      const auto dim = tensor.dims(static_cast<int>(i));
      if (dim == 1) continue;
      dims[static_cast<std::size_t>(perm[rank - own + i])] = dim;
      ++longer;
    }
    if (longer == 0) return true;
    const bool small = !stored_id(tensor);
    if (longer > 1 || (!small && !only_use(value))) return false;
    tree.edits.push_back({at.node, input, {}, &value, std::move(dims)});
    return true;
  }

  // Of an operator that works along one axis, counted from the front.
  std::optional<std::int64_t> axis_of(const NodeAt& at, std::size_t rank) const {
    const auto& node = *at.node;
    const bool softmax = node.op_type() == "Softmax" || node.op_type() == "LogSoftmax";
    if (node.op_type() != "Concat" && !(softmax && opset_ >= 13)) return std::nullopt;
    auto axis = int_attribute(node, "axis", softmax ? -1 : static_cast<std::int64_t>(rank));
    if (axis < 0) axis += static_cast<std::int64_t>(rank);
    return axis >= 0 && axis < static_cast<std::int64_t>(rank) ? std::optional(axis) : std::nullopt;
  }

  std::string with_dims(const Value& value, const Ints& dims, const Scope& scope) {
    onnx::TensorProto copy = *value.initializer;
    copy.clear_dims();
    for (const auto dim : dims) copy.add_dims(dim);
    copy.set_name(analysis_->names().fresh(value.name + "_turned"));
    *scope.graph->add_initializer() = copy;
    return copy.name();
  }

  static void forget_shape(const NodeAt& at) {
    auto& infos = *at.scope->graph->mutable_value_info();
    const auto& name = at.node->output(0);
    infos.erase(std::remove_if(infos.begin(), infos.end(), [&](const auto& info) { return info.name() == name; }),
                infos.end());
  }

  std::shared_ptr<Analysis> analysis_;
  GraphView& view_;
  const Shapes& shapes_;
  std::int64_t opset_;
  Touched touched_;
};

}  // namespace

void run_cancel_transposes(Model& model, PassReport& report) { report.changes += Cancelling(model).run(); }

}  // namespace octet
