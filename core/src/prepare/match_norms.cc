// LayerNormalization, RMS normalization and L2 normalization, written out.
#include <algorithm>
#include <cmath>

#include "prepare/block_draft.h"

namespace octet {
namespace {

// Gamma and beta have one number per element of the normalized axes; one number alone is some other factor.
bool is_weight(const Value* value) {
  return value && value->constant() && is_float_type(value->initializer->data_type()) &&
         element_count(*value->initializer) > 1;
}

// x / root and (1 / root) * x are the same to a reader.
struct Norm {
  BlockDraft& draft;
  const Value* x = nullptr;         // what is normalized
  const Value* mean = nullptr;      // of LayerNormalization
  const Value* centered = nullptr;  // x - mean; x itself of RMS
  const Value* widened = nullptr;   // the same through a Cast, where there is one

  // x - mean, or again computed so: older exporters write the difference twice.
  bool is_centered(const Value* value) const {
    if (value == centered || (widened && value == widened)) return true;
    auto* again = mean ? draft.maker(value, "Sub") : nullptr;
    if (!again || draft.in(again, 0) != x || draft.in(again, 1) != mean) return false;
    draft.take(again);
    return true;
  }
};

// One step from the root's output to a product with what `wanted` says: its output, and the node is taken in.
const Value* divide_centered(Norm& norm, const Value* root) {
  auto* quotient = norm.draft.reader(root, "Div");
  if (!quotient || quotient->input_size() != 2 || norm.draft.in(quotient, 1) != root ||
      !norm.is_centered(norm.draft.in(quotient, 0)))
    return nullptr;
  norm.draft.take(quotient);
  return norm.draft.out(quotient);
}

// TensorFlow's batch_normalization: x*g + (beta - mean*g), g = gamma/root.
const Value* distributed(Norm& norm, const Value* factor) {
  auto& draft = norm.draft;
  if (!norm.mean || factor->uses.size() != 2 || factor->graph_outputs > 0) return nullptr;
  const Value *of_x = nullptr, *of_mean = nullptr;
  for (const Use& use : factor->uses) {
    if (use.scope != draft.block.scope || !is_op(*use.node, "Mul")) return nullptr;
    const Value* with = draft.other(use.node, factor);
    if (with == norm.x)
      of_x = draft.out(use.node);
    else if (with == norm.mean)
      of_mean = draft.out(use.node);
    draft.take(use.node);
  }
  auto* shift = of_x && of_mean ? draft.reader(of_mean, "Sub") : nullptr;
  auto* sum = shift ? draft.reader(of_x, "Add") : nullptr;
  if (!sum || draft.in(shift, 1) != of_mean || draft.other(sum, of_x) != draft.out(shift)) return nullptr;
  if (!is_weight(draft.in(shift, 0))) return nullptr;
  draft.block.bias = draft.in(shift, 0);
  draft.take(shift);
  draft.take(sum);
  return draft.out(sum);
}

const Value* multiply_centered(Norm& norm, const Value* factor) {
  auto& draft = norm.draft;
  auto* product = draft.reader(factor, "Mul");
  const Value* with = product ? draft.other(product, factor) : nullptr;
  if (with && is_weight(with)) {  // gamma/root first
    draft.block.scale = with;
    draft.take(product);
    factor = draft.out(product);
    product = factor ? draft.reader(factor, "Mul") : nullptr;
    if (!product) return factor ? distributed(norm, factor) : nullptr;
    with = draft.other(product, factor);
  }
  if (!with || !norm.is_centered(with)) return nullptr;
  draft.take(product);
  return draft.out(product);
}

// From 1/root or root to what is normalized.
const Value* normalized(Norm& norm, const Value* root, bool inverse) {
  auto& draft = norm.draft;
  if (inverse) return multiply_centered(norm, root);
  if (const Value* quotient = divide_centered(norm, root)) return quotient;
  auto* reciprocal = draft.reader(root, "Reciprocal");
  if (!reciprocal) {
    reciprocal = draft.reader(root, "Div");
    if (!reciprocal || draft.in(reciprocal, 1) != root || !draft.is_about(draft.in(reciprocal, 0), 1)) return nullptr;
  }
  draft.take(reciprocal);
  const Value* factor = draft.out(reciprocal);
  return factor ? multiply_centered(norm, factor) : nullptr;
}

const Value* weighted(BlockDraft& draft, const Value* value) {
  auto* node = draft.reader(value);
  onnx::NodeProto* cast = nullptr;
  const Value* result = value;
  if (node && node->op_type() == "Cast") {
    cast = node;
    result = draft.out(cast);
    node = draft.reader(result);
  }
  const auto constant_of = [&](std::string_view op) -> const Value* {
    const Value* with = node && node->op_type() == op ? draft.other(node, result) : nullptr;
    return is_weight(with) ? with : nullptr;
  };
  if (!draft.block.scale) {
    draft.block.scale = constant_of("Mul");
    if (!draft.block.scale) return value;
    if (cast) draft.take(cast);
    draft.take(node);
    result = draft.out(node);
    node = draft.reader(result);
  } else if (cast) {
    return value;
  }
  if (const Value* bias = draft.block.bias ? nullptr : constant_of("Add")) {
    draft.block.bias = bias;
    draft.take(node);
    result = draft.out(node);
  }
  return result;
}

}  // namespace

std::optional<Block> match_norm(const Model& model, const GraphView& view, const NodeAt& root) {
  BlockDraft draft(model, view, root);
  auto& block = draft.block;
  bool inverse = false;
  if (is_op(*root.node, "Pow")) {
    inverse = draft.is_about(draft.in(root.node, 1), -0.5);
    if (!inverse && !draft.is_about(draft.in(root.node, 1), 0.5)) return std::nullopt;
  }
  auto* sum = draft.maker(draft.in(root.node, 0), "Add");
  if (!sum || sum->input_size() != 2) return std::nullopt;
  draft.take(sum);
  const auto first = draft.scalar(draft.in(sum, 0)), second = draft.scalar(draft.in(sum, 1));
  if (first.has_value() == second.has_value()) return std::nullopt;
  block.epsilon = first ? *first : *second;
  auto* variance = draft.maker(draft.in(sum, first ? 1 : 0), "ReduceMean");
  if (!variance || !(block.epsilon >= 0) || !std::isfinite(block.epsilon)) return std::nullopt;
  draft.take(variance);
  const auto axes = draft.kept_axes(variance);
  const Value* squared = axes ? draft.square_root_of(draft.in(variance, 0)) : nullptr;
  if (!squared) return std::nullopt;
  block.axes = *axes;

  Norm norm{draft, squared, nullptr, squared, nullptr};
  auto* cast = draft.maker(squared, "Cast");  // normalizing in more precision than the rest is common
  auto* difference = draft.maker(cast ? draft.in(cast, 0) : squared, "Sub");
  auto* mean = difference ? draft.maker(draft.in(difference, 1), "ReduceMean") : nullptr;
  const auto mean_axes = mean ? draft.kept_axes(mean) : std::nullopt;
  if (mean_axes && *mean_axes == *axes && draft.in(mean, 0) == draft.in(difference, 0)) {
    norm.x = draft.in(difference, 0);
    norm.mean = draft.out(mean);
    norm.centered = draft.out(difference);
    norm.widened = squared;
    if (cast) draft.take(cast);
    draft.take(difference);
    draft.take(mean);
  }
  const Value* source = draft.out(root.node);
  const Value* result = source ? normalized(norm, source, inverse) : nullptr;
  if (!result) return std::nullopt;
  return draft.finish(norm.mean ? BlockKind::kLayerNormalization : BlockKind::kRmsNormalization, {norm.x},
                      weighted(draft, result));
}

// ReduceL2(x) | Sqrt(ReduceSum(x*x))  →  Clip | Max | Add  →  Expand  →  x / that
std::optional<Block> match_l2_norm(const Model& model, const GraphView& view, const NodeAt& root) {
  BlockDraft draft(model, view, root);
  auto& block = draft.block;
  const Value* x = nullptr;
  std::optional<std::vector<std::int64_t>> axes;
  if (is_op(*root.node, "ReduceL2")) {
    axes = draft.kept_axes(root.node);
    x = draft.in(root.node, 0);
  } else {
    if (is_op(*root.node, "Pow") && !draft.is_about(draft.in(root.node, 1), 0.5)) return std::nullopt;
    auto* sum = draft.maker(draft.in(root.node, 0), "ReduceSum");
    if (!sum) return std::nullopt;
    draft.take(sum);
    axes = draft.kept_axes(sum);
    x = draft.square_root_of(draft.in(sum, 0));
    if (auto* absolute = x ? draft.maker(x, "Abs") : nullptr) {
      draft.take(absolute);
      x = draft.in(absolute, 0);
    }
  }
  if (!axes || !x) return std::nullopt;
  block.axes = *axes;
  const Value* length = draft.out(root.node);
  for (const char* op : {"Clip", "Max", "Add"}) {
    auto* guard = draft.reader(length, op);
    if (!guard) continue;
    if (is_op(*guard, "Clip")) {
      const auto* attribute = find_attribute(*guard, "min");
      const auto least = attribute ? std::optional<double>(attribute->f()) : draft.scalar(draft.in(guard, 1));
      if (!least || draft.in(guard, 0) != length || draft.in(guard, 2)) return std::nullopt;
      block.epsilon = *least;
    } else {
      const auto least = draft.scalar(draft.other(guard, length));
      if (!least) return std::nullopt;
      block.epsilon = *least;
    }
    draft.take(guard);
    length = draft.out(guard);
    break;
  }
  if (auto* expand = draft.reader(length, "Expand"); expand && draft.in(expand, 0) == length) {
    draft.take(expand);
    length = draft.out(expand);
  }
  auto* quotient = draft.reader(length, "Div");
  if (!quotient || draft.in(quotient, 0) != x || draft.in(quotient, 1) != length) return std::nullopt;
  draft.take(quotient);
  return draft.finish(BlockKind::kL2Normalization, {x}, draft.out(quotient));
}

}  // namespace octet
