// merge_views and merge_chains: several nodes in a row that say what one can say.
#include <gmock/gmock.h>

#include "graph_pictures.h"
#include "prepare/pass.h"

namespace octet {
namespace {

using pictures::lines;
using pictures::model_of;
using pictures::picture;

std::string after(void (*pass)(Model&, PassReport&), const std::string& text, int opset = 17) {
  Model model = model_of("g " + text, opset);
  pictures::run_and_sweep(pass, model);
  return picture(model);
}

std::string views(const std::string& text, int opset = 17) { return after(run_merge_views, text, opset); }
std::string chains(const std::string& text, int opset = 17) { return after(run_merge_chains, text, opset); }

TEST(MergeViews, TheLastReshapeCounts) {
  EXPECT_EQ(views("(float[2,6] x) => (float[4,3] y) <int64[1] s = {-1}, int64[2] t = {4, -1}> { a = Reshape(x, s) y = "
                  "Reshape(a, t) }"),
            "\ny = Reshape(x, t)\n");
  EXPECT_EQ(views("(float[n,6] x) => (float[n,2,3] y) <int64[3] s = {0, 3, 2}, int64[3] t = {0, 2, 3}> { a = "
                  "Reshape(x, s) y = Reshape(a, t) }"),
            "\ny = Reshape(x, t)\n")
      << "0 copies the same axis either way";
}

TEST(MergeViews, AZeroThatWouldCopyAnotherAxisIsSaidAnew) {
  Model model = model_of(
      "g (float[2,6] x) => (float[4,1,3] y) <int64[2] s = {4, 3}, int64[3] t = {0, 1, 3}> { a = Reshape(x, s) y = "
      "Reshape(a, t) }");
  PassReport report;
  run_merge_views(model, report);
  EXPECT_EQ(report.changes, 1);
  run_drop_unused(model, report);
  EXPECT_EQ(picture(model), "\ny = Reshape(x, y_shape)\n");
  EXPECT_EQ(tensor_as_int64(model, model.proto().graph().initializer(0)), (std::vector<std::int64_t>{4, 1, 3}));
}

TEST(MergeViews, AChainInOneSweep) {
  EXPECT_EQ(views(R"((float[2,1,6] x) => (float[12] y) <int64[1] k = {1}, int64[2] u = {0, 3}, int64[1] s = {-1}> {
    a = Squeeze(x, k) b = Unsqueeze(a, u) c = Flatten(b) d = Transpose<perm = [1, 0]>(c) y = Reshape(d, s) })"),
            "\ny = Reshape(x, s)\n");
  EXPECT_EQ(views(R"((float[2,3] x) => (float[2,3] y) <int64[1] k = {1}> {
    a = Unsqueeze(x, k) b = Squeeze(a, k) y = Neg(b) })"),
            "\ny = Neg(x)\n");
}

TEST(MergeViews, AxesAreJoined) {
  Model model = model_of(
      "g (float[n,m] x) => (float[n,1,1,m] y) <int64[1] a = {1}, int64[1] b = {2}> { u = Unsqueeze(x, a) y = "
      "Unsqueeze(u, b) }");
  PassReport report;
  run_merge_views(model, report);
  run_drop_unused(model, report);
  EXPECT_EQ(picture(model), "\ny = Unsqueeze(x, y_axes)\n");
  EXPECT_EQ(tensor_as_int64(model, model.proto().graph().initializer(0)), (std::vector<std::int64_t>{1, 2}));
  EXPECT_EQ(
      views("(float[n,m] x) => (float[1,n,m,1] y) { u = Unsqueeze<axes = [-1]>(x) y = Unsqueeze<axes = [0]>(u) }", 11),
      "\ny = Unsqueeze<axes=[0,3]>(x)\n");
  EXPECT_EQ(
      views("(float[1,n,1,m] x) => (float[n,m] y) { u = Squeeze<axes = [0]>(x) y = Squeeze<axes = [-2]>(u) }", 11),
      "\ny = Squeeze<axes=[0,2]>(x)\n");
}

TEST(MergeViews, DeclinesWhatCannotBeSaid) {
  for (const char* text : {
           // Two sizes that only the run knows, neither of them in its place.
           "(float[n,m,4] x, int64[3] s) => (float[p,q,r] y) <int64[1] k = {-1}> { a = Reshape(x, k) y = Reshape(a, s) "
           "}",
           // An empty batch: 0 beside -1 tells nothing.
           "(float[n,1,m,k] x) => (float[n,u] y) <int64[1] k = {1}> { a = Squeeze(x, k) y = Flatten(a) }",
           "(float[2,3] x) => (float[6] y) <int64[1] s = {-1}> { a = Transpose(x) y = Reshape(a, s) }",
           "(float[0,3] x) => (float[1,0,7] y) <int64[2] s = {0, 7}, int64[1] k = {0}> { a = Reshape<allowzero = 1>(x, "
           "s) y = Unsqueeze(a, k) }",
       }) {
    Model model = model_of(std::string("g ") + text);
    PassReport report;
    run_merge_views(model, report);
    EXPECT_EQ(report.changes, 0) << text;
  }
}

TEST(MergeViews, InsideABranchOnly) {
  Model model = model_of(R"(g (float[2,3] x, bool c) => (float[6] y) <int64[2] s = {3, 2}, int64[1] f = {-1}> {
    a = Reshape(x, s)
    y = If(c) <then_branch = t () => (float[6] u) { u = Reshape(a, f) },
               else_branch = e () => (float[6] v) { b = Reshape(x, s) v = Reshape(b, f) }> })");
  PassReport report;
  run_merge_views(model, report);
  EXPECT_EQ(report.changes, 1) << "what stands around is shared by both branches";
}

TEST(MergeChains, Permutations) {
  EXPECT_EQ(chains("(float[a,b,c] x) => (float[b,a,c] y) { t = Transpose<perm = [2, 0, 1]>(x) y = Transpose<perm = [2, "
                   "1, 0]>(t) }"),
            "\ny = Transpose<perm=[1,0,2]>(x)\n");
  EXPECT_EQ(chains("(float[a,b,c] x) => (float[b,a,c] y) { t = Transpose<perm = [2, 0, 0]>(x) y = Transpose<perm = [2, "
                   "1, 0]>(t) }"),
            "\nt = Transpose<perm=[2,0,0]>(x)\ny = Transpose<perm=[2,1,0]>(t)\n");
  // A hundred of three axes each: what it costs is one step per node.
}

TEST(MergeChains, CastsThatLoseNothing) {
  EXPECT_EQ(chains("(int32[n] x) => (float[n] y) { a = Cast<to = 7>(x) y = Cast<to = 1>(a) }"),
            "\ny = Cast<to=1>(x)\n");
  EXPECT_EQ(chains("(bool[n] x) => (bool[n] y) { a = Cast<to = 1>(x) y = Cast<to = 9>(a) }"), "\ny = Cast<to=9>(x)\n");
  for (const char* text : {"(float[n] x) => (float[n] y) { a = Cast<to = 7>(x) y = Cast<to = 1>(a) }",
                           "(int64[n] x) => (int64[n] y) { a = Cast<to = 6>(x) y = Cast<to = 7>(a) }",
                           "(int32[n] x) => (double[n] y) { a = Cast<to = 1>(x) y = Cast<to = 11>(a) }",
                           "(float[n] x) => (float[n] y) { a = Cast<to = 9>(x) y = Cast<to = 1>(a) }"}) {
    EXPECT_NE(chains(text).find("a = Cast"), std::string::npos) << text;
  }
}

TEST(MergeChains, ConcatsOfOneAxis) {
  EXPECT_EQ(chains("(float[n,2] x, float[n,2] z) => (float[n,8] y) { a = Concat<axis = 1>(x, z) y = Concat<axis = "
                   "-1>(z, a, x) }"),
            "\ny = Concat<axis=-1>(z, x, z, x)\n");
  EXPECT_NE(
      chains("(float[n,2] x) => (float[m,4] y) { a = Concat<axis = 0>(x, x) y = Concat<axis = 1>(a, a) }").find("a ="),
      std::string::npos);
  EXPECT_NE(chains("(float[n,2] x) => (float[n,6] y, float[n,4] z) { a = Concat<axis = 1>(x, x) y = Concat<axis = "
                   "1>(a, x) z = Neg(a) }")
                .find("a ="),
            std::string::npos)
      << "another reader";
}

TEST(MergeChains, SlicesOfDifferentAxes) {
  const std::string text =
      "g (float[8,8] x) => (float[2,1] y) <int64[1] a = {0}, int64[1] b = {2}, int64[1] c = {4}, int64[1] k = {1}, "
      "int64[1] m = {-1}> "
      "{ p = Slice(x, b, c, a) y = Slice(p, a, b, m, b) }";
  Model model = model_of(text);
  PassReport report;
  run_merge_chains(model, report);
  run_drop_unused(model, report);
  EXPECT_EQ(picture(model), "\ny = Slice(x, y_starts, y_ends, y_axes, y_steps)\n");
  const auto values = [&](int i) { return tensor_as_int64(model, model.proto().graph().initializer(i)); };
  using testing::ElementsAre;
  EXPECT_THAT(values(0), ElementsAre(2, 0));
  EXPECT_THAT(values(1), ElementsAre(4, 2));
  EXPECT_THAT(values(2), ElementsAre(0, 1));
  EXPECT_THAT(values(3), ElementsAre(1, 2));
  EXPECT_NE(chains("(float[8,8] x) => (float[1,8] y) <int64[1] a = {0}, int64[1] b = {2}, int64[1] k = {1}> { p = "
                   "Slice(x, a, b, a) y = Slice(p, k, b, a) }")
                .find("p ="),
            std::string::npos)
      << "the same axis twice";
  EXPECT_NE(chains("(float[8,8] x, int64[1] b) => (float[m,n] y) <int64[1] a = {0}, int64[1] k = {1}> { p = Slice(x, "
                   "a, b, a) y = Slice(p, a, b, k) }")
                .find("p ="),
            std::string::npos)
      << "an end that the run knows";
}

TEST(MergeChains, SlicesOfASliceThatOthersReadToo) {
  const std::string slices =
      "<int64[1] a = {0}, int64[1] b = {1}, int64[1] c = {4}> { p = Slice(x, a, c, a) q = Slice(p, a, b, b) r = "
      "Slice(p, b, c, b) y = Concat<axis = 1>(q, r) ";
  EXPECT_EQ(chains("(float[8,8] x) => (float[4,4] y) " + slices + "}"), lines(R"(
    q = Slice(x, q_starts, q_ends, q_axes)
    r = Slice(x, r_starts, r_ends, r_axes)
    y = Concat<axis=1>(q, r))"));
  EXPECT_NE(chains("(float[8,8] x) => (float[4,4] y, float[4,8] z) " + slices + "z = Neg(p) }").find("p ="),
            std::string::npos);
}

TEST(MergeChains, InsideABranch) {
  Model model = model_of(R"(g (int32[n] x, bool c) => (float[n] y) { a = Cast<to = 7>(x)
    y = If(c) <then_branch = t () => (float[n] u) { u = Cast<to = 1>(a) },
               else_branch = e () => (float[n] v) { b = Cast<to = 7>(x) v = Cast<to = 1>(b) }> })");
  PassReport report;
  run_merge_chains(model, report);
  EXPECT_EQ(report.changes, 1);
}

TEST(MergeChains, StandsNodesThatAreNone) {
  for (const char* pair :
       {"a = Transpose(x) y = Transpose<perm = [5, -1]>(a)", "a = Slice(x) y = Slice(a)", "a = Cast(x) y = Cast(a)",
        "a = Concat(x) y = Concat<axis = 99>(a)", "a = Gather(x) y = Unsqueeze(a)", "a = Transpose() y = Transpose(a)",
        "a = Slice(x, i, i, i) y = Slice(a, i, i, i)", "a = Unsqueeze(x, i) y = Unsqueeze(a, i)",
        "a = Squeeze(x, i) y = Squeeze(a, i)"}) {
    Model model = model_of(std::string("g (float[2,2] x) => (float[2,2] y) <int64[2] i = {-7, 900}> { ") + pair + " }");
    PassReport report;
    run_merge_chains(model, report);
    run_merge_views(model, report);
    EXPECT_NO_THROW(GraphView{model.proto()});
  }
}

}  // namespace
}  // namespace octet
