// Upsample            became Resize at 10; the converter fails on it.
// Resize              changed its coordinates at 11: the converter gives it the new ones.
// Softmax, LogSoftmax, Hardmax   worked on a matrix [before axis, from axis on] up to 12, on one axis since. Where only
//                     one of the axes in question is longer than 1, both are the same, and need no Flatten and Reshape
//                     around; Hardmax the converter leaves as it is, which is wrong for any other.
// Reduce…             lost noop_with_empty_axes below 18 (ReduceSum 13): the converter leaves it.
// Nodes of other domains with graphs in them: the converter does not enter these; as an If it does.
#include "prepare/own_conversions.h"

#include <algorithm>

#include "octet/error.h"
#include "prepare/resize_forms.h"
#include "prepare/shapes.h"

namespace octet {
namespace {

// A domain that the converter does not know, and where an operator's own name is kept meanwhile.
constexpr const char* kHidden = "octet.hidden";
constexpr const char* kDomain = "octet.domain";
constexpr const char* kOperator = "octet.operator";
constexpr const char* kNearest = "octet.nearest";

constexpr std::int64_t kOneAxis = 13;  // since when Softmax works on one axis

[[noreturn]] void refuse(const onnx::NodeProto& node, std::int64_t to, const std::string& why) {
  throw Error(ErrorCode::kUnsupported, node.op_type() + " '" + node.name() + "'",
              "has no equal in opset " + std::to_string(to) + ": " + why, "export the model with that opset");
}

std::string take_text(onnx::NodeProto& node, const char* name) {
  const auto* attribute = find_attribute(node, name);
  std::string text = attribute ? attribute->s() : "";
  drop_attribute(node, name);
  return text;
}

bool is_softmax(const onnx::NodeProto& node) {
  return is_op(node, "Softmax") || is_op(node, "LogSoftmax") || is_op(node, "Hardmax");
}

// The one axis that such a node of before opset 13 works on; nothing when there are several or it cannot be told.
std::optional<std::int64_t> single_axis(const onnx::NodeProto& node, const ShapeFacts& input) {
  std::int64_t axis = int_attribute(node, "axis", 1);
  if (axis == -1) return axis;
  if (!input.dims) return std::nullopt;
  const auto rank = static_cast<std::int64_t>(input.dims->size());
  if (axis < 0) axis += rank;
  if (axis < 0 || axis >= rank) return std::nullopt;
  std::optional<std::int64_t> found;
  for (std::int64_t i = axis; i < rank; ++i) {
    if ((*input.dims)[static_cast<std::size_t>(i)].is(1)) continue;
    if (found) return std::nullopt;
    found = i;
  }
  const std::int64_t single = found.value_or(axis);
  return single == rank - 1 ? -1 : single;
}

bool lost_noop(const onnx::NodeProto& node, std::int64_t from, std::int64_t to) {
  if (!node.op_type().starts_with("Reduce") || !is_standard(node)) return false;
  const std::int64_t since = node.op_type() == "ReduceSum" ? 13 : 18;
  return from >= since && to < since;
}

}  // namespace

OwnConversions::OwnConversions(Model& model, std::int64_t from, std::int64_t to) : from_(from), to_(to) {
  const GraphView view(model.proto());
  std::optional<Shapes> shapes;
  for (const NodeAt& at : view.nodes()) {
    auto& node = *at.node;
    for (const char* name : {kDomain, kOperator, kNearest}) drop_attribute(node, name);  // ours alone
    if (!is_standard(node)) {
      if (subgraphs(node).empty()) continue;
      set_attribute(node, kDomain, node.domain());
      set_attribute(node, kOperator, node.op_type());
      node.set_domain("");
      node.set_op_type("If");
    } else if (is_op(node, "Upsample") && from >= 7 && from < 10 && to >= 10) {
      node.set_domain(kHidden);
    } else if (is_op(node, "Resize") && from == 10 && to >= 11 && node.input_size() == 2 && node.output_size() == 1) {
      const auto mode = nearest_mode_of(model, view, at);
      if (!mode) refuse(node, to, "it takes the nearest element with scales that are computed, or below and above 1");
      set_attribute(node, kNearest, *mode);
      node.set_domain(kHidden);
    } else if (is_softmax(node) && from < kOneAxis && to >= kOneAxis) {
      if (!shapes) shapes.emplace(model, view);
      const auto axis = single_axis(node, shapes->input(at, 0));
      if (!axis && is_op(node, "Hardmax"))
        refuse(node, to, "it works on several axes at once, or on an unknown number");
      if (!axis) continue;
      set_attribute(node, "axis", *axis);
      node.set_domain(kHidden);
    } else if (lost_noop(node, from, to)) {
      if (int_attribute(node, "noop_with_empty_axes", 0) != 0 && node.input_size() < 2)
        refuse(node, to, "it does nothing without axes");
      drop_attribute(node, "noop_with_empty_axes");
    }
  }
  require_domain(model.proto(), kHidden, 1);
}

void OwnConversions::finish(Model& model) const {
  NameSet names(model.proto());
  show(model, *model.proto().mutable_graph(), names);
  auto& imports = *model.proto().mutable_opset_import();
  imports.erase(std::remove_if(imports.begin(), imports.end(), [](const auto& i) { return i.domain() == kHidden; }),
                imports.end());
}

void OwnConversions::show(Model& model, onnx::GraphProto& graph, NameSet& names) const {
  for (auto& node : *graph.mutable_node()) {
    if (find_attribute(node, kOperator)) {
      node.set_domain(take_text(node, kDomain));
      node.set_op_type(take_text(node, kOperator));
    } else if (node.domain() == kHidden) {
      node.set_domain("");
      const std::string nearest = take_text(node, kNearest);
      if (is_op(node, "Resize")) {
        renew_resize(model, graph, node, to_, nearest, names);
      } else if (is_op(node, "Upsample") && !upsample_to_resize(model, graph, node, to_, names)) {
        refuse(node, to_, "it has no scales");
      }
    }
    for (onnx::GraphProto* inner : subgraphs(node)) show(model, *inner, names);
  }
}

}  // namespace octet
