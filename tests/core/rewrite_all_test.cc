// Every model of rewrite_models.h, in every mode: what comes out is sound, reproducible, and its report true. That it
// computes the same is seen by running it (tests/native/rewrite_runs_test.cc).
#include <gmock/gmock.h>

#include "graph_pictures.h"
#include "rewrite_models.h"

namespace octet {
namespace {

using pictures::RewriteModel;

std::vector<PlanOptions> ways() {
  std::vector<PlanOptions> all;
  for (const Target target : {Target::kAny, Target::kX64, Target::kX64NoVnni, Target::kWasm}) {
    for (const QuantType type : {QuantType::kInt8, QuantType::kUint8}) {
      PlanOptions options;
      options.target = target;
      options.weight_type = type;
      all.push_back(options);
      all.push_back(pictures::weights_options(target, type));
      options.per_channel = false;
      all.push_back(options);
    }
  }
  for (const QuantType type : {QuantType::kInt4, QuantType::kUint4, QuantType::kInt16, QuantType::kUint16})
    all.push_back(pictures::weights_options(Target::kX64, type));
  all.push_back(pictures::weights_options(Target::kX64, QuantType::kInt8, 64));
  PlanOptions convolutions;
  convolutions.op_types = {"Conv"};
  all.push_back(convolutions);
  return all;
}

class RewriteAll : public testing::TestWithParam<RewriteModel> {};

TEST_P(RewriteAll, IsSound) {
  const auto bytes = fixtures::to_bytes(pictures::proto_of(GetParam().text, GetParam().opset));
  for (const PlanOptions& options : ways()) {
    SCOPED_TRACE(std::string(name_of(options.mode)) + " " + std::string(name_of(options.target)) + " " +
                 std::string(name_of(options.weight_type)));
    const Quantizer quantizer(fixtures::load(bytes), options);
    Model model = quantizer.apply(quantizer.plan());
    pictures::expect_sound(model);
    Model again = quantizer.apply(plan_from_json(plan_to_json(quantizer.plan())));
    EXPECT_EQ(fixtures::save(again), fixtures::save(model)) << "the plan alone decides";
  }
}

// Every float tensor is either planned or kept with a reason, and every node says why.
TEST_P(RewriteAll, LeavesNothingUnsaid) {
  const auto bytes = fixtures::to_bytes(pictures::proto_of(GetParam().text, GetParam().opset));
  for (const PlanOptions& options : ways()) {
    Quantizer quantizer(fixtures::load(bytes), options);
    const Plan& plan = quantizer.plan();
    std::uint64_t said = 0;
    for (const TensorPlan& tensor : plan.tensors) said += tensor.bytes;
    for (const KeptTensor& tensor : plan.kept) {
      said += tensor.bytes;
      EXPECT_NE(tensor.why, "") << tensor.tensor;
    }
    EXPECT_EQ(said, quantizer.sizes().float_bytes) << pictures::picture(plan);
    for (const NodePlan& node : plan.nodes) EXPECT_NE(node.why, "") << node.node;
  }
}

// A tensor that is planned is nowhere stored in float as well, and what the plan says of its size is what the file
// takes.
TEST_P(RewriteAll, StoresNothingTwice) {
  const auto bytes = fixtures::to_bytes(pictures::proto_of(GetParam().text, GetParam().opset));
  for (const PlanOptions& options : ways()) {
    SCOPED_TRACE(std::string(name_of(options.mode)) + " " + std::string(name_of(options.target)) + " " +
                 std::string(name_of(options.weight_type)));
    Quantizer quantizer(fixtures::load(bytes), options);
    Model model = quantizer.apply(quantizer.plan());
    const PlanSizes sizes = quantizer.sizes();
    std::uint64_t small = 0, floats = 0;
    const GraphView view(model.proto());
    for (const auto& scope : view.scopes()) {
      for (const auto& tensor : scope->graph->initializer()) {
        if (is_float_type(tensor.data_type()))
          floats += tensor_byte_size(tensor);
        else if (tensor.data_type() != onnx::TensorProto::INT64)
          small += tensor_byte_size(tensor);
      }
    }
    std::uint64_t kept = 0;
    for (const KeptTensor& tensor : quantizer.plan().kept) kept += tensor.bytes;
    // What is not in few bits is what was kept, the scales, and some constants of the rewrites. Kept float16 weights
    // with a folded Cast are written narrow again.
    EXPECT_LE(floats, kept + sizes.stored_bytes / 2 + 2048) << pictures::picture(model) << pictures::stored(model);
    EXPECT_LE(small, sizes.stored_bytes + 1024) << pictures::picture(model) << pictures::stored(model);
  }
}

INSTANTIATE_TEST_SUITE_P(Models, RewriteAll, testing::ValuesIn(pictures::rewrite_models()),
                         [](const auto& at) { return at.param.name; });

}  // namespace
}  // namespace octet
