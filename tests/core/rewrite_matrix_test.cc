// MatMul and Gemm: what becomes of them in every mode and form. The models stand in rewrite_models.h.
#include <gmock/gmock.h>

#include "rewrite_pictures.h"

namespace octet {
namespace {

using namespace pictures;

TEST(RewriteMatMul, ComputesInIntegers) {
  expect("matmul", dynamic_on(Target::kX64), R"(
    x_quantized, x_scale, x_zero_point = DynamicQuantizeLinear(x)
    y_integer = MatMulInteger(x_quantized, w_quantized, x_zero_point)
    y_cast = Cast<to=1>(y_integer)
    y_scale = Mul(x_scale, w_scale)
    y = Mul(y_cast, y_scale))",
         R"(
    w_quantized: INT8[32,48]
    w_scale: FLOAT[48])");
}

TEST(RewriteMatMul, UnsignedWeightsBringTheirZeroPoints) {
  expect("matmul", dynamic_on(Target::kAny, QuantType::kUint8), R"(
    x_quantized, x_scale, x_zero_point = DynamicQuantizeLinear(x)
    y_integer = MatMulInteger(x_quantized, w_quantized, x_zero_point, w_zero_point)
    y_cast = Cast<to=1>(y_integer)
    y_scale = Mul(x_scale, w_scale)
    y = Mul(y_cast, y_scale))",
         R"(
    w_quantized: UINT8[32,48]
    w_scale: FLOAT[48]
    w_zero_point: UINT8[48])");
}

TEST(RewriteMatMul, FoldsWhereTheTargetFusesNothing) {
  expect("matmul", weights_options(), R"(
    w_cast = Cast<to=1>(w_quantized)
    w_dequantized = Mul(w_cast, w_scale)
    y = MatMul(x, w_dequantized))",
         R"(
    w_quantized: INT8[32,48]
    w_scale: FLOAT[48])");
}

TEST(RewriteMatMul, DequantizesWhereTheRuntimeFusesIt) {
  expect("matmul", weights_options(Target::kX64), R"(
    w_dequantized = DequantizeLinear<axis=1>(w_quantized, w_scale)
    y = MatMul(x, w_dequantized))",
         R"(
    w_quantized: INT8[32,48]
    w_scale: FLOAT[48])");
}

TEST(RewriteMatMul, FourBitsStandInBlocks) {
  expect("matmul", weights_options(Target::kX64, QuantType::kUint4), R"(
    y = com.microsoft.MatMulNBits<K=32, N=48, accuracy_level=4, bits=4, block_size=32>(x, w_quantized, w_scale, w_zero_point))",
         R"(
    w_quantized: UINT8[48,1,16]
    w_scale: FLOAT[48,1]
    w_zero_point: UINT8[48,1])");
}

TEST(RewriteMatMul, BeforeOpset11TheRuntimesOwnOperatorServes) {
  expect("matmul_opset_8", dynamic_on(Target::kX64), R"(
    y = com.microsoft.DynamicQuantizeMatMul(x, w_quantized, w_scale))",
         R"(
    w_quantized: INT8[32,48]
    w_scale: FLOAT[48])");
}

TEST(RewriteMatMul, BeforeOpset13ScalesPerChannelNeedTheRuntimesOwnOperator) {
  expect("matmul_opset_8", weights_options(Target::kX64), R"(
    w_dequantized = com.microsoft.DequantizeLinear<axis=1>(w_quantized, w_scale, w_zero_point)
    y = MatMul(x, w_dequantized))",
         R"(
    w_quantized: INT8[32,48]
    w_scale: FLOAT[48]
    w_zero_point: INT8[48])");
}

TEST(RewriteMatMul, ABatchOfMatricesSharesOneScaleInIntegers) {
  expect("matmul_batched_weight", dynamic_on(Target::kX64), R"(
    x_quantized, x_scale, x_zero_point = DynamicQuantizeLinear(x)
    y_integer = MatMulInteger(x_quantized, w_quantized, x_zero_point)
    y_cast = Cast<to=1>(y_integer)
    y_scale = Mul(x_scale, w_scale)
    y = Mul(y_cast, y_scale))",
         R"(
    w_quantized: INT8[2,32,48]
    w_scale: FLOAT[])");
}

TEST(RewriteMatMul, ABatchOfMatricesHasScalesPerColumnInFloat) {
  expect("matmul_batched_weight", weights_options(), R"(
    w_cast = Cast<to=1>(w_quantized)
    w_dequantized = Mul(w_cast, w_scale)
    y = MatMul(x, w_dequantized))",
         R"(
    w_quantized: INT8[2,32,48]
    w_scale: FLOAT[48])");
}

TEST(RewriteMatMul, AMatrixOnTheLeftIsStoredOnly) {
  expect("matmul_left", dynamic_on(Target::kX64), R"(
    w_cast = Cast<to=1>(w_quantized)
    w_dequantized = Mul(w_cast, w_scale)
    y = MatMul(w_dequantized, x))",
         R"(
    w_quantized: INT8[48,32]
    w_scale: FLOAT[48,1])");
}

TEST(RewriteMatMul, TwoReadersOfAnInputQuantizeItOnce) {
  expect("matmul_shared_input", dynamic_on(Target::kX64), R"(
    x_quantized, x_scale, x_zero_point = DynamicQuantizeLinear(x)
    y_integer = MatMulInteger(x_quantized, w_quantized, x_zero_point)
    y_cast = Cast<to=1>(y_integer)
    y_scale = Mul(x_scale, w_scale)
    y = Mul(y_cast, y_scale)
    z_integer = MatMulInteger(x_quantized, v_quantized, x_zero_point)
    z_cast = Cast<to=1>(z_integer)
    z_scale = Mul(x_scale, v_scale)
    z = Mul(z_cast, z_scale))",
         {});
}

TEST(RewriteMatMul, TwoReadersOfAWeightStoreItOnce) {
  expect("matmul_twice_one_weight", weights_options(), R"(
    w_cast = Cast<to=1>(w_quantized)
    w_dequantized = Mul(w_cast, w_scale)
    a = MatMul(x, w_dequantized)
    y = MatMul(a, w_dequantized))",
         R"(
    w_quantized: INT8[32,32]
    w_scale: FLOAT[32])");
}

TEST(RewriteMatMul, OtherFloatsAreCastAroundTheIntegers) {
  expect("matmul_double", dynamic_on(Target::kX64), R"(
    w_scale_float = Cast<to=1>(w_scale)
    x_float = Cast<to=1>(x)
    x_quantized, x_scale, x_zero_point = DynamicQuantizeLinear(x_float)
    y_integer = MatMulInteger(x_quantized, w_quantized, x_zero_point)
    y_cast = Cast<to=1>(y_integer)
    y_scale = Mul(x_scale, w_scale_float)
    y_scaled = Mul(y_cast, y_scale)
    y = Cast<to=11>(y_scaled))",
         R"(
    w_quantized: INT8[32,48]
    w_scale: DOUBLE[48])");
}

TEST(RewriteMatMul, NewNamesMeetNoOldOnes) {
  expect("names_that_collide", dynamic_on(Target::kX64), R"(
    x_quantized, x_scale, x_zero_point = DynamicQuantizeLinear(x)
    y_integer = MatMulInteger(x_quantized, w_quantized_1, x_zero_point)
    y_cast = Cast<to=1>(y_integer)
    y_scale_1 = Mul(x_scale, w_scale_1)
    y = Mul(y_cast, y_scale_1)
    w_quantized_quantized, w_quantized_scale, w_quantized_zero_point = DynamicQuantizeLinear(w_quantized)
    b_integer = MatMulInteger(w_quantized_quantized, w_quantized_1, w_quantized_zero_point)
    b_cast = Cast<to=1>(b_integer)
    b_scale = Mul(w_quantized_scale, w_scale_1)
    b = Mul(b_cast, b_scale)
    y_scale = Add(b, y_scaled)
    w_scale = Relu(y_scale))",
         R"(
    w_quantized_1: INT8[32,48]
    w_scale_1: FLOAT[48])");
}

TEST(RewriteMatMul, AWeightThatIsAnOutputStays) {
  expect("weight_is_an_output", dynamic_on(Target::kX64), R"(
    y = MatMul(x, w))",
         R"(
    w: FLOAT[32,48])");
}

TEST(RewriteGemm, EverythingItCanBeAskedInIntegers) {
  expect("gemm_transA_transB_alpha15_beta025", dynamic_on(Target::kX64), R"(
    x_transposed = Transpose(x)
    x_transposed_quantized, x_transposed_scale, x_transposed_zero_point = DynamicQuantizeLinear(x_transposed)
    y_integer = MatMulInteger(x_transposed_quantized, w_quantized, x_transposed_zero_point)
    y_cast = Cast<to=1>(y_integer)
    y_scale = Mul(x_transposed_scale, w_scale)
    y_scale_1 = Mul(y_scale, y_alpha)
    y_scaled = Mul(y_cast, y_scale_1)
    y_bias = Mul(c, y_beta)
    y = Add(y_scaled, y_bias))",
         R"(
    c: FLOAT[48]
    w_quantized: INT8[32,48]
    w_scale: FLOAT[48]
    y_alpha: FLOAT[]
    y_beta: FLOAT[])");
}

TEST(RewriteGemm, NoBiasWhereBetaIsZero) {
  expect("gemm_beta00", dynamic_on(Target::kX64), R"(
    x_quantized, x_scale, x_zero_point = DynamicQuantizeLinear(x)
    y_integer = MatMulInteger(x_quantized, w_quantized, x_zero_point)
    y_cast = Cast<to=1>(y_integer)
    y_scale = Mul(x_scale, w_scale)
    y = Mul(y_cast, y_scale))",
         {});
}

TEST(RewriteGemm, FoldsAndKeepsItsAttributes) {
  expect("gemm_transA_transB_alpha15_beta025", weights_options(), R"(
    w_cast = Cast<to=1>(w_quantized)
    w_dequantized = Mul(w_cast, w_scale)
    y = Gemm<alpha=1.5, beta=0.25, transA=1, transB=1>(x, w_dequantized, c))",
         R"(
    c: FLOAT[48]
    w_quantized: INT8[48,32]
    w_scale: FLOAT[48,1])");
}

TEST(RewriteGemm, IsTurnedToTheOrientationThatFuses) {
  expect("gemm_transA_transB_alpha15_beta025", weights_options(Target::kX64), R"(
    w_dequantized = DequantizeLinear<axis=1>(w_quantized, w_scale)
    y = Gemm<alpha=1.5, beta=0.25, transA=1, transB=0>(x, w_dequantized, c))",
         R"(
    c: FLOAT[48]
    w_quantized: INT8[32,48]
    w_scale: FLOAT[48])");
}

TEST(RewriteGemm, BlocksTakeItsBiasApart) {
  expect("gemm_transB", weights_options(Target::kX64, QuantType::kUint4), R"(
    y_product = com.microsoft.MatMulNBits<K=32, N=48, accuracy_level=4, bits=4, block_size=32>(x, w_quantized, w_scale, w_zero_point)
    y = Add(y_product, c))",
         R"(
    c: FLOAT[48]
    w_quantized: UINT8[48,1,16]
    w_scale: FLOAT[48,1]
    w_zero_point: UINT8[48,1])");
}

TEST(RewriteGemm, BlocksLeaveOneThatScales) {
  expect("gemm_alpha05", weights_options(Target::kX64, QuantType::kUint4), R"(
    w_dequantized = DequantizeLinear<axis=1>(w_quantized, w_scale, w_zero_point)
    y = Gemm<alpha=0.5, transA=0, transB=0>(x, w_dequantized, c))",
         {});
}

}  // namespace
}  // namespace octet
