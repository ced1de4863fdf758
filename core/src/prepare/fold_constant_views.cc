// v = Transpose(w) | Reshape(w, shape) | Squeeze(w) | Unsqueeze(w) | Flatten(w)   →   initializer v
// Only where w has no other reader: a tied table stays one tensor, its other form is made when the model runs.
#include <algorithm>
#include <numeric>
#include <optional>

#include "model/graph_view.h"
#include "model/tensor_access.h"
#include "model/transpose.h"
#include "prepare/pass.h"

namespace octet {
namespace {

using Dims = std::vector<std::int64_t>;

Dims dims_of(const onnx::TensorProto& tensor) { return {tensor.dims().begin(), tensor.dims().end()}; }

std::optional<Dims> constant_ints(const Model& model, const GraphView& view, const NodeAt& at, int index,
                                  std::string_view attribute) {
  if (const auto* found = find_attribute(*at.node, attribute)) return Dims(found->ints().begin(), found->ints().end());
  const Value* value = view.input(at, index);
  if (!value || !value->constant() || value->initializer->data_type() != onnx::TensorProto::INT64) return std::nullopt;
  return tensor_as_int64(model, *value->initializer);
}

std::optional<Dims> reshaped(const Dims& dims, Dims shape, bool allow_zero) {
  const std::int64_t total = std::accumulate(dims.begin(), dims.end(), std::int64_t{1}, std::multiplies<>());
  std::int64_t known = 1;
  std::int64_t* open = nullptr;
  for (std::size_t i = 0; i < shape.size(); ++i) {
    if (shape[i] == 0 && !allow_zero) {
      if (i >= dims.size()) return std::nullopt;
      shape[i] = dims[i];
    }
    if (shape[i] == -1 && !open)
      open = &shape[i];
    else if (shape[i] < 0)
      return std::nullopt;
    else
      known *= shape[i];
  }
  if (open) {
    if (known == 0 || total % known != 0) return std::nullopt;
    *open = total / known;
    known = total;
  }
  if (known != total) return std::nullopt;
  return shape;
}

// New dims of a node that only renames axes; nothing when it is another node or cannot be told.
std::optional<Dims> viewed_dims(const Model& model, const GraphView& view, const NodeAt& at, const Dims& dims) {
  const auto& node = *at.node;
  const auto rank = static_cast<std::int64_t>(dims.size());
  if (is_op(node, "Reshape")) {
    auto shape = constant_ints(model, view, at, 1, "shape");
    return shape ? reshaped(dims, *shape, int_attribute(node, "allowzero", 0) != 0) : std::nullopt;
  }
  if (is_op(node, "Flatten")) {
    std::int64_t axis = int_attribute(node, "axis", 1);
    if (axis < 0) axis += rank;
    if (axis < 0 || axis > rank) return std::nullopt;
    const auto product = [](auto begin, auto end) {
      return std::accumulate(begin, end, std::int64_t{1}, std::multiplies<>());
    };
    return Dims{product(dims.begin(), dims.begin() + axis), product(dims.begin() + axis, dims.end())};
  }
  if (is_op(node, "Squeeze")) {
    auto axes = constant_ints(model, view, at, 1, "axes");
    if (!axes) return std::nullopt;
    Dims result;
    for (std::int64_t i = 0; i < rank; ++i) {
      const bool named =
          std::any_of(axes->begin(), axes->end(), [&](auto axis) { return axis == i || axis + rank == i; });
      if (named && dims[static_cast<std::size_t>(i)] != 1) return std::nullopt;
      if (!named) result.push_back(dims[static_cast<std::size_t>(i)]);
    }
    return result;
  }
  if (is_op(node, "Unsqueeze")) {
    auto axes = constant_ints(model, view, at, 1, "axes");
    if (!axes) return std::nullopt;
    const auto full = rank + static_cast<std::int64_t>(axes->size());
    Dims result;
    auto next = dims.begin();
    for (std::int64_t i = 0; i < full; ++i) {
      const bool named =
          std::any_of(axes->begin(), axes->end(), [&](auto axis) { return axis == i || axis + full == i; });
      if (named)
        result.push_back(1);
      else if (next != dims.end())
        result.push_back(*next++);
      else
        return std::nullopt;
    }
    return next == dims.end() ? std::optional(result) : std::nullopt;
  }
  return std::nullopt;
}

bool is_matrix_transpose(const onnx::NodeProto& node, const Dims& dims) {
  if (!is_op(node, "Transpose") || dims.size() != 2) return false;
  const auto* perm = find_attribute(node, "perm");
  return !perm || (perm->ints_size() == 2 && perm->ints(0) == 1 && perm->ints(1) == 0);
}

}  // namespace

void run_fold_constant_views(Model& model, PassReport& report) {
  for (bool again = true; again;) {
    again = false;
    GraphView view(model.proto());
    std::unordered_set<const onnx::NodeProto*> dead;
    for (const NodeAt& at : view.nodes()) {
      Value* in = view.input(at, 0);
      if (!in || !in->constant() || in->uses.size() != 1 || in->graph_outputs > 0 || at.node->output_size() != 1)
        continue;
      const Value* out = view.find(*at.scope, at.node->output(0));
      if (!out || out->graph_outputs > 0 || in->scope != at.scope) continue;
      auto& tensor = *in->initializer;
      const Dims dims = dims_of(tensor);
      if (is_matrix_transpose(*at.node, dims)) {
        transpose_matrix(model, tensor);
      } else if (const auto changed = viewed_dims(model, view, at, dims)) {
        tensor.clear_dims();
        for (auto dim : *changed) tensor.add_dims(dim);
      } else {
        continue;
      }
      tensor.set_name(out->name);
      dead.insert(at.node);
      ++report.changes;
      again = true;
    }
    remove_nodes(view, dead);
  }
}

}  // namespace octet
