// y = BatchNormalization(Conv(x, w, b), gamma, beta, mean, var)   →   y = Conv(x, w · f, (b - mean) · f + beta)
// y = Conv(BatchNormalization(x, …), w, b)                        →   y = Conv(x, w · f, b + Σ w · (beta - mean · f))
//   where f = gamma / sqrt(var + epsilon), per channel. So for ConvTranspose, Gemm and, where its output has rank 2,
//   MatMul, which becomes a Gemm. A Conv takes one from before it only when it pads nothing: what it pads with is zero
//   after normalization, not before. All of both must be stored, and nobody else may see the value between or the
//   weight.
#include <cmath>

#include "prepare/linear_fusion.h"

namespace octet {
namespace {

bool normalizes_for_inference(const onnx::NodeProto& node) {
  return is_op(node, "BatchNormalization") && node.input_size() == 5 && node.output_size() == 1 &&
         int_attribute(node, "training_mode", 0) == 0 && int_attribute(node, "spatial", 1) == 1;
}

// Nothing when something of it is computed, is no vector of `channels`, or of another type than `type`.
std::optional<Affine> affine_of(const Model& model, const GraphView& view, const NodeAt& at, std::uint64_t channels,
                                int type) {
  std::vector<std::vector<double>> parts;
  for (int input = 1; input < 5; ++input) {
    const Value* value = view.input(at, input);
    auto elements = channel_values(model, value, 1, 0, channels);
    if (!elements || elements->size() != channels || value->initializer->data_type() != type) return std::nullopt;
    parts.push_back(std::move(*elements));
  }
  const double epsilon = static_cast<double>(float_attribute(*at.node, "epsilon", 1e-5f));
  Affine affine;
  for (std::size_t i = 0; i < parts[0].size(); ++i) {
    const double factor = parts[0][i] / std::sqrt(parts[3][i] + epsilon);
    affine.scale.push_back(factor);
    affine.shift.push_back(parts[1][i] - parts[2][i] * factor);
  }
  return affine;
}

class BatchNormalizations : public LinearFusion {
 public:
  using LinearFusion::LinearFusion;

  bool visit(const NodeAt& at) {
    if (!normalizes_for_inference(*at.node)) return false;
    if (const auto op = producer(at, 0)) {
      if (!op->rank && !facts(at, 0).has_rank(2)) return false;
      const auto affine = affine_of(model_, view_, at, op->by_output.channels(), op->weight->initializer->data_type());
      if (affine ? move_back(at, *op, *affine) : decline(at, *op, "its statistics are not all stored")) return true;
    }
    const auto op = reader(at, 0);
    if (!op) return false;
    const auto affine = affine_of(model_, view_, at, op->by_input->channels(), op->weight->initializer->data_type());
    return affine ? move_on(at, 0, *op, *affine) : decline(at, *op, "its statistics are not all stored");
  }
};

}  // namespace

void run_fuse_batch_normalization(Model& model, PassReport& report) {
  // What version 6 and older meant by these operators depends on attributes that went since.
  if (opset_of(model.proto()) < 7) return;
  sweep_until_still<BatchNormalizations>(model, report);
}

}  // namespace octet
