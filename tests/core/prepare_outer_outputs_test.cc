// A branch may give back a value from around it: that is a reading too, though no node's. Runtimes refuse such models,
// exporters write them all the same, and what the name means must not change.
#include <gmock/gmock.h>

#include "graph_pictures.h"
#include "prepare/pass.h"

namespace octet {
namespace {

using pictures::model_of;
using pictures::picture;

// What the branches' outputs are made of, written out to the inputs; Identity is not written.
std::string made_of(const GraphView& view, const Scope& scope, const std::string& name) {
  const Value* value = view.find(scope, name);
  if (!value) return "?";
  if (!value->producer) return value->name;
  const auto& node = *value->producer;
  std::string text;
  for (const auto& input : node.input()) text += (text.empty() ? "" : ", ") + made_of(view, *value->scope, input);
  return is_op(node, "Identity") ? text : node.op_type() + "(" + text + ")";
}

// Of the If that makes y.
std::vector<std::string> branch_outputs(Model& model) {
  const GraphView view(model.proto());
  std::vector<std::string> all;
  for (const auto& scope : view.scopes()) {
    if (!scope->owner || scope->owner->output(0) != "y") continue;
    for (const auto& output : scope->graph->output()) all.push_back(made_of(view, *scope, output.name()));
  }
  return all;
}

// `nodes` make a and b of x; one branch gives b, the other one what `other` says. Each pass alone, then all of them.
void expect_kept(const std::string& nodes, const std::string& other, const std::string& weights = "") {
  const std::string text = "g (float[1,3,4] x, bool c) => (float[s,t,u] y, float[p,q,r] z) <int64[3] k = {3, 1, 4}" +
                           weights + "> {" + nodes + R"( z = Sqrt(b)
      y = If(c) <then_branch = t () => (float[h,i,j] b) { unused = Neg(x) },
                 else_branch = e () => )" +
                           other + "> }";
  std::vector<std::vector<std::string>> lists;
  for (const Pass& pass : all_passes()) lists.push_back({std::string(pass.name)});
  for (const auto& passes : lists) {
    Model model = model_of(text);
    const auto before = branch_outputs(model);
    PrepareOptions options;
    options.passes = passes;
    prepare(model, options);
    const auto after = branch_outputs(model);
    ASSERT_EQ(after.size(), before.size()) << passes[0] << picture(model);
    const bool rewritten = after[0] != before[0];  // as the main graph's own output is
    GraphView view(model.proto());
    if (rewritten) {
      EXPECT_EQ("Sqrt(" + after[0] + ")", made_of(view, view.main(), "z")) << passes[0] << picture(model);
    }
  }
  Model model = model_of(text);
  prepare(model);
  GraphView view(model.proto());
  EXPECT_EQ("Sqrt(" + branch_outputs(model)[0] + ")", made_of(view, view.main(), "z")) << picture(model);
}

const char* const kGivesA = "(float[h,i,j] a) { unused = Neg(x) }";
const char* const kReadsA = "(float[h,i,j] o) { o = Exp(a) }";
const char* const kReadsB = "(float[h,i,j] o) { o = Exp(b) }";

TEST(OuterOutputs, Identities) {
  for (const char* other : {kGivesA, kReadsA, kReadsB}) {
    expect_kept("a = Relu(x) b = Identity(a)", other);
    expect_kept("a = Identity(x) b = Identity(a)", other);
    expect_kept("a = Identity(w) b = Identity(a)", other, ", float[1,3,4] w");
  }
}

TEST(OuterOutputs, NoOps) {
  for (const char* other : {kGivesA, kReadsA, kReadsB}) {
    expect_kept("a = Relu(x) b = Add(a, w)", other, ", float w = {0}");
    expect_kept("a = Transpose<perm = [0,1,2]>(x) b = Cast<to = 1>(a)", other);
  }
}

TEST(OuterOutputs, EqualNodes) {
  for (const char* other : {kGivesA, kReadsA, kReadsB}) {
    expect_kept("a = Relu(x) b = Relu(x)", other);
    expect_kept("a, d = Split<axis = 2>(x, s) b, e = Split<axis = 2>(x, s)", other, ", int64[2] s = {2, 2}");
  }
}

TEST(OuterOutputs, Folds) {
  for (const char* other : {kGivesA, kReadsA, kReadsB}) {
    expect_kept("a = Cast<to = 1>(w) b = Cast<to = 1>(w)", other, ", float16[1,3,4] w");
    expect_kept("a = Neg(w) b = Exp(a)", other, ", float[1,3,4] w");
    expect_kept("a = Reshape(w, k) b = Reshape(w, k)", other, ", float[1,3,4] w");
    expect_kept("d = Shape(x) a = Cast<to = 1>(d) b = Cast<to = 1>(d)", other);
  }
}

TEST(OuterOutputs, Fusions) {
  for (const char* other : {kGivesA, kReadsA, kReadsB}) {
    expect_kept("a = Conv(x, w) b = Add(a, v)", other, ", float[5,3,1] w, float[5,1] v");
    expect_kept("d = Pad(x, p) a = Conv(d, w) b = Relu(a)", other, ", int64[6] p = {0, 0, 1, 0, 0, 1}, float[5,3,1] w");
    expect_kept("d = Pad(x, p) a = Relu(d) b = Conv(d, w)", other, ", int64[6] p = {0, 0, 1, 0, 0, 1}, float[5,3,1] w");
    expect_kept("a = Sigmoid(x) b = Mul(x, a)", other);
    expect_kept("a = Relu(x) b = Min(a, six)", other, ", float six = {6}");
    expect_kept("d = Exp(x) a = ReduceSum(d, m) b = Div(d, a)", other, ", int64[1] m = {-1}");
  }
}

TEST(OuterOutputs, Views) {
  for (const char* other : {kGivesA, kReadsA, kReadsB}) {
    expect_kept("a = Reshape(x, k) b = Reshape(a, k)", other);
    expect_kept("a = Transpose<perm = [2,1,0]>(x) b = Transpose<perm = [2,1,0]>(a)", other);
    expect_kept("d = Transpose<perm = [2,1,0]>(x) a = Relu(d) b = Transpose<perm = [2,1,0]>(a)", other);
    expect_kept("a = Concat<axis = 0>(x, x) b = Concat<axis = 0>(a, x)", other);
    expect_kept("a = Expand(x, e) b = Exp(a)", other, ", int64[3] e = {2, 3, 4}");
    expect_kept("a = Gather<axis = 0>(x, i) b = Unsqueeze(a, ax)", other, ", int64 i = {0}, int64[1] ax = {0}");
  }
}

TEST(OuterOutputs, KnownBranches) {
  for (const char* other : {kGivesA, kReadsA, kReadsB}) {
    expect_kept(R"(a = Relu(x) b = If(t) <then_branch = t1 () => (float[h,i,j] a) { un = Neg(x) },
                                          else_branch = e1 () => (float[h,i,j] f) { f = Neg(x) }>)",
                other, ", bool t = {1}");
    expect_kept(R"(a = Relu(x) b = If(t) <then_branch = t1 () => (float[h,i,j] a) { un = Neg(x) },
                                          else_branch = e1 () => (float[h,i,j] f) { f = Neg(a) }>)",
                other, ", bool t = {0}");
  }
}

}  // namespace
}  // namespace octet
