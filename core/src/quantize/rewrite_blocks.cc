// y = MatMul(x, w)   →   y = com.microsoft.MatMulNBits(x, blocks(w), scales)
#include <cstring>

#include "model/tensor_access.h"
#include "model/transpose.h"
#include "octet/error.h"
#include "quantize/block_layout.h"
#include "quantize/rewriter.h"

namespace octet {
namespace {

// The weight as float32 [K, N].
std::vector<float> matrix_of(const TensorStore& store, const onnx::TensorProto& source, bool turned) {
  std::vector<float> values = tensor_as_float(store, source);
  if (!turned) return values;
  std::vector<float> result(values.size());
  const auto bytes = [](std::vector<float>& v) {
    return std::span<std::uint8_t>(reinterpret_cast<std::uint8_t*>(v.data()), v.size() * sizeof(float));
  };
  transpose_elements(bytes(values), static_cast<std::uint64_t>(source.dims(0)),
                     static_cast<std::uint64_t>(source.dims(1)), sizeof(float), bytes(result));
  return result;
}

}  // namespace

void rewrite_blocks(Rewriter& rewriter, const NodeAt& at) {
  const onnx::NodeProto& node = *at.node;
  Quantized& weight = *rewriter.quantized(at, 1);
  const TensorPlan& plan = *weight.plan;
  const bool gemm = is_op(node, "Gemm");
  const bool turned = gemm && int_attribute(node, "transB", 0) != 0;
  const BlockLayout layout = block_layout(weight.source, plan, turned);
  const TensorStore& store = rewriter.model().store();
  const int type = weight.source.data_type();
  // Data is made again when the model is written; here only the small parts are kept.
  if (weight.data.empty()) {
    std::vector<std::uint8_t> packed(layout.packed_bytes()), zero_points(layout.zero_point_bytes());
    std::vector<float> scales(layout.scale_count());
    quantize_blocks_k(matrix_of(store, weight.source, turned), layout, packed, scales, zero_points);
    packed = {};
    const auto id = rewriter.model().store().add_computed(
        layout.packed_bytes(), [&store, source = weight.source, turned, layout](std::span<std::uint8_t> out) {
          std::vector<std::uint8_t> unused(layout.zero_point_bytes());
          std::vector<float> also_unused(layout.scale_count());
          quantize_blocks_k(matrix_of(store, source, turned), layout, out, also_unused, unused);
        });
    Scope& scope = *weight.value->scope;
    const auto n = static_cast<std::int64_t>(layout.n), blocks = static_cast<std::int64_t>(layout.blocks());
    weight.data = rewriter.add_stored(scope, weight.value->name + "_quantized", onnx::TensorProto::UINT8,
                                      {n, blocks, static_cast<std::int64_t>(layout.block_bytes())}, id);
    weight.flat_scale = rewriter.add_floats(scope, weight.value->name + "_scale", type, {n, blocks}, scales);
    const auto per_column = layout.n == 0 ? 0 : static_cast<std::int64_t>(zero_points.size() / layout.n);
    if (!zero_points.empty())
      weight.zero_point = rewriter.add_tensor(scope, weight.value->name + "_zero_point", onnx::TensorProto::UINT8,
                                              {n, per_column}, std::move(zero_points));
  }
  const float beta = gemm ? float_attribute(node, "beta", 1) : 0;
  const bool biased = gemm && node.input_size() > 2 && !node.input(2).empty() && beta != 0;
  const std::string output = biased ? rewriter.fresh(node.output(0) + "_product") : node.output(0);
  std::vector<std::string> inputs = {node.input(0), weight.data, weight.flat_scale};
  if (!plan.symmetric) inputs.push_back(weight.zero_point);
  onnx::NodeProto& product = rewriter.node_before(at, "MatMulNBits", inputs, {output});
  product.set_domain("com.microsoft");
  set_attribute(product, "K", static_cast<std::int64_t>(layout.k));
  set_attribute(product, "N", static_cast<std::int64_t>(layout.n));
  set_attribute(product, "bits", std::int64_t{layout.bits});
  set_attribute(product, "block_size", static_cast<std::int64_t>(layout.block));
  set_attribute(product, "accuracy_level",
                std::int64_t{4});  // products in 8-bit integers; other levels are 50 times slower
  if (biased) {
    std::string bias = node.input(2);
    if (beta != 1) {
      std::string factor = rewriter.add_floats(*at.scope, output + "_beta", type, {}, {beta});
      bias = rewriter.before(at, "Mul", {bias, factor}, output + "_bias");
    }
    rewriter.node_before(at, "Add", {output, bias}, {node.output(0)});
  }
  rewriter.remove(at);
}

}  // namespace octet
