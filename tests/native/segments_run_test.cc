// A model run in segments shows the same values, to the last bit, as the whole model with these values as outputs.
#include <gmock/gmock.h>

#include "engine/engine.h"
#include "engine/shared_arena.h"
#include "error_of.h"
#include "graph_pictures.h"
#include "octet/dtype.h"
#include "octet/segments.h"
#include "octet/synthetic.h"
#include "random_graph.h"
#include "tiny_models.h"

namespace octet {
namespace {

using random_graphs::Random;
using random_graphs::RandomModel;

constexpr int kGraphs = 150;

Session open(const Model& model) {
  MemorySink sink;
  save_model(model, sink);
  return Session::from_bytes(sink.bytes(), {.optimize = false, .shared_arena = true});
}

Sample made_up_inputs(const Model& model, std::uint64_t seed) {
  Random random(seed);
  Sample sample;
  for (const ValueInfo& info : inputs_of(model)) {
    std::vector<std::int64_t> dims;
    for (std::size_t i = 0; i < info.dims.size(); ++i)
      dims.push_back(info.dims[i] >= 0
                         ? info.dims[i]
                         : (info.symbols[i] == "n" ? random_graphs::kSymbolN : random_graphs::kSymbolM)[1]);
    std::vector<double> values(element_count(dims));
    for (double& value : values) value = info.type == kFloat ? random.uniform(-1, 1) : random.below(2);
    sample[info.name] = tensor_from_doubles(info.type, dims, values);
  }
  return sample;
}

// What the segments show, with every value let go as soon as nobody reads it any more.
Sample run_in_segments(const SegmentedModel& model, const Sample& inputs) {
  Sample seen;
  const SharedArena arena;
  LiveValues values;
  for (const auto& [name, tensor] : inputs) values.lend(name, tensor);
  for (std::size_t i = 0; i < model.segments().size(); ++i) {
    const Segment& segment = model.segments()[i];
    open(model.model_of(i)).run(values);
    for (const auto& name : segment.observed) {
      const auto view = values.view(name);
      if (view) seen[name] = {view->type, view->dims, {view->bytes.begin(), view->bytes.end()}};
    }
    for (const auto& name : segment.dropped) values.drop(name);
  }
  for (const auto& name : model.segments().empty() ? std::vector<std::string>{} : model.segments().back().outputs)
    EXPECT_FALSE(values.view(name)) << name;
  return seen;
}

TEST(SegmentsRun, RandomModelsShowTheSameValues) {
  int compared = 0, cuts = 0;
  for (std::uint64_t seed = 1; seed <= kGraphs; ++seed) {
    SCOPED_TRACE(seed);
    const RandomModel random = random_graphs::random_model(seed, random_graphs::random_budget(seed));
    Model model = fixtures::load(random.proto);
    normalize(model);
    const Sample inputs = made_up_inputs(model, seed);
    std::vector<std::string> wanted;  // all, or two of three
    int at = 0;
    for (const auto& node : model.proto().graph().node()) {
      for (const auto& output : node.output()) {
        if (!output.empty() && (seed % 2 || ++at % 3)) wanted.push_back(output);
      }
    }
    if (wanted.empty()) continue;  // all of it folded
    Model tapped = model.clone();
    add_outputs(tapped, wanted);
    Sample whole;
    try {
      whole = open(tapped).run(inputs, wanted);
    } catch (const Error&) {
      continue;  // some random models divide by zero in integers, or the like
    }
    SegmentedModel segmented(model, wanted);
    std::map<std::string, std::vector<std::int64_t>> dims;
    for (const auto& [name, tensor] : inputs) dims[name] = tensor.dims;
    const auto bytes = segmented.estimate(dims);
    for (const std::uint64_t budget : {~std::uint64_t{0}, std::uint64_t{2000}, std::uint64_t{1}}) {
      segmented.cut(bytes, budget);
      cuts += std::max(0, static_cast<int>(segmented.segments().size()) - 1);
      const Sample seen = run_in_segments(segmented, inputs);
      ASSERT_EQ(seen.size(), whole.size());
      for (const auto& [name, tensor] : whole) {
        const Tensor& other = seen.at(name);
        EXPECT_EQ(other.type, tensor.type);
        EXPECT_EQ(other.dims, tensor.dims);
        EXPECT_TRUE(other.bytes == tensor.bytes) << name << " with a budget of " << budget;
        ++compared;
      }
    }
  }
  EXPECT_GT(compared, 2000);
  EXPECT_GT(cuts, 1000);
}

TEST(SegmentsRun, SequencesDoNotCross) {
  Model model = pictures::model_of(R"(g (float[4,8] x) => (float[4,8] y) {
    a = Relu(x)
    s = SplitToSequence<axis = 0>(a)
    b = Neg(a)
    t = ConcatFromSequence<axis = 0>(s)
    y = Add(t, b) })");
  SegmentedModel segmented(model, {"a", "t", "y"});
  segmented.cut(segmented.estimate({}), 1);
  EXPECT_EQ(segmented.segments().size(), 3u);
  const Sample inputs = made_up_inputs(model, 1);
  Model tapped = model.clone();
  add_outputs(tapped, {"a", "t"});
  const Sample whole = open(tapped).run(inputs), seen = run_in_segments(segmented, inputs);
  ASSERT_EQ(seen.size(), 3u);
  for (const auto& [name, tensor] : whole) EXPECT_EQ(seen.at(name).bytes, tensor.bytes) << name;
}

TEST(SegmentsRun, NamesTheInputThatIsMissing) {
  LiveValues values;
  EXPECT_THAT(error_of(ErrorCode::kData, [&] { Session::from_bytes(tiny::matmul(), {}).run(values); }),
              testing::HasSubstr("'x'"));
}

}  // namespace
}  // namespace octet
