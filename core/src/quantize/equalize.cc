#include "quantize/equalize.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <string>
#include <vector>

#include "model/graph_match.h"
#include "prepare/linear_op.h"

namespace octet {
namespace {

// A channel changes by this much at most: further apart than that, one of its sides is as good as zero.
constexpr double kMostFactor = 0x1p10;
// Between the two products at most.
constexpr int kMaxSteps = 4;

// f(s · x) = s · f(x) for every s above zero, channel by channel.
bool scales_along(const onnx::NodeProto& node) {
  const bool pool = is_op(node, "MaxPool") || is_op(node, "AveragePool") || is_op(node, "GlobalAveragePool");
  return (is_op(node, "Relu") || is_op(node, "LeakyRelu") || pool) && node.output_size() == 1;
}

std::vector<double> largest_by_channel(const Model& model, const LinearOp& op, const ChannelLayout& layout) {
  const std::vector<double> values = tensor_as_double(model, *op.weight->initializer);
  std::vector<double> largest(static_cast<std::size_t>(layout.channels()), 0.0);
  for (std::uint64_t i = 0; i < values.size(); ++i) {
    const std::uint64_t column = i / layout.inner % layout.columns;
    const std::uint64_t group = i / (layout.inner * layout.columns * layout.rows);
    double& most = largest[static_cast<std::size_t>(group * layout.columns + column)];
    most = std::max(most, std::abs(values[static_cast<std::size_t>(i)]));
  }
  return largest;
}

bool is_own_float_weight(const LinearOp& op) {
  return op.weight->initializer->data_type() == onnx::TensorProto::FLOAT && only_use(*op.weight);
}

// The product that alone reads what `first` makes, behind what scales along.
std::optional<LinearOp> next_product(const GraphView& view, const LinearOp& first) {
  const Value* value = view.find(*first.at.scope, first.at.node->output(0));
  for (int step = 0; step <= kMaxSteps; ++step) {
    const Use* use = value ? only_use(*value) : nullptr;
    if (!use || use->scope != first.at.scope || use->input != 0) return std::nullopt;
    if (auto next = linear_op(view, {use->node, use->scope})) return next;
    if (!scales_along(*use->node)) return std::nullopt;
    value = view.find(*use->scope, use->node->output(0));
  }
  return std::nullopt;
}

bool equalize(Model& model, onnx::NodeProto& node) {
  const GraphView view(model.proto());
  const auto first = linear_op(view, {&node, &view.main()});
  if (!first || !is_own_float_weight(*first)) return false;
  const auto second = next_product(view, *first);
  if (!second || !is_own_float_weight(*second)) return false;
  const auto layout = input_layout(*second);
  if (!layout || layout->channels() != first->by_output.channels()) return false;
  const auto one = largest_by_channel(model, *first, first->by_output);
  const auto other = largest_by_channel(model, *second, *layout);
  Affine down;
  std::vector<double> up;
  for (std::size_t c = 0; c < one.size(); ++c) {
    const bool dead = !(one[c] > 0) || !(other[c] > 0);
    const double factor =
        dead ? 1 : short_factor(std::clamp(std::sqrt(one[c] / other[c]), 1 / kMostFactor, kMostFactor));
    up.push_back(factor);
    down.scale.push_back(1 / factor);
  }
  NameSet names(model.proto());
  if (!apply_to_output(model, view, *first, down, names).empty()) return false;
  // Its weight was looked at already; a name may have been added, so everything is looked up again.
  const GraphView now(model.proto());
  const auto behind = linear_op(now, {second->at.node, &now.main()});
  return behind && scale_weight(model, *behind, *layout, up).empty();
}

}  // namespace

int equalize_model(Model& model) {
  int pairs = 0;
  std::vector<onnx::NodeProto*> nodes;
  {
    const GraphView view(model.proto());
    for (const NodeAt& at : view.nodes()) {
      if (at.scope == &view.main() && linear_op(view, at)) nodes.push_back(at.node);
    }
  }
  for (onnx::NodeProto* node : nodes) pairs += equalize(model, *node) ? 1 : 0;
  return pairs;
}

}  // namespace octet
