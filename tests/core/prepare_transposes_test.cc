// cancel_transposes: sandwiches of two Transposes that undo each other.
#include <gmock/gmock.h>

#include "graph_pictures.h"
#include "prepare/pass.h"

namespace octet {
namespace {

using pictures::lines;
using pictures::model_of;
using pictures::picture;
using pictures::stored;

int cancel(Model& model) { return pictures::run_and_sweep(run_cancel_transposes, model); }

TEST(CancelTransposes, AroundElementwiseOperators) {
  Model model = model_of(R"(g (float[n,3,8,8] x) => (float[n,3,8,8] y) <float[3] b = {1, 2, 3}, float s = {2}> {
    t = Transpose<perm = [0, 2, 3, 1]>(x) a = Add(t, b) c = Mul(s, a) d = Relu(c)
    y = Transpose<perm = [0, 3, 1, 2]>(d) })");
  EXPECT_EQ(cancel(model), 1);
  EXPECT_EQ(picture(model), lines(R"(
    a = Add(x, b_turned)
    c = Mul(s, a)
    y = Relu(c))"));
  EXPECT_EQ(stored(model), lines(R"(
    s: FLOAT[]
    b_turned: FLOAT[1,3,1,1])"));
}

TEST(CancelTransposes, SeveralComeIn) {
  Model model = model_of(R"(g (float[n,3,8,8] x, float[n,5,8,8] z) => (float[n,8,8,8] y, float[n,8,8,3] o) {
    t = Transpose<perm = [0, 2, 3, 1]>(x) u = Transpose<perm = [0, 2, 3, 1]>(z)
    c = Concat<axis = -1>(t, u) d = Softmax(c) y = Transpose<perm = [0, 3, 1, 2]>(d) o = Neg(t) })");
  EXPECT_EQ(cancel(model), 1);
  EXPECT_EQ(picture(model), lines(R"(
    t = Transpose<perm=[0,2,3,1]>(x)
    c = Concat<axis=1>(x, z)
    y = Softmax<axis=1>(c)
    o = Neg(t))"));
}

TEST(CancelTransposes, OneAfterTheOther) {
  Model model = model_of(R"(g (float[n,3,8] x) => (float[n,3,8] y) {
    t = Transpose<perm = [0, 2, 1]>(x) a = Relu(t) b = Transpose<perm = [0, 2, 1]>(a)
    c = Transpose<perm = [0, 2, 1]>(b) d = Exp(c) y = Transpose<perm = [0, 2, 1]>(d) })");
  EXPECT_EQ(cancel(model), 2);
  EXPECT_EQ(picture(model), lines(R"(
    a = Relu(x)
    y = Exp(a))"));
}

TEST(CancelTransposes, ForgetsTheShapesOfWhatIsTurned) {
  Model model = model_of(R"(g (float[n,3,8] x) => (float[n,3,8] y) <float[n,8,3] a> {
    t = Transpose<perm = [0, 2, 1]>(x) a = Relu(t) b = Exp(a) y = Transpose<perm = [0, 2, 1]>(b) })");
  EXPECT_EQ(cancel(model), 1);
  EXPECT_EQ(model.proto().graph().value_info_size(), 0);
}

TEST(CancelTransposes, Declines) {
  for (const char* text : {
           // They do not undo each other.
           "t = Transpose<perm = [2, 0, 1]>(x) a = Relu(t) y = Transpose<perm = [2, 0, 1]>(a)",
           // Something else reads what stands between.
           "t = Transpose<perm = [0, 2, 1]>(x) a = Relu(t) y = Transpose<perm = [0, 2, 1]>(a) o = Neg(a)",
           // Something else flows in.
           "t = Transpose<perm = [0, 2, 1]>(x) a = Add(t, z) y = Transpose<perm = [0, 2, 1]>(a)",
           // The order of elements counts.
           "t = Transpose<perm = [0, 2, 1]>(x) a = Reshape(t, s) y = Transpose<perm = [0, 2, 1]>(a)",
           // A constant that would have to be turned itself.
           "t = Transpose<perm = [0, 2, 1]>(x) a = Add(t, m) y = Transpose<perm = [0, 2, 1]>(a)",
           // Nothing to take out below.
           "a = Exp(w) y = Transpose<perm = [0, 2, 1]>(a)",
           // Malformed.
           "t = Transpose<perm = [0, 2, 2]>(x) a = Relu(t) y = Transpose<perm = [0, 2, 2]>(a)",
           "t = Transpose<perm = [0, 2, 1]>(x) a = Concat<axis = 7>(t) y = Transpose<perm = [0, 2, 1]>(a)",
           "t = Transpose<perm = [0, 2, 1]>(x) a = Relu() y = Transpose<perm = [0, 2, 1]>(a)",
       }) {
    Model model = model_of(
        std::string(
            "g (float[n,3,8] x, float[n,8,3] z, int64[3] s) => (float[n,3,8] y) <float[8,3] m, float[1,8,3] w> { ") +
        text + " }");
    EXPECT_EQ(cancel(model), 0) << text;
  }
}

TEST(CancelTransposes, ALargeConstantOfOthersStays) {
  Model model = model_of(R"(g (float[n,3000,8] x) => (float[n,3000,8] y, float[3000] o) <float[3000] b> {
    t = Transpose<perm = [0, 2, 1]>(x) a = Add(t, b) y = Transpose<perm = [0, 2, 1]>(a) o = Neg(b) })");
  EXPECT_EQ(cancel(model), 0);
}

TEST(CancelTransposes, InsideABranch) {
  Model model = model_of(R"(g (float[n,3,8] x, bool c) => (float[n,3,8] y) { t = Transpose<perm = [0, 2, 1]>(x)
    y = If(c) <then_branch = p () => (float[n,3,8] u) { a = Relu(t) u = Transpose<perm = [0, 2, 1]>(a) },
               else_branch = q () => (float[n,3,8] v) { t = Transpose<perm = [0, 2, 1]>(x) b = Relu(t) v = Transpose<perm = [0, 2, 1]>(b) }> })");
  EXPECT_EQ(cancel(model), 1);
  EXPECT_NE(picture(model).find("v = Relu(x)"), std::string::npos) << picture(model);
}

}  // namespace
}  // namespace octet
