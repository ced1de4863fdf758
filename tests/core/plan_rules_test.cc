// What is planned for every kind of node and tensor, and the reasons given.
#include <gmock/gmock.h>

#include <limits>

#include "graph_pictures.h"

namespace octet {
namespace {

using pictures::lines;
using pictures::picture;
using pictures::planned;
using pictures::weights_options;
using testing::HasSubstr;

std::string why_kept(const Plan& plan, const std::string& tensor) {
  for (const KeptTensor& kept : plan.kept) {
    if (kept.tensor == tensor) return kept.why;
  }
  return "not kept";
}

TEST(PlanRules, EveryNodeAndTensorIsInThePlan) {
  const Plan plan = planned(
      R"(g (float[n,32] x, int64[n] i) => (float[n,48] y) <float[32,48] w, float[48] b, float[30,48] t, float[4,8] s> {
    [mm] a = MatMul(x, w) [emb] e = Gather(t, i) [sum] c = Add(a, e) [bias] d = Add(c, b) [act] y = Relu(d) })",
      {});
  EXPECT_EQ(picture(plan), lines(R"(
    mm: dynamic (integer kernel; activations are quantized while the model runs)
    emb: weights/gather (weights only)
    sum: keep (reads no stored float weight)
    bias: keep (reads no stored float weight)
    act: keep (no rule for this operator)
    w: qint8 axis=1
    t: qint8
    b: kept, a vector (bias, scale or normalization parameter))"));
}

TEST(PlanRules, SmallTensorsStay) {
  EXPECT_THAT(why_kept(planned("g (float[n,8] x) => (float[n,8] y) <float[8,8] w> { y = MatMul(x, w) }", {}), "w"),
              HasSubstr("too small"));
  EXPECT_THAT(why_kept(planned("g (float[n,30] x) => (float[n,30] y) <float[1,30] w> { y = Mul(x, w) }", {}), "w"),
              HasSubstr("too small"));
}

TEST(PlanRules, OneReaderThatNeedsFloatKeepsItForAll) {
  const Plan plan = planned(
      "g (float[n,32] x) => (float[n,32] y, float[32,32] z) <float[32,32] w> { y = MatMul(x, w) [soft] z = Softmax(w) "
      "}",
      {});
  EXPECT_THAT(why_kept(plan, "w"), HasSubstr("node soft (Softmax) reads it in float"));
  EXPECT_THAT(plan.nodes[0].why, HasSubstr("its weight stays in float"));
}

TEST(PlanRules, TablesThatBitsDoNotSuitStay) {
  auto proto = pictures::proto_of("g (float[n,40,40] x) => (float[n,40,40] y) <float[1,40,40] m> { y = Add(x, m) }");
  auto& values = *proto.mutable_graph()->mutable_initializer(0)->mutable_float_data();
  // A mask.
  values[7] = -std::numeric_limits<float>::infinity();
  EXPECT_THAT(why_kept(Quantizer(fixtures::load(proto), {}).plan(), "m"), HasSubstr("NaN or infinity"));
  // One value far above the rest: a step of 8 bits is half of what the others are.
  values[7] = 60;
  EXPECT_THAT(why_kept(Quantizer(fixtures::load(proto), {}).plan(), "m"), HasSubstr("would lose too much"));
}

TEST(PlanRules, WeightsThatAreNoNumbersAreRefusedByName) {
  for (const float poison : {std::numeric_limits<float>::quiet_NaN(), std::numeric_limits<float>::infinity()}) {
    auto proto = pictures::proto_of("g (float[n,32] x) => (float[n,48] y) <float[32,48] w> { y = MatMul(x, w) }");
    proto.mutable_graph()->mutable_initializer(0)->set_float_data(100, poison);
    EXPECT_THAT(pictures::message_of(ErrorCode::kNonFinite, [&] { Quantizer(fixtures::load(proto), {}); }),
                HasSubstr("'w'"));
    PlanOptions options;
    options.nodes_to_exclude = {"op:MatMul"};
    EXPECT_NO_THROW(Quantizer(fixtures::load(proto), options)) << "left out, it is nobody's business";
  }
}

TEST(PlanRules, OpTypesLimitWhatIsTouched) {
  PlanOptions options;
  options.op_types = {"Gather"};
  const Plan plan = planned(
      "g (int64[n] i) => (float[n,32] y) <float[30,48] t, float[48,32] w> { [emb] e = Gather(t, i) [mm] y = MatMul(e, "
      "w) }",
      options);
  EXPECT_EQ(picture(plan), lines(R"(
    emb: weights/gather (weights only)
    mm: keep (its type is not in --op-types)
    t: qint8
    w: kept, node mm reads it: its type is not in --op-types)"));
}

TEST(PlanRules, PerChannelIsTheDefaultAndCanBeDeclined) {
  PlanOptions options;
  EXPECT_EQ(
      planned("g (float[n,32] x) => (float[n,48] y) <float[32,48] w> { y = MatMul(x, w) }", options).tensors[0].axis,
      1);
  options.per_channel = false;
  EXPECT_EQ(
      planned("g (float[n,32] x) => (float[n,48] y) <float[32,48] w> { y = MatMul(x, w) }", options).tensors[0].axis,
      std::nullopt);
}

TEST(PlanRules, ReadersThatDisagreeShareOneScale) {
  const Plan plan = planned(
      "g (float[n,32] x) => (float[n,32] y) <float[32,32] w, float[32] c> { a = MatMul(x, w) y = Gemm<transB = 1>(a, "
      "w, c) }",
      {});
  EXPECT_EQ(plan.tensors[0].axis, std::nullopt);
  EXPECT_FALSE(plan.tensors[0].transposed);
}

TEST(PlanRules, TargetsWithoutVnniUseSevenBits) {
  PlanOptions options;
  options.target = Target::kX64NoVnni;
  EXPECT_TRUE(planned("g (float[n,32] x) => (float[n,48] y) <float[32,48] w> { y = MatMul(x, w) }", options)
                  .tensors[0]
                  .reduce_range);
  options.target = Target::kX64;
  EXPECT_FALSE(planned("g (float[n,32] x) => (float[n,48] y) <float[32,48] w> { y = MatMul(x, w) }", options)
                   .tensors[0]
                   .reduce_range);
}

TEST(PlanRules, FourBitsAreForMatricesAndEightForTheRest) {
  const Plan plan = planned(
      "g (int64[n] i) => (float[n,32] y) <float[30,48] t, float[48,32] w> { e = Gather(t, i) y = MatMul(e, w) }",
      weights_options(Target::kX64, QuantType::kInt4));
  EXPECT_EQ(picture(plan), lines(R"(
    Gather(e): weights/gather (weights only)
    MatMul(y): weights/blocks (weights only)
    t: qint8
    w: qint4 axis=1 blocks of 32)"));
}

TEST(PlanRules, SixteenBitsSaveNothingOfHalves) {
  const Plan plan = planned("g (float16[n,32] x) => (float16[n,48] y) <float16[32,48] w> { y = MatMul(x, w) }",
                            weights_options(Target::kAny, QuantType::kUint16));
  EXPECT_THAT(why_kept(plan, "w"), HasSubstr("as small"));
}

TEST(PlanRules, AnIntegerConvolutionHasOneZeroPoint) {
  PlanOptions options;
  options.op_types = {"Conv"};
  options.weight_type = QuantType::kUint8;
  const char* text = "g (float[n,4,9,9] x) => (float[n,8,7,7] y) <float[8,4,3,3] w> { y = Conv(x, w) }";
  EXPECT_EQ(planned(text, options).tensors[0].axis, std::nullopt);
  options.op_types.clear();
  EXPECT_EQ(planned(text, options).tensors[0].axis, 0) << "stored only, it can have one per channel";
}

TEST(PlanRules, IncompleteCallsPassThrough) {
  for (const char* text :
       {"g (float[n,32] x) => (float[n,32] y) <float[32,32] w> { y = MatMul(\"\", w) }",  // lacks its first input
        "g (float[n,32] x) => (float[n,32] y) <float[32,32] w> { y = Gather(w) }",        // lacks its second
        "g (float[n,32] x) => (float[n,32] y) <float[32,4,3,3] w> { y = Conv(\"\", w) }",
        "g (float[n,32] x) => (float[n,32] y) <float[1,64,32] w> { y = LSTM(x, w) }",
        "g (float[n,32] x) => (float[n,32] y) <float[32,96] w> { y = com.microsoft.Attention(\"\", w) }"}) {
    for (const PlanOptions& options :
         {PlanOptions{}, weights_options(Target::kX64), weights_options(Target::kX64, QuantType::kInt4)}) {
      const Quantizer quantizer(pictures::model_of(text), options);
      EXPECT_TRUE(quantizer.plan().tensors.empty()) << text << picture(quantizer.plan());
      EXPECT_NO_THROW(quantizer.apply(quantizer.plan())) << text;
    }
  }
}

TEST(PlanRules, ANodeThatMakesNothingPassesThrough) {
  auto proto =
      pictures::proto_of("g (float[n,32] x) => (float[n,32] y) <float[32,32] w> { y = Relu(x) z = MatMul(x, w) }");
  for (const bool empty : {false, true}) {
    auto& node = *proto.mutable_graph()->mutable_node(1);
    node.clear_output();
    if (empty) node.add_output("");
    for (const PlanOptions& options :
         {PlanOptions{}, weights_options(Target::kX64), weights_options(Target::kX64, QuantType::kInt4)}) {
      const Quantizer quantizer(fixtures::load(proto), options);
      EXPECT_TRUE(quantizer.plan().tensors.empty()) << picture(quantizer.plan());
      EXPECT_NO_THROW(quantizer.apply(quantizer.plan()));
    }
  }
}

// No such model runs, but files hold what they like: weights of any rank in any place.
TEST(PlanRules, WeightsOfOddRanksAreStoodEverywhere) {
  for (const char* shape : {"", "[400]", "[20,20]", "[4,10,10]", "[4,5,5,4]", "[2,2,10,5,2]", "[0,400]", "[400,0,3]",
                            "[1,1,1,1,1,1,400]"}) {
    for (const char* node : {"y = MatMul(x, w)",
                             "y = MatMul(w, x)",
                             "y = Gemm<transB = 1>(x, w, w)",
                             "y = Gemm<transA = 1>(w, x)",
                             "y = Conv<group = 0>(x, w, w)",
                             "y = ConvTranspose<group = -3>(x, w)",
                             "y = LSTM<hidden_size = -1>(x, w, w, w, w, w, w, w)",
                             "y = GRU(x, w, w)",
                             "y = RNN(x, w, w)",
                             "y = Gather<axis = 77>(w, x)",
                             "y = Gather<axis = -99>(w, x)",
                             "y = Add(w, w)",
                             "t = Transpose<perm = [9, -9]>(w) y = MatMul(x, t)",
                             "t = Transpose(w) y = LSTM(x, t, t)",
                             "\"\", t = Transpose(w) y = MatMul(x, t)",
                             "t = Transpose(w) y = Conv(x, t)",
                             "t = Transpose(w) z = Gather(w, x) y = Gemm<transB = 1>(x, t)",
                             "y = com.microsoft.Attention(x, w, w, w, w)",
                             "y = Concat<axis = 1000>(w, x)",
                             "y, = Split(w)",
                             "y = com.microsoft.EmbedLayerNormalization(x, x, w, w, w, w, w)"}) {
      const std::string text =
          std::string("g (float[n,32] x) => (float[n,32] y) <float") + shape + " w> { " + node + " }";
      for (PlanOptions options :
           {PlanOptions{}, weights_options(Target::kX64), weights_options(Target::kX64, QuantType::kInt4),
            weights_options(Target::kAny, QuantType::kUint16)}) {
        for (const bool convolutions : {false, true}) {
          if (convolutions)
            options.op_types = {"Conv", "MatMul", "Gemm",  "LSTM", "Gather", "Attention",
                                "Add",  "Concat", "Split", "GRU",  "RNN",    "ConvTranspose"};
          try {
            const Quantizer quantizer(pictures::model_of(text), options);
            const Model model = quantizer.apply(quantizer.plan());
            fixtures::save(model);
          } catch (const Error& error) {
            EXPECT_NE(code_name(error.code()), code_name(ErrorCode::kInternal)) << text << ": " << error.what();
          }
        }
      }
    }
  }
}

TEST(PlanRules, AttributesOfTheWrongKindAreStood) {
  for (const char* node :
       {"y = Gemm<transB = \"yes\", alpha = [1, 2]>(x, w)", "y = Gather<axis = 1.5>(w, x)",
        "y = Conv<group = \"two\", pads = 3>(x, w)", "y = LSTM<layout = [1], direction = 3>(x, w, w)",
        "t = Transpose<perm = \"10\">(w) y = MatMul(x, t)", "t = Cast<to = \"FLOAT\">(w) y = MatMul(x, t)",
        "t = Reshape<allowzero = [0]>(w, w) y = MatMul(x, t)"}) {
    Model model =
        pictures::model_of(std::string("g (float[n,32] x) => (float[n,32] y) <float[32,32] w> { ") + node + " }");
    try {
      const Quantizer quantizer(std::move(model), weights_options(Target::kX64));
      quantizer.apply(quantizer.plan());
    } catch (const Error& error) {
      EXPECT_NE(code_name(error.code()), code_name(ErrorCode::kInternal)) << node << ": " << error.what();
    }
  }
}

}  // namespace
}  // namespace octet
