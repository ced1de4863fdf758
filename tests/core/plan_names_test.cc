// Ids of nodes and tensors in plans, whatever the model named its own.
#include <gmock/gmock.h>

#include "graph_pictures.h"
#include "quantize/tensor_ids.h"

namespace octet {
namespace {

std::string ids_of(const std::string& text) {
  Model model = pictures::model_of(text);
  const GraphView view(model.proto());
  const TensorIds ids(view);
  std::string all;
  for (const Value* value : ids.tensors()) {
    EXPECT_EQ(ids.find(ids.of(*value)), value) << ids.of(*value);
    all += ids.of(*value) + " ";
  }
  return all;
}

TEST(TensorIds, ANameOfItsOwnIsTheId) {
  EXPECT_EQ(ids_of("g (float[2] x) => (float[2] y) <float[2] a, float[2] b> { y = Add(x, a) }"), "a b ");
}

TEST(TensorIds, OwnersTellTensorsOfOneNameApart) {
  EXPECT_EQ(ids_of(R"(g (float[2] x, bool c) => (float[2] y) <float[2] w> {
    a = Add(x, w)
    [choice] y = If(c) <then_branch = t () => (float[2] z) <float[2] w> { z = Add(a, w) },
                        else_branch = e () => (float[2] z) <float[2] w> { z = Sub(a, w) }> })"),
            "/w choice/w choice#2/w ");
}

TEST(TensorIds, MadeUpOnesTakeNoGivenName) {
  EXPECT_EQ(ids_of(R"(g (float[2] x, bool c) => (float[2] y) <float[2] w, float[2] "/w", float[2] "choice/w"> {
    a = Add(x, w)
    [choice] y = If(c) <then_branch = t () => (float[2] z) <float[2] w> { z = Add(a, w) },
                        else_branch = e () => (float[2] z) { z = Neg(a) }> })"),
            "#2/w /w choice/w choice#2/w ");
}

TEST(PlanNames, AreReadAsTheyAreWritten) {
  for (const Mode mode : {Mode::kDynamic, Mode::kWeights}) EXPECT_EQ(mode_from(name_of(mode)), mode);
  for (const Target target : {Target::kX64, Target::kX64NoVnni, Target::kArm64, Target::kWasm, Target::kAny}) {
    EXPECT_EQ(target_from(name_of(target)), target);
  }
  for (int i = 0; i < 6; ++i) EXPECT_EQ(quant_type_from(name_of(static_cast<QuantType>(i))), static_cast<QuantType>(i));
  for (int i = 0; i < 3; ++i) EXPECT_EQ(action_from(name_of(static_cast<Action>(i))), static_cast<Action>(i));
  for (int i = 0; i < 5; ++i) EXPECT_EQ(form_from(name_of(static_cast<Form>(i))), static_cast<Form>(i));
  EXPECT_EQ(mode_from("Dynamic"), std::nullopt);
  EXPECT_EQ(quant_type_from("int8"), std::nullopt);
  EXPECT_EQ(target_from(""), std::nullopt);
}

}  // namespace
}  // namespace octet
