// Operators that ONNX Runtime adds to ONNX's own, as far as models bring them: exported for it, or quantized already.
// Source: their documentation in ONNX Runtime's list of contributed operators.
#include <algorithm>
#include <string_view>
#include <unordered_map>

#include "prepare/shape_node.h"

namespace octet {
namespace {

using onnx::TensorProto;

// Output i is as the input is.
void same_as(ShapeNode& node, int input, std::size_t output = 0) {
  if (output >= node.outputs.size()) return;
  node.outputs[output].type = node.in(input).type;
  if (const auto& dims = node.dims(input)) node.outputs[output].set(node.in(input).type, *dims);
}

void first(ShapeNode& node) { same_as(node, 0); }

// Type of one input, sizes of another, with the last size replaced.
void with_last(ShapeNode& node, int type_from, const std::optional<Dims>& dims, const std::optional<Dim>& last) {
  node.out().type = node.in(type_from).type;
  if (!dims || dims->empty() || !last) return;
  Dims sizes = *dims;
  sizes.back() = *last;
  node.out().set(node.in(type_from).type, sizes);
}

std::optional<Dims> matrix_product(const std::optional<Dims>& a, const std::optional<Dims>& b) {
  if (!a || !b || a->size() < 2 || b->size() < 2) return std::nullopt;
  const Dims& longer = a->size() >= b->size() ? *a : *b;
  const Dims& shorter = a->size() >= b->size() ? *b : *a;
  Dims sizes = longer;
  for (std::size_t i = 2; i < shorter.size(); ++i) {
    const Dim& other = shorter[shorter.size() - 1 - i];
    Dim& size = sizes[sizes.size() - 1 - i];
    if (size == other || other.is(1)) continue;
    if (!size.is(1) && !other.number()) continue;
    size = other;
  }
  sizes[sizes.size() - 2] = (*a)[a->size() - 2];
  sizes.back() = b->back();
  return sizes;
}

std::optional<Dims> transposed_if(const std::optional<Dims>& dims, bool swap) {
  if (!dims || !swap || dims->size() < 2) return dims;
  Dims turned = *dims;
  std::swap(turned[turned.size() - 2], turned.back());
  return turned;
}

void product_as(ShapeNode& node, int type, const std::optional<Dims>& dims) {
  node.out().type = type;
  if (dims) node.out().set(type, *dims);
}

void dynamic_product(ShapeNode& node) {
  product_as(node, TensorProto::FLOAT, matrix_product(node.dims(0), node.dims(1)));
}

void integer_product(ShapeNode& node) {
  product_as(node, node.has(2) ? node.in(2).type : TensorProto::FLOAT, matrix_product(node.dims(0), node.dims(1)));
}

void quantized_product(ShapeNode& node) {
  product_as(node, node.in(7).type != 0 ? node.in(7).type : TensorProto::UINT8,
             matrix_product(node.dims(0), node.dims(3)));
}

void fused_product(ShapeNode& node) {
  const bool turn_a = int_attribute(node.node(), "transA", 0) != 0,
             turn_b = int_attribute(node.node(), "transB", 0) != 0;
  if (int_attribute(node.node(), "transBatchA", 0) != 0 || int_attribute(node.node(), "transBatchB", 0) != 0)
    return product_as(node, node.in(0).type, std::nullopt);
  product_as(node, node.in(0).type,
             matrix_product(transposed_if(node.dims(0), turn_a), transposed_if(node.dims(1), turn_b)));
}

void quantized_gemm(ShapeNode& node) {
  const bool turn_a = int_attribute(node.node(), "transA", 0) != 0,
             turn_b = int_attribute(node.node(), "transB", 0) != 0;
  product_as(node, node.has(8) ? node.in(8).type : TensorProto::FLOAT,
             matrix_product(transposed_if(node.dims(0), turn_a), transposed_if(node.dims(3), turn_b)));
}

void block_product(ShapeNode& node) { with_last(node, 0, node.dims(0), Dim(int_attribute(node.node(), "N", 0))); }

void block_table(ShapeNode& node) {
  const auto &table = node.dims(0), &indices = node.dims(1);
  node.out().type = node.in(2).type;
  if (!table || !indices) return;
  const auto axis = axis_of(int_attribute(node.node(), "gather_axis", 0), table->size());
  const bool packed = node.in(0).type == TensorProto::UINT8 && int_attribute(node.node(), "bits", 4) == 4;
  if (!axis) return;
  Dims sizes(table->begin(), table->begin() + static_cast<std::ptrdiff_t>(*axis));
  sizes.insert(sizes.end(), indices->begin(), indices->end());
  sizes.insert(sizes.end(), table->begin() + static_cast<std::ptrdiff_t>(*axis) + 1, table->end());
  if (packed && !sizes.empty()) sizes.back() = multiply(sizes.back(), 2).value_or(Dim(0));
  node.out().set(node.in(2).type, sizes);
}

// The type is the third input's (Q) or the second's (DQ).
void quantize(ShapeNode& node) {
  const int type = node.has(2) ? node.in(2).type : TensorProto::UINT8;
  node.out().type = type;
  if (const auto& dims = node.dims(0)) node.out().set(type, *dims);
}

void dequantize(ShapeNode& node) {
  node.out().type = node.in(1).type;
  if (const auto& dims = node.dims(0)) node.out().set(node.in(1).type, *dims);
}

void skip_normalization(ShapeNode& node) {
  same_as(node, 0);
  same_as(node, 0, 3);
  for (std::size_t i = 1; i < std::min<std::size_t>(node.outputs.size(), 3); ++i) {
    node.outputs[i].type = TensorProto::FLOAT;
    if (const auto& dims = node.dims(0); dims && !dims->empty()) {
      Dims sizes = *dims;
      sizes.back() = 1;
      node.outputs[i].set(TensorProto::FLOAT, sizes);
    }
  }
}

void layer_normalization(ShapeNode& node) {
  same_as(node, 0);
  const auto& dims = node.dims(0);
  const auto axis = dims ? axis_of(int_attribute(node.node(), "axis", -1), dims->size()) : std::nullopt;
  for (std::size_t i = 1; i < node.outputs.size(); ++i) {
    node.outputs[i].type = TensorProto::FLOAT;
    if (!axis) continue;
    Dims sizes = *dims;
    std::fill(sizes.begin() + static_cast<std::ptrdiff_t>(*axis), sizes.end(), Dim(1));
    node.outputs[i].set(TensorProto::FLOAT, sizes);
  }
}

void embed_normalization(ShapeNode& node) {
  const int type = node.in(2).type;
  const auto &ids = node.dims(0), &table = node.dims(2);
  node.out().type = type;
  if (!ids || !table || ids->size() != 2 || table->size() != 2) return;
  node.out().set(type, {(*ids)[0], (*ids)[1], (*table)[1]});
  if (node.outputs.size() > 1) node.outputs[1].set(TensorProto::INT32, {(*ids)[0]});
  if (node.outputs.size() > 2) node.outputs[2].set(type, {(*ids)[0], (*ids)[1], (*table)[1]});
}

void attention(ShapeNode& node) {
  const auto &in = node.dims(0), &weight = node.dims(1);
  const bool quantized = node.node().op_type() == "QAttention";
  const int type = quantized ? static_cast<int>(TensorProto::FLOAT) : node.in(0).type;
  node.out().type = type;
  std::optional<Dim> width;
  if (const auto* sizes = find_attribute(node.node(), "qkv_hidden_sizes"); sizes && sizes->ints_size() == 3)
    width = Dim(sizes->ints(2));
  else if (weight && weight->size() == 2)
    width = divide_exactly(weight->back(), 3);
  if (in && in->size() == 3 && width) node.out().set(type, {(*in)[0], (*in)[1], *width});
  if (node.outputs.size() > 1) node.outputs[1].type = type;
  if (node.outputs.size() > 1) node.outputs[1].dims.emplace(5);
}

void several_heads(ShapeNode& node) {
  node.out().type = node.in(0).type;
  const auto &query = node.dims(0), &value = node.dims(2);
  if (!query || query->size() != 3) return;
  if (value && value->size() == 3) return node.out().set(node.in(0).type, {(*query)[0], (*query)[1], (*value)[2]});
  if (!node.has(2) || (value && value->size() == 4)) node.out().dims.emplace(3);
}

void grouped_heads(ShapeNode& node) {
  same_as(node, 0);
  for (std::size_t i = 1; i < std::min<std::size_t>(node.outputs.size(), 3); ++i) {
    node.outputs[i].type = node.in(0).type;
    node.outputs[i].dims.emplace(4);
  }
}

// Y [length, directions, batch, hidden], Y_h and Y_c [directions, batch, hidden].
void dynamic_lstm(ShapeNode& node) {
  const auto& in = node.dims(0);
  const auto hidden = int_attribute(node.node(), "hidden_size", 0);
  const auto* direction = find_attribute(node.node(), "direction");
  const Dim directions = direction && direction->s() == "bidirectional" ? 2 : 1;
  for (std::size_t i = 0; i < node.outputs.size(); ++i) {
    FoundOutput& found = node.outputs[i];
    found.type = TensorProto::FLOAT;
    if (!in || in->size() != 3 || hidden <= 0)
      found.dims.emplace(i == 0 ? 4 : 3);
    else if (i == 0)
      found.set(TensorProto::FLOAT, {(*in)[0], directions, (*in)[1], hidden});
    else
      found.set(TensorProto::FLOAT, {directions, (*in)[1], hidden});
  }
}

// Rank as the input's, channels as the weight's; sizes along the axes stay open.
void fused_conv(ShapeNode& node) {
  const bool quantized = node.node().op_type() != "FusedConv" && node.node().op_type() != "NhwcFusedConv";
  const auto &in = node.dims(0), &weight = node.dims(quantized ? 3 : 1);
  node.out().type = quantized && node.has(7) ? node.in(7).type : node.in(0).type;
  if (!in) return;
  node.out().dims.emplace(in->size());
  if (in->size() < 3 || !weight || node.node().op_type().starts_with("Nhwc")) return;
  node.out().dim(0) = (*in)[0];
  node.out().dim(1) = weight->front();
}

// The quantized twin of an elementwise operator with two operands: a, its scale and zero point, b …
void quantized_pair(ShapeNode& node) {
  const auto &a = node.dims(0), &b = node.dims(3);
  node.out().type = node.in(0).type;
  if (!a || !b) return;
  node.out().dims.emplace(std::max(a->size(), b->size()));
  if (*a == *b) node.out().set(node.in(0).type, *a);
}

void quantized_concat(ShapeNode& node) {
  node.out().type = node.in(1).type;
  if (const auto& dims = node.dims(2)) node.out().dims.emplace(dims->size());
}

void rank_only(ShapeNode& node) {
  node.out().type = node.in(0).type;
  if (const auto& dims = node.dims(0)) node.out().dims.emplace(dims->size());
}

// Operators of classical machine learning that onnx has no rule for: rows in, rows out.
void float_as_first(ShapeNode& node) {
  node.out().type = TensorProto::FLOAT;
  if (const auto& dims = node.dims(0)) node.out().set(TensorProto::FLOAT, *dims);
}

// [rows] labels, [rows, classes] scores; or [rows, targets].
void rows(ShapeNode& node) {
  const auto& dims = node.dims(0);
  const bool classes = node.outputs.size() > 1;
  const auto* labels = find_attribute(node.node(), "classlabels_strings");
  FoundOutput& values = classes ? node.outputs[1] : node.out();
  values.type = TensorProto::FLOAT;
  values.dims.emplace(2);
  if (classes) node.out().type = labels && labels->strings_size() > 0 ? TensorProto::STRING : TensorProto::INT64;
  if (classes) node.out().dims.emplace(1);
  if (!dims || dims->size() != 2) return;
  values.dim(0) = dims->front();
  if (classes) node.out().dim(0) = dims->front();
}

using Rule = void (*)(ShapeNode&);

const std::unordered_map<std::string_view, Rule>& contributed() {
  static const std::unordered_map<std::string_view, Rule> rules = {
      {"Gelu", first},
      {"FastGelu", first},
      {"BiasGelu", first},
      {"QuickGelu", first},
      {"Inverse", first},
      {"RotaryEmbedding", first},
      {"BiasSoftmax", first},
      {"BiasSplitGelu", rank_only},
      {"QLinearSigmoid", first},
      {"QLinearLeakyRelu", first},
      {"QLinearSoftmax", first},
      {"GroupNorm", first},
      {"SkipGroupNorm", first},
      {"QLinearAdd", quantized_pair},
      {"QLinearMul", quantized_pair},
      {"QLinearConcat", quantized_concat},
      {"QLinearAveragePool", rank_only},
      {"QLinearGlobalAveragePool", rank_only},
      {"QLinearReduceMean", rank_only},
      {"QuantizeLinear", quantize},
      {"DequantizeLinear", dequantize},
      {"DynamicQuantizeMatMul", dynamic_product},
      {"MatMulIntegerToFloat", integer_product},
      {"FusedMatMul", fused_product},
      {"TransposeMatMul", fused_product},
      {"FusedGemm", fused_product},
      {"QGemm", quantized_gemm},
      {"QLinearMatMul", quantized_product},
      {"MatMulNBits", block_product},
      {"GatherBlockQuantized", block_table},
      {"SkipLayerNormalization", skip_normalization},
      {"SkipSimplifiedLayerNormalization", skip_normalization},
      {"EmbedLayerNormalization", embed_normalization},
      {"Attention", attention},
      {"QAttention", attention},
      {"MultiHeadAttention", several_heads},
      {"GroupQueryAttention", grouped_heads},
      {"DynamicQuantizeLSTM", dynamic_lstm},
      {"FusedConv", fused_conv},
      {"NhwcFusedConv", fused_conv},
      {"QLinearConv", fused_conv},
      {"LayerNormalization", layer_normalization},
      {"SimplifiedLayerNormalization", layer_normalization},
  };
  return rules;
}

const std::unordered_map<std::string_view, Rule>& classical() {
  static const std::unordered_map<std::string_view, Rule> rules = {
      {"Scaler", float_as_first},       {"Normalizer", float_as_first}, {"Imputer", first},
      {"LinearRegressor", rows},        {"SVMRegressor", rows},         {"TreeEnsembleRegressor", rows},
      {"TreeEnsembleClassifier", rows},
  };
  return rules;
}

// Two that ONNX Runtime has long known under the standard domain, before ONNX did or without it.
bool is_early(const ShapeNode& node) {
  const auto& op = node.node().op_type();
  return is_standard(node.node()) &&
         (op == "SimplifiedLayerNormalization" || (op == "LayerNormalization" && node.opset() < 17));
}

}  // namespace

bool infer_contributed(ShapeNode& node) {
  const auto& domain = node.node().domain();
  if (domain == "ai.onnx.ml" && !node.outputs.empty()) {
    const auto rule = classical().find(node.node().op_type());
    if (rule != classical().end()) rule->second(node);
    return rule != classical().end();
  }
  if (domain != "com.microsoft" && domain != "com.microsoft.nchwc" && !is_early(node)) return false;
  if (node.outputs.empty()) return true;
  const auto rule = contributed().find(node.node().op_type());
  if (rule != contributed().end()) rule->second(node);
  return true;
}

}  // namespace octet
