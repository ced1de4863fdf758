#include "quantize/rules.h"

#include <algorithm>

#include "model/tensor_access.h"

namespace octet {
namespace {

constexpr std::string_view kMicrosoft = "com.microsoft";

int rank_at(const RuleContext& context, int input) {
  const StoredWeight weight = stored_weight(context.view, context.at, input);
  return weight.value ? weight.value->initializer->dims_size() : 0;
}

std::vector<WeightSlot> matmul_slots(const RuleContext& context) {
  const int rank = rank_at(context, 1);
  if (rank >= 2)
    return {
        {1, rank == 2 || context.options.mode == Mode::kWeights ? std::optional(rank - 1) : std::nullopt, 1, false}};
  if (rank == 1) return {{1, std::nullopt, 1, false}};
  const int left = rank_at(context, 0);
  if (left == 1) return {{0, std::nullopt, 1, false}};
  return left >= 2 ? std::vector<WeightSlot>{{0, left - 2, 1, false}} : std::vector<WeightSlot>{};
}

std::string matmul_no_dynamic(const RuleContext& context) {
  return rank_at(context, 1) >= 2 ? "" : "only a stored matrix on the right has a fast integer kernel";
}

std::vector<WeightSlot> gemm_slots(const RuleContext& context) {
  if (rank_at(context, 1) == 2) {
    const bool transposed = int_attribute(*context.at.node, "transB", 0) != 0;
    return {{1, transposed ? 0 : 1, 1, transposed}};
  }
  return {{0, int_attribute(*context.at.node, "transA", 0) != 0 ? 1 : 0, 1, false}};
}

std::vector<WeightSlot> conv_slots(const RuleContext&) { return {{1, 0, 1, false}}; }

std::string conv_no_dynamic(const RuleContext& context) {
  if (rank_at(context, 1) < 3) return "its weight is no stored tensor of rank 3 or more";
  const auto& asked = context.options.op_types;
  if (std::find(asked.begin(), asked.end(), "Conv") != asked.end()) return {};
  return "integer convolutions with activations quantized on the fly run at 0.2 to 0.3 of the float speed; ask with "
         "--op-types Conv";
}

std::vector<WeightSlot> conv_transpose_slots(const RuleContext& context) {
  return {{1, int_attribute(*context.at.node, "group", 1) == 1 ? 1 : 0, 1, false}};
}

// W [directions, gates × hidden, input] and R: a scale per direction and gate row; per tensor means per direction.
std::vector<WeightSlot> recurrent_slots(const RuleContext& context) {
  const bool swapped = context.at.node->op_type() == "LSTM";
  return {{1, 0, 2, swapped}, {2, 0, 2, swapped}};
}

std::string lstm_no_dynamic(const RuleContext& context) {
  if (int_attribute(*context.at.node, "layout", 0) != 0) return "the integer LSTM knows only layout 0";
  for (int input : {1, 2}) {
    const StoredWeight weight = stored_weight(context.view, context.at, input);
    if (!weight.value || weight.transpose || weight.value->initializer->dims_size() != 3)
      return "its weights are not stored tensors of rank 3";
    if (weight.value->initializer->data_type() != onnx::TensorProto::FLOAT)
      return "the integer LSTM takes float32 only";
  }
  return {};
}

std::vector<WeightSlot> gather_slots(const RuleContext& context) {
  const int rank = rank_at(context, 0);
  if (rank < 2) return {};
  return {{0, int_attribute(*context.at.node, "axis", 0) == 0 ? std::optional(0) : std::nullopt, 1, false}};
}

std::vector<WeightSlot> attention_slots(const RuleContext&) { return {{1, 1, 1, false}}; }

std::string attention_no_dynamic(const RuleContext& context) {
  const auto& node = *context.at.node;
  if (find_attribute(node, "qkv_hidden_sizes")) return "the integer Attention knows only equal hidden sizes";
  for (const auto& attribute : node.attribute()) {
    const auto& known = {"num_heads", "unidirectional", "mask_filter_value", "scale"};
    if (std::find(known.begin(), known.end(), attribute.name()) == known.end())
      return "the integer Attention does not know '" + attribute.name() + "'";
  }
  if (node.input_size() > 5 && !node.input(5).empty()) return "the integer Attention takes no attention bias";
  if (node.input_size() > 6 && !node.input(6).empty()) return "the integer Attention takes no length of the past";
  const StoredWeight weight = stored_weight(context.view, context.at, 1);
  if (!weight.value || weight.transpose || weight.value->initializer->data_type() != onnx::TensorProto::FLOAT)
    return "its weight is no stored float32 tensor";
  return {};
}

// Large stored operands: a scale per row of the last axis where rows are long enough to pay for it.
std::vector<WeightSlot> table_slots(const RuleContext& context) {
  std::vector<WeightSlot> slots;
  for (int input = 0; input < context.at.node->input_size(); ++input) {
    const StoredWeight weight = stored_weight(context.view, context.at, input);
    if (!weight.value || weight.transpose) continue;
    const auto& tensor = *weight.value->initializer;
    const int rank = tensor.dims_size();
    if (rank < 2) continue;
    slots.push_back({input, tensor.dims(rank - 1) >= 64 ? std::optional(rank - 2) : std::nullopt, 1, false});
  }
  return slots;
}

const std::vector<Rule>& rules() {
  static const std::vector<Rule> table = {
      {"MatMul", "", Family::kMatMul, matmul_slots, matmul_no_dynamic},
      {"Gemm", "", Family::kMatMul, gemm_slots, matmul_no_dynamic},
      {"Conv", "", Family::kConv, conv_slots, conv_no_dynamic},
      {"ConvTranspose", "", Family::kConv, conv_transpose_slots, nullptr},
      {"LSTM", "", Family::kRecurrent, recurrent_slots, lstm_no_dynamic},
      {"GRU", "", Family::kRecurrent, recurrent_slots, nullptr},
      {"RNN", "", Family::kRecurrent, recurrent_slots, nullptr},
      {"Gather", "", Family::kGather, gather_slots, nullptr},
      {"Attention", kMicrosoft, Family::kAttention, attention_slots, attention_no_dynamic},
      {"EmbedLayerNormalization", kMicrosoft, Family::kTable, table_slots, nullptr},
      {"FusedMatMul", kMicrosoft, Family::kTable, table_slots, nullptr},
      {"FusedGemm", kMicrosoft, Family::kTable, table_slots, nullptr},
      {"FusedConv", kMicrosoft, Family::kConv, conv_slots, nullptr},
      {"Add", "", Family::kTable, table_slots, nullptr},
      {"Sub", "", Family::kTable, table_slots, nullptr},
      {"Mul", "", Family::kTable, table_slots, nullptr},
      {"Div", "", Family::kTable, table_slots, nullptr},
      {"Where", "", Family::kTable, table_slots, nullptr},
      {"Concat", "", Family::kTable, table_slots, nullptr},
      {"Slice", "", Family::kTable, table_slots, nullptr},
      {"Split", "", Family::kTable, table_slots, nullptr},
      {"Expand", "", Family::kTable, table_slots, nullptr},
      {"Tile", "", Family::kTable, table_slots, nullptr},
      {"Pad", "", Family::kTable, table_slots, nullptr},
      {"Reshape", "", Family::kTable, table_slots, nullptr},
      {"Transpose", "", Family::kTable, table_slots, nullptr},
      {"Unsqueeze", "", Family::kTable, table_slots, nullptr},
      {"Squeeze", "", Family::kTable, table_slots, nullptr},
      {"Einsum", "", Family::kTable, table_slots, nullptr},
      {"GatherElements", "", Family::kTable, table_slots, nullptr},
      {"GatherND", "", Family::kTable, table_slots, nullptr},
      {"Resize", "", Family::kTable, table_slots, nullptr},
  };
  return table;
}

}  // namespace

namespace {

// Rewrites read the first inputs and write the first output without looking: a call that lacks them is none of theirs.
bool is_complete(const Rule& rule, const onnx::NodeProto& node) {
  const auto named = [](const auto& names, int count) {
    return names.size() >= count &&
           std::none_of(names.begin(), names.begin() + count, [](const auto& name) { return name.empty(); });
  };
  switch (rule.family) {
    case Family::kMatMul:
    case Family::kConv:
    case Family::kGather:
    case Family::kAttention:
      return named(node.input(), 2) && named(node.output(), 1);
    case Family::kRecurrent:
      return named(node.input(), 3) && node.output_size() > 0;
    case Family::kTable:
      return named(node.output(), 1);
  }
  return false;
}

}  // namespace

const Rule* find_rule(const onnx::NodeProto& node) {
  for (const Rule& rule : rules()) {
    if (is_op(node, rule.op, rule.domain)) return is_complete(rule, node) ? &rule : nullptr;
  }
  return nullptr;
}

StoredWeight stored_weight(const GraphView& view, const NodeAt& at, int input) {
  Value* value = view.input(at, input);
  if (!value) return {};
  if (value->constant())
    return is_float_type(value->initializer->data_type()) ? StoredWeight{value, nullptr, nullptr} : StoredWeight{};
  // A tied table reaches its second reader through a Transpose that cannot be folded without storing it twice.
  onnx::NodeProto* transpose = value->producer;
  if (!transpose || !is_op(*transpose, "Transpose") || transpose->input_size() != 1 || transpose->output_size() != 1)
    return {};
  Value* table = view.find(*value->scope, transpose->input(0));
  if (!table || !table->constant() || !is_float_type(table->initializer->data_type()) ||
      table->initializer->dims_size() != 2)
    return {};
  const auto* perm = find_attribute(*transpose, "perm");
  if (perm && !(perm->ints_size() == 2 && perm->ints(0) == 1 && perm->ints(1) == 0)) return {};
  return {table, transpose, value->scope};
}

}  // namespace octet
