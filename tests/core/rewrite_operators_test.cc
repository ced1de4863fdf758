// Convolutions, recurrences, attention, and weights in subgraphs. The models stand in rewrite_models.h.
#include <gmock/gmock.h>

#include "rewrite_pictures.h"

namespace octet {
namespace {

using namespace pictures;

TEST(RewriteConv, IsStoredOnlyUnlessAskedFor) {
  expect("conv", dynamic_on(Target::kX64), R"(
    w_cast = Cast<to=1>(w_quantized)
    w_dequantized = Mul(w_cast, w_scale)
    y = Conv(x, w_dequantized, b))",
         R"(
    b: FLOAT[8]
    w_quantized: INT8[8,4,3,3]
    w_scale: FLOAT[8,1,1,1])");
}

TEST(RewriteConv, ComputesInIntegersWhereAskedFor) {
  expect("conv", convolutions(), R"(
    x_quantized, x_scale, x_zero_point = DynamicQuantizeLinear(x)
    y_integer = ConvInteger(x_quantized, w_quantized, x_zero_point)
    y_cast = Cast<to=1>(y_integer)
    y_weight_scale = Reshape(w_scale, y_weight_scale_shape)
    y_scale = Mul(x_scale, y_weight_scale)
    y_scaled = Mul(y_cast, y_scale)
    y_bias = Reshape(b, y_bias_shape)
    y = Add(y_scaled, y_bias))",
         R"(
    b: FLOAT[8]
    w_quantized: INT8[8,4,3,3]
    w_scale: FLOAT[8]
    y_weight_scale_shape: INT64[3]
    y_bias_shape: INT64[3])");
}

TEST(RewriteConv, RaisesTheOpsetForIt) {
  expect("conv_opset_9", convolutions(), R"(
    x_quantized, x_scale, x_zero_point = DynamicQuantizeLinear(x)
    y_integer = ConvInteger(x_quantized, w_quantized, x_zero_point)
    y_cast = Cast<to=1>(y_integer)
    y_weight_scale = Reshape(w_scale, y_weight_scale_shape)
    y_scale = Mul(x_scale, y_weight_scale)
    y_scaled = Mul(y_cast, y_scale)
    y_bias = Reshape(b, y_bias_shape)
    y = Add(y_scaled, y_bias))",
         {});
}

TEST(RewriteConv, TransposedHasScalesPerOutput) {
  expect("conv_transpose", weights_options(), R"(
    w_cast = Cast<to=1>(w_quantized)
    w_dequantized = Mul(w_cast, w_scale)
    y = ConvTranspose(x, w_dequantized, b))",
         R"(
    b: FLOAT[6]
    w_quantized: INT8[8,6,3,3]
    w_scale: FLOAT[6,1,1])");
}

TEST(RewriteConv, TransposedInGroupsHasScalesPerInput) {
  expect("conv_transpose_groups", weights_options(), R"(
    w_cast = Cast<to=1>(w_quantized)
    w_dequantized = Mul(w_cast, w_scale)
    y = ConvTranspose<group=2>(x, w_dequantized))",
         R"(
    w_quantized: INT8[8,4,3,3]
    w_scale: FLOAT[8,1,1,1])");
}

TEST(RewriteLstm, TakesBothWeightsTurnedOver) {
  expect("lstm_all_inputs", dynamic_on(Target::kX64), R"(
    y, yh, yc = com.microsoft.DynamicQuantizeLSTM<hidden_size=16>(x, w_quantized, r_quantized, b, len, h, c, p, w_scale, w_zero_point, r_scale, r_zero_point))",
         R"(
    b: FLOAT[1,128]
    p: FLOAT[1,48]
    w_quantized: INT8[1,8,64]
    r_quantized: INT8[1,16,64]
    w_scale: FLOAT[1,64]
    w_zero_point: INT8[1,64]
    r_scale: FLOAT[1,64]
    r_zero_point: INT8[1,64])");
}

TEST(RewriteLstm, FoldsBothWeights) {
  expect("lstm_all_inputs", weights_options(), R"(
    w_cast = Cast<to=1>(w_quantized)
    w_dequantized = Mul(w_cast, w_scale)
    r_cast = Cast<to=1>(r_quantized)
    r_dequantized = Mul(r_cast, r_scale)
    y, yh, yc = LSTM<hidden_size=16>(x, w_dequantized, r_dequantized, b, len, h, c, p))",
         R"(
    b: FLOAT[1,128]
    p: FLOAT[1,48]
    w_quantized: INT8[1,64,8]
    w_scale: FLOAT[64,1]
    r_quantized: INT8[1,64,16]
    r_scale: FLOAT[64,1])");
}

TEST(RewriteLstm, StaysInFloatWhereOneWeightDoes) {
  expect("lstm_small_input_weight", dynamic_on(Target::kX64), R"(
    r_cast = Cast<to=1>(r_quantized)
    r_dequantized = Mul(r_cast, r_scale)
    y = LSTM<hidden_size=16>(x, w, r_dequantized))",
         R"(
    w: FLOAT[1,64,3]
    r_quantized: INT8[1,64,16]
    r_scale: FLOAT[64,1])");
}

TEST(RewriteLstm, ReadsOneTensorTwice) {
  expect("lstm_one_tensor_twice", dynamic_on(Target::kX64), R"(
    y = com.microsoft.DynamicQuantizeLSTM<hidden_size=16>(x, w_quantized, w_quantized, -, -, -, -, -, w_scale, w_zero_point, w_scale, w_zero_point))",
         R"(
    w_quantized: INT8[1,16,64]
    w_scale: FLOAT[1,64]
    w_zero_point: INT8[1,64])");
}

TEST(RewriteLstm, KeepsOutputsThatAreLeftOut) {
  expect("lstm_last_state_only", dynamic_on(Target::kX64), R"(
    -, yh = com.microsoft.DynamicQuantizeLSTM<hidden_size=16>(x, w_quantized, r_quantized, -, -, h, -, -, w_scale, w_zero_point, r_scale, r_zero_point))",
         {});
}

TEST(RewriteGru, FoldsBothWeights) {
  expect("gru", dynamic_on(Target::kX64), R"(
    w_cast = Cast<to=1>(w_quantized)
    w_dequantized = Mul(w_cast, w_scale)
    r_cast = Cast<to=1>(r_quantized)
    r_dequantized = Mul(r_cast, r_scale)
    y = GRU<hidden_size=16>(x, w_dequantized, r_dequantized, b))",
         R"(
    b: FLOAT[1,96]
    w_quantized: INT8[1,48,8]
    w_scale: FLOAT[48,1]
    r_quantized: INT8[1,48,16]
    r_scale: FLOAT[48,1])");
}

TEST(RewriteAttention, ComputesInIntegers) {
  expect("attention_masked", dynamic_on(Target::kX64), R"(
    x_quantized, x_scale, x_zero_point = DynamicQuantizeLinear(x)
    y = com.microsoft.QAttention<num_heads=2>(x_quantized, w_quantized, b, x_scale, w_scale, m, x_zero_point, w_zero_point, -))",
         R"(
    b: FLOAT[48]
    w_quantized: INT8[16,48]
    w_scale: FLOAT[48]
    w_zero_point: INT8[48])");
}

TEST(RewriteAttention, IsStoredOnlyWhereTheIntegerFormLacksSomething) {
  expect("attention_uneven", dynamic_on(Target::kX64), R"(
    w_cast = Cast<to=1>(w_quantized)
    w_dequantized = Mul(w_cast, w_scale)
    y = com.microsoft.Attention<num_heads=2, qkv_hidden_sizes=[16,16,8]>(x, w_dequantized, b))",
         {});
}

TEST(RewriteNested, SiblingsOfOneNameEachHaveTheirOwn) {
  expect("weights_in_branches", dynamic_on(Target::kX64), R"(
    y = If(c)
      then_branch:
        x_quantized, x_scale, x_zero_point = DynamicQuantizeLinear(x)
        z_integer = MatMulInteger(x_quantized, w_quantized, x_zero_point)
        z_cast = Cast<to=1>(z_integer)
        z_scale = Mul(x_scale, w_scale)
        z = Mul(z_cast, z_scale)
      else_branch:
        a = Neg(x)
        a_quantized, a_scale, a_zero_point = DynamicQuantizeLinear(a)
        z_integer_1 = MatMulInteger(a_quantized, w_quantized_1, a_zero_point)
        z_cast_1 = Cast<to=1>(z_integer_1)
        z_scale_1 = Mul(a_scale, w_scale_1)
        z = Mul(z_cast_1, z_scale_1))",
         {});
}

TEST(RewriteNested, AnOuterWeightIsRestoredOnceOutside) {
  expect("outer_weight_in_branches", weights_options(Target::kX64), R"(
    w_cast = Cast<to=1>(w_quantized)
    w_dequantized = Mul(w_cast, w_scale)
    y = If(c)
      then_branch:
        z = MatMul(x, w_dequantized)
      else_branch:
        a = Neg(x)
        z = MatMul(a, w_dequantized))",
         R"(
    w_quantized: INT8[32,48]
    w_scale: FLOAT[48])");
}

TEST(RewriteNested, ALoopQuantizesInsideItsBody) {
  expect("loop", dynamic_on(Target::kX64), R"(
    y = Loop(n, yes, x)
      body:
        more = Identity(on)
        s_quantized, s_scale, s_zero_point = DynamicQuantizeLinear(s)
        a_integer = MatMulInteger(s_quantized, w_quantized, s_zero_point)
        a_cast = Cast<to=1>(a_integer)
        a_scale = Mul(s_scale, w_scale)
        a = Mul(a_cast, a_scale)
        r = Tanh(a)
        r_quantized, r_scale, r_zero_point = DynamicQuantizeLinear(r)
        q_integer = MatMulInteger(r_quantized, v_quantized, r_zero_point)
        q_cast = Cast<to=1>(q_integer)
        q_scale = Mul(r_scale, v_scale)
        q = Mul(q_cast, q_scale)
        out = Tanh(q))",
         {});
}

TEST(RewriteNested, EachCallOfAFunctionHasItsWeight) {
  expect("function_called_twice", dynamic_on(Target::kX64), R"(
    x_quantized, x_scale, x_zero_point = DynamicQuantizeLinear(x)
    m__1_integer = MatMulInteger(x_quantized, w_quantized, x_zero_point)
    m__1_cast = Cast<to=1>(m__1_integer)
    m__1_scale = Mul(x_scale, w_scale)
    m__1 = Mul(m__1_cast, m__1_scale)
    a = Tanh(m__1)
    a_quantized, a_scale, a_zero_point = DynamicQuantizeLinear(a)
    m__2_integer = MatMulInteger(a_quantized, v_quantized, a_zero_point)
    m__2_cast = Cast<to=1>(m__2_integer)
    m__2_scale = Mul(a_scale, v_scale)
    m__2 = Mul(m__2_cast, m__2_scale)
    y = Tanh(m__2))",
         R"(
    w_quantized: INT8[32,32]
    w_scale: FLOAT[32]
    v_quantized: INT8[32,32]
    v_scale: FLOAT[32])");
}

}  // namespace
}  // namespace octet
