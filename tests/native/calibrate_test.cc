// What calibration observes does not depend on how the model is cut, on threads, or on how samples are shared out.
#include "engine/calibrate.h"

#include <gmock/gmock.h>

#include <atomic>
#include <limits>

#include "engine/worker_crew.h"
#include "error_of.h"
#include "graph_pictures.h"
#include "listed_samples.h"
#include "octet/dtype.h"
#include "octet/segments.h"
#include "tiny_models.h"

namespace octet {
namespace {

using pictures::model_of;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

constexpr float kInf = std::numeric_limits<float>::infinity(), kNan = std::numeric_limits<float>::quiet_NaN();

Sample floats_of(std::vector<std::int64_t> dims, const std::vector<float>& values) {
  return {{"x", tiny::floats(std::move(dims), values)}};
}

// Of `count` samples with `rows(i)` rows each.
ListedSamples random_rows(int count, int columns, const std::function<int(int)>& rows) {
  std::uint32_t state = 7;
  std::vector<Sample> samples;
  for (int i = 0; i < count; ++i) {
    std::vector<float> values(static_cast<std::size_t>(rows(i) * columns));
    for (float& value : values) {
      state = state * 1664525u + 1013904223u;
      value = static_cast<float>(state >> 8) / 4194304.0f - 2;
    }
    samples.push_back(floats_of({rows(i), columns}, values));
  }
  return ListedSamples(std::move(samples));
}

const char* const kLayers = R"(g (float[n,32] x) => (float[n,8] y) <float[32,64] u, float[64,64] v, float[64,8] w> {
  a = MatMul(x, u)
  b = Relu(a)
  c = MatMul(b, v)
  d = Add(c, b)
  e = Tanh(d)
  y = MatMul(e, w) })";

std::string learned(const Model& model, SampleReader& samples, const CalibrationOptions& options,
                    std::size_t* segments = nullptr) {
  samples.rewind();
  const Calibration result = run_calibration(model, float_values(model), samples, options);
  if (segments) *segments = result.segments;
  return ranges_to_json(result.ranges);
}

TEST(Calibrate, SameHoweverTheModelIsCut) {
  const Model model = model_of(kLayers);
  ListedSamples samples = random_rows(5, 32, [](int i) { return 40 + i; });
  std::size_t segments = 0;
  const std::string whole = learned(model, samples, {.threads = 1}, &segments);
  EXPECT_EQ(segments, 1u);
  // The budget is for all samples that run at once: three have a third each.
  struct Case {
    std::uint64_t budget;
    unsigned threads;
    std::size_t segments;
  };
  for (const auto& [budget, threads, wanted] : {Case{30'000, 1, 4}, {90'000, 3, 4}, {1, 1, 6}, {1, 3, 6}}) {
    EXPECT_EQ(learned(model, samples, {.memory_budget = budget, .threads = threads}, &segments), whole) << threads;
    EXPECT_EQ(segments, wanted) << budget << " bytes, " << threads << " threads";
  }
}

// As many samples as there are lanes, fewer and more; what each lane saw adds up.
TEST(Calibrate, SameHoweverManySamplesRunAtOnce) {
  const Model model = model_of(kLayers);
  for (const int count : {1, 2, 3, 9}) {
    ListedSamples samples = random_rows(count, 32, [](int i) { return 2 + i; });
    const std::string alone = learned(model, samples, {.threads = 1});
    for (const unsigned threads : {2u, 4u, 7u})
      EXPECT_EQ(learned(model, samples, {.threads = threads}), alone) << count;
  }
}

TEST(Calibrate, CutsFinerWhenSamplesGrow) {
  const Model model = model_of(kLayers);
  ListedSamples samples = random_rows(6, 32, [](int i) { return i < 2 ? 2 : 60 * i; });
  std::size_t segments = 0;
  const std::string whole = learned(model, samples, {}, &segments);
  EXPECT_EQ(segments, 1u);
  EXPECT_EQ(learned(model, samples, {.memory_budget = 30'000}, &segments), whole);
  EXPECT_GT(segments, 1u);
}

TEST(Calibrate, ObservesEveryValueOfEverySample) {
  const Model model = model_of(R"(g (float[n] x) => (float[n] y) { a = Neg(x) y = Relu(a) })");
  ListedSamples samples({floats_of({3}, {1, -2, 3}), floats_of({2}, {5, -7})});
  const Ranges ranges = run_calibration(model, {"x", "a", "y"}, samples).ranges;
  EXPECT_EQ(ranges.samples, 2u);
  EXPECT_EQ(ranges.model, fingerprint_of(model));
  ASSERT_EQ(ranges.tensors.size(), 3u);
  const Observation& a = ranges.tensors.at("a");
  EXPECT_EQ(a.runs(), 2u);
  EXPECT_EQ(a.values(), 5u);
  EXPECT_EQ(a.min_max().low, -5);
  EXPECT_EQ(a.min_max().high, 7);
  EXPECT_EQ(a.average().high, 4.5f) << "of 2 and 7";
  EXPECT_EQ(ranges.tensors.at("x").min_max().low, -7);
  EXPECT_EQ(ranges.tensors.at("y").min_max().low, 0);
}

TEST(Calibrate, PartsMergeToTheWhole) {
  const Model model = model_of(kLayers);
  ListedSamples all = random_rows(7, 32, [](int i) { return 3 + i; });
  const std::string whole = learned(model, all, {});
  all.rewind();
  std::vector<Sample> even, odd;
  for (std::size_t i = 0; i < all.size(); ++i) (i % 2 ? odd : even).push_back(*all.next());
  ListedSamples first(even), second(odd);
  const auto part = [&](SampleReader& samples) {
    return ranges_from_json(ranges_to_json(run_calibration(model, float_values(model), samples).ranges));
  };
  Ranges sum = part(second);
  sum.merge(part(first));
  EXPECT_EQ(ranges_to_json(sum), whole);
}

TEST(Calibrate, TellsWhatWasNotFinite) {
  const Model model = model_of(R"(g (float[n] x) => (float[n] y) { a = Neg(x) y = Relu(a) })");
  ListedSamples samples({floats_of({2}, {1, 2}), floats_of({3}, {kInf, kNan, 4}), floats_of({1}, {-kInf})});
  const Calibration result = run_calibration(model, {"a"}, samples);
  const Observation& a = result.ranges.tensors.at("a");
  EXPECT_EQ(a.min_max().low, -4);
  EXPECT_EQ(a.min_max().high, -1);
  EXPECT_EQ(a.non_finite(), 3u);
  EXPECT_THAT(result.notes,
              ElementsAre("'a': 3 values were NaN or infinite in 2 of 3 samples, first in 1.npz; they are left out"));
}

TEST(Calibrate, TellsOfAFewTensorsThatWereNotFinite) {
  std::string nodes = "v0 = Neg(x)";
  std::vector<std::string> taps = {"x", "v0"};
  for (int i = 1; i < 8; ++i) {
    nodes += " v" + std::to_string(i) + " = Neg(v" + std::to_string(i - 1) + ")";
    taps.push_back("v" + std::to_string(i));
  }
  const Model model = model_of("g (float[n] x) => (float[n] v7) { " + nodes + " }");
  ListedSamples samples({floats_of({2}, {kInf, 1})});
  const Calibration result = run_calibration(model, taps, samples);
  ASSERT_EQ(result.notes.size(), 6u);
  EXPECT_THAT(result.notes.back(), HasSubstr("4 other"));
}

TEST(Calibrate, EmptyTensorsCountForNothing) {
  const Model model = model_of(R"(g (float[n] x) => (float[n] y) { a = Neg(x) y = Relu(a) })");
  ListedSamples samples({floats_of({0}, {}), floats_of({1}, {3})});
  const Calibration result = run_calibration(model, {"x", "a"}, samples);
  EXPECT_EQ(result.ranges.samples, 2u);
  EXPECT_EQ(result.ranges.tensors.at("a").runs(), 1u);
  EXPECT_EQ(result.ranges.tensors.at("a").min_max().high, -3);
  EXPECT_THAT(result.notes, IsEmpty());
}

TEST(Calibrate, ReadsEveryFloatType) {
  const Model model = model_of(R"(g (float[n] x) => (float[n] y) {
    h = Cast<to = 10>(x) d = Cast<to = 11>(x) b = Cast<to = 16>(x) i = Cast<to = 7>(x) y = Cast<to = 1>(d) })");
  ListedSamples samples({floats_of({3}, {-1.5f, 0.25f, 2})});
  const Ranges ranges = run_calibration(model, {"h", "d", "b", "i"}, samples).ranges;
  for (const char* name : {"h", "d", "b"}) {
    EXPECT_EQ(ranges.tensors.at(name).min_max().low, -1.5f) << name;
    EXPECT_EQ(ranges.tensors.at(name).min_max().high, 2) << name;
  }
  EXPECT_FALSE(ranges.tensors.contains("i")) << "integers have no range to learn";
}

TEST(Calibrate, NamesTheSampleThatDoesNotRun) {
  const Model model =
      model_of(R"(g (float[n] x) => (float[m] y) <int64[2] s = {2, 2}> { a = Neg(x) y = Reshape(a, s) })");
  ListedSamples samples({floats_of({4}, {1, 2, 3, 4}), floats_of({3}, {1, 2, 3})});
  for (const std::uint64_t budget : {1'000'000, 1}) {
    samples.rewind();
    EXPECT_THAT(error_of(ErrorCode::kRun,
                         [&] {
                           run_calibration(model, {"a", "y"}, samples, {.memory_budget = budget});
                         }),
                HasSubstr("1.npz"));
  }
}

// One value is 26 MB, and none can be cut: two samples hold 102 MB at once, three more than they may.
TEST(Calibrate, FewerSamplesRunAtOnceWhereSingleValuesAreLarge) {
  const Model model = model_of(R"(g (float[n,32] x) => (float[n,32] y) { y = Neg(x) })");
  ListedSamples samples = random_rows(3, 32, [](int) { return 200'000; });
  const Calibration result = run_calibration(model, {"y"}, samples, {.threads = 4});
  EXPECT_EQ(result.side_by_side, 2u);
  EXPECT_EQ(result.ranges.tensors.at("y").runs(), 3u);
  ListedSamples small = random_rows(3, 32, [](int) { return 2; });
  EXPECT_EQ(run_calibration(model, {"y"}, small, {.threads = 4}).side_by_side, 3u);
  small.rewind();
  EXPECT_EQ(run_calibration(model, {"y"}, small, {.threads = 1}).side_by_side, 1u);
}

// Side by side several fail; the first in order is told of, whichever fails first.
TEST(Calibrate, NamesTheFirstOfSeveralSamplesThatDoNotRun) {
  const Model model =
      model_of(R"(g (float[n] x) => (float[m] y) <int64[2] s = {2, 2}> { a = Neg(x) y = Reshape(a, s) })");
  std::vector<Sample> list(12, floats_of({4}, {1, 2, 3, 4}));
  for (int i = 5; i < 12; ++i) list[i] = floats_of({3}, {1, 2, 3});
  ListedSamples samples(list);
  for (int again = 0; again < 20; ++again) {
    samples.rewind();
    EXPECT_THAT(error_of(ErrorCode::kRun,
                         [&] {
                           run_calibration(model, {"a", "y"}, samples, {.threads = 4});
                         }),
                HasSubstr("5.npz"));
  }
}

TEST(Calibrate, ProgressOnlyGrowsAndEnds) {
  const Model model = model_of(kLayers);
  ListedSamples samples = random_rows(9, 32, [](int) { return 3; });
  std::vector<double> told;
  run_calibration(model, float_values(model), samples,
                  {.memory_budget = 1, .threads = 4, .progress = [&](double part) { told.push_back(part); }});
  EXPECT_EQ(told.size(), 9u * 6u);
  EXPECT_TRUE(std::is_sorted(told.begin(), told.end()));
  EXPECT_DOUBLE_EQ(told.back(), 1);
}

TEST(Calibrate, WantsSamplesAndKnownValues) {
  const Model model = model_of(kLayers);
  ListedSamples none({});
  EXPECT_THAT(error_of(ErrorCode::kData, [&] { run_calibration(model, {"a"}, none); }),
              testing::AllOf(HasSubstr("the list"), HasSubstr("not one sample")));
  EXPECT_THAT(error_of(ErrorCode::kUsage, [&] { run_calibration(model, {"nothing"}, none); }), HasSubstr("nothing"));
}

// The file says that a is of rank 3, which nothing contradicts before it runs.
TEST(Calibrate, RunsWholeWhereDescriptionsAreWrong) {
  onnx::ModelProto proto = pictures::proto_of(R"(g (float[n,4] x) => (float[m] y) {
    a = com.microsoft.Trilu(x) b = Neg(a) y = Relu(b) })");
  auto& info = *proto.mutable_graph()->add_value_info();
  info.set_name("a");
  auto& type = *info.mutable_type()->mutable_tensor_type();
  type.set_elem_type(onnx::TensorProto::FLOAT);
  for (int i = 0; i < 3; ++i) type.mutable_shape()->add_dim();
  const Model model = fixtures::load(proto);
  ListedSamples samples = random_rows(2, 4, [](int) { return 3; });
  const Calibration result = run_calibration(model, {"a", "b", "y"}, samples, {.memory_budget = 1});
  EXPECT_EQ(result.segments, 1u);
  EXPECT_EQ(result.ranges.tensors.at("b").values(), 24u) << "each sample counts once";
}

TEST(Calibrate, LargeWeightsGoThroughFilesThatVanish) {
  onnx::ModelProto proto = pictures::proto_of(R"(g (float[n,4] x) => (float[n,m] y) { a = Neg(x) y = MatMul(a, w) })");
  auto& tensor = *proto.mutable_graph()->add_initializer();
  tensor.set_name("w");
  tensor.set_data_type(onnx::TensorProto::FLOAT);
  constexpr std::int64_t kColumns = 2'500'000;  // 40 MB
  tensor.add_dims(4);
  tensor.add_dims(kColumns);
  std::string& raw = *tensor.mutable_raw_data();
  raw.resize(4 * kColumns * sizeof(float));
  const float last = 3;
  std::memcpy(raw.data() + raw.size() - sizeof last, &last, sizeof last);
  const tiny::Folder folder;
  const char* const before = std::getenv("TMPDIR");
  const std::string kept = before ? before : "";
  ::setenv("TMPDIR", folder.path.c_str(), 1);
  ListedSamples samples({floats_of({1, 4}, {0, 0, 0, -2})});
  const Ranges ranges = run_calibration(fixtures::load(proto), {"y"}, samples).ranges;
  before ? ::setenv("TMPDIR", kept.c_str(), 1) : ::unsetenv("TMPDIR");
  EXPECT_EQ(ranges.tensors.at("y").min_max().high, 6);
  EXPECT_TRUE(std::filesystem::is_empty(folder.path));
}

TEST(Calibrate, OnlyRunsWithoutObserving) {
  const Model model = model_of(kLayers);
  ListedSamples samples = random_rows(2, 32, [](int) { return 2; });
  const Calibration result = run_calibration(model, float_values(model), samples, {.observe = false});
  EXPECT_EQ(result.ranges.samples, 2u);
  EXPECT_TRUE(result.ranges.tensors.empty());
}

TEST(WorkerCrew, DoesEveryJobOnce) {
  for (const unsigned threads : {0u, 1u, 2u, 5u}) {
    WorkerCrew crew(threads);
    for (const std::size_t count : {0, 1, 2, 100}) {
      std::vector<std::atomic<int>> done(count);
      crew.run(count, [&](std::size_t i) { ++done[i]; });
      for (const auto& times : done) EXPECT_EQ(times, 1);
    }
  }
}

TEST(WorkerCrew, PassesOnWhatIsThrown) {
  WorkerCrew crew(3);
  for (int i = 0; i < 20; ++i)
    EXPECT_THROW(crew.run(10,
                          [](std::size_t job) {
                            if (job == 4) throw std::runtime_error("four");
                          }),
                 std::runtime_error);
  std::atomic<int> done = 0;
  crew.run(10, [&](std::size_t) { ++done; });
  EXPECT_EQ(done, 10) << "it goes on working";
}

}  // namespace
}  // namespace octet
