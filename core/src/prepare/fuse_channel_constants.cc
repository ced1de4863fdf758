// y = Mul | Div | Add | Sub(Conv(x, w, b), c)   →   y = Conv(x, w · c, b · c)  |  …  |  y = Conv(x, w, b + c)  |  …
// y = Conv(Mul | Div | Add | Sub(x, c), w, b)   →   y = Conv(x, w · c, b)  |  …  |  y = Conv(x, w, b + Σ w · c)  |  …
// y = Conv<pads>(Add(Mul(x, c), d), w, b)               →   y = Conv<pads>(Add(x, d / c), w · c, b)
//   c: stored, one element or one per channel. The first form holds for ConvTranspose, Gemm and MatMul too; where the
//   output of a MatMul has rank 2, an Add makes it a Gemm. In the second, a Conv that pads takes no Add or Sub: what it
//   pads with is zero after the addition, not before. Nobody else may see the value between, nor the weight that
//   changes. Parts of operations that are written out, such as the half that ends a GELU, stay where they are.
#include <algorithm>
#include <cmath>

#include "prepare/blocks.h"
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

// What a sum is divided by without a loss worth the name.
bool is_moderate(double factor) { return std::abs(factor) >= 1.0 / 1024 && std::abs(factor) <= 1024; }

class ChannelConstants : public LinearFusion {
 public:
  using LinearFusion::LinearFusion;

  bool visit(const NodeAt& at) {
    if (!is_arithmetic(*at.node) || part_of_block(at)) return false;
    for (const int constant : {0, 1}) {
      const Value* value = view_.input(at, constant);
      if (!value || !value->constant() || !is_float_type(value->initializer->data_type())) continue;
      return back(at, constant, *value) || on(at, constant);
    }
    return false;
  }

 private:
  // What the runtime or a later pass knows as one operation stays whole.
  bool part_of_block(const NodeAt& at) {
    if (!in_blocks_) {
      in_blocks_.emplace();
      for (const Block& block : find_blocks(model_, view_)) in_blocks_->insert(block.nodes.begin(), block.nodes.end());
    }
    return in_blocks_->contains(at.node);
  }

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

  // What the constant of `at` holds for each channel of the Conv behind it.
  std::optional<std::vector<double>> before(const LinearOp& op, const NodeAt& at, int constant) {
    const Value* value = view_.input(at, constant);
    if (!value || !value->constant()) return std::nullopt;
    const auto& tensor = *value->initializer;
    if (op.weight->initializer->data_type() != tensor.data_type()) return std::nullopt;
    const std::uint64_t channels = op.by_input->channels();
    // The constant may have made a smaller x as large as the Conv wants it.
    if (element_count(tensor) != 1 || tensor.dims_size() > 1) {
      const ShapeFacts& found = facts(at, 1 - constant);
      if (!found.has_rank(static_cast<std::size_t>(*op.rank))) return std::nullopt;
      if (element_count(tensor) != 1 && !(*found.dims)[1].is(static_cast<std::int64_t>(channels))) return std::nullopt;
    }
    return channel_values(model_, value, *op.rank, 1, channels);
  }

  bool on(const NodeAt& at, int constant) {
    const auto op = reader(at, 1 - constant);
    auto values = op ? before(*op, at, constant) : std::nullopt;
    if (!values) return false;
    if (is_op(*at.node, "Add") && !pads_nothing(*op->at.node) && past_sum(*op, at, constant, *values)) return true;
    const auto affine = affine_of(*at.node, constant, std::move(*values));
    return affine && move_on(at, 1 - constant, *op, *affine);
  }

  // The sum stays, the factor before it goes.
  bool past_sum(const LinearOp& op, const NodeAt& sum, int constant, std::vector<double> shift) {
    const auto product = sole_producer(sum, 1 - constant);
    if (!product || !is_arithmetic(*product->node) || part_of_block(*product)) return false;
    for (const int input : {0, 1}) {
      auto values = before(op, *product, input);
      const auto affine = values ? affine_of(*product->node, input, std::move(*values)) : std::nullopt;
      if (!affine || !affine->shift.empty() || !std::all_of(affine->scale.begin(), affine->scale.end(), is_moderate))
        continue;
      if (!apply_to_input(model_, view_, op, *affine, names_).empty()) return false;
      const auto& scale = affine->scale;
      std::vector<std::int64_t> dims(static_cast<std::size_t>(*op.rank) - 1, 1);
      if (shift.size() == 1) shift.resize(scale.size(), shift[0]);
      for (std::size_t i = 0; i < shift.size(); ++i) shift[i] /= scale.size() == 1 ? scale[0] : scale[i];
      dims[0] = static_cast<std::int64_t>(shift.size());
      if (shift.size() == 1) dims.clear();
      const std::string name = names_.fresh(sum.node->input(constant) + "_scaled");
      *sum.scope->graph->add_initializer() =
          real_tensor(model_, name, op.weight->initializer->data_type(), dims, shift);
      sum.node->set_input(constant, name);
      sum.node->set_input(1 - constant, product->node->input(1 - input));
      touched_.add(sum.node);
      take(*product->node, *op.at.node);
      return true;
    }
    return false;
  }

  std::optional<std::unordered_set<const onnx::NodeProto*>> in_blocks_;
};

}  // namespace

void run_fuse_channel_constants(Model& model, PassReport& report) {
  // What version 6 and older meant by these operators depends on attributes that went since.
  if (opset_of(model.proto()) < 7) return;
  sweep_until_still<ChannelConstants>(model, report);
}

}  // namespace octet
