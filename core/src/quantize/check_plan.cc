#include "quantize/check_plan.h"

#include "model/tensor_access.h"
#include "octet/error.h"

namespace octet {
namespace {

constexpr int kMinBlock = 16, kMaxBlock = 65536;

[[noreturn]] void refuse(const std::string& where, const std::string& what) {
  throw Error(ErrorCode::kUsage, "plan: " + where, what, "plan the model again");
}

bool takes_blocks(const onnx::NodeProto& node, int input) {
  const bool plain_gemm =
      is_op(node, "Gemm") && int_attribute(node, "transA", 0) == 0 && float_attribute(node, "alpha", 1) == 1.0f;
  return input == 1 && (is_op(node, "MatMul") || plain_gemm);
}

void check_blocks(Rewriter& rewriter, const NodeAt& at, const NodePlan& plan) {
  const bool wanted = plan.action == Action::kWeights && plan.form == Form::kBlocks;
  for (int input = 0; input < at.node->input_size(); ++input) {
    bool through_transpose = false;
    const Quantized* tensor = rewriter.quantized(at, input, &through_transpose);
    if (!tensor) continue;
    const std::string where = "node '" + plan.node + "'";
    if (wanted != (tensor->plan->block_size > 0)) {
      refuse(where, wanted ? "it is to read blocks, but its weight has no block_size"
                           : "its weight is stored in blocks, which only the form 'blocks' reads");
    }
    if (wanted && (through_transpose || !takes_blocks(*at.node, input))) refuse(where, "it cannot read blocks");
  }
}

void check_dynamic(Rewriter& rewriter, const NodeAt& at, const NodePlan& plan, const Rule& rule) {
  const std::string where = "node '" + plan.node + "'";
  if (!rule.no_dynamic) refuse(where, at.node->op_type() + " has no integer form in dynamic mode");
  PlanOptions options;
  options.op_types = {at.node->op_type()};  // what is possible, not what is advisable
  const RuleContext context{rewriter.model(), rewriter.view(), at, options};
  if (const std::string why = rule.no_dynamic(context); !why.empty()) refuse(where, why);
  for (const WeightSlot& slot : rule.slots(context)) {
    bool through_transpose = false;
    const Quantized* tensor = rewriter.quantized(at, slot.input, &through_transpose);
    if (!tensor) refuse(where, "it is to compute in integers, but its weight is not planned");
    const TensorPlan& weight = *tensor->plan;
    if (bit_width(weight.type) != 8) refuse(where, "integer kernels take weights of 8 bits");
    if (rule.family == Family::kRecurrent) continue;  // has a layout of its own, looked at by its rewrite
    if (weight.transposed && rule.family != Family::kMatMul) refuse(where, "it cannot read its weight transposed");
    if (rule.family == Family::kConv && weight.axis && (!weight.symmetric || !is_signed(weight.type))) {
      refuse(where, "the integer convolution takes one zero point: scales per channel need symmetric signed weights");
    }
    std::optional<int> axis = slot.axis;
    if (axis && through_transpose) axis = 1 - *axis;
    if (weight.axis && (weight.axis != axis || weight.axes != slot.axes)) {
      refuse(where, "integer kernels want the scales of their weight per output channel, or one for all");
    }
  }
}

}  // namespace

void check_tensor_plan(const TensorPlan& plan, const onnx::TensorProto& tensor) {
  const std::string where = "tensor '" + plan.tensor + "'";
  const int rank = tensor.dims_size();
  const bool axes_fit =
      !plan.axis || (*plan.axis >= 0 && *plan.axis < rank && plan.axes >= 1 && plan.axes <= rank - *plan.axis);
  if (rank == 0 || !axes_fit || (plan.transposed && rank < 2)) {
    refuse(where, "its axis or layout does not fit rank " + std::to_string(rank));
  }
  if (element_count(tensor) == 0) refuse(where, "it holds no values");
  if (plan.block_size == 0) {
    if (bit_width(plan.type) == 4) refuse(where, "4 bits are stored in blocks only: it needs a block_size");
    return;
  }
  const bool power_of_two = plan.block_size > 0 && (plan.block_size & (plan.block_size - 1)) == 0;
  if (!power_of_two || plan.block_size < kMinBlock || plan.block_size > kMaxBlock) {
    refuse(where, "block_size must be a power of two from 16 to 65536");
  }
  const int type = tensor.data_type();
  if (rank != 2 || (type != onnx::TensorProto::FLOAT && type != onnx::TensorProto::FLOAT16)) {
    refuse(where, "blocks are for matrices of float32 or float16");
  }
  if (bit_width(plan.type) == 16 || plan.transposed)
    refuse(where, "blocks hold 4 or 8 bits and have a layout of their own");
}

void check_node_plan(Rewriter& rewriter, const NodeAt& at, const NodePlan& plan) {
  if (plan.action == Action::kKeep || plan.action == Action::kStatic) return;  // StaticRewrite checks the latter
  const Rule* rule = find_rule(*at.node);
  if (!rule) refuse("node '" + plan.node + "'", "Octet has no rule for this operator");
  check_blocks(rewriter, at, plan);
  if (plan.action == Action::kDynamic) check_dynamic(rewriter, at, plan, *rule);
}

}  // namespace octet
