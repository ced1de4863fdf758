// y = MatMul(x, w)                 →  q, s, z = DynamicQuantizeLinear(x); y = Mul(Cast(MatMulInteger(q, qw, z)), Mul(s,
// sw)) y = Gemm(x, w, c, alpha, beta)   →  the same, times alpha; y = Add(…, beta · c); transposes before Below opset
// 11, which has no DynamicQuantizeLinear, the runtime's own fused operator stands for all of it.
#include "model/tensor_access.h"
#include "quantize/rewriter.h"

namespace octet {
namespace {

using onnx::TensorProto;

std::string float_scale(Rewriter& rewriter, const NodeAt& at, Quantized& weight) {
  const std::string& scale = rewriter.flat_scale(weight);
  return weight.source.data_type() == TensorProto::FLOAT
             ? scale
             : rewriter.cast_before(at, scale, TensorProto::FLOAT, scale + "_float");
}

// x · w in float32.
std::string integer_product(Rewriter& rewriter, const NodeAt& at, const std::string& x, const std::string& matrix,
                            Quantized& weight, float alpha, const std::string& wish) {
  const int type = weight.source.data_type();
  const std::string weight_scale = float_scale(rewriter, at, weight);
  if (rewriter.opset() < 11) {
    const std::string input =
        type == TensorProto::FLOAT ? x : rewriter.cast_before(at, x, TensorProto::FLOAT, x + "_float");
    const std::string output = rewriter.fresh(wish + "_product");
    std::vector<std::string> inputs = {input, matrix, weight_scale};
    if (rewriter.has_zero_point(weight)) inputs.push_back(rewriter.zero_point(weight));
    rewriter.node_before(at, "DynamicQuantizeMatMul", inputs, {output}).set_domain("com.microsoft");
    if (alpha == 1.0f) return output;
    return rewriter.before(at, "Mul",
                           {output, rewriter.add_floats(*at.scope, wish + "_alpha", TensorProto::FLOAT, {}, {alpha})},
                           wish + "_scaled");
  }
  const auto activation = rewriter.activation(at, x, type);
  const std::string integers = rewriter.fresh(wish + "_integer");
  std::vector<std::string> inputs = {activation.data, matrix, activation.zero_point};
  if (rewriter.has_zero_point(weight)) inputs.push_back(rewriter.zero_point(weight));
  rewriter.node_before(at, "MatMulInteger", inputs, {integers});
  const std::string cast = rewriter.cast_before(at, integers, TensorProto::FLOAT, wish + "_cast");
  std::string scale = rewriter.before(at, "Mul", {activation.scale, weight_scale}, wish + "_scale");
  if (alpha != 1.0f)
    scale = rewriter.before(at, "Mul",
                            {scale, rewriter.add_floats(*at.scope, wish + "_alpha", TensorProto::FLOAT, {}, {alpha})},
                            wish + "_scale");
  return rewriter.before(at, "Mul", {cast, scale}, wish + "_scaled");
}

}  // namespace

void rewrite_matmul_dynamic(Rewriter& rewriter, const NodeAt& at) {
  const onnx::NodeProto& node = *at.node;
  const bool gemm = is_op(node, "Gemm");
  bool through_transpose = false;
  Quantized& weight = *rewriter.quantized(at, 1, &through_transpose);
  const int type = weight.source.data_type();
  const std::string wish = node.output(0);
  std::string x = node.input(0);
  if (gemm && int_attribute(node, "transA", 0) != 0) x = rewriter.before(at, "Transpose", {x}, x + "_transposed");
  const bool turned = through_transpose != (gemm && int_attribute(node, "transB", 0) != 0);
  std::string matrix = rewriter.data(weight);
  if (turned != weight.plan->transposed)
    matrix = rewriter.before(at, "Transpose", {matrix}, weight.value->name + "_transposed");
  std::string result =
      integer_product(rewriter, at, x, matrix, weight, gemm ? float_attribute(node, "alpha", 1) : 1, wish);
  if (type != TensorProto::FLOAT) result = rewriter.cast_before(at, result, type, wish + "_back");
  const float beta = gemm ? float_attribute(node, "beta", 1) : 0;
  if (gemm && node.input_size() > 2 && !node.input(2).empty() && beta != 0) {
    std::string bias = node.input(2);
    if (beta != 1) {
      const std::string factor = rewriter.add_floats(*at.scope, wish + "_beta", type, {}, {beta});
      bias = rewriter.before(at, "Mul", {bias, factor}, wish + "_bias");
    }
    rewriter.node_before(at, "Add", {result, bias}, {wish});
  } else {
    rewriter.rename_last(at, wish);
  }
  rewriter.remove(at);
}

}  // namespace octet
