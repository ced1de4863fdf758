// y = F(x) where F changes nothing   →   y = Identity(x), which remove_identities takes out
// Such as a Reshape to the shape that x has, a Transpose that moves no axis, an Add of zeros, a Concat of one tensor, a
// Relu of what a Relu gave. F counts only where type and shape of y are those of x, by the facts of Shapes: an Add of
// zeros that also broadcasts stays. (x + 0 makes +0 of -0; that difference is taken.)
#include <algorithm>
#include <limits>

#include "model/graph_match.h"
#include "octet/error.h"
#include "prepare/analysis.h"
#include "prepare/pass.h"
#include "prepare/shapes.h"

namespace octet {
namespace {

constexpr std::uint64_t kMaxElements = 1 << 16;  // of a constant that is looked through for zeros or ones

struct Question {
  const Model& model;
  const GraphView& view;
  const Shapes& shapes;
  NodeAt at;

  const onnx::NodeProto& node() const { return *at.node; }
  bool has_input(int index) const { return index < node().input_size() && !node().input(index).empty(); }
  // Whether the first output has the shape of an input, as far as is known.
  bool same_shape(int index = 0) const {
    const auto &in = shapes.input(at, index).dims, &out = shapes.output(at, 0).dims;
    return in && out && *in == *out;
  }
  bool same_rank() const {
    const auto &in = shapes.input(at, 0).dims, &out = shapes.output(at, 0).dims;
    return in && out && in->size() == out->size();
  }
  std::optional<std::vector<std::int64_t>> ints(int index, std::string_view attribute = {}) const {
    return constant_ints(model, view, at, index, attribute);
  }
  // Whether a stored input is `number` all over.
  bool is_filled(int index, double number) const;
};

bool all_are(const std::vector<std::int64_t>& values, std::int64_t number) {
  return std::all_of(values.begin(), values.end(), [=](std::int64_t value) { return value == number; });
}

bool Question::is_filled(int index, double number) const {
  const Value* value = view.input(at, index);
  if (!value || !value->constant()) return false;
  const auto& tensor = *value->initializer;
  const auto count = element_count(tensor);
  if (count == 0 || count > kMaxElements) return false;
  if (tensor.data_type() == onnx::TensorProto::DOUBLE) {
    const auto bytes = tensor_bytes(model, tensor);
    const auto values = bytes.as<double>();
    return std::all_of(values.begin(), values.end(), [=](double element) { return element == number; });
  }
  if (is_float_type(tensor.data_type())) {
    const auto values = tensor_as_float(model, tensor);
    return std::all_of(values.begin(), values.end(),
                       [=](float element) { return element == static_cast<float>(number); });
  }
  if (is_integer_type(tensor.data_type()))
    return all_are(tensor_as_int64(model, tensor), static_cast<std::int64_t>(number));
  return false;
}

// The input that a node hands on unchanged, or nothing.
using Answer = std::optional<int>;
using Rule = Answer (*)(const Question&);

Answer first_if(bool holds) { return holds ? Answer(0) : Answer(); }

Answer keeps_shape(const Question& q) { return first_if(q.same_shape()); }
Answer keeps_rank(const Question& q) { return first_if(q.same_rank()); }
Answer has_one_input(const Question& q) { return first_if(q.node().input_size() == 1); }
Answer has_one_output(const Question& q) { return first_if(q.node().output_size() == 1 && q.same_shape()); }

Answer slices_all(const Question& q) {
  const auto steps = q.ints(4);
  if (q.has_input(4) && (!steps || !all_are(*steps, 1))) return {};
  if (q.same_shape()) return 0;
  const auto starts = q.ints(1, "starts"), ends = q.ints(2, "ends");
  const auto all = [](std::int64_t end) { return end >= std::numeric_limits<std::int32_t>::max(); };
  return first_if(starts && ends && all_are(*starts, 0) && std::all_of(ends->begin(), ends->end(), all));
}

Answer pads_nothing(const Question& q) {
  const auto pads = q.ints(1, find_attribute(q.node(), "paddings") ? "paddings" : "pads");
  return first_if(pads && all_are(*pads, 0));
}

Answer moves_no_axis(const Question& q) {
  const auto* perm = find_attribute(q.node(), "perm");
  if (!perm) {
    const auto& dims = q.shapes.input(q.at, 0).dims;
    return first_if(dims && dims->size() < 2);
  }
  for (int i = 0; i < perm->ints_size(); ++i) {
    if (perm->ints(i) != i) return {};
  }
  return 0;
}

Answer keeps_type(const Question& q) {
  const int type = q.shapes.input(q.at, 0).type;
  return first_if(type != 0 && type == int_attribute(q.node(), "to", 0));
}

Answer has_type_of_other(const Question& q) {
  const int type = q.shapes.input(q.at, 0).type;
  return first_if(type != 0 && type == q.shapes.input(q.at, 1).type);
}

Answer repeats_once(const Question& q) {
  const auto repeats = q.node().input_size() == 2 ? q.ints(1) : std::nullopt;  // opset 1 had (x, tiles, axis)
  return first_if(repeats && all_are(*repeats, 1));
}

// At a scale of 1 every coordinate is its own source, except in the two transformations named.
Answer scales_by_one(const Question& q) {
  static const std::unordered_set<std::string_view> kMoving = {"tf_crop_and_resize", "tf_half_pixel_for_nn"};
  if (const auto* mode = find_attribute(q.node(), "coordinate_transformation_mode");
      mode && kMoving.contains(mode->s()))
    return {};
  const int scales = is_op(q.node(), "Upsample") || q.node().input_size() == 2 ? 1 : 2;
  if (const auto* listed = find_attribute(q.node(), "scales")) {
    const auto& values = listed->floats();
    return first_if(std::all_of(values.begin(), values.end(), [](float scale) { return scale == 1; }));
  }
  if (q.has_input(scales)) {
    const Value* value = q.view.input(q.at, scales);
    if (value && value->initializer && element_count(*value->initializer) > 0) return first_if(q.is_filled(scales, 1));
  }
  const auto* policy = find_attribute(q.node(), "keep_aspect_ratio_policy");
  return first_if(q.has_input(3) && (!policy || policy->s() == "stretch") && q.same_shape());
}

Answer with_neutral(const Question& q, double neutral, bool either) {
  if (q.node().input_size() != 2) return {};
  if (q.is_filled(1, neutral) && q.same_shape(0)) return 0;
  if (either && q.is_filled(0, neutral) && q.same_shape(1)) return 1;
  return {};
}

Answer adds_zero(const Question& q) { return with_neutral(q, 0, true); }
Answer subtracts_zero(const Question& q) { return with_neutral(q, 0, false); }
Answer multiplies_by_one(const Question& q) { return with_neutral(q, 1, true); }
Answer divides_by_one(const Question& q) { return with_neutral(q, 1, false); }

Answer pools_points(const Question& q) {
  const auto all_are_one = [&](const char* name, bool wanted) {
    const auto* listed = find_attribute(q.node(), name);
    return listed ? std::all_of(listed->ints().begin(), listed->ints().end(), [](auto v) { return v == 1; }) : !wanted;
  };
  const auto* pads = find_attribute(q.node(), "pads");
  if (pads && std::any_of(pads->ints().begin(), pads->ints().end(), [](auto pad) { return pad != 0; })) return {};
  if (q.node().output_size() > 1 && !q.node().output(1).empty()) return {};
  return first_if(all_are_one("kernel_shape", true) && all_are_one("strides", false));
}

// Over axes of size 1, which keep their place: the one element is its own sum, mean, product and extreme.
Answer reduces_nothing(const Question& q) {
  return first_if(int_attribute(q.node(), "keepdims", 1) != 0 && q.same_shape());
}

Answer gathers_all(const Question& q) {
  const auto indices = q.ints(1);
  const auto& dims = q.shapes.input(q.at, 0).dims;
  if (!indices || !dims || !q.shapes.input(q.at, 1).has_rank(1)) return {};
  auto axis = int_attribute(q.node(), "axis", 0);
  if (axis < 0) axis += static_cast<std::int64_t>(dims->size());
  if (axis < 0 || axis >= static_cast<std::int64_t>(dims->size())) return {};
  if (!(*dims)[static_cast<std::size_t>(axis)].is(static_cast<std::int64_t>(indices->size()))) return {};
  for (std::size_t i = 0; i < indices->size(); ++i) {
    if ((*indices)[i] != static_cast<std::int64_t>(i)) return {};
  }
  return 0;
}

Answer chooses_one(const Question& q) {
  if (q.node().input_size() != 3) return {};
  if (q.is_filled(0, 1) && q.same_shape(1)) return 1;
  if (q.is_filled(0, 0) && q.same_shape(2)) return 2;
  return first_if(false);
}

Answer rearranges_nothing(const Question& q) { return first_if(int_attribute(q.node(), "blocksize", 0) == 1); }

struct Row {
  std::string_view op;
  Rule rule;
};

constexpr Row kRows[] = {
    {"Reshape", keeps_shape},
    {"Flatten", keeps_shape},
    {"Expand", keeps_shape},
    {"Squeeze", keeps_rank},
    {"Unsqueeze", keeps_rank},
    {"Slice", slices_all},
    {"Concat", has_one_input},
    {"Sum", has_one_input},
    {"Mean", has_one_input},
    {"Max", has_one_input},
    {"Min", has_one_input},
    {"Split", has_one_output},
    {"Pad", pads_nothing},
    {"Transpose", moves_no_axis},
    {"Cast", keeps_type},
    {"CastLike", has_type_of_other},
    {"Tile", repeats_once},
    {"Resize", scales_by_one},
    {"Upsample", scales_by_one},
    {"Add", adds_zero},
    {"Sub", subtracts_zero},
    {"Mul", multiplies_by_one},
    {"Div", divides_by_one},
    {"Pow", divides_by_one},
    {"And", multiplies_by_one},
    {"Or", adds_zero},
    {"Xor", adds_zero},
    {"MaxPool", pools_points},
    {"AveragePool", pools_points},
    {"ReduceSum", reduces_nothing},
    {"ReduceMean", reduces_nothing},
    {"ReduceMax", reduces_nothing},
    {"ReduceMin", reduces_nothing},
    {"ReduceProd", reduces_nothing},
    {"Gather", gathers_all},
    {"Where", chooses_one},
    {"DepthToSpace", rearranges_nothing},
    {"SpaceToDepth", rearranges_nothing},
};

// Pairs whose second operator changes nothing that the first one made.
struct Pair {
  std::string_view first, second;
};
constexpr Pair kIdle[] = {
    {"Relu", "Relu"},  {"Abs", "Abs"},     {"Relu", "Abs"},    {"Abs", "Relu"},     {"Ceil", "Ceil"},
    {"Ceil", "Round"}, {"Ceil", "Floor"},  {"Floor", "Floor"}, {"Floor", "Ceil"},   {"Floor", "Round"},
    {"Round", "Ceil"}, {"Round", "Floor"}, {"Round", "Round"}, {"Sigmoid", "Relu"}, {"Sign", "Sign"},
};
// Pairs that cancel.
constexpr Pair kInverse[] = {{"Not", "Not"}, {"Neg", "Neg"}};

bool listed(std::span<const Pair> pairs, const onnx::NodeProto& first, const onnx::NodeProto& second) {
  return std::any_of(pairs.begin(), pairs.end(), [&](const Pair& pair) {
    return pair.first == first.op_type() && pair.second == second.op_type();
  });
}

// The name of the value that a node hands on.
std::optional<std::string> passed_on(const Question& q) {
  const auto& node = q.node();
  if (!is_standard(node) || !q.has_input(0) || node.output_size() == 0 || node.output(0).empty()) return {};
  for (const Row& row : kRows) {
    if (row.op != node.op_type()) continue;
    const Answer index = row.rule(q);
    if (index && q.has_input(*index)) return node.input(*index);
  }
  const auto before = producer_of(q.view.input(q.at, 0));
  if (!before || before->scope != q.at.scope || !is_standard(*before->node) || node.input_size() != 1) return {};
  if (listed(kIdle, *before->node, node)) return node.input(0);
  if (listed(kInverse, *before->node, node) && before->node->input_size() == 1) return before->node->input(0);
  return {};
}

}  // namespace

void run_remove_no_ops(Model& model, PassReport& report) {
  const auto analysis = analyze(model);
  const GraphView& view = analysis->view;
  const Shapes& shapes = analysis->shapes();
  for (const NodeAt& at : view.nodes()) {
    const auto name = passed_on({model, view, shapes, at});
    if (!name) continue;
    while (at.node->output_size() > 1) at.node->mutable_output()->RemoveLast();
    become(*at.node, "Identity", {*name});
    ++report.changes;
  }
}

}  // namespace octet
