// Plans that do not fit the model: each is refused in words, and none makes a rewrite read or write where it must not.
#include <gmock/gmock.h>

#include "graph_pictures.h"

namespace octet {
namespace {

using pictures::message_of;
using pictures::model_of;
using testing::HasSubstr;

class BrokenPlan : public testing::Test {
 protected:
  void start(const std::string& text, const PlanOptions& options = pictures::dynamic_options()) {
    quantizer_.emplace(model_of(text), options);
    plan_ = quantizer_->plan();
    plan_.cache = nullptr;  // as one that was read from a file
  }
  std::string refused() {
    return message_of(ErrorCode::kUsage, [&] { quantizer_->apply(plan_); });
  }

  std::optional<Quantizer> quantizer_;
  Plan plan_;
};

constexpr const char* kMatMul = "g (float[n,32] x) => (float[n,48] y) <float[32,48] w> { [m] y = MatMul(x, w) }";

TEST_F(BrokenPlan, NamesWhatTheModelLacks) {
  start(kMatMul);
  plan_.nodes.push_back({"ghost", "MatMul", Action::kKeep, Form::kNone, {}, "", {}, {}, {}});
  EXPECT_THAT(refused(), HasSubstr("'ghost': the model has no such node"));
  start(kMatMul);
  plan_.tensors[0].tensor = "ghost";
  EXPECT_THAT(refused(), HasSubstr("'ghost'"));
  start("g (int64[n] i) => (int64[n] y) <int64[400] w> { y = Gather(w, i) }");
  plan_.tensors.push_back({});
  plan_.tensors[0].tensor = "w";
  EXPECT_THAT(refused(), HasSubstr("no float tensor"));
}

TEST_F(BrokenPlan, AxesOutOfRange) {
  const int big = std::numeric_limits<int>::max();
  for (const auto& [axis, axes] : std::vector<std::pair<int, int>>{
           {-1, 1}, {2, 1}, {0, 3}, {1, 2}, {0, 0}, {0, -1}, {big, 1}, {big, big}, {1, big}, {-big, 1}}) {
    start(kMatMul);
    plan_.tensors[0].axis = axis;
    plan_.tensors[0].axes = axes;
    EXPECT_THAT(refused(), HasSubstr("axis or layout")) << axis << " " << axes;
    EXPECT_THAT(message_of(ErrorCode::kUsage, [&] { Quantizer(model_of(kMatMul), {}, &plan_).sizes(); }),
                HasSubstr("axis or layout"));
  }
}

TEST_F(BrokenPlan, TensorsThatCannotBeStoredSo) {
  start(
      "g (float[n,32] x) => (float[n,32] y) <float[32] w, float s = {1}, float[0,9] e> { a = Add(x, w) y = Mul(a, s) z "
      "= MatMul(e, x) }");
  TensorPlan tensor;
  tensor.tensor = "s";
  plan_.tensors = {tensor};
  EXPECT_THAT(refused(), HasSubstr("rank 0"));
  tensor.tensor = "w";
  tensor.transposed = true;
  plan_.tensors = {tensor};
  EXPECT_THAT(refused(), HasSubstr("rank 1"));
}

TEST_F(BrokenPlan, EmptyTensors) {
  start("g (float[n,0] x) => (float[n,9] y) <float[0,9] e> { y = MatMul(x, e) }");
  TensorPlan tensor;
  tensor.tensor = "e";
  tensor.axis = 1;
  plan_.tensors = {tensor};
  EXPECT_THAT(refused(), HasSubstr("no values"));
}

TEST_F(BrokenPlan, FourBitsWithoutBlocks) {
  start(kMatMul, pictures::weights_options());
  plan_.tensors[0].type = QuantType::kInt4;
  EXPECT_THAT(refused(), HasSubstr("4 bits"));
}

TEST_F(BrokenPlan, BlocksWhereNoneCanBe) {
  for (const int size : {1, 15, 17, 1 << 30, -32}) {
    start(kMatMul, pictures::weights_options(Target::kX64, QuantType::kInt4));
    plan_.tensors[0].block_size = size;
    EXPECT_THAT(refused(), HasSubstr("block_size")) << size;
  }
  start(kMatMul, pictures::weights_options(Target::kX64, QuantType::kInt4));
  plan_.tensors[0].type = QuantType::kInt16;
  EXPECT_THAT(refused(), HasSubstr("4 or 8 bits"));
  start("g (float[2,n,32] x) => (float[2,n,48] y) <float[2,32,48] w> { y = MatMul(x, w) }",
        pictures::weights_options());
  plan_.tensors[0].block_size = 32;
  EXPECT_THAT(refused(), HasSubstr("matrices"));
}

TEST_F(BrokenPlan, BlocksThatTheNodeCannotRead) {
  start(kMatMul, pictures::weights_options(Target::kX64, QuantType::kInt4));
  plan_.nodes[0].form = Form::kFold;
  EXPECT_THAT(refused(), HasSubstr("blocks"));
  start(kMatMul, pictures::weights_options());
  plan_.nodes[0].form = Form::kBlocks;
  EXPECT_THAT(refused(), HasSubstr("block_size"));
  start(kMatMul, pictures::weights_options(Target::kX64, QuantType::kInt8, 32));
  plan_.nodes[0].action = Action::kDynamic;
  EXPECT_THAT(refused(), HasSubstr("blocks"));
  // The matrix on the left; a Gemm that scales.
  for (const char* text : {"g (float[32,n] x) => (float[48,n] y) <float[48,32] w> { y = MatMul(w, x) }",
                           "g (float[n,32] x) => (float[n,48] y) <float[32,48] w> { y = Gemm<alpha = 2.0>(x, w) }"}) {
    start(text, pictures::weights_options());
    plan_.tensors[0].block_size = 32;
    plan_.nodes[0].form = Form::kBlocks;
    EXPECT_THAT(refused(), HasSubstr("cannot read blocks")) << text;
  }
}

TEST_F(BrokenPlan, IntegersWhereThereAreNone) {
  start("g (float[n,32] x) => (float[n,32] y) <float[1,32] w> { y = Add(x, w) }");
  plan_.nodes[0].action = Action::kDynamic;
  EXPECT_THAT(refused(), HasSubstr("no integer form"));
  start("g (float[n,32] x) => (float[n,32] y) { y = Relu(x) }");
  plan_.nodes[0].action = Action::kDynamic;
  EXPECT_THAT(refused(), HasSubstr("no rule"));
  start(kMatMul);
  plan_.tensors.clear();
  EXPECT_THAT(refused(), HasSubstr("its weight is not planned"));
  start("g (float[32,n] x) => (float[48,n] y) <float[48,32] w> { y = MatMul(w, x) }");
  plan_.nodes[0].action = Action::kDynamic;
  EXPECT_THAT(refused(), HasSubstr("on the right"));
  start(kMatMul);
  plan_.tensors[0].type = QuantType::kInt16;
  EXPECT_THAT(refused(), HasSubstr("8 bits"));
}

TEST_F(BrokenPlan, ScalesAlongAnAxisThatIntegersCannotTake) {
  start(kMatMul);
  plan_.tensors[0].axis = 0;
  EXPECT_THAT(refused(), HasSubstr("per output channel"));
  start("g (float[2,n,32] x) => (float[2,n,48] y) <float[2,32,48] w> { y = MatMul(x, w) }");
  plan_.tensors[0].axis = 2;
  EXPECT_THAT(refused(), HasSubstr("per output channel"));
}

TEST_F(BrokenPlan, ConvolutionsOfMatrices) {
  // No such convolution runs, but a file may hold one.
  start("g (float[n,32] x) => (float[n,32] y) <float[32,32] w> { y = Conv(x, w) }");
  plan_.nodes[0].action = Action::kDynamic;
  EXPECT_THAT(refused(), HasSubstr("rank 3"));
}

TEST_F(BrokenPlan, AConvolutionWithManyZeroPoints) {
  PlanOptions options;
  options.op_types = {"Conv"};
  start("g (float[n,4,9,9] x) => (float[n,8,7,7] y) <float[8,4,3,3] w> { y = Conv(x, w) }", options);
  plan_.tensors[0].symmetric = false;
  EXPECT_THAT(refused(), HasSubstr("one zero point"));
}

TEST_F(BrokenPlan, AnLstmWithHalfOfItsWeights) {
  const char* text =
      "g (float[t,2,8] x) => (float[t,1,2,16] y) <float[1,64,8] w, float[1,64,16] r> { y = LSTM<hidden_size = 16>(x, "
      "w, r) }";
  start(text);
  plan_.tensors.pop_back();
  EXPECT_THAT(refused(), HasSubstr("not planned"));
  start(text);
  plan_.tensors[0].transposed = false;
  EXPECT_THAT(refused(), HasSubstr("both weights planned, transposed"));
  start(text);
  plan_.tensors[1].axis.reset();
  EXPECT_THAT(refused(), HasSubstr("scales from axis 0"));
}

TEST_F(BrokenPlan, TheSameTwice) {
  start(kMatMul);
  plan_.nodes.push_back(plan_.nodes[0]);
  plan_.tensors.push_back(plan_.tensors[0]);
  Model model = quantizer_->apply(plan_);
  pictures::expect_sound(model);
}

// What a plan leaves open is float, not an error: plans are edited by hand.
TEST_F(BrokenPlan, WhatItDoesNotNameStaysInFloat) {
  start(kMatMul);
  plan_.nodes.clear();
  plan_.tensors.clear();
  Model model = quantizer_->apply(plan_);
  EXPECT_EQ(pictures::picture(model), "\ny = MatMul(x, w)\n");
}

}  // namespace
}  // namespace octet
