// Where a model is cut, and what each segment is: inputs, nodes, outputs.
#include "octet/segments.h"

#include <gmock/gmock.h>

#include "graph_pictures.h"

namespace octet {
namespace {

using pictures::lines;
using pictures::message_of;
using pictures::model_of;
using pictures::picture;
using testing::ElementsAre;
using testing::HasSubstr;

// "x → a b" per segment: what goes in and what comes out, with * at what is observed, then what is let go.
std::string told(const SegmentedModel& model) {
  std::string out = "\n";
  for (const Segment& segment : model.segments()) {
    for (const auto& name : segment.inputs) out += name + " ";
    out += "→";
    for (const auto& name : segment.outputs) {
      const bool observed = std::find(segment.observed.begin(), segment.observed.end(), name) != segment.observed.end();
      out += " " + name + (observed ? "*" : "");
    }
    out += "; drops";
    for (const auto& name : segment.dropped) out += " " + name;
    out += "\n";
  }
  return out;
}

const char* const kChain = R"(g (float[4,8] x) => (float[4,8] d) <float[8,8] w> {
  a = Relu(x)
  b = MatMul(a, w)
  c = Add(b, a)
  unused = Neg(b)
  d = Sigmoid(c) })";

TEST(Segments, OneUntilCut) {
  const SegmentedModel model(model_of(kChain), {"a", "c", "d"});
  EXPECT_EQ(told(model), "\nx → a* c* d*; drops a c d\n");
  EXPECT_EQ(picture(model.model_of(0)), lines(R"(
    a = Relu(x)
    b = MatMul(a, w)
    c = Add(b, a)
    d = Sigmoid(c))"))
      << "a node that leads to nothing wanted is left out";
}

TEST(Segments, CutsWithinTheBudget) {
  SegmentedModel model(model_of(kChain), {"a", "b", "c", "d"});
  const std::map<std::string, std::uint64_t> bytes = {{"a", 10}, {"b", 10}, {"c", 10}, {"d", 10}};
  model.cut(bytes, 40);
  EXPECT_EQ(model.segments().size(), 1u);
  model.cut(bytes, 30);
  EXPECT_EQ(told(model), "\nx → a* b* c*; drops a b\nc → d*; drops c d\n") << "one value to cross instead of two";
  model.cut(bytes, 1);
  EXPECT_EQ(told(model), "\nx → a*; drops\na → b*; drops\nb a → c*; drops a b\nc → d*; drops c d\n");
  EXPECT_EQ(picture(model.model_of(2)), lines("c = Add(b, a)"));
  EXPECT_EQ(pictures::stored(model.model_of(1)), "\nw: FLOAT[8,8]\n");
  EXPECT_EQ(pictures::stored(model.model_of(2)), "\n") << "weights go where they are read";
  model.cut(bytes, 1000);
  EXPECT_EQ(model.segments().size(), 1u) << "it can be cut anew";
}

TEST(Segments, SubgraphsReadWhatCrosses) {
  SegmentedModel model(model_of(R"(g (float[4] x, bool c) => (float[4] y) {
    a = Relu(x)
    b = Neg(a)
    y = If(c) <then_branch = t () => (float[4] p) { p = Add(a, b) }, else_branch = e () => (float[4] a) { }> })"),
                       {"a", "b", "y"});
  model.cut({{"a", 1}, {"b", 1}, {"y", 1}}, 1);
  EXPECT_EQ(told(model), "\nx → a*; drops\na → b*; drops\nc a b → y*; drops a b y\n");
}

TEST(Segments, NothingUntypedCrosses) {
  SegmentedModel model(model_of(R"(g (float[4,8] x) => (float[4,8] y) {
    a = Relu(x)
    s = SplitToSequence<axis = 0>(a)
    b = Neg(a)
    t = ConcatFromSequence<axis = 0>(s)
    y = Add(t, b) })"),
                       {"a", "b", "t", "y"});
  model.cut({{"a", 10}, {"b", 10}, {"t", 10}, {"y", 10}}, 1);
  EXPECT_EQ(told(model), "\nx → a*; drops\na → b* t*; drops a\nt b → y*; drops b t y\n");
}

TEST(Segments, EstimatesByTheInputsOfARun) {
  const SegmentedModel model(model_of(R"(g (float[n,8] x) => (float[m] y) <float[8,16] w, int64[1] axes = {0}> {
    a = MatMul(x, w)
    i = NonZero(a)
    h = Cast<to = 10>(a)
    y = ReduceMean<keepdims = 0>(a) })"),
                             {"a", "i", "h", "y"});
  const auto bytes = model.estimate({{"x", {3, 8}}});
  EXPECT_EQ(bytes.at("a"), 4u * 3 * 16);
  EXPECT_EQ(bytes.at("h"), 2u * 3 * 16);
  EXPECT_EQ(bytes.at("y"), 4u);
  EXPECT_EQ(bytes.at("i"), 4u * 3 * 16) << "as large as what it is made from, where nothing is known";
}

TEST(Segments, FloatValuesInOrder) {
  EXPECT_THAT(float_values(model_of(R"(g (float[4] x, int64[1] k) => (float[4] y, float16[4] h) <float[4] w> {
    a = Add(x, w)
    i = Cast<to = 7>(a)
    h = Cast<to = 10>(a)
    y = Neg(a) })")),
              ElementsAre("x", "a", "h", "y"));
}

TEST(Segments, RefusesWhatNoNodeMakes) {
  for (const char* name : {"w", "x", "nothing"}) {
    EXPECT_THAT(message_of(ErrorCode::kUsage, [&] { SegmentedModel(model_of(kChain), {"a", name}); }), HasSubstr(name));
  }
}

TEST(Segments, NothingWantedIsNothingToRun) {
  SegmentedModel model(model_of(kChain), {});
  EXPECT_EQ(told(model), "\n");
  model.cut({}, 1);
  EXPECT_EQ(told(model), "\n");
}

}  // namespace
}  // namespace octet
