// v = Transpose(w) | Reshape(w, shape) | Squeeze(w) | Unsqueeze(w) | Flatten(w)   →   initializer v
// Only where w has no other reader: a tied table stays one tensor, its other form is made when the model runs.
#include <optional>
#include <utility>

#include "model/graph_match.h"
#include "model/tensor_access.h"
#include "model/transpose.h"
#include "prepare/analysis.h"
#include "prepare/pass.h"
#include "prepare/view_dims.h"
#include "prepare/widened.h"

namespace octet {
namespace {

Sizes dims_of(const onnx::TensorProto& tensor) { return {tensor.dims().begin(), tensor.dims().end()}; }

// New dims of a node that only renames axes; nothing when it is another node or cannot be told.
std::optional<Sizes> viewed_dims(const Model& model, const GraphView& view, const NodeAt& at, const Sizes& dims) {
  const auto& node = *at.node;
  if (is_op(node, "Flatten")) return flattened(dims, int_attribute(node, "axis", 1));
  if (is_op(node, "Reshape")) {
    const auto shape = constant_ints(model, view, at, 1, "shape");
    return shape ? reshaped(dims, *shape, int_attribute(node, "allowzero", 0) != 0) : std::nullopt;
  }
  if (!is_op(node, "Squeeze") && !is_op(node, "Unsqueeze")) return std::nullopt;
  const auto axes = constant_ints(model, view, at, 1, "axes");
  if (!axes) return std::nullopt;
  return is_op(node, "Squeeze") ? squeezed(dims, *axes) : unsqueezed(dims, *axes);
}

// Of elements that stand in whole bytes.
bool is_matrix_transpose(const onnx::NodeProto& node, const onnx::TensorProto& tensor) {
  if (!is_op(node, "Transpose") || tensor.dims_size() != 2) return false;
  const auto width = bytes_for(tensor.data_type(), 2) / 2;
  if (width == 0 || width > 8) return false;
  const auto* perm = find_attribute(node, "perm");
  return !perm || (perm->ints_size() == 2 && perm->ints(0) == 1 && perm->ints(1) == 0);
}

}  // namespace

void run_fold_constant_views(Model& model, PassReport& report) {
  const auto analysis = analyze(model);
  GraphView& view = analysis->view;
  std::unordered_set<const onnx::NodeProto*> dead;
  for (const NodeAt& at : view.nodes()) {
    Value* in = view.input(at, 0);
    if (!in || !in->constant() || in->uses.size() != 1 || in->graph_outputs > 0 || at.node->output_size() != 1)
      continue;
    Value* out = view.find(*at.scope, at.node->output(0));
    if (!out || out->graph_outputs > 0 || in->scope != at.scope) continue;
    auto& tensor = *in->initializer;
    if (is_matrix_transpose(*at.node, tensor)) {
      auto narrow = narrow_form(tensor);
      transpose_matrix(model, tensor);
      if (narrow) {
        transpose_matrix(model, *narrow);
        unmark_widened(tensor);
        mark_widened(tensor, narrow->data_type(), *stored_id(*narrow));
      }
    } else if (const auto changed = viewed_dims(model, view, at, dims_of(tensor))) {
      tensor.clear_dims();
      for (auto dim : *changed) tensor.add_dims(dim);
    } else {
      continue;
    }
    tensor.set_name(out->name);
    dead.insert(at.node);
    ++report.changes;
    // The view follows, so that a chain folds in one go.
    std::swap(out->initializer, in->initializer);
    out->producer = nullptr;
  }
  remove_nodes(view, dead);
}

}  // namespace octet
