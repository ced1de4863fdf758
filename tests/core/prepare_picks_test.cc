// simplify_picks and drop_zero_states.
#include <gmock/gmock.h>

#include "graph_pictures.h"
#include "prepare/pass.h"

namespace octet {
namespace {

using pictures::lines;
using pictures::model_of;
using pictures::picture;

int changes_of(void (*pass)(Model&, PassReport&), Model& model) {
  const int changes = pictures::run(pass, model).changes;
  pictures::run(run_drop_unused, model);
  return changes;
}

int picks(const std::string& text, int opset = 17) {
  Model model = model_of("g " + text, opset);
  return changes_of(run_simplify_picks, model);
}

TEST(SimplifyPicks, AGatherOfOneKeepsItsAxis) {
  Model model = model_of(
      "g (float[n,m] x) => (float[n,1] y) <int64 i = {2}, int64[1] k = {-1}> { a = Gather<axis = 1>(x, i) y = "
      "Unsqueeze(a, k) }");
  EXPECT_EQ(changes_of(run_simplify_picks, model), 1);
  EXPECT_EQ(picture(model), "\ny = Gather<axis=1>(x, y_index)\n");
  EXPECT_EQ(pictures::stored(model), "\ny_index: INT64[1]\n");
}

TEST(SimplifyPicks, ASliceOfOneLosesItsAxis) {
  Model model = model_of(
      "g (float[n,m] x) => (float[n] y) <int64[1] b = {2}, int64[1] e = {3}, int64[1] k = {1}> { a = Slice(x, b, e, k) "
      "y = Squeeze(a, k) }");
  EXPECT_EQ(changes_of(run_simplify_picks, model), 1);
  EXPECT_EQ(picture(model), "\ny = Gather<axis=1>(x, y_index)\n");
  EXPECT_EQ(pictures::stored(model), "\ny_index: INT64[]\n");
  EXPECT_EQ(
      picks("(float[n,m] x) => (float[m] y) <int64[1] b = {-1}, int64[1] e = {2147483647}, int64[1] k = {0}> { a = "
            "Slice(x, b, e) y = Squeeze(a, k) }"),
      1);
  EXPECT_EQ(picks("(float[n,m] x) => (float[n] y) { a = Slice<axes = [-1], starts = [0], ends = [1]>(x) y = "
                  "Squeeze<axes = [1]>(a) }",
                  9),
            1);
}

TEST(SimplifyPicks, DeclinesTheRest) {
  for (const char* text : {
           // Another axis.
           "(float[n,m] x) => (float[1,n] y) <int64 i = {2}, int64[1] k = {0}> { a = Gather<axis = 1>(x, i) y = "
           "Unsqueeze(a, k) }",
           // The run knows the index.
           "(float[n,m] x, int64 i) => (float[1,n] y) <int64[1] k = {0}> { a = Gather<axis = 0>(x, i) y = Unsqueeze(a, "
           "k) }",
           // A list already.
           "(float[n,m] x) => (float[1,1,n] y) <int64[1] i = {2}, int64[1] k = {0}> { a = Gather<axis = 0>(x, i) y = "
           "Unsqueeze(a, k) }",
           // Another reader.
           "(float[n,m] x) => (float[1,m] y, float[m] a) <int64 i = {2}, int64[1] k = {0}> { a = Gather<axis = 0>(x, "
           "i) y = Unsqueeze(a, k) }",
           // The shape of a Reshape.
           "(float[n,m] x, int64[2] s) => (float[n,k,2] y) <int64 i = {0}, int64[1] k = {0}, int64[2] r = {-1, 2}> { a "
           "= "
           "Gather(s, i) b = Unsqueeze(a, k) c = Concat<axis = 0>(b, r) y = Reshape(x, c) }",
           // Two elements, none, backwards, another axis, more than is known.
           "(float[n,m] x) => (float[n] y) <int64[1] b = {2}, int64[1] e = {4}, int64[1] k = {1}> { a = Slice(x, b, e, "
           "k) y = Squeeze(a, k) }",
           "(float[n,m] x) => (float[n] y) <int64[1] b = {-1}, int64[1] e = {0}, int64[1] k = {1}> { a = Slice(x, b, "
           "e, k) y = Squeeze(a, k) }",
           "(float[n,m] x) => (float[n] y) <int64[1] b = {2}, int64[1] e = {3}, int64[1] k = {1}, int64[1] t = {-1}> { "
           "a = Slice(x, b, e, k, t) y = Squeeze(a, k) }",
           "(float[n,1] x) => (float[1] y) <int64[1] b = {2}, int64[1] e = {3}, int64[1] k = {1}> { a = Slice(x, b, e) "
           "y = Squeeze(a, k) }",
           "(float[n,m] x, int64[1] b) => (float[n] y) <int64[1] e = {3}, int64[1] k = {1}> { a = Slice(x, b, e, k) y "
           "= Squeeze(a, k) }",
           "(float[n,m] x) => (float[n] y) <int64[1] b = {9223372036854775807}, int64[1] e = {-9223372036854775808}, "
           "int64[1] k = {1}> { a = Slice(x, b, e, k) y = Squeeze(a, k) }",
           "(float[n,m] x) => (float[n] y) { a = Slice(x) y = Squeeze(a) }",
           "(float[n,m] x) => (float[n] y) { a = Gather(x) y = Unsqueeze(a) }",
       })
    EXPECT_EQ(picks(text), 0) << text;
}

TEST(SimplifyPicks, InsideABranch) {
  Model model =
      model_of(R"(g (float[n,m] x, bool c) => (float[m] y) <int64[1] b = {2}, int64[1] e = {3}, int64[1] k = {0}> {
    a = Slice(x, b, e)
    y = If(c) <then_branch = t () => (float[m] u) { u = Squeeze(a, k) },
               else_branch = f () => (float[m] v) { p = Slice(x, b, e) v = Squeeze(p, k) }> })");
  EXPECT_EQ(changes_of(run_simplify_picks, model), 1) << "what stands around the branch stays there";
}

constexpr const char* kRecurrent = "<float[1,16,3] w, float[1,16,4] r, float[1,16] b";

TEST(DropZeroStates, HoweverTheyAreMade) {
  const std::string head = "g (float[t,n,3] x) => (float[t,1,n,4] y) " + std::string(kRecurrent);
  for (const char* text :
       {", int64[1] d = {1}, int64[1] e = {2}, int64[1] h = {4}> { s = Shape(x) q = Slice(s, d, e) k = Concat<axis = "
        "0>(d, q, h) z = ConstantOfShape(k) y = LSTM<hidden_size = 4>(x, w, r, b, , z, z) }",
        ", int64[1] d = {1}, int64[1] e = {2}, int64[1] h = {4}, float o = {0}, int64[1] a = {0}> { s = Shape(x) q = "
        "Slice(s, d, e) k = Concat<axis = 0>(q, h) f = Expand(o, k) u = Unsqueeze(f, a) z = Concat<axis = 0>(u) y = "
        "LSTM<hidden_size = 4>(x, w, r, b, , z, z) }"}) {
    Model model = model_of(head + text);
    EXPECT_EQ(changes_of(run_drop_zero_states, model), 2);
    EXPECT_EQ(picture(model), "\ny = LSTM<hidden_size=4>(x, w, r, b)\n");
  }
}

TEST(DropZeroStates, WhatStandsBehindThemStays) {
  Model model = model_of("g (float[2,1,3] x, float[1,1,4] c) => (float[2,1,1,4] y) " + std::string(kRecurrent) +
                         ", float[1,1,4] z = {0, 0, 0, 0}> { y = LSTM<hidden_size = 4>(x, w, r, b, , z, c) }");
  EXPECT_EQ(changes_of(run_drop_zero_states, model), 1);
  EXPECT_EQ(picture(model), "\ny = LSTM<hidden_size=4>(x, w, r, b, -, -, c)\n");
}

TEST(DropZeroStates, OfTheOtherKindsToo) {
  Model model = model_of(
      "g (float[2,1,3] x, bool c) => (float[2,1,1,4] y) <float[1,12,3] w, float[1,12,4] r, float[1,4,3] v, "
      "float[1,4,4] "
      "q, float[1,1,4] z = {0, 0, 0, 0}> { y = If(c) <then_branch = t () => (float[2,1,1,4] a) { a = GRU<hidden_size = "
      "4>(x, w, r, , , z) }, else_branch = e () => (float[2,1,1,4] b) { b = RNN<hidden_size = 4>(x, v, q, , , z) }> }");
  EXPECT_EQ(changes_of(run_drop_zero_states, model), 2);
}

TEST(DropZeroStates, DeclinesOtherStates) {
  const std::string head = "g (float[2,1,3] x, float[1,1,4] c, int64[3] k";
  for (const std::string& text :
       {") => (float[2,1,1,4] y) " + std::string(kRecurrent) + "> { y = LSTM<hidden_size = 4>(x, w, r, b, , c, c) }",
        ") => (float[2,1,1,4] y) " + std::string(kRecurrent) +
            ", float[1,1,4] z = {0, 0, 0, 1}> { y = LSTM<hidden_size = 4>(x, w, r, b, , z, z) }",
        ", float[1,1,4] z = {0, 0, 0, 0}) => (float[2,1,1,4] y) " + std::string(kRecurrent) +
            "> { y = LSTM<hidden_size = 4>(x, w, r, b, , z, z) }",
        ") => (float[2,1,1,4] y) " + std::string(kRecurrent) +
            "> { z = ConstantOfShape<value = float[1] {1}>(k) y = LSTM<hidden_size = 4>(x, w, r, b, , z, z) }"}) {
    Model model = model_of(head + text);
    EXPECT_EQ(changes_of(run_drop_zero_states, model), 0) << text;
  }
}

}  // namespace
}  // namespace octet
