// c = Constant(value)   →   initializer c
#include <algorithm>
#include <cstring>

#include "model/graph_view.h"
#include "model/tensor_access.h"
#include "prepare/pass.h"

namespace octet {
namespace {

template <class T>
std::vector<std::uint8_t> bytes_of(const T* data, std::size_t count) {
  std::vector<std::uint8_t> bytes(count * sizeof(T));
  if (count > 0) std::memcpy(bytes.data(), data, bytes.size());
  return bytes;
}

// Empty when the constant has a form that stays a node: strings and sparse tensors.
bool take_value(Model& model, onnx::NodeProto& node, onnx::TensorProto& out) {
  if (node.attribute_size() != 1) return false;
  auto& attribute = *node.mutable_attribute(0);
  const std::string& name = node.output(0);
  if (attribute.name() == "value" && attribute.has_t()) {
    out.Swap(attribute.mutable_t());
    out.set_name(name);
    return true;
  }
  if (attribute.name() == "value_float") {
    const float value = attribute.f();
    out = make_tensor(model, name, onnx::TensorProto::FLOAT, {}, bytes_of(&value, 1));
    return true;
  }
  if (attribute.name() == "value_int") {
    const std::int64_t value = attribute.i();
    out = make_tensor(model, name, onnx::TensorProto::INT64, {}, bytes_of(&value, 1));
    return true;
  }
  if (attribute.name() == "value_floats") {
    out = make_tensor(model, name, onnx::TensorProto::FLOAT, {attribute.floats_size()},
                      bytes_of(attribute.floats().data(), static_cast<std::size_t>(attribute.floats_size())));
    return true;
  }
  if (attribute.name() == "value_ints") {
    out = make_tensor(model, name, onnx::TensorProto::INT64, {attribute.ints_size()},
                      bytes_of(attribute.ints().data(), static_cast<std::size_t>(attribute.ints_size())));
    return true;
  }
  return false;
}

void lift(Model& model, onnx::GraphProto& graph, PassReport& report) {
  std::unordered_set<std::string> outputs;
  for (const auto& output : graph.output()) outputs.insert(output.name());
  const bool any =
      std::any_of(graph.node().begin(), graph.node().end(), [](const auto& node) { return is_op(node, "Constant"); });
  if (!any) {
    for (auto& node : *graph.mutable_node()) {
      for (onnx::GraphProto* inner : subgraphs(node)) lift(model, *inner, report);
    }
    return;
  }
  google::protobuf::RepeatedPtrField<onnx::NodeProto> kept;
  for (auto& node : *graph.mutable_node()) {
    for (onnx::GraphProto* inner : subgraphs(node)) lift(model, *inner, report);
    // A stored tensor that is an output of its graph at once stays a node: not every runtime takes the other form.
    const bool constant = is_op(node, "Constant") && node.output_size() == 1 && !outputs.contains(node.output(0));
    onnx::TensorProto value;
    if (constant && take_value(model, node, value)) {
      graph.add_initializer()->Swap(&value);
      ++report.changes;
    } else {
      kept.Add()->Swap(&node);
    }
  }
  graph.mutable_node()->Swap(&kept);
}

}  // namespace

void run_lift_constants(Model& model, PassReport& report) { lift(model, *model.proto().mutable_graph(), report); }

}  // namespace octet
