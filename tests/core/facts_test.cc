// What is said of a model before anything is done to it.
#include "octet/facts.h"

#include <gmock/gmock.h>

#include <nlohmann/json.hpp>

#include "graph_pictures.h"

namespace octet {
namespace {

using pictures::model_of;
using testing::ElementsAre;
using testing::Pair;

TEST(Facts, CountEveryGraphAndFunction) {
  Model model = model_of(
      R"(<ir_version: 8, opset_import: ["" : 17, "com.microsoft" : 1, "mine" : 2], producer_name: "tool", producer_version: "3">
    g (float[n,32] x, bool c, float[2] s = {1, 2}) => (float[n,32] y, float[n,?] z) <float[32,32] w> {
      a = MatMul(x, w)
      y = If(c) <then_branch = t () => (float[n,32] q) <float[32,16] v> { q = com.microsoft.FastGelu(a) },
                 else_branch = e () => (float[n,32] q) { q = mine.F(a) }>
      z = Constant<value = float[1,3] {1, 2, 3}>()
    }
    <domain: "mine", opset_import: ["" : 17]>
    F (a) => (b) { b = Relu(a) })");
  const ModelFacts facts = facts_of(model);
  EXPECT_EQ(facts.producer, "tool 3");
  EXPECT_EQ(facts.ir_version, 8);
  EXPECT_THAT(facts.opsets, ElementsAre(Pair("ai.onnx", 17), Pair("com.microsoft", 1), Pair("mine", 2)));
  EXPECT_EQ(facts.nodes, 6);
  EXPECT_EQ(facts.subgraphs, 2);
  EXPECT_EQ(facts.functions, 1);
  EXPECT_EQ(facts.parameters, 32u * 32 + 32 * 16 + 3 + 2);
  EXPECT_EQ(facts.float_bytes, 4 * facts.parameters);
  EXPECT_EQ(facts.stored_bytes, facts.float_bytes);
  EXPECT_FALSE(facts.quantized_already);
  EXPECT_THAT(facts.operators, ElementsAre(Pair("Constant", 1), Pair("If", 1), Pair("MatMul", 1), Pair("Relu", 1),
                                           Pair("com.microsoft.FastGelu", 1), Pair("mine.F", 1)));
  ASSERT_EQ(facts.inputs.size(), 2u) << "what has a stored default is no input one must give";
  EXPECT_EQ(facts.inputs[0].shape, "[n, 32]");
  EXPECT_EQ(facts.inputs[0].type, "FLOAT");
  EXPECT_EQ(facts.inputs[1].shape, "[]");
  EXPECT_EQ(facts.outputs[1].shape, "[n, ?]");
  ASSERT_EQ(facts.largest.size(), 4u);
  EXPECT_EQ(facts.largest[0].name, "w");
  EXPECT_EQ(facts.largest[0].shape, "[32, 32]");
  EXPECT_EQ(facts.largest[1].name, "v");
}

TEST(Facts, IntegersAreNoParameters) {
  Model model = model_of("g (float[n,4] x) => (float[n,4] y) <int64[300] i, float16[100] h> { y = Relu(x) }");
  const ModelFacts facts = facts_of(model);
  EXPECT_EQ(facts.parameters, 100u);
  EXPECT_EQ(facts.float_bytes, 200u);
  EXPECT_EQ(facts.stored_bytes, 2600u);
}

TEST(Facts, KnowAQuantizedModel) {
  for (const char* node : {"y = DequantizeLinear(x, s)", "y = QuantizeLinear(s, s)",
                           "a, b, c = DynamicQuantizeLinear(s) y = Cast<to = 1>(a)",
                           "y = com.microsoft.QLinearAdd(x, s, x, x, s, x, s, x)",
                           "y = com.microsoft.MatMulNBits<K = 1, N = 1>(s, x, s)"}) {
    Model model = model_of(std::string("g (int8[n] x, float s) => (float[n] y) { ") + node + " }");
    EXPECT_TRUE(facts_of(model).quantized_already) << node;
  }
}

TEST(Facts, FollowIndicesToTheirTable) {
  Model model = model_of(
      R"(g (int64[n] ids, int32[n] kinds, int64[n] free) => (float[n,4] y, int64[n] z) <float[30,4] t, float[20,4] small, int64[1] s = {-1}> {
    a = Gather(t, ids) k = Cast<to = 7>(kinds) m = Reshape(k, s) b = Gather(t, m) c = Gather(small, ids) d = Add(a, b) y = Add(c, d) z = Neg(free) })");
  EXPECT_THAT(facts_of(model).index_bounds, ElementsAre(Pair("ids", 20), Pair("kinds", 30)));
}

TEST(Facts, TwentyLargestAtMostInFileOrderWhereEqual) {
  std::string weights;
  for (int i = 0; i < 30; ++i) weights += std::string(i ? ", " : "") + "float[8] w" + std::to_string(i);
  Model model = model_of("g (float[8] x) => (float[8] y) <" + weights + "> { y = Relu(x) }");
  const ModelFacts facts = facts_of(model);
  ASSERT_EQ(facts.largest.size(), 20u);
  EXPECT_EQ(facts.largest[0].name, "w0");
  EXPECT_EQ(facts.largest[19].name, "w19");
}

TEST(Facts, StandTensorsThatAreNone) {
  auto proto = pictures::proto_of("g (float[8] x) => (float[8] y) { y = Relu(x) }");
  proto.mutable_graph()->add_initializer()->set_name("none");  // some exports write such for an absent input
  Model model = fixtures::load(proto);
  EXPECT_EQ(facts_of(model).stored_bytes, 0u);
}

TEST(Facts, StandTypesThatAreNoTensors) {
  Model model = model_of("g (seq(float[n]) x, int64 i) => (float[n] y) { y = SequenceAt(x, i) }");
  EXPECT_EQ(facts_of(model).inputs[0].type, "not a tensor");
}

TEST(Facts, JsonHoldsThemAll) {
  Model model = model_of("g (int64[n] i) => (float[n,40] y) <float[30,40] w> { y = Gather(w, i) }");
  model.name = "broken \xff name";
  const auto json = nlohmann::json::parse(facts_to_json(facts_of(model)));
  EXPECT_EQ(json["opsets"]["ai.onnx"], 17);
  EXPECT_EQ(json["operators"]["Gather"], 1);
  EXPECT_EQ(json["inputs"][0]["shape"], "[n]");
  EXPECT_EQ(json["largest"][0]["bytes"], 4800);
  EXPECT_EQ(json["quantized_already"], false);
}

}  // namespace
}  // namespace octet
