// drop_unused_outputs and drop_unused_imports.
#include <gmock/gmock.h>

#include "graph_pictures.h"
#include "prepare/pass.h"

namespace octet {
namespace {

using pictures::lines;
using pictures::model_of;
using pictures::picture;

int changes_of(void (*pass)(Model&, PassReport&), Model& model) { return pictures::run(pass, model).changes; }

TEST(DropUnusedOutputs, OptionalOnesOnly) {
  Model model = model_of(R"(g (float[2,1,3] x) => (float[2,1,1,4] y, float[1,1,4] c, float[1] p)
    <float[1,16,3] w, float[1,16,4] r, int64[2] s = {1, 1}, int64[1] k = {1}> {
      y, h, c0 = LSTM<hidden_size = 4>(x, w, r)
      y1, h1, c = LSTM<hidden_size = 4>(x, w, r)
      a, b = Split<axis = 0>(x, s)
      t, i = TopK(a, k)
      p = ReduceSum<keepdims = 0>(t) })");
  EXPECT_EQ(changes_of(run_drop_unused_outputs, model), 4);
  EXPECT_EQ(picture(model), lines(R"(
    y = LSTM<hidden_size=4>(x, w, r)
    -, -, c = LSTM<hidden_size=4>(x, w, r)
    a, b = Split<axis=0>(x, s)
    t, i = TopK(a, k)
    p = ReduceSum<keepdims=0>(t))"));
  EXPECT_EQ(changes_of(run_drop_unused_outputs, model), 0);
}

TEST(DropUnusedOutputs, WhatABranchReadsStays) {
  Model model = model_of(R"(g (float[1,1,4,4] x, bool c) => (float[1,1,2,2] y) {
    a, i = MaxPool<kernel_shape = [3, 3]>(x) b, j = MaxPool<kernel_shape = [3, 3]>(x)
    y = If(c) <then_branch = t () => (float[1,1,2,2] u) { f = Cast<to = 1>(i) u = Add(a, f) },
               else_branch = e () => (float[1,1,2,2] v) { p, q = MaxPool<kernel_shape = [3, 3]>(x) v = Add(p, b) }> })");
  EXPECT_EQ(changes_of(run_drop_unused_outputs, model), 2);
  EXPECT_NE(picture(model).find("a, i = MaxPool"), std::string::npos) << picture(model);
}

TEST(DropUnusedOutputs, LeavesOperatorsItDoesNotKnow) {
  Model model = model_of(
      "g (float[2,3] x) => (float[2,3] y) <float[3] w> { a, b, c = com.microsoft.SkipLayerNormalization(x, x, w) d, e "
      "= "
      "Nothing(a) y = Add(a, d) }");
  EXPECT_EQ(changes_of(run_drop_unused_outputs, model), 0);
}

TEST(DropUnusedImports, WhatNoNodeIsOf) {
  Model model = model_of(
      R"(<ir_version: 8, opset_import: ["" : 17, "ai.onnx.ml" : 3, "com.microsoft" : 1, "com.vendor" : 1]>
      g (float[n] x, bool c) => (float[n] y) {
        y = If(c) <then_branch = t () => (float[n] u) { u = com.microsoft.Gelu(x) }, else_branch = e () => (float[n] v) { v = Neg(x) }> })");
  EXPECT_EQ(changes_of(run_drop_unused_imports, model), 2);
  EXPECT_EQ(opset_of(model.proto()), 17);
  EXPECT_EQ(opset_of(model.proto(), "com.microsoft"), 1);
  EXPECT_EQ(changes_of(run_drop_unused_imports, model), 0);
}

TEST(DropUnusedImports, FunctionsKeepTheirs) {
  Model model = model_of(R"(<ir_version: 8, opset_import: ["" : 17, "local" : 1, "com.vendor" : 1]>
    g (float[n] x) => (float[n] y) { y = local.f(x) }
    <domain: "local", opset_import: ["" : 17, "com.vendor" : 1]> f (a) => (b) { b = com.vendor.Thing(a) })");
  EXPECT_EQ(changes_of(run_drop_unused_imports, model), 0);
}

}  // namespace
}  // namespace octet
