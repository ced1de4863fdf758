// v = Transpose(w) | Reshape(w, shape) | Squeeze(w) | Unsqueeze(w) | Flatten(w)   →   initializer v
// Only where w has no other reader: a tied table stays one tensor, its other form is made when the model runs.
#include <algorithm>
#include <limits>
#include <optional>
#include <span>
#include <utility>

#include "model/graph_view.h"
#include "model/tensor_access.h"
#include "model/transpose.h"
#include "prepare/pass.h"
#include "prepare/widened.h"

namespace octet {
namespace {

using Dims = std::vector<std::int64_t>;

constexpr std::size_t kMaxRank = 255;  // what the loader takes

Dims dims_of(const onnx::TensorProto& tensor) { return {tensor.dims().begin(), tensor.dims().end()}; }

// Nothing when the product is no number of elements. Dims of empty tensors may be anything.
std::optional<std::int64_t> product_of(std::span<const std::int64_t> dims) {
  std::int64_t product = 1;
  for (const std::int64_t dim : dims) {
    if (dim < 0 || (dim > 0 && product > std::numeric_limits<std::int64_t>::max() / dim)) return std::nullopt;
    product *= dim;
  }
  return product;
}

std::optional<Dims> constant_ints(const Model& model, const GraphView& view, const NodeAt& at, int index,
                                  std::string_view attribute) {
  std::optional<Dims> found;
  if (const auto* listed = find_attribute(*at.node, attribute)) {
    found = Dims(listed->ints().begin(), listed->ints().end());
  } else {
    const Value* value = view.input(at, index);
    if (!value || !value->constant() || value->initializer->data_type() != onnx::TensorProto::INT64)
      return std::nullopt;
    if (element_count(*value->initializer) <= kMaxRank) found = tensor_as_int64(model, *value->initializer);
  }
  if (found && found->size() > kMaxRank) found.reset();
  return found;
}

std::optional<Dims> reshaped(const Dims& dims, Dims shape, bool allow_zero) {
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
  }
  if (open) *open = 1;
  const auto total = product_of(dims), known = product_of(shape);
  if (!total || !known) return std::nullopt;
  if (open && (*known == 0 || *total % *known != 0)) return std::nullopt;
  if (open)
    *open = *total / *known;
  else if (*known != *total)
    return std::nullopt;
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
    const auto all = std::span(dims);
    const auto rows = product_of(all.first(static_cast<std::size_t>(axis))),
               cols = product_of(all.subspan(static_cast<std::size_t>(axis)));
    return rows && cols ? std::optional(Dims{*rows, *cols}) : std::nullopt;
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
  GraphView view(model.proto());
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
