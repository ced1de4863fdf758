// y = Mul | Div | Add | Sub(Conv(x, w, b), c)   →   y = Conv(x, w · c, b · c)  |  …  |  y = Conv(x, w, b + c)  |  …
// y = Conv(Mul | Div | Add | Sub(x, c), w, b)   →   y = Conv(x, w · c, b)  |  …  |  y = Conv(x, w, b + Σ w · c)  |  …
//   c: stored, one element or one per channel. The first form holds for ConvTranspose, Gemm and MatMul too; where the
//   output of a MatMul has rank 2, an Add makes it a Gemm. In the second, a Conv that pads takes no Add or Sub: what it
//   pads with is zero after the addition, not before. Nobody else may see the value between, nor the weight that
//   changes.
#include "prepare/linear_fusion.h"

namespace octet {
namespace {

// y = op(x, c), c standing at `constant`, as x · scale + shift; nothing for a reciprocal, which is no such thing.
std::optional<Affine> affine_of(const onnx::NodeProto& node, int constant, std::vector<double> values) {
  if (is_op(node, "Mul")) return Affine{std::move(values), {}};
  if (is_op(node, "Add")) return Affine{{}, std::move(values)};
  if (is_op(node, "Sub")) {
    if (constant == 0) return Affine{{-1.0}, std::move(values)};
    for (double& value : values) value = -value;
    return Affine{{}, std::move(values)};
  }
  if (constant == 0) return std::nullopt;
  for (double& value : values) value = 1 / value;
  return Affine{std::move(values), {}};
}

bool is_arithmetic(const onnx::NodeProto& node) {
  return (is_op(node, "Mul") || is_op(node, "Add") || is_op(node, "Sub") || is_op(node, "Div")) &&
         node.input_size() == 2 && node.output_size() == 1;
}

class ChannelConstants : public LinearFusion {
 public:
  using LinearFusion::LinearFusion;

  bool visit(const NodeAt& at) {
    if (!is_arithmetic(*at.node)) return false;
    for (const int constant : {0, 1}) {
      const Value* value = view_.input(at, constant);
      if (!value || !value->constant() || !is_float_type(value->initializer->data_type())) continue;
      return back(at, constant, *value) || on(at, constant, *value);
    }
    return false;
  }

 private:
  bool back(const NodeAt& at, int constant, const Value& value) {
    const auto op = producer(at, 1 - constant);
    if (!op || op->weight->initializer->data_type() != value.initializer->data_type()) return false;
    std::int64_t rank = op->rank.value_or(1), axis = op->rank ? 1 : 0;
    const bool shifts = is_op(*at.node, "Add") || is_op(*at.node, "Sub");
    if (!op->rank && (shifts || value.initializer->dims_size() > 1)) {
      const ShapeFacts& found = facts(at, 1 - constant);
      if (!found.dims || found.dims->empty() || (shifts && found.dims->size() != 2)) return false;
      rank = static_cast<std::int64_t>(found.dims->size());
      axis = rank - 1;
    }
    auto values = channel_values(model_, &value, rank, axis, op->by_output.channels());
    if (!values) return false;
    const auto affine = affine_of(*at.node, constant, std::move(*values));
    return affine && move_back(at, *op, *affine);
  }

  bool on(const NodeAt& at, int constant, const Value& value) {
    const auto op = reader(at, 1 - constant);
    const auto& tensor = *value.initializer;
    if (!op || op->weight->initializer->data_type() != tensor.data_type()) return false;
    const std::uint64_t channels = op->by_input->channels();
    // The constant may have made a smaller x as large as the Conv wants it.
    if (element_count(tensor) != 1 || tensor.dims_size() > 1) {
      const ShapeFacts& found = facts(at, 1 - constant);
      if (!found.has_rank(static_cast<std::size_t>(*op->rank))) return false;
      if (element_count(tensor) != 1 && !(*found.dims)[1].is(static_cast<std::int64_t>(channels))) return false;
    }
    auto values = channel_values(model_, &value, *op->rank, 1, channels);
    if (!values) return false;
    const auto affine = affine_of(*at.node, constant, std::move(*values));
    return affine && move_on(at, 1 - constant, *op, *affine);
  }
};

}  // namespace

void run_fuse_channel_constants(Model& model, PassReport& report) {
  // What version 6 and older meant by these operators depends on attributes that went since.
  if (opset_of(model.proto()) < 7) return;
  sweep_until_still<ChannelConstants>(model, report);
}

}  // namespace octet
