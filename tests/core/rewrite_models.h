// Every kind of model that a rewrite has to deal with, as ONNX text: the core tests look at what becomes of the graph,
// the native tests run it before and after. Weights are made up (graph_pictures.h); integer inputs stay below 8.
#pragma once

#include <ostream>
#include <string>
#include <vector>

namespace octet::pictures {

struct RewriteModel {
  std::string name;
  std::string text;
  int opset = 17;
  bool runs = true;  // the runtime has kernels for it
};

inline void PrintTo(const RewriteModel& model, std::ostream* out) { *out << model.name; }

inline const char* on_off(bool value) { return value ? "1" : "0"; }

// Every combination of what Gemm can be asked.
inline std::vector<RewriteModel> gemm_models() {
  std::vector<RewriteModel> models;
  for (const bool trans_a : {false, true}) {
    for (const bool trans_b : {false, true}) {
      for (const char* scale : {"", ", alpha = 0.5", ", beta = 2.0", ", alpha = 1.5, beta = 0.25", ", beta = 0.0"}) {
        for (const bool biased : {true, false}) {
          std::string name = "gemm";
          name += trans_a ? "_transA" : "";
          name += trans_b ? "_transB" : "";
          for (const char* at = scale; *at; ++at)
            name += *at == ',' ? '_' : *at == ' ' || *at == '=' || *at == '.' ? '\0' : *at;
          std::erase(name, '\0');
          name += biased ? "" : "_no_C";
          models.push_back(
              {name, std::string("g (float[") + (trans_a ? "32,n" : "n,32") + "] x) => (float[n,48] y) <float[" +
                         (trans_b ? "48,32" : "32,48") + "] w, float[48] c> { y = Gemm<transA = " + on_off(trans_a) +
                         ", transB = " + on_off(trans_b) + scale + ">(x, w" + (biased ? ", c" : "") + ") }"});
        }
      }
    }
  }
  return models;
}

inline std::vector<RewriteModel> matrix_models() {
  return {
      {"matmul", "g (float[n,32] x) => (float[n,48] y) <float[32,48] w> { y = MatMul(x, w) }"},
      {"matmul_opset_8", "g (float[n,32] x) => (float[n,48] y) <float[32,48] w> { y = MatMul(x, w) }", 8},
      {"matmul_opset_9", "g (float[n,32] x) => (float[n,48] y) <float[32,48] w> { y = MatMul(x, w) }", 9},
      {"matmul_opset_10", "g (float[n,32] x) => (float[n,48] y) <float[32,48] w> { y = MatMul(x, w) }", 10},
      {"matmul_opset_11", "g (float[n,32] x) => (float[n,48] y) <float[32,48] w> { y = MatMul(x, w) }", 11},
      {"matmul_opset_12", "g (float[n,32] x) => (float[n,48] y) <float[32,48] w> { y = MatMul(x, w) }", 12},
      {"matmul_opset_21", "g (float[n,32] x) => (float[n,48] y) <float[32,48] w> { y = MatMul(x, w) }", 21},
      {"gemm_opset_8",
       "g (float[n,32] x) => (float[n,48] y) <float[48,32] w, float[48] c> { y = Gemm<transB = 1, alpha = 0.5>(x, w, "
       "c) }",
       8},
      {"matmul_of_a_vector", "g (float[32] x) => (float[48] y) <float[32,48] w> { y = MatMul(x, w) }"},
      {"matmul_of_a_batch", "g (float[n,5,32] x) => (float[n,5,48] y) <float[32,48] w> { y = MatMul(x, w) }"},
      {"matmul_batched_weight", "g (float[2,n,32] x) => (float[2,n,48] y) <float[2,32,48] w> { y = MatMul(x, w) }"},
      {"matmul_batched_twice", "g (float[3,2,n,32] x) => (float[3,2,n,48] y) <float[2,32,48] w> { y = MatMul(x, w) }"},
      {"matmul_left", "g (float[32,n] x) => (float[48,n] y) <float[48,32] w> { y = MatMul(w, x) }"},
      {"matmul_left_batched", "g (float[2,32,n] x) => (float[2,48,n] y) <float[2,48,32] w> { y = MatMul(w, x) }"},
      {"matmul_by_a_vector", "g (float[n,300] x) => (float[n] y) <float[300] w> { y = MatMul(x, w) }"},
      {"matmul_twice_one_weight",
       "g (float[n,32] x) => (float[n,32] y) <float[32,32] w> { a = MatMul(x, w) y = MatMul(a, w) }"},
      {"matmul_shared_input",
       "g (float[n,32] x) => (float[n,48] y, float[n,40] z) <float[32,48] w, float[32,40] v> { y = MatMul(x, w) z = "
       "MatMul(x, v) }"},
      {"matmul_both_orientations",
       "g (float[n,32] x) => (float[n,32] y) <float[32,32] w, float[32] c> { a = MatMul(x, w) y = Gemm<transB = 1>(a, "
       "w, c) }"},
      {"gemm_left", "g (float[32,n] x) => (float[48,n] y) <float[48,32] w> { y = Gemm(w, x) }"},
      {"gemm_left_transA", "g (float[32,n] x) => (float[48,n] y) <float[32,48] w> { y = Gemm<transA = 1>(w, x) }"},
      {"gemm_scalar_C", "g (float[n,32] x) => (float[n,48] y) <float[32,48] w, float c> { y = Gemm(x, w, c) }"},
      {"gemm_column_C", "g (float[4,32] x) => (float[4,48] y) <float[32,48] w, float[4,1] c> { y = Gemm(x, w, c) }"},
      {"gemm_input_C",
       "g (float[n,32] x, float[n,48] c) => (float[n,48] y) <float[32,48] w> { y = Gemm<beta = 0.5>(x, w, c) }"},
      {"matmul_float16", "g (float16[n,32] x) => (float16[n,48] y) <float16[32,48] w> { y = MatMul(x, w) }"},
      {"matmul_double", "g (double[n,32] x) => (double[n,48] y) <double[32,48] w> { y = MatMul(x, w) }"},
      {"matmul_bfloat16", "g (bfloat16[n,32] x) => (bfloat16[n,48] y) <bfloat16[32,48] w> { y = MatMul(x, w) }", 17,
       false},
      {"gemm_double",
       "g (double[n,32] x) => (double[n,48] y) <double[48,32] w, double[48] c> { y = Gemm<transB = 1, alpha = 0.5, "
       "beta = 2.0>(x, w, c) }"},
      {"gemm_float16",
       "g (float16[n,32] x) => (float16[n,48] y) <float16[48,32] w, float16[48] c> { y = Gemm<transB = 1, alpha = 0.5, "
       "beta = 2.0>(x, w, c) }"},
      {"matmul_widened",
       "g (float[n,32] x) => (float[n,48] y) <float16[32,48] w> { v = Cast<to = 1>(w) y = MatMul(x, v) }"},
      {"matmul_all_positive", "g (float[n,32] x) => (float[n,48] y) <float[32,48] w> { p = Abs(w) y = MatMul(x, p) }"},
      {"matmul_odd_sizes", "g (float[n,37] x) => (float[n,19] y) <float[37,19] w> { y = MatMul(x, w) }"},
      {"names_that_collide",
       R"(g (float[n,32] x, float[n,32] w_quantized, float[1,48] y_scaled) => (float[n,48] y, float[n,48] w_scale) <float[32,48] w> {
          x_quantized = Neg(x)
          y = MatMul(x, w)
          b = MatMul(w_quantized, w)
          y_scale = Add(b, y_scaled)
          w_scale = Relu(y_scale) })"},
      {"weight_is_an_output",
       "g (float[n,32] x) => (float[n,48] y, float[32,48] w) <float[32,48] w> { y = MatMul(x, w) }"},
  };
}

inline std::vector<RewriteModel> table_models() {
  return {
      {"gather_rows", "g (int64[n,3] i) => (float[n,3,96] y) <float[20,96] w> { y = Gather(w, i) }"},
      {"gather_opset_9", "g (int64[n,3] i) => (float[n,3,96] y) <float[20,96] w> { y = Gather(w, i) }", 9},
      {"gather_short_rows", "g (int64[n,3] i) => (float[n,3,16] y) <float[80,16] w> { y = Gather(w, i) }"},
      {"gather_axis_1", "g (int64[n] i) => (float[96,n] y) <float[96,20] w> { y = Gather<axis = 1>(w, i) }"},
      {"gather_axis_minus_2", "g (int64[n] i) => (float[n,96] y) <float[20,96] w> { y = Gather<axis = -2>(w, i) }"},
      {"gather_one_row", "g (int64 i) => (float[96] y) <float[20,96] w> { y = Gather(w, i) }"},
      {"gather_rank_3", "g (int64[n] i) => (float[n,4,32] y) <float[20,4,32] w> { y = Gather(w, i) }"},
      {"gather_float16", "g (int64[n] i) => (float16[n,96] y) <float16[20,96] w> { y = Gather(w, i) }"},
      {"gather_double", "g (int64[n] i) => (double[n,96] y) <double[20,96] w> { y = Gather(w, i) }"},
      {"gather_twice",
       "g (int64[n] i, int64[n] j) => (float[n,96] y) <float[20,96] w> { a = Gather(w, i) b = Gather(w, j) y = Add(a, "
       "b) }"},
      {"tied_by_transpose", R"(g (int64[n] i) => (float[n,20] y) <float[20,96] w> {
          a = Gather(w, i) h = Relu(a) t = Transpose<perm = [1, 0]>(w) y = MatMul(h, t) })"},
      {"tied_by_gemm",
       "g (int64[n] i) => (float[n,20] y) <float[20,96] w> { a = Gather(w, i) h = Relu(a) y = Gemm<transB = 1>(h, w) "
       "}"},
      {"tied_directly",
       "g (int64[n] i) => (float[n,96] y) <float[96,96] w> { a = Gather(w, i) h = Relu(a) y = MatMul(h, w) }"},
      {"tied_transpose_is_an_output", R"(g (int64[n] i) => (float[n,20] y, float[96,20] t) <float[20,96] w> {
          a = Gather(w, i) t = Transpose<perm = [1, 0]>(w) y = MatMul(a, t) })"},
      {"tied_transpose_read_twice",
       R"(g (int64[n] i, float[n,96] x) => (float[n,20] y, float[n,20] z) <float[20,96] w> {
          a = Gather(w, i) t = Transpose<perm = [1, 0]>(w) y = MatMul(a, t) z = MatMul(x, t) })"},
      {"position_table", "g (float[n,20,96] x) => (float[n,20,96] y) <float[1,20,96] p> { y = Add(x, p) }"},
      {"table_through_a_slice",
       R"(g (float[n,5,96] x) => (float[n,5,96] y) <float[20,96] p, int64[1] from = {0}, int64[1] to = {5}> {
          s = Slice(p, from, to) y = Add(x, s) })"},
      {"concat_of_a_table", "g (float[n,96] x) => (float[m,96] y) <float[20,96] p> { y = Concat<axis = 0>(x, p) }"},
      {"einsum",
       R"(g (float[n,32] x) => (float[n,48] y) <float[32,48] w> { y = Einsum<equation = "ik,kj->ij">(x, w) })"},
  };
}

inline std::vector<RewriteModel> convolution_models() {
  return {
      {"conv", "g (float[n,4,9,9] x) => (float[n,8,7,7] y) <float[8,4,3,3] w, float[8] b> { y = Conv(x, w, b) }"},
      {"conv_no_bias",
       "g (float[n,4,9,9] x) => (float[n,8,9,9] y) <float[8,4,3,3] w> { y = Conv<pads = [1, 1, 1, 1]>(x, w) }"},
      {"conv_1d", "g (float[n,8,20] x) => (float[n,16,18] y) <float[16,8,3] w, float[16] b> { y = Conv(x, w, b) }"},
      {"conv_3d", "g (float[n,2,5,5,5] x) => (float[n,8,3,3,3] y) <float[8,2,3,3,3] w> { y = Conv(x, w) }"},
      {"conv_groups",
       "g (float[n,8,9,9] x) => (float[n,8,7,7] y) <float[8,4,3,3] w, float[8] b> { y = Conv<group = 2>(x, w, b) }"},
      {"conv_depthwise",
       "g (float[n,32,9,9] x) => (float[n,32,7,7] y) <float[32,1,3,3] w, float[32] b> { y = Conv<group = 32>(x, w, b) "
       "}"},
      {"conv_strides",
       R"(g (float[n,4,12,12] x) => (float[n,8,h,v] y) <float[8,4,3,3] w> { y = Conv<auto_pad = "SAME_UPPER", strides = [2, 2]>(x, w) })"},
      {"conv_opset_9",
       "g (float[n,4,9,9] x) => (float[n,8,7,7] y) <float[8,4,3,3] w, float[8] b> { y = Conv(x, w, b) }", 9},
      {"conv_float16",
       "g (float16[n,4,9,9] x) => (float16[n,8,7,7] y) <float16[8,4,3,3] w, float16[8] b> { y = Conv(x, w, b) }"},
      {"conv_double", "g (double[n,4,9,9] x) => (double[n,8,7,7] y) <double[8,4,3,3] w> { y = Conv(x, w) }", 17, false},
      {"conv_transpose",
       "g (float[n,8,5,5] x) => (float[n,6,7,7] y) <float[8,6,3,3] w, float[6] b> { y = ConvTranspose(x, w, b) }"},
      {"conv_transpose_groups",
       "g (float[n,8,5,5] x) => (float[n,8,7,7] y) <float[8,4,3,3] w> { y = ConvTranspose<group = 2>(x, w) }"},
  };
}

inline std::vector<RewriteModel> recurrent_models() {
  const std::string one = "<float[1,64,8] w, float[1,64,16] r, float[1,128] b, float[1,48] p>";
  const std::string two = "<float[2,64,8] w, float[2,64,16] r, float[2,128] b>";
  return {
      {"lstm", "g (float[t,2,8] x) => (float[t,1,2,16] y) " + one + " { y = LSTM<hidden_size = 16>(x, w, r, b) }"},
      {"lstm_no_bias", "g (float[t,2,8] x) => (float[t,1,2,16] y) " + one + " { y = LSTM<hidden_size = 16>(x, w, r) }"},
      {"lstm_reverse", "g (float[t,2,8] x) => (float[t,1,2,16] y) " + one +
                           " { y = LSTM<hidden_size = 16, direction = \"reverse\">(x, w, r, b) }"},
      {"lstm_both_directions", "g (float[t,2,8] x) => (float[t,2,2,16] y) " + two +
                                   " { y = LSTM<hidden_size = 16, direction = \"bidirectional\">(x, w, r, b) }"},
      {"lstm_all_inputs",
       "g (float[4,2,8] x, int32[2] len, float[1,2,16] h, float[1,2,16] c) => (float[4,1,2,16] y, float[1,2,16] yh, "
       "float[1,2,16] yc) " +
           one + " { y, yh, yc = LSTM<hidden_size = 16>(x, w, r, b, len, h, c, p) }"},
      {"lstm_last_state_only", "g (float[t,2,8] x, float[1,2,16] h) => (float[1,2,16] yh) " + one +
                                   " { , yh = LSTM<hidden_size = 16>(x, w, r, , , h) }"},
      {"lstm_layout_1",
       "g (float[2,t,8] x) => (float[2,t,1,16] y) " + one + " { y = LSTM<hidden_size = 16, layout = 1>(x, w, r, b) }",
       17, false},
      {"lstm_small_input_weight",
       "g (float[t,2,3] x) => (float[t,1,2,16] y) <float[1,64,3] w, float[1,64,16] r> { y = LSTM<hidden_size = 16>(x, "
       "w, r) }"},
      {"lstm_twice_one_weight",
       "g (float[t,2,16] x) => (float[t,1,2,16] y, float[1,2,16] z) <float[1,64,16] w, float[1,64,16] r> { y = "
       "LSTM<hidden_size = 16>(x, w, r) , z = LSTM<hidden_size = 16>(x, w, r) }"},
      {"lstm_one_tensor_twice",
       "g (float[t,2,16] x) => (float[t,1,2,16] y) <float[1,64,16] w> { y = LSTM<hidden_size = 16>(x, w, w) }"},
      {"gru",
       "g (float[t,2,8] x) => (float[t,1,2,16] y) <float[1,48,8] w, float[1,48,16] r, float[1,96] b> { y = "
       "GRU<hidden_size = 16>(x, w, r, b) }"},
      {"gru_both_directions",
       "g (float[t,2,8] x) => (float[t,2,2,16] y) <float[2,48,8] w, float[2,48,16] r> { y = GRU<hidden_size = 16, "
       "direction = \"bidirectional\">(x, w, r) }"},
      {"rnn",
       "g (float[t,2,16] x) => (float[t,1,2,16] y) <float[1,16,16] w, float[1,16,16] r> { y = RNN<hidden_size = 16>(x, "
       "w, r) }"},
  };
}

inline std::vector<RewriteModel> attention_models() {
  const std::string weights = "<float[16,48] w, float[48] b>";
  const auto node = [](const std::string& attributes, const std::string& inputs) {
    return " { y = com.microsoft.Attention<num_heads = 2" + attributes + ">(" + inputs + ") }";
  };
  return {
      {"attention", "g (float[2,5,16] x) => (float[2,5,16] y) " + weights + node("", "x, w, b")},
      {"attention_causal",
       "g (float[2,5,16] x) => (float[2,5,16] y) " + weights + node(", unidirectional = 1", "x, w, b")},
      {"attention_masked", "g (float[2,5,16] x, int32[2] m) => (float[2,5,16] y) " + weights + node("", "x, w, b, m")},
      {"attention_no_bias", "g (float[2,5,16] x) => (float[2,5,16] y) " + weights + node("", "x, w"), 17, false},
      {"attention_scaled", "g (float[2,5,16] x) => (float[2,5,16] y) " + weights + node(", scale = 4.0", "x, w, b")},
      {"attention_bias_input",
       "g (float[2,5,16] x, float[2,2,5,5] a) => (float[2,5,16] y) " + weights + node("", "x, w, b, , , a")},
      {"attention_uneven", "g (float[2,5,16] x) => (float[2,5,8] y) <float[16,40] w, float[40] b>" +
                               node(", qkv_hidden_sizes = [16, 16, 8]", "x, w, b")},
      {"attention_past",
       "g (float[2,5,16] x, float[2,2,2,3,8] past) => (float[2,5,16] y, float[2,2,2,8,8] now) " + weights +
           " { y, now = com.microsoft.Attention<num_heads = 2, unidirectional = 1>(x, w, b, , past) }"},
  };
}

inline std::vector<RewriteModel> nested_models() {
  return {
      {"weights_in_branches", R"(g (float[n,32] x, bool c) => (float[n,48] y) {
          y = If(c) <
            then_branch = t () => (float[n,48] z) <float[32,48] w> { z = MatMul(x, w) },
            else_branch = e () => (float[n,48] z) <float[32,48] w> { a = Neg(x) z = MatMul(a, w) }
          > })"},
      {"outer_weight_in_branches", R"(g (float[n,32] x, bool c) => (float[n,48] y) <float[32,48] w> {
          y = If(c) <
            then_branch = t () => (float[n,48] z) { z = MatMul(x, w) },
            else_branch = e () => (float[n,48] z) { a = Neg(x) z = MatMul(a, w) }
          > })"},
      {"outer_gemm_in_a_branch", R"(g (float[n,32] x, bool c) => (float[n,48] y) <float[48,32] w, float[48] b> {
          y = If(c) <
            then_branch = t () => (float[n,48] z) { z = Gemm<transB = 1>(x, w, b) },
            else_branch = e () => (float[n,48] z) { a = Neg(x) z = Gemm<transB = 1, alpha = 0.5>(a, w) }
          > })"},
      {"outer_tied_table_in_a_branch", R"(g (int64[n] i, bool c) => (float[n,20] y) <float[20,96] w> {
          a = Gather(w, i)
          y = If(c) <
            then_branch = t () => (float[n,20] z) { u = Transpose<perm = [1, 0]>(w) z = MatMul(a, u) },
            else_branch = e () => (float[n,20] z) { b = Neg(a) u = Transpose<perm = [1, 0]>(w) z = MatMul(b, u) }
          > })"},
      {"hidden_weight", R"(g (float[n,32] x, bool c) => (float[n,48] y, float[n,48] o) <float[32,48] w> {
          o = MatMul(x, w)
          y = If(c) <
            then_branch = t () => (float[n,48] z) <float[32,48] v> { z = MatMul(x, v) },
            else_branch = e () => (float[n,48] z) { z = MatMul(x, w) }
          > })"},
      {"loop", R"(g (float[2,32] x, int64 n) => (float[2,32] y) <float[32,32] w, bool yes = {1}> {
          y = Loop(n, yes, x) <body = b (int64 k, bool on, float[2,32] s) => (bool more, float[2,32] out) <float[32,32] v> {
            more = Identity(on) a = MatMul(s, w) r = Tanh(a) q = MatMul(r, v) out = Tanh(q) }> })"},
      {"scan", R"(g (float[2,32] s, float[5,2,8] x) => (float[2,32] last, float[5,2,32] all) {
          last, all = Scan<num_scan_inputs = 1, body = b (float[2,32] h, float[2,8] v) => (float[2,32] next, float[2,32] out) <float[32,32] w, float[8,32] u> {
            a = MatMul(h, w) c = MatMul(v, u) d = Add(a, c) next = Tanh(d) out = Identity(next) }>(s, x) })"},
      {"nested_twice", R"(g (float[n,32] x, bool c) => (float[n,48] y) <float[32,48] w> {
          y = If(c) <
            then_branch = t () => (float[n,48] z) {
              z = If(c) <
                then_branch = tt () => (float[n,48] q) <float[32,48] v> { q = MatMul(x, v) },
                else_branch = te () => (float[n,48] q) { q = MatMul(x, w) }
              > },
            else_branch = e () => (float[n,48] z) { z = MatMul(x, w) }
          > })"},
      {"function_called_twice", R"(<ir_version: 8, opset_import: ["" : 17, "mine" : 1]>
          g (float[n,32] x) => (float[n,32] y) <float[32,32] w, float[32,32] v> {
            a = mine.Layer(x, w) y = mine.Layer(a, v) }
          <domain: "mine", opset_import: ["" : 17]>
          Layer (a, w) => (b) { m = MatMul(a, w) b = Tanh(m) })"},
  };
}

inline std::vector<RewriteModel> rewrite_models() {
  std::vector<RewriteModel> all = matrix_models();
  for (const auto& more :
       {gemm_models(), table_models(), convolution_models(), recurrent_models(), attention_models(), nested_models()})
    all.insert(all.end(), more.begin(), more.end());
  return all;
}

}  // namespace octet::pictures
