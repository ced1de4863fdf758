// Tables that are gathered, added or tied to a matrix. The models stand in rewrite_models.h.
#include <gmock/gmock.h>

#include "rewrite_pictures.h"

namespace octet {
namespace {

using namespace pictures;

TEST(RewriteGather, RowsAreRestoredAfterTheyWereRead) {
  expect("gather_rows", dynamic_on(Target::kX64), R"(
    y_quantized = Gather(w_quantized, i)
    y_cast = Cast<to=1>(y_quantized)
    y_scale = Gather(w_scale, i)
    y = Mul(y_cast, y_scale))",
         R"(
    w_quantized: INT8[20,96]
    w_scale: FLOAT[20,1])");
}

TEST(RewriteGather, UnsignedRowsAreCentered) {
  expect("gather_rows", dynamic_on(Target::kAny, QuantType::kUint8), R"(
    y_quantized = Gather(w_quantized, i)
    y_cast = Cast<to=1>(y_quantized)
    y_zero_point = Gather(w_zero_point, i)
    y_centered = Sub(y_cast, y_zero_point)
    y_scale = Gather(w_scale, i)
    y = Mul(y_centered, y_scale))",
         R"(
    w_quantized: UINT8[20,96]
    w_zero_point: FLOAT[20,1]
    w_scale: FLOAT[20,1])");
}

TEST(RewriteGather, ShortRowsShareOneScale) {
  expect("gather_short_rows", weights_options(), R"(
    y_quantized = Gather(w_quantized, i)
    y_cast = Cast<to=1>(y_quantized)
    y = Mul(y_cast, w_scale))",
         R"(
    w_quantized: INT8[80,16]
    w_scale: FLOAT[])");
}

TEST(RewriteGather, AlongAnotherAxisOneScaleServes) {
  expect("gather_axis_1", weights_options(), R"(
    y_quantized = Gather<axis=1>(w_quantized, i)
    y_cast = Cast<to=1>(y_quantized)
    y = Mul(y_cast, w_scale))",
         R"(
    w_quantized: INT8[96,20]
    w_scale: FLOAT[])");
}

TEST(RewriteGather, HalvesStayHalves) {
  expect("gather_float16", weights_options(), R"(
    y_quantized = Gather(w_quantized, i)
    y_cast = Cast<to=10>(y_quantized)
    y_scale = Gather(w_scale, i)
    y = Mul(y_cast, y_scale))",
         R"(
    w_quantized: INT8[20,96]
    w_scale: FLOAT16[20,1])");
}

TEST(RewriteTied, ByATransposeInIntegers) {
  expect("tied_by_transpose", dynamic_on(Target::kX64), R"(
    a_quantized = Gather(w_quantized, i)
    a_cast = Cast<to=1>(a_quantized)
    a_scale = Gather(w_scale, i)
    a = Mul(a_cast, a_scale)
    h = Relu(a)
    w_transposed = Transpose(w_quantized)
    h_quantized, h_scale, h_zero_point = DynamicQuantizeLinear(h)
    y_integer = MatMulInteger(h_quantized, w_transposed, h_zero_point)
    y_cast = Cast<to=1>(y_integer)
    y_scale = Mul(h_scale, w_scale_1)
    y = Mul(y_cast, y_scale))",
         R"(
    w_quantized: INT8[20,96]
    w_scale: FLOAT[20,1]
    w_scale_1: FLOAT[20])");
}

TEST(RewriteTied, ByATransposeFolded) {
  expect("tied_by_transpose", weights_options(), R"(
    w_cast = Cast<to=1>(w_quantized)
    w_dequantized = Mul(w_cast, w_scale)
    a_quantized = Gather(w_quantized, i)
    a_cast = Cast<to=1>(a_quantized)
    a_scale = Gather(w_scale, i)
    a = Mul(a_cast, a_scale)
    h = Relu(a)
    t = Transpose<perm=[1,0]>(w_dequantized)
    y = MatMul(h, t))",
         R"(
    w_quantized: INT8[20,96]
    w_scale: FLOAT[20,1])");
}

TEST(RewriteTied, ByAGemm) {
  expect("tied_by_gemm", dynamic_on(Target::kX64), R"(
    a_quantized = Gather(w_quantized, i)
    a_cast = Cast<to=1>(a_quantized)
    a_scale = Gather(w_scale, i)
    a = Mul(a_cast, a_scale)
    h = Relu(a)
    w_transposed = Transpose(w_quantized)
    h_quantized, h_scale, h_zero_point = DynamicQuantizeLinear(h)
    y_integer = MatMulInteger(h_quantized, w_transposed, h_zero_point)
    y_cast = Cast<to=1>(y_integer)
    y_scale = Mul(h_scale, w_scale_1)
    y = Mul(y_cast, y_scale))",
         R"(
    w_quantized: INT8[20,96]
    w_scale: FLOAT[20,1]
    w_scale_1: FLOAT[20])");
}

TEST(RewriteTied, Directly) {
  expect("tied_directly", dynamic_on(Target::kX64), R"(
    a_quantized = Gather(w_quantized, i)
    a_cast = Cast<to=1>(a_quantized)
    a = Mul(a_cast, w_scale)
    h = Relu(a)
    h_quantized, h_scale, h_zero_point = DynamicQuantizeLinear(h)
    y_integer = MatMulInteger(h_quantized, w_quantized, h_zero_point)
    y_cast = Cast<to=1>(y_integer)
    y_scale = Mul(h_scale, w_scale)
    y = Mul(y_cast, y_scale))",
         R"(
    w_quantized: INT8[96,96]
    w_scale: FLOAT[])");
}

TEST(RewriteTied, AWeightWhoseTransposeIsAnOutputStays) {
  expect("tied_transpose_is_an_output", dynamic_on(Target::kX64), R"(
    a = Gather(w, i)
    t = Transpose<perm=[1,0]>(w)
    y = MatMul(a, t))",
         R"(
    w: FLOAT[20,96])");
}

TEST(RewriteTable, PositionsAreFolded) {
  expect("position_table", weights_options(), R"(
    p_cast = Cast<to=1>(p_quantized)
    p_dequantized = Mul(p_cast, p_scale)
    y = Add(x, p_dequantized))",
         R"(
    p_quantized: INT8[1,20,96]
    p_scale: FLOAT[20,1])");
}

TEST(RewriteTable, ThroughASlice) {
  expect("table_through_a_slice", dynamic_on(Target::kX64), R"(
    p_cast = Cast<to=1>(p_quantized)
    p_dequantized = Mul(p_cast, p_scale)
    s = Slice(p_dequantized, from, to)
    y = Add(x, s))",
         R"(
    from: INT64[1]
    to: INT64[1]
    p_quantized: INT8[20,96]
    p_scale: FLOAT[20,1])");
}

}  // namespace
}  // namespace octet
