// Softmax and attention, written out.
#include <algorithm>
#include <limits>

#include "prepare/block_draft.h"

namespace octet {

namespace {

struct Reduced {
  onnx::NodeProto* node = nullptr;
  std::vector<std::int64_t> axes;
};

// The shape that puts back a last axis, all others being as they are: 0, …, 0, 1. Its length, or 0.
std::size_t restores_last_axis(const BlockDraft& draft, const onnx::NodeProto* reshape) {
  const auto shape = draft.ints(reshape, 1);
  if (!shape || shape->empty() || shape->back() != 1 || int_attribute(*reshape, "allowzero", 0) != 0) return 0;
  return std::all_of(shape->begin(), shape->end() - 1, [](auto size) { return size == 0; }) ? shape->size() : 0;
}

// The reduction behind a value, taken in, with what puts its dimension back where it drops it: Unsqueeze, or a Reshape
// that leaves one rank possible. JAX has Max(-infinity, ·) in between.
std::optional<Reduced> reduced(BlockDraft& draft, const Value* value, std::string_view op) {
  const auto take = [&](onnx::NodeProto* node, int input) {
    draft.take(node);
    value = draft.in(node, input);
  };
  std::optional<std::vector<std::int64_t>> put_back;
  std::size_t rank = 0;
  if (auto* unsqueeze = draft.maker(value, "Unsqueeze")) {
    put_back = draft.ints(unsqueeze, 1, "axes");
    if (!put_back) return std::nullopt;
    take(unsqueeze, 0);
  } else if (auto* reshape = draft.maker(value, "Reshape")) {
    rank = restores_last_axis(draft, reshape);
    if (rank == 0) return std::nullopt;
    take(reshape, 0);
  }
  if (auto* guard = draft.maker(value, "Max"); guard && guard->input_size() == 2) {
    constexpr double kLowest = -std::numeric_limits<double>::infinity();
    const int number = draft.scalar(draft.in(guard, 0)) == kLowest ? 0 : 1;
    if (draft.scalar(draft.in(guard, number)) != kLowest) return std::nullopt;
    take(guard, 1 - number);
  }
  auto* node = draft.maker(value, op);
  if (!node) return std::nullopt;
  draft.take(node);
  if (!put_back && rank == 0) {
    const auto axes = draft.kept_axes(node);
    return axes ? std::optional(Reduced{node, *axes}) : std::nullopt;
  }
  const auto axes = draft.ints(node, 1, "axes");
  if (!axes || axes->size() != 1 || int_attribute(*node, "keepdims", 1) != 0) return std::nullopt;
  if (put_back && *put_back != *axes) return std::nullopt;
  if (rank > 0) {
    if ((*axes)[0] != -1 && (*axes)[0] != static_cast<std::int64_t>(rank) - 1) return std::nullopt;
    draft.block.rank = rank;
  }
  return Reduced{node, *axes};
}

}  // namespace

// Exp(x - ReduceMax(x)) / ReduceSum(that). Without the maximum it is another function: it overflows.
std::optional<Block> match_softmax(const Model& model, const GraphView& view, const NodeAt& exp) {
  BlockDraft draft(model, view, exp);
  auto* difference = draft.maker(draft.in(exp.node, 0), "Sub");
  const auto maximum = difference ? reduced(draft, draft.in(difference, 1), "ReduceMax") : std::nullopt;
  const Value* powers = draft.out(exp.node);
  if (!maximum || maximum->axes.size() != 1 || !powers || powers->uses.size() != 2 ||
      draft.in(maximum->node, 0) != draft.in(difference, 0))
    return std::nullopt;
  // The other reader than the sum is the quotient, or the product with the reciprocal.
  onnx::NodeProto* quotient = nullptr;
  for (const Use& use : powers->uses) {
    if (use.scope == exp.scope && (is_op(*use.node, "Div") || is_op(*use.node, "Mul"))) quotient = use.node;
  }
  const Value* total = quotient ? draft.other(quotient, powers) : nullptr;
  if (!total || (is_op(*quotient, "Div") && draft.in(quotient, 0) != powers)) return std::nullopt;
  if (is_op(*quotient, "Mul")) {
    auto* reciprocal = draft.maker(total, "Reciprocal");
    if (!reciprocal) return std::nullopt;
    draft.take(reciprocal);
    total = draft.in(reciprocal, 0);
  }
  const auto sum = reduced(draft, total, "ReduceSum");
  if (!sum || sum->axes != maximum->axes || draft.in(sum->node, 0) != powers) return std::nullopt;
  for (auto* node : {difference, quotient}) draft.take(node);
  draft.block.axes = maximum->axes;
  return draft.finish(BlockKind::kSoftmax, {draft.in(difference, 0)}, draft.out(quotient));
}

namespace {

// Multiplied or divided by one stored number, and read by nothing else.
const Value* above_scale(BlockDraft& draft, const Value* value) {
  for (const char* op : {"Mul", "Div"}) {
    auto* node = draft.maker(value, op);
    if (!node || node->input_size() != 2 || !draft.reader(value)) continue;
    const bool second = draft.scalar(draft.in(node, 1)).has_value();
    if (!second && (node->op_type() == "Div" || !draft.scalar(draft.in(node, 0)))) continue;
    draft.take(node);
    return draft.in(node, second ? 0 : 1);
  }
  return value;
}

constexpr int kMaxBetween = 6;  // scale, masks and casts between two products

// Upwards from the Softmax to the product of query and key.
onnx::NodeProto* product_above(BlockDraft& draft, const Value* scores, std::vector<const Value*>& masks) {
  for (int step = 0; step < kMaxBetween; ++step) {
    if (auto* product = draft.maker(scores, "MatMul")) return product;
    if (const Value* unscaled = above_scale(draft, scores); unscaled != scores) {
      scores = unscaled;
      continue;
    }
    auto* node = draft.maker(scores);
    if (!node) return nullptr;
    draft.take(node);
    const auto leads_to_product = [&](const Value* value) {
      for (int depth = 0; depth < kMaxBetween; ++depth) {
        const auto* above = draft.maker(value);
        if (!above) return false;
        if (above->op_type() == "MatMul") return true;
        if (above->op_type() != "Mul" && above->op_type() != "Div" && above->op_type() != "Add" &&
            above->op_type() != "Where" && above->op_type() != "Cast")
          return false;
        const bool first = above->op_type() != "Where" && above->input_size() > 0 && draft.in(above, 0) &&
                           draft.in(above, 0)->producer;
        value = draft.in(above, first ? 0 : 1);
      }
      return false;
    };
    if (node->op_type() == "Cast") {
      scores = draft.in(node, 0);
    } else if (node->op_type() == "Add" && node->input_size() == 2) {
      const int at = leads_to_product(draft.in(node, 0)) ? 0 : 1;
      masks.push_back(draft.in(node, 1 - at));
      scores = draft.in(node, at);
    } else if (node->op_type() == "Where" && node->input_size() == 3) {
      // The scores, or a very negative number.
      const bool second = draft.scalar(draft.in(node, 2)).has_value();
      if (!second && !draft.scalar(draft.in(node, 1))) return nullptr;
      masks.push_back(draft.in(node, 0));
      scores = draft.in(node, second ? 1 : 2);
    } else {
      return nullptr;
    }
  }
  return nullptr;
}

// Downwards from the Softmax to the product with the values: a Cast, or a guard against NaN, may stand between.
onnx::NodeProto* product_below(BlockDraft& draft, const Value* weights) {
  for (int step = 0; step < kMaxBetween && weights; ++step) {
    if (auto* product = draft.reader(weights, "MatMul")) return draft.in(product, 0) == weights ? product : nullptr;
    if (auto* cast = draft.reader(weights, "Cast")) {
      draft.take(cast);
      weights = draft.out(cast);
      continue;
    }
    // Where(IsNaN(weights), 0, weights)
    if (weights->graph_outputs > 0 || weights->uses.size() != 2) return nullptr;
    onnx::NodeProto *test = nullptr, *guard = nullptr;
    for (const Use& use : weights->uses) {
      if (use.scope != draft.block.scope) return nullptr;
      if (is_op(*use.node, "IsNaN")) test = use.node;
      if (is_op(*use.node, "Where") && use.input == 2) guard = use.node;
    }
    if (!test || !guard || draft.in(guard, 0) != draft.out(test) || draft.scalar(draft.in(guard, 1)) != 0.0)
      return nullptr;
    draft.take(test);
    draft.take(guard);
    weights = draft.out(guard);
  }
  return nullptr;
}

}  // namespace

std::optional<Block> match_attention(const Model& model, const GraphView& view, const NodeAt& softmax,
                                     const Block* written_out) {
  BlockDraft draft(model, view, softmax);
  const Value *scores = nullptr, *weights = nullptr;
  if (written_out) {
    for (auto* node : written_out->nodes) draft.take(node);
    draft.block.axes = written_out->axes;
    scores = written_out->inputs[0];
    weights = written_out->output;
  } else {
    draft.block.axes = {int_attribute(*softmax.node, "axis", opset_of(model.proto()) < 13 ? 1 : -1)};
    scores = draft.in(softmax.node, 0);
    weights = draft.out(softmax.node);
  }
  // Attention has three axes or four: the scores' last one is that of the keys.
  const auto axis = draft.block.axes[0];
  if (!scores || !weights || (axis != -1 && axis != 2 && axis != 3)) return std::nullopt;
  std::vector<const Value*> masks;
  auto* above = product_above(draft, scores, masks);
  auto* below = above ? product_below(draft, weights) : nullptr;
  if (!below || above->input_size() != 2 || below->input_size() != 2) return std::nullopt;
  draft.take(above);
  draft.take(below);
  const Value *query = draft.in(above, 0), *key = draft.in(above, 1), *values = draft.in(below, 1);
  if (!query || !key || !values || query->constant() || key->constant() || values->constant()) return std::nullopt;
  std::vector<const Value*> inputs = {above_scale(draft, query), above_scale(draft, key), values};
  inputs.insert(inputs.end(), masks.begin(), masks.end());
  return draft.finish(BlockKind::kAttention, std::move(inputs), draft.out(below));
}

}  // namespace octet
