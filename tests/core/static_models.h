// A small model for every operator that static mode knows, alone and between convolutions, as ONNX text: the native
// tests run each before and after. Weights are made up (graph_pictures.h).
#pragma once

#include <algorithm>
#include <ostream>
#include <string>
#include <vector>

namespace octet::pictures {

struct StaticModel {
  std::string name;
  std::string text;
  std::vector<std::string> op_types;  // asked for; empty: the default
  int opset = 17;
};

inline void PrintTo(const StaticModel& model, std::ostream* out) { *out << model.name; }

// A node on four channels of a picture, alone and with a convolution on both sides. `weights`: further declarations.
inline void add_on_pictures(std::vector<StaticModel>& models, const std::string& op, const std::string& attributes,
                            const std::string& more, const std::string& weights, int opset = 17,
                            const std::string& suffix = "") {
  const std::string call = op + attributes;
  const std::string declared = weights.empty() ? "" : " <" + weights + ">";
  std::string name = op + suffix;
  models.push_back({name + "_alone",
                    "g (float[1,4,8,8] x) => (float[a,b,c,d] y)" + declared + " { y = " + call + "(x" + more + ") }",
                    {op},
                    opset});
  models.push_back({name + "_between",
                    "g (float[1,4,8,8] x) => (float[a,b,c,d] y) <float[4,4,3,3] u, float[4,4,1,1] v" +
                        (weights.empty() ? "" : ", " + weights) +
                        "> { p = Conv<pads = [1, 1, 1, 1]>(x, u) q = " + call + "(p" + more + ") y = Conv(q, v) }",
                    {op, "Conv"},
                    opset});
}

inline std::vector<StaticModel> static_convolutions() {
  const auto conv = [](const std::string& name, const std::string& input, const std::string& weight,
                       const std::string& attributes, int channels, const std::string& output, int opset = 17) {
    return StaticModel{name,
                       "g (float[" + input + "] x) => (float[" + output + "] y) <float[" + weight + "] w, float[" +
                           std::to_string(channels) + "] b> { y = Conv" + attributes + "(x, w, b) }",
                       {},
                       opset};
  };
  std::vector<StaticModel> models = {
      conv("conv_1d", "2,8,20", "16,8,3", "", 16, "a,b,c"),
      conv("conv_2d", "2,4,9,9", "8,4,3,3", "", 8, "a,b,c,d"),
      conv("conv_3d", "1,2,5,5,5", "8,2,3,3,3", "", 8, "a,b,c,d,e"),
      conv("conv_grouped", "1,8,9,9", "8,4,3,3", "<group = 2>", 8, "a,b,c,d"),
      conv("conv_depthwise", "1,32,9,9", "32,1,3,3", "<group = 32>", 32, "a,b,c,d"),
      conv("conv_multiplied_depthwise", "1,8,9,9", "16,1,3,3", "<group = 8>", 16, "a,b,c,d"),
      conv("conv_dilated", "1,4,12,12", "8,4,3,3", "<dilations = [2, 2]>", 8, "a,b,c,d"),
      conv("conv_same_upper", "1,4,12,12", "8,4,3,3", R"(<auto_pad = "SAME_UPPER", strides = [2, 2]>)", 8, "a,b,c,d"),
      conv("conv_same_lower", "1,4,11,11", "8,4,3,3", R"(<auto_pad = "SAME_LOWER", strides = [3, 2]>)", 8, "a,b,c,d"),
      conv("conv_pads", "1,4,9,9", "8,4,3,3", "<pads = [1, 0, 2, 1]>", 8, "a,b,c,d"),
      {"conv_no_bias", "g (float[1,4,9,9] x) => (float[a,b,c,d] y) <float[8,4,3,3] w> { y = Conv(x, w) }", {}},
      {"conv_computed_bias",
       "g (float[1,4,9,9] x, float[8] c) => (float[a,b,c1,d] y) <float[8,4,3,3] w> { b = Tanh(c) y = Conv(x, w, b) }",
       {}},
      {"conv_relu_conv",
       "g (float[1,4,9,9] x) => (float[a,b,c,d] y) <float[8,4,3,3] w, float[8] b, float[4,8,3,3] v> { p = Conv(x, w, "
       "b) q = Relu(p) y = Conv(q, v) }",
       {}},
      {"conv_relu6_conv",
       "g (float[1,4,9,9] x) => (float[a,b,c,d] y) <float[8,4,3,3] w, float[8] b, float[4,8,3,3] v, float low = {0}, "
       "float high = {6}> { p = Conv(x, w, b) q = Clip(p, low, high) y = Conv(q, v) }",
       {}},
      {"conv_tight_clip_conv",
       "g (float[1,4,9,9] x) => (float[a,b,c,d] y) <float[8,4,3,3] w, float[8] b, float[4,8,3,3] v, float low = {0}, "
       "float high = {0.5}> { p = Conv(x, w, b) q = Clip(p, low, high) y = Conv(q, v) }",
       {}},
      {"conv_clip_above_zero_conv",
       "g (float[1,4,9,9] x) => (float[a,b,c,d] y) <float[8,4,3,3] w, float[8] b, float[4,8,3,3] v, float low = {1}, "
       "float high = {6}> { p = Conv(x, w, b) q = Clip(p, low, high) y = Conv(q, v) }",
       {}},
      {"conv_clip_both_signs_conv",
       "g (float[1,4,9,9] x) => (float[a,b,c,d] y) <float[8,4,3,3] w, float[8] b, float[4,8,3,3] v, float low = {-1}, "
       "float high = {1}> { p = Conv(x, w, b) q = Clip(p, low, high) y = Conv(q, v) }",
       {}},
      {"conv_shared_weight_and_bias",
       "g (float[1,4,9,9] x) => (float[a,b,c,d] y) <float[4,4,3,3] w, float[4] b, float[1] s = {8}> { p = Conv(x, w, "
       "b) q = Mul(p, s) y = Conv(q, w, b) }",
       {}},
      {"conv_silu_conv",
       "g (float[1,4,9,9] x) => (float[a,b,c,d] y) <float[8,4,3,3] w, float[8] b, float[4,8,3,3] v> { p = Conv(x, w, "
       "b) s = Sigmoid(p) q = Mul(p, s) y = Conv(q, v) }",
       {}},
      {"conv_residual",
       "g (float[1,4,9,9] x) => (float[a,b,c,d] y) <float[4,4,3,3] u, float[4,4,3,3] w, float[4] b, float[4,4,3,3] v> "
       "{ "
       "o = Conv(x, u) p = Conv<pads = [1, 1, 1, 1]>(o, w, b) q = Add(p, o) r = Relu(q) y = Conv(r, v) }",
       {}},
      {"conv_transpose",
       "g (float[1,8,5,5] x) => (float[a,b,c,d] y) <float[8,6,3,3] w, float[6] b> { y = ConvTranspose(x, w, b) }",
       {"ConvTranspose"}},
      {"conv_transpose_no_bias",
       "g (float[1,8,5,5] x) => (float[a,b,c,d] y) <float[8,6,3,3] w> { y = ConvTranspose<strides = [2, 2]>(x, w) }",
       {"ConvTranspose"}},
      {"conv_transpose_grouped",
       "g (float[1,8,5,5] x) => (float[a,b,c,d] y) <float[8,4,3,3] w, float[8] b> { y = ConvTranspose<group = 2>(x, w, "
       "b) }",
       {"ConvTranspose"}},
      {"conv_transpose_grouped_narrow",
       "g (float[1,8,5,5] x) => (float[a,b,c,d] y) <float[8,2,3,3] w, float[4] b> { y = ConvTranspose<group = 2>(x, w, "
       "b) }",
       {"ConvTranspose"}},
      {"conv_transpose_grouped_between",
       "g (float[1,8,5,5] x) => (float[a,b,c,d] y) <float[8,8,1,1] u, float[8,4,3,3] w, float[8] b, float[8,8,1,1] v> "
       "{ "
       "p = Conv(x, u) q = ConvTranspose<group = 2>(p, w, b) y = Conv(q, v) }",
       {"ConvTranspose", "Conv"}},
      {"conv_transpose_depthwise",
       "g (float[1,8,5,5] x) => (float[a,b,c,d] y) <float[8,1,4,4] w, float[8] b> { y = ConvTranspose<group = 8, "
       "strides = [2, 2]>(x, w, b) }",
       {"ConvTranspose"}},
      {"conv_transpose_1d",
       "g (float[1,8,9] x) => (float[a,b,c] y) <float[8,6,3] w, float[6] b> { y = ConvTranspose(x, w, b) }",
       {"ConvTranspose"}},
  };
  for (int opset = 9; opset <= 21; ++opset) {
    models.push_back(conv("conv_opset_" + std::to_string(opset), "1,4,9,9", "8,4,3,3", "", 8, "a,b,c,d", opset));
    models.push_back(
        {"conv_relu_pool_conv_opset_" + std::to_string(opset),
         "g (float[1,4,9,9] x) => (float[a,b,c,d] y) <float[8,4,3,3] w, float[8] b, float[4,8,2,2] v> { p = "
         "Conv(x, w, b) q = Relu(p) r = MaxPool<kernel_shape = [2, 2], strides = [2, 2]>(q) y = Conv(r, "
         "v) }",
         {},
         opset});
  }
  return models;
}

inline std::vector<StaticModel> static_matrices() {
  std::vector<StaticModel> models = {
      {"matmul", "g (float[5,32] x) => (float[a,b] y) <float[32,48] w> { y = MatMul(x, w) }", {}},
      {"matmul_of_a_batch", "g (float[2,5,32] x) => (float[a,b,c] y) <float[32,48] w> { y = MatMul(x, w) }", {}},
      {"matmul_of_a_vector", "g (float[32] x) => (float[a] y) <float[32,48] w> { y = MatMul(x, w) }", {}},
      {"matmul_batched_weight", "g (float[2,5,32] x) => (float[a,b,c] y) <float[2,32,48] w> { y = MatMul(x, w) }", {}},
      {"matmul_twice",
       "g (float[5,32] x) => (float[a,b] y) <float[32,48] w, float[48,32] v> { a1 = MatMul(x, w) y = MatMul(a1, v) }",
       {}},
      {"matmul_add_matmul",
       "g (float[5,32] x) => (float[a,b] y) <float[32,48] w, float[48] c, float[48,32] v> { a1 = MatMul(x, w) s = "
       "Add(a1, c) r = Relu(s) y = MatMul(r, v) }",
       {}},
      {"matmul_opset_9", "g (float[5,32] x) => (float[a,b] y) <float[32,48] w> { y = MatMul(x, w) }", {}, 9},
      {"matmul_opset_21", "g (float[5,32] x) => (float[a,b] y) <float[32,48] w> { y = MatMul(x, w) }", {}, 21},
      {"gemm_then_gemm",
       "g (float[5,32] x) => (float[a,b] y) <float[48,32] w, float[48] c, float[48,32] v, float[32] d> { a1 = "
       "Gemm<transB = 1>(x, w, c) r = Relu(a1) y = Gemm(r, v, d) }",
       {}},
      {"gemm_matrix_C",
       "g (float[5,32] x) => (float[a,b] y) <float[32,48] w, float[5,48] c, float[48,32] v> { a1 = Gemm<beta = "
       "0.5>(x, w, c) r = Relu(a1) y = Gemm(r, v) }",
       {}},
      {"gemm_column_C", "g (float[5,32] x) => (float[a,b] y) <float[32,48] w, float[5,1] c> { y = Gemm(x, w, c) }", {}},
      {"gemm_row_C", "g (float[5,32] x) => (float[a,b] y) <float[32,48] w, float[1,48] c> { y = Gemm(x, w, c) }", {}},
      {"gemm_scalar_C", "g (float[5,32] x) => (float[a,b] y) <float[32,48] w, float c> { y = Gemm(x, w, c) }", {}},
      {"gemm_input_C",
       "g (float[5,32] x, float[5,48] c) => (float[a,b] y) <float[32,48] w> { y = Gemm<beta = 0.5>(x, w, c) }",
       {}},
      {"gemm_computed_C",
       "g (float[5,32] x, float[48] c) => (float[a,b] y) <float[32,48] w, float[48,32] v> { d = Tanh(c) a1 = Gemm<beta "
       "= 2.0, alpha = 0.5>(x, w, d) y = MatMul(a1, v) }",
       {}},
  };
  for (const bool trans_b : {false, true}) {
    for (const char* scale : {"", ", alpha = 0.5", ", beta = 2.0", ", alpha = 1.5, beta = 0.25", ", beta = 0.0"}) {
      for (const bool biased : {true, false}) {
        for (const bool in_a_chain : {false, true}) {
          std::string name = std::string("gemm") + (trans_b ? "_transB" : "");
          for (const char* at = scale; *at; ++at) {
            if (*at == ',') name += '_';
            if (std::string(" =.,").find(*at) == std::string::npos) name += *at;
          }
          name += std::string(biased ? "" : "_no_C") + (in_a_chain ? "_chained" : "");
          models.push_back({name,
                            std::string("g (float[5,32] x) => (float[a,b] y) <float[") + (trans_b ? "48,32" : "32,48") +
                                "] w, float[48] c, float[48,32] v> { " + (in_a_chain ? "h" : "y") +
                                " = Gemm<transB = " + (trans_b ? "1" : "0") + scale + ">(x, w" +
                                (biased ? ", c)" : ")") + (in_a_chain ? " r = Relu(h) y = MatMul(r, v) }" : " }"),
                            {}});
        }
      }
    }
  }
  return models;
}

inline std::vector<StaticModel> static_operators() {
  std::vector<StaticModel> models;
  const auto add = [&](const std::string& op, const std::string& attributes = "", const std::string& more = "",
                       const std::string& weights = "", int opset = 17, const std::string& suffix = "") {
    add_on_pictures(models, op, attributes, more, weights, opset, suffix);
  };
  for (const char* op : {"Sigmoid", "LeakyRelu", "GlobalAveragePool", "Tanh", "Exp", "Elu", "HardSwish", "HardSigmoid"})
    add(op);
  add("Softmax");
  add("Softmax", "<axis = 1>", "", "", 17, "_channels");
  add("Softmax", "<axis = 3>", "", "", 11, "_opset_11");
  add("MaxPool", "<kernel_shape = [2, 2]>");
  add("MaxPool", "<kernel_shape = [2, 2]>", "", "", 9, "_opset_9");
  add("AveragePool", "<kernel_shape = [2, 2], strides = [2, 2]>");
  add("AveragePool", "<kernel_shape = [3, 3], pads = [1, 1, 1, 1], count_include_pad = 1>", "", "", 17, "_padded");
  add("AveragePool", "<kernel_shape = [3, 3], strides = [2, 2], ceil_mode = 1>", "", "", 17, "_ceiled");
  add("Gelu", "", "", "", 20);
  add("PRelu", "", ", slope", "float[4,1,1] slope");
  add("Add", "", ", other", "float[4,1,1] other");
  add("Mul", "", ", other", "float[4,1,1] other");
  add("Sub", "", ", other", "float[4,1,1] other");
  add("Div", "", ", other", "float other = {3}");
  add("Min", "", ", other", "float[4,1,1] other");
  add("Max", "", ", other", "float[4,1,1] other");
  add("Add", "", ", other", "float[1,4,8,8] other", 17, "_of_a_table");
  add("Reshape", "", ", shape", "int64[4] shape = {1, 4, 4, 16}");
  add("Transpose", "<perm = [0, 1, 3, 2]>");
  add("DepthToSpace", "<blocksize = 2>");
  add("SpaceToDepth", "<blocksize = 2>");
  models.erase(std::remove_if(models.begin(), models.end(),
                              [](const StaticModel& model) {
                                return model.name == "DepthToSpace_between" || model.name == "SpaceToDepth_between";
                              }),
               models.end());
  models.push_back(
      {"DepthToSpace_between",
       "g (float[1,4,8,8] x) => (float[a,b,c,d] y) <float[4,4,1,1] u, float[4,1,1,1] v> { p = Conv(x, u) q "
       "= DepthToSpace<blocksize = 2>(p) y = Conv(q, v) }",
       {}});
  models.push_back({"SpaceToDepth_between",
                    "g (float[1,4,8,8] x) => (float[a,b,c,d] y) <float[4,4,1,1] u, float[4,16,1,1] v> { p = Conv(x, u) "
                    "q = SpaceToDepth<blocksize = 2>(p) y = Conv(q, v) }",
                    {}});
  add("Slice", "", ", from, to, axes", "int64[1] from = {1}, int64[1] to = {7}, int64[1] axes = {2}");
  add("Gather", "<axis = 2>", ", rows", "int64[3] rows = {5, 0, 2}");
  add("GatherElements", "<axis = 3>", ", rows", "int64[1,4,8,2] rows");
  add("GatherND", "<batch_dims = 2>", ", rows", "int64[1,4,3,1,1] rows = {1, 2, 3, 4, 5, 6, 7, 0, 1, 2, 3, 4}");
  models.erase(std::remove_if(models.begin(), models.end(),
                              [](const StaticModel& model) { return model.name.starts_with("GatherND_between"); }),
               models.end());
  for (StaticModel& model : models) {
    if (model.name == "GatherND_alone")
      model.text =
          "g (float[1,4,8,8] x) => (float[a,b,c] y) <int64[3,2] rows = {0, 1, 0, 3, 0, 2}> { y = GatherND(x, rows) }";
  }
  add("Expand", "", ", shape", "int64[4] shape = {2, 4, 8, 8}");
  add("Tile", "", ", times", "int64[4] times = {1, 1, 2, 1}");
  add("Resize", R"(<mode = "nearest">)", ", , factors", "float[4] factors = {1, 1, 2, 2}");
  add("Resize", R"(<mode = "linear">)", ", , factors", "float[4] factors = {1, 1, 2, 2}", 17, "_linear");
  add("Pad", "", ", pads", "int64[8] pads = {0, 0, 1, 1, 0, 0, 1, 1}");
  add("Pad", R"(<mode = "reflect">)", ", pads", "int64[8] pads = {0, 0, 1, 1, 0, 0, 1, 1}", 17, "_reflect");
  add("Pad", "", ", pads, filler", "int64[8] pads = {0, 0, 1, 1, 0, 0, 1, 1}, float filler = {0.25}", 17, "_filled");
  add("ReduceMean", "<axes = [2, 3]>");
  add("ReduceMean", "", ", axes", "int64[1] axes = {3}", 18, "_opset_18");
  add("CumSum", "", ", axis", "int64 axis = {3}");
  add("LayerNormalization", "", ", scale, bias", "float[8] scale, float[8] bias");
  add("InstanceNormalization", "", ", scale, bias", "float[4] scale, float[4] bias");
  add("BatchNormalization", "", ", scale, bias, mean, var",
      "float[4] scale, float[4] bias, float[4] mean, float[4] var = {1, 2, 0.5, 1}");
  const std::string begin = "g (float[1,4,8,8] x) => (float[a,b,c,d] y) <float[4,4,1,1] u, float[4,4,1,1] v";
  const auto between = [&](const std::string& name, const std::string& more, const std::string& nodes,
                           std::vector<std::string> op_types = {}, int opset = 17) {
    models.push_back({name, begin + more + "> { p = Conv(x, u) " + nodes + " y = Conv(q, v) }", op_types, opset});
  };
  between("Relu_on_its_own", "", "o = Sigmoid(p) q = Relu(o)");
  between("Concat_between", "", "o = Sigmoid(p) z = Concat<axis = 2>(p, o) q = LeakyRelu(z)");
  between("Concat_with_a_constant", ", float[1,4,2,8] k", "q = Concat<axis = 2>(p, k)");
  between("Split_between", "", "m, n = Split<axis = 2>(p) q = Add(m, n)");
  between("Split_sizes", ", int64[2] sizes = {3, 5}", "m, n = Split<axis = 2>(p, sizes) q = Concat<axis = 2>(n, m)");
  between("Split_opset_18", "", "m, n = Split<axis = 2, num_outputs = 2>(p) q = Mul(m, n)", {}, 18);
  between("Squeeze_and_back", ", int64[1] at = {0}", "o = Squeeze(p, at) q = Unsqueeze(o, at)");
  between("Flatten_and_back", ", int64[4] shape = {1, 4, 8, 8}", "o = Flatten(p) q = Reshape(o, shape)");
  between("Add_of_two", "", "o = Sigmoid(p) q = Add(p, o)");
  between("Add_of_one_twice", "", "q = Add(p, p)");
  between("Where_between", ", bool[1,4,8,8] c", "o = Sigmoid(p) q = Where(c, p, o)", {"Conv", "Sigmoid", "Where"});
  between("Where_with_a_constant", ", bool[1,4,8,8] c, float k = {0.5}", "q = Where(c, p, k)", {"Conv", "Where"});
  between("Sub_of_two", "", "o = Sigmoid(p) q = Sub(p, o)", {"Conv", "Sigmoid", "Sub"});
  between("Min_of_three", "", "o = Sigmoid(p) n = Tanh(p) q = Min(p, o, n)", {"Conv", "Sigmoid", "Tanh", "Min"});
  models.push_back({"TopK_alone",
                    "g (float[1,4,8,8] x) => (float[a,b,c,d] y, int64[a,b,c,d] i) <int64[1] k = {3}> { y, i = TopK(x, "
                    "k) }",
                    {"TopK"}});
  models.push_back(
      {"ArgMax_alone", "g (float[1,4,8,8] x) => (int64[a,b,c,d] y) { y = ArgMax<axis = 3>(x) }", {"ArgMax"}});
  models.push_back({"ArgMax_behind",
                    "g (float[1,4,8,8] x) => (int64[a,b,c,d] y) <float[4,4,1,1] u> { p = Conv(x, u) y = ArgMax<axis = "
                    "1>(p) }",
                    {"ArgMax", "Conv"}});
  models.push_back({"output_read_further",
                    "g (float[1,4,8,8] x) => (float[a,b,c,d] y, float[a,b,c,d] q, float[a,b,c,d] t) <float[4,4,1,1] u, "
                    "float[4,4,1,1] v> { p = Conv(x, u) q = Relu(p) t = Tanh(q) y = Conv(q, v) }",
                    {}});
  models.push_back({"read_in_a_branch",
                    R"(g (float[1,4,8,8] x, bool c) => (float[a,b,d,e] y) <float[4,4,1,1] u, float[4,4,1,1] v> {
                      p = Conv(x, u) q = Conv(p, v)
                      y = If(c) <then_branch = t () => (float[1,4,8,8] z) { z = Add(q, p) },
                                 else_branch = f () => (float[1,4,8,8] z) { z = Neg(p) }> })",
                    {}});
  return models;
}

inline std::vector<StaticModel> static_models() {
  std::vector<StaticModel> all = static_convolutions();
  for (const auto& more : {static_matrices(), static_operators()}) all.insert(all.end(), more.begin(), more.end());
  return all;
}

}  // namespace octet::pictures
