#include "prepare/block_draft.h"

#include <algorithm>
#include <cmath>

namespace octet {

double relative_distance(double value, double wanted) {
  return std::abs(value - wanted) / std::max(std::abs(wanted), 1e-30);
}

const Value* BlockDraft::in(const onnx::NodeProto* node, int index) const {
  return view_.input({const_cast<onnx::NodeProto*>(node), block.scope}, index);
}

const Value* BlockDraft::out(const onnx::NodeProto* node) const {
  return node->output_size() > 0 ? view_.find(*block.scope, node->output(0)) : nullptr;
}

onnx::NodeProto* BlockDraft::maker(const Value* value) const {
  if (!value || !value->producer || value->scope != block.scope) return nullptr;
  onnx::NodeProto* node = value->producer;
  return is_standard(*node) && node->output_size() > 0 && node->output(0) == value->name ? node : nullptr;
}

onnx::NodeProto* BlockDraft::maker(const Value* value, std::string_view op) const {
  onnx::NodeProto* node = maker(value);
  return node && node->op_type() == op ? node : nullptr;
}

onnx::NodeProto* BlockDraft::reader(const Value* value) const {
  if (!value || value->graph_outputs > 0 || value->uses.empty()) return nullptr;
  const Use& first = value->uses.front();
  for (const Use& use : value->uses) {
    if (use.node != first.node) return nullptr;
  }
  return first.scope == block.scope && is_standard(*first.node) ? first.node : nullptr;
}

onnx::NodeProto* BlockDraft::reader(const Value* value, std::string_view op) const {
  onnx::NodeProto* node = reader(value);
  return node && node->op_type() == op ? node : nullptr;
}

const Value* BlockDraft::other(const onnx::NodeProto* node, const Value* value) const {
  if (!value || node->input_size() != 2) return nullptr;
  const Value *first = in(node, 0), *second = in(node, 1);
  if (first == value) return second;
  return second == value ? first : nullptr;
}

std::optional<double> BlockDraft::scalar(const Value* value) {
  const auto number = scalar_of(model_, value);
  if (number) block.constant_rank = std::max(block.constant_rank, value->initializer->dims_size());
  return number;
}

bool BlockDraft::is_about(const Value* value, double number) {
  const auto found = scalar(value);
  if (!found || !(relative_distance(*found, number) <= kConstantTolerance)) return false;
  deviate(relative_distance(*found, number));
  return true;
}

std::optional<std::vector<std::int64_t>> BlockDraft::ints(const onnx::NodeProto* node, int input,
                                                          std::string_view attribute) const {
  return constant_ints(model_, view_, {const_cast<onnx::NodeProto*>(node), block.scope}, input, attribute);
}

std::optional<std::vector<std::int64_t>> BlockDraft::kept_axes(const onnx::NodeProto* reduction) const {
  if (int_attribute(*reduction, "keepdims", 1) != 1) return std::nullopt;
  auto axes = ints(reduction, 1, "axes");
  if (!axes || axes->empty() || axes->size() > 8) return std::nullopt;
  std::sort(axes->begin(), axes->end());
  return axes;
}

const Value* BlockDraft::square_root_of(const Value* value) {
  if (auto* power = maker(value, "Pow"); power && is_about(in(power, 1), 2)) {
    take(power);
    return in(power, 0);
  }
  auto* product = maker(value, "Mul");
  if (!product || product->input_size() != 2 || in(product, 0) != in(product, 1)) return nullptr;
  take(product);
  return in(product, 0);
}

void BlockDraft::take(onnx::NodeProto* node) {
  if (taken_.insert(node).second) block.nodes.push_back(node);
}

void BlockDraft::deviate(double relative) { block.deviation = std::max(block.deviation, relative); }

std::optional<Block> BlockDraft::finish(BlockKind kind, std::vector<const Value*> inputs, const Value* output) {
  if (!output || !output->producer || !has(output->producer)) return std::nullopt;
  for (const Value* input : inputs) {
    if (!input || (input->producer && has(input->producer))) return std::nullopt;
  }
  for (const onnx::NodeProto* node : block.nodes) {
    for (const auto& name : node->output()) {
      const Value* value = name.empty() ? nullptr : view_.find(*block.scope, name);
      if (!value || value == output) continue;
      if (value->graph_outputs > 0) return std::nullopt;
      for (const Use& use : value->uses) {
        if (!has(use.node)) return std::nullopt;
      }
    }
  }
  block.kind = kind;
  block.inputs = std::move(inputs);
  block.output = output;
  return block;
}

}  // namespace octet
