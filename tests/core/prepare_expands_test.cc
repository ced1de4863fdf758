// sink_expands: an Expand moves towards readers that do without.
#include <gmock/gmock.h>

#include "graph_pictures.h"
#include "prepare/pass.h"

namespace octet {
namespace {

using pictures::lines;
using pictures::model_of;
using pictures::picture;

int sink(Model& model) {
  PassReport report;
  for (int before = -1; report.changes > before;) {
    before = report.changes;
    run_sink_expands(model, report);
  }
  const int changes = report.changes;
  run_drop_unused(model, report);
  pictures::expect_sound(model);
  return changes;
}

TEST(SinkExpands, LeavesItToTheReader) {
  Model model = model_of(R"(g (float[b,s,8] x, float[b,s,1] v) => (float[b,s,8] y) {
    n = Shape(x) e = Expand(v, n) y = Div(x, e) })");
  EXPECT_EQ(sink(model), 1);
  EXPECT_EQ(picture(model), "\ny = Div(x, v)\n");
}

TEST(SinkExpands, GoesBehindWhatMakesAMask) {
  Model model = model_of(R"(g (float[b,h,s,s] x, int64[b,1,1,s] m, int64[4] n) => (float[b,h,s,s] y)
    <float one = {1}, float low = {-10000}> {
      n1 = Shape(x) e = Expand(m, n1) c = Cast<to = 1>(e) d = Sub(one, c) f = Mul(d, low) y = Add(x, f) })");
  EXPECT_EQ(sink(model), 4);
  EXPECT_EQ(picture(model), lines(R"(
    c_narrow = Cast<to=1>(m)
    d_narrow = Sub(one, c_narrow)
    f_narrow = Mul(d_narrow, low)
    y = Add(x, f_narrow))"));
}

TEST(SinkExpands, WorksInSubgraphs) {
  Model model = model_of(R"(g (float[b,8] x, float[1,8] v, bool c) => (float[b,8] y) {
    n = Shape(x) e = Expand(v, n)
    y = If(c) <then_branch = t () => (float[k,l] z) { z = Add(x, e) }, else_branch = f () => (float[k,l] z) { z = Neg(x) }> })");
  EXPECT_EQ(sink(model), 1);
  EXPECT_EQ(picture(model), lines(R"(
    y = If(c)
      then_branch:
        z = Add(x, v)
      else_branch:
        z = Neg(x))"));
}

TEST(SinkExpands, LeavesWhatIsNeeded) {
  for (const char* text : {
           // Nothing else has the size.
           "g (float[1,8] v, int64[2] n) => (float[a,b] y) <float[1,8] w> { e = Expand(v, n) y = Add(e, w) }",
           "g (float[b,8] x, float[1,8] v, int64[2] n) => (float[a,c] y) { e = Expand(v, n) y = Add(x, e) }",
           "g (float[b,8] x, float[1,8] v) => (float[a,c] y) { n = Shape(x) e = Expand(v, n) y = Concat<axis = 0>(x, "
           "e) }",
           // Rank.
           "g (float[8] x, float[8] v) => (float[a,c] y) <int64[2] n = {1, 8}> { e = Expand(v, n) y = Add(x, e) }",
           // Other readers, or a reader that is seen.
           "g (float[b,8] x, float[1,8] v) => (float[a,c] y, float[c,d] z) { n = Shape(x) e = Expand(v, n) y = Exp(e) "
           "z = "
           "MatMul(e, x) }",
           "g (float[b,8] x, float[1,8] v) => (float[a,c] y, float[d,f] e) { n = Shape(x) e = Expand(v, n) y = Exp(e) "
           "}",
           "g (float[b,8] x) => (float[a,c] y) <float[1,8] v> { n = Shape(x) e = Expand(v, n) y = Exp(e) }",
           "g (float[b,8] x, float[1,8] v) => (float[a,c] y) { n = Shape(x) e = Expand(v, n) y = Softmax(e) }",
       }) {
    Model model = model_of(text);
    EXPECT_EQ(sink(model), 0) << text << picture(model);
  }
}

// Of two that are added, one has to keep the size.
TEST(SinkExpands, KeepsOneOfTwo) {
  Model model = model_of(R"(g (float[b,8] x, float[1,8] v, float[b,1] w) => (float[a,c] y) {
    n = Shape(x) e = Expand(v, n) f = Expand(w, n) y = Add(e, f) })");
  EXPECT_GT(sink(model), 0);
  const auto after = picture(model);
  EXPECT_TRUE(after.find("y = Add(v, w)") != std::string::npos || after.find("Expand") != std::string::npos) << after;
  // [1, 8] and [1, 8] would be another shape.
  Model same = model_of(R"(g (float[b,8] x, float[1,8] v, float[1,8] w) => (float[a,c] y) {
    n = Shape(x) e = Expand(v, n) f = Expand(w, n) y = Add(e, f) })");
  EXPECT_EQ(sink(same), 1);
  EXPECT_NE(picture(same).find("Expand"), std::string::npos);
}

}  // namespace
}  // namespace octet
