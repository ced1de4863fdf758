// The operators that make up most models, by rules of our own: onnx's registry describes a thousand of them the first
// time it is asked, which takes longer than quantizing a small model. What is in any way unusual (an older opset, a
// rank or a type that is not known) is left to onnx.
#include <algorithm>
#include <string_view>
#include <unordered_map>

#include "prepare/shape_node.h"

namespace octet {
namespace {

using onnx::TensorProto;

// Each says whether it knew the answer.
using Rule = bool (*)(ShapeNode&);

bool known(const ShapeNode& node, int input) {
  return node.has(input) && node.in(input).type != 0 && node.dims(input).has_value();
}

bool one_output(const ShapeNode& node) { return node.outputs.size() == 1; }

bool as_first(ShapeNode& node) {
  if (!known(node, 0) || !one_output(node)) return false;
  node.out().set(node.in(0).type, *node.dims(0));
  return true;
}

bool truth_as_first(ShapeNode& node) {
  if (!known(node, 0) || !one_output(node)) return false;
  node.out().set(TensorProto::BOOL, *node.dims(0));
  return true;
}

bool cast(ShapeNode& node) {
  const auto to = int_attribute(node.node(), "to", 0);
  if (!known(node, 0) || !one_output(node) || to <= 0 || to > TensorProto::BFLOAT16) return false;
  node.out().set(static_cast<int>(to), *node.dims(0));
  return true;
}

// Sizes come from refine_broadcast.
bool elementwise(ShapeNode& node, int from, int count, int type) {
  if (node.opset() < 7 || !one_output(node) || node.node().input_size() != count) return false;
  for (int i = 0; i < count; ++i) {
    if (!known(node, i)) return false;
    if (i > from && node.in(i).type != node.in(from).type && node.node().op_type() != "Pow") return false;
  }
  node.out().type = type != 0 ? type : node.in(from).type;
  return true;
}

bool arithmetic(ShapeNode& node) { return elementwise(node, 0, 2, 0); }
bool comparison(ShapeNode& node) { return elementwise(node, 0, 2, TensorProto::BOOL); }
bool where(ShapeNode& node) { return elementwise(node, 1, 3, 0); }

// Batches that are the same, or of one; two different names for one are onnx's matter.
bool matrix_product(ShapeNode& node) {
  if (!known(node, 0) || !known(node, 1) || !one_output(node)) return false;
  const Dims &a = *node.dims(0), &b = *node.dims(1);
  if (a.size() < 2 || b.size() < 2) return false;
  const std::size_t rank = std::max(a.size(), b.size());
  Dims sizes(rank);
  for (std::size_t from_end = 3; from_end <= rank; ++from_end) {
    const Dim x = from_end <= a.size() ? a[a.size() - from_end] : Dim(1);
    const Dim y = from_end <= b.size() ? b[b.size() - from_end] : Dim(1);
    if (x != y && !x.is(1) && !y.is(1)) return false;
    sizes[rank - from_end] = x.is(1) ? y : x;
  }
  sizes[rank - 2] = a[a.size() - 2];
  sizes.back() = b.back();
  node.out().set(node.in(0).type, sizes);
  return true;
}

bool gemm(ShapeNode& node) {
  if (!known(node, 0) || !known(node, 1) || !one_output(node) || !node.in(0).has_rank(2) || !node.in(1).has_rank(2))
    return false;
  const bool turn_a = int_attribute(node.node(), "transA", 0) != 0;
  const bool turn_b = int_attribute(node.node(), "transB", 0) != 0;
  node.out().set(node.in(0).type, {(*node.dims(0))[turn_a ? 1 : 0], (*node.dims(1))[turn_b ? 0 : 1]});
  return true;
}

bool transpose(ShapeNode& node) {
  if (!known(node, 0) || !one_output(node)) return false;
  const Dims& in = *node.dims(0);
  Dims sizes(in.rbegin(), in.rend());
  if (const auto* perm = find_attribute(node.node(), "perm")) {
    if (static_cast<std::size_t>(perm->ints_size()) != in.size()) return false;
    std::vector<bool> seen(in.size());
    for (std::size_t i = 0; i < in.size(); ++i) {
      const auto axis = perm->ints(static_cast<int>(i));
      if (axis < 0 || axis >= static_cast<std::int64_t>(in.size()) || seen[static_cast<std::size_t>(axis)])
        return false;
      seen[static_cast<std::size_t>(axis)] = true;
      sizes[i] = in[static_cast<std::size_t>(axis)];
    }
  }
  node.out().set(node.in(0).type, sizes);
  return true;
}

bool shape(ShapeNode& node) {
  if (!known(node, 0) || !one_output(node) || find_attribute(node.node(), "start") ||
      find_attribute(node.node(), "end"))
    return false;
  node.out().set(TensorProto::INT64, {Dim(static_cast<std::int64_t>(node.dims(0)->size()))});
  return true;
}

bool gather(ShapeNode& node) {
  if (!known(node, 0) || !known(node, 1) || !one_output(node)) return false;
  const Dims &data = *node.dims(0), &indices = *node.dims(1);
  const auto axis = axis_of(int_attribute(node.node(), "axis", 0), data.size());
  if (!axis) return false;
  const auto at = static_cast<std::ptrdiff_t>(*axis);
  Dims sizes(data.begin(), data.begin() + at);
  sizes.insert(sizes.end(), indices.begin(), indices.end());
  sizes.insert(sizes.end(), data.begin() + at + 1, data.end());
  node.out().set(node.in(0).type, sizes);
  return true;
}

// Sorted, each once.
std::optional<std::vector<std::size_t>> axes_of(ShapeNode& node, std::size_t rank) {
  const auto listed = node.numbers(1, "axes");
  if (!listed || listed->empty()) return std::nullopt;
  std::vector<std::size_t> axes;
  for (const auto entry : *listed) {
    const auto axis = axis_of(entry, rank);
    if (!axis) return std::nullopt;
    axes.push_back(*axis);
  }
  std::sort(axes.begin(), axes.end());
  if (std::adjacent_find(axes.begin(), axes.end()) != axes.end()) return std::nullopt;
  return axes;
}

bool unsqueeze(ShapeNode& node) {
  if (!known(node, 0) || !one_output(node)) return false;
  const auto listed = node.numbers(1, "axes");
  if (!listed || listed->size() > 64) return false;
  const auto axes = axes_of(node, node.dims(0)->size() + listed->size());
  if (!axes) return false;
  Dims sizes = *node.dims(0);
  for (const auto axis : *axes) sizes.insert(sizes.begin() + static_cast<std::ptrdiff_t>(axis), Dim(1));
  node.out().set(node.in(0).type, sizes);
  return true;
}

bool squeeze(ShapeNode& node) {
  if (!known(node, 0) || !one_output(node)) return false;
  const auto axes = axes_of(node, node.dims(0)->size());
  if (!axes) return false;
  Dims sizes = *node.dims(0);
  for (auto axis = axes->rbegin(); axis != axes->rend(); ++axis)
    sizes.erase(sizes.begin() + static_cast<std::ptrdiff_t>(*axis));
  node.out().set(node.in(0).type, sizes);
  return true;
}

bool reduce(ShapeNode& node) {
  if (!known(node, 0) || !one_output(node)) return false;
  const bool keep = int_attribute(node.node(), "keepdims", 1) != 0;
  const auto axes = axes_of(node, node.dims(0)->size());
  if (!axes) return false;
  Dims sizes;
  for (std::size_t i = 0; i < node.dims(0)->size(); ++i) {
    const bool reduced = std::binary_search(axes->begin(), axes->end(), i);
    if (!reduced) sizes.push_back((*node.dims(0))[i]);
    if (reduced && keep) sizes.emplace_back(1);
  }
  node.out().set(node.in(0).type, sizes);
  return true;
}

// Type and rank; the sizes come from refine_sizes.
bool same_rank(ShapeNode& node) {
  if (!known(node, 0)) return false;
  for (FoundOutput& output : node.outputs) {
    output.type = node.in(0).type;
    output.dims.emplace(node.dims(0)->size());
  }
  return true;
}

bool slice(ShapeNode& node) { return node.opset() >= 11 && one_output(node) && same_rank(node); }
bool concat(ShapeNode& node) { return one_output(node) && same_rank(node); }

// Parts of their own sizes, or equal ones; a last one that is smaller is onnx's to find.
bool split(ShapeNode& node) {
  if (!known(node, 0)) return false;
  const Dims& in = *node.dims(0);
  const auto axis = axis_of(int_attribute(node.node(), "axis", 0), in.size());
  const bool sized = node.has(1) || find_attribute(node.node(), "split");
  const bool told =
      axis && (sized ? node.values(1, "split").has_value()
                     : divide_exactly(in[*axis], static_cast<std::int64_t>(node.outputs.size())).has_value());
  return told && same_rank(node);
}

bool conv(ShapeNode& node) {
  if (!known(node, 0) || !known(node, 1) || !one_output(node)) return false;
  if (node.dims(0)->size() < 3 || node.dims(0)->size() != node.dims(1)->size()) return false;
  // A size that our arithmetic leaves open is onnx's to find.
  const auto whole = [](const Dim& dim) { return dim.number().has_value(); };
  return std::all_of(node.dims(1)->begin(), node.dims(1)->end(), whole) && same_rank(node);
}

bool conv_transpose(ShapeNode& node) { return conv(node) && !find_attribute(node.node(), "output_shape"); }

bool pool(ShapeNode& node) {
  return one_output(node) && known(node, 0) && node.dims(0)->size() >= 3 &&
         int_attribute(node.node(), "ceil_mode", 0) == 0 && find_attribute(node.node(), "kernel_shape") &&
         same_rank(node);
}

bool flatten(ShapeNode& node) {
  if (!known(node, 0) || !one_output(node)) return false;
  const auto rank = static_cast<std::int64_t>(node.dims(0)->size());
  const auto axis = int_attribute(node.node(), "axis", 1);
  if (axis < -rank || axis > rank) return false;
  node.out().type = node.in(0).type;
  node.out().dims.emplace(2);
  return true;
}

bool resize(ShapeNode& node) { return node.opset() >= 10 && one_output(node) && same_rank(node); }
bool pad(ShapeNode& node) { return one_output(node) && same_rank(node); }

bool expand(ShapeNode& node) {
  const auto target = node.values(1);
  if (!known(node, 0) || !target || !one_output(node)) return false;
  node.out().type = node.in(0).type;
  node.out().dims.emplace(std::max(target->size(), node.dims(0)->size()));
  return true;
}

bool range(ShapeNode& node) {
  if (!one_output(node) || !node.has(0) || node.in(0).type == 0) return false;
  node.out().type = node.in(0).type;
  node.out().dims.emplace(1);
  return true;
}

bool constant_of_shape(ShapeNode& node) {
  const auto* value = find_attribute(node.node(), "value");
  const auto& length = node.dims(0);
  if (!one_output(node) || !length || length->size() != 1 || !length->front().number()) return false;
  const auto rank = *length->front().number();
  if (rank < 0 || rank > 64) return false;
  node.out().type = value ? value->t().data_type() : static_cast<int>(TensorProto::FLOAT);
  node.out().dims.emplace(static_cast<std::size_t>(rank));
  return true;
}

bool size(ShapeNode& node) {
  if (!one_output(node) || !node.has(0)) return false;
  node.out().set(TensorProto::INT64, {});
  return true;
}

bool extreme(ShapeNode& node) { return node.opset() >= 8 && elementwise(node, 0, node.node().input_size(), 0); }

bool reshape(ShapeNode& node) {
  if (node.opset() < 5 || !known(node, 0) || !one_output(node)) return false;
  const auto target = node.values(1);
  if (!target) return false;
  node.out().type = node.in(0).type;
  node.out().dims.emplace(target->size());
  return true;
}

bool global_pool(ShapeNode& node) {
  if (!known(node, 0) || !one_output(node) || node.dims(0)->size() < 3) return false;
  Dims sizes = *node.dims(0);
  std::fill(sizes.begin() + 2, sizes.end(), Dim(1));
  node.out().set(node.in(0).type, sizes);
  return true;
}

bool layer_normalization(ShapeNode& node) { return node.opset() >= 17 && as_first(node); }

const std::unordered_map<std::string_view, Rule>& plain() {
  static const std::unordered_map<std::string_view, Rule> rules = [] {
    std::unordered_map<std::string_view, Rule> table;
    for (const char* op : {"Relu",
                           "LeakyRelu",
                           "Elu",
                           "Sigmoid",
                           "Tanh",
                           "Erf",
                           "Exp",
                           "Log",
                           "Sqrt",
                           "Abs",
                           "Neg",
                           "Floor",
                           "Ceil",
                           "Round",
                           "Sign",
                           "Reciprocal",
                           "Softplus",
                           "HardSigmoid",
                           "HardSwish",
                           "Clip",
                           "Identity",
                           "Softmax",
                           "LogSoftmax",
                           "BatchNormalization",
                           "InstanceNormalization",
                           "PRelu",
                           "Sin",
                           "Cos"})
      table[op] = as_first;
    for (const char* op : {"Add", "Sub", "Mul", "Div", "Pow"}) table[op] = arithmetic;
    for (const char* op : {"And", "Or", "Equal", "Less", "Greater", "LessOrEqual", "GreaterOrEqual"})
      table[op] = comparison;
    for (const char* op : {"ReduceMean", "ReduceSum", "ReduceMax", "ReduceMin", "ReduceProd", "ReduceL2"})
      table[op] = reduce;
    table["Not"] = truth_as_first;
    table["Cast"] = cast;
    table["Where"] = where;
    table["MatMul"] = matrix_product;
    table["Gemm"] = gemm;
    table["Transpose"] = transpose;
    table["Shape"] = shape;
    table["Gather"] = gather;
    table["Unsqueeze"] = unsqueeze;
    table["Squeeze"] = squeeze;
    table["Slice"] = slice;
    table["Concat"] = concat;
    table["Split"] = split;
    table["Conv"] = conv;
    table["Reshape"] = reshape;
    table["GlobalAveragePool"] = table["GlobalMaxPool"] = global_pool;
    table["ConvTranspose"] = conv_transpose;
    table["MaxPool"] = table["AveragePool"] = pool;
    table["Flatten"] = flatten;
    table["Resize"] = resize;
    table["Pad"] = pad;
    table["Expand"] = expand;
    table["Range"] = range;
    table["ConstantOfShape"] = constant_of_shape;
    table["Size"] = size;
    table["Max"] = table["Min"] = extreme;
    table["LayerNormalization"] = layer_normalization;
    return table;
  }();
  return rules;
}

}  // namespace

bool infer_plain(ShapeNode& node) {
  if (!is_standard(node.node()) || node.outputs.empty()) return false;
  const auto rule = plain().find(node.node().op_type());
  if (rule == plain().end() || !rule->second(node)) {
    node.outputs.assign(node.outputs.size(), {});
    return false;
  }
  return true;
}

}  // namespace octet
