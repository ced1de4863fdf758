// Why bench's verdicts are as they are, where nobody kept a plan: read off the models and the runtime's graph.
#include "engine/bench_reasons.h"

#include <gmock/gmock.h>

#include "static_pictures.h"
#include "tiny_models.h"

namespace octet {
namespace {

using namespace pictures;
using testing::HasSubstr;
using testing::IsEmpty;

class Reasons : public testing::Test {
 protected:
  // Of the second model, had it been so much slower.
  Explanation slow(const Model& candidate) {
    tiny::write(folder_ / "float.onnx", tiny::matmul());
    tiny::write(folder_ / "int8.onnx", fixtures::save(candidate));
    job_.models = {folder_ / "float.onnx", folder_ / "int8.onnx"};
    const VerdictInput figures{4000, 1000, Speedup{0.5, 0.49, 0.51}, 33.0, false, {}};
    return BenchReasons(job_).of(1, judge(figures), figures, 10);
  }

  tiny::Folder folder_;
  BenchJob job_;
};

// A Softmax between: what goes out of integers and back again.
const std::string kTorn =
    "g (float[1,4,8,8] x) => (float[a,b,c,d] y) <float[4,4,1,1] u, float[4,4,1,1] v, float[4,4,1,1] w> { p = Conv(x, "
    "u) q = Softmax(p) r = Conv(q, v) s = Softmax(r) y = Conv(s, w) }";

TEST_F(Reasons, ConversionsOfAStaticModelAreCountedInTheRuntimesGraph) {
  ::setenv("TMPDIR", folder_.path.c_str(), 1);
  const Explanation torn = slow(statically(kTorn, static_options()));
  ::unsetenv("TMPDIR");
  EXPECT_THAT(torn.why, testing::MatchesRegex("[0-9]+ conversions lie between integers and float\\."));
  const auto left = std::distance(std::filesystem::directory_iterator(folder_.path), {});
  EXPECT_EQ(left, 2) << "the models alone are there still";
}

TEST_F(Reasons, DynamicAndWeightsAreToldApart) {
  const char* text = "g (float[n,32] x) => (float[n,48] y) <float[32,48] w> { y = MatMul(x, w) }";
  PlanOptions dynamic = dynamic_options();
  dynamic.target = Target::kX64;
  EXPECT_THAT(slow(quantized(text, dynamic)).why, HasSubstr("finds ranges and converts at every run"));
  EXPECT_THAT(slow(quantized(text, weights_options(Target::kX64))).why, HasSubstr("made float again at every run"));
}

TEST_F(Reasons, APlanThatIsGivenIsTaken) {
  job_.plan = Plan{};
  job_.plan->mode = Mode::kDynamic;
  NodePlan& node = job_.plan->nodes.emplace_back();
  node.op = "Conv";
  node.action = Action::kDynamic;
  EXPECT_THAT(slow(model_of("g (float[n,4] x) => (float[n,4] y) { y = Relu(x) }")).why,
              HasSubstr("no fast integer kernel"));
}

TEST_F(Reasons, NothingIsSaidOfAModelInFloat) {
  const Explanation nothing = slow(model_of("g (float[n,4] x) => (float[n,4] y) { y = Relu(x) }"));
  EXPECT_EQ(nothing.why, "");
  EXPECT_THAT(nothing.next, IsEmpty());
}

}  // namespace
}  // namespace octet
