// w: FLOAT16;  y = Cast<to = FLOAT16>(x)   →   w: FLOAT;  y = Cast<to = FLOAT>(x)
// Every stored tensor, attribute and declared type between the inputs and outputs; those keep their types, with a Cast
// at the edge. Wider weights are made while the model is written.
#include <algorithm>
#include <array>
#include <cstring>

#include "model/graph_match.h"
#include "prepare/pass.h"

namespace octet {
namespace {

using onnx::TensorProto;

bool is_half(int type) { return type == TensorProto::FLOAT16 || type == TensorProto::BFLOAT16; }

class Widener {
 public:
  Widener(Model& model, PassReport& report) : model_(model), names_(model.proto()), report_(report) {}

  void run() {
    auto& graph = *model_.proto().mutable_graph();
    widen(graph);
    google::protobuf::RepeatedPtrField<onnx::NodeProto> nodes;
    for (auto& input : *graph.mutable_input()) {
      const int type = input.type().tensor_type().elem_type();
      if (!is_half(type)) continue;
      const std::string inner = names_.fresh(input.name() + "_float32");
      for (auto& node : *graph.mutable_node()) rename_reads(node, {{input.name(), inner}});
      add_cast(*nodes.Add(), input.name(), inner, TensorProto::FLOAT);
    }
    for (auto& node : *graph.mutable_node()) nodes.Add()->Swap(&node);
    for (auto& output : *graph.mutable_output()) {
      const int type = output.type().tensor_type().elem_type();
      if (!is_half(type)) continue;
      const std::string inner = names_.fresh(output.name() + "_float32");
      bool made = false;  // not an input handed through
      for (auto& node : nodes) {
        for (auto& name : *node.mutable_output()) {
          made = made || name == output.name();
          if (name == output.name()) name = inner;
        }
      }
      if (!made) continue;
      for (auto& node : nodes) rename_reads(node, {{output.name(), inner}});
      add_cast(*nodes.Add(), inner, output.name(), type);
    }
    graph.mutable_node()->Swap(&nodes);
  }

 private:
  static void add_cast(onnx::NodeProto& node, const std::string& from, const std::string& to, int type) {
    node.set_op_type("Cast");
    node.add_input(from);
    node.add_output(to);
    set_attribute(node, "to", static_cast<std::int64_t>(type));
  }

  void widen(TensorProto& tensor) {
    if (!is_half(tensor.data_type())) return;
    const std::uint64_t count = element_count(tensor);
    TensorProto wide;
    wide.set_name(tensor.name());
    wide.set_data_type(TensorProto::FLOAT);
    *wide.mutable_dims() = tensor.dims();
    const auto fill = [&store = model_.store(), source = tensor](std::span<std::uint8_t> out) {
      const auto values = tensor_as_float(store, source);
      if (!values.empty()) std::memcpy(out.data(), values.data(), out.size());
    };
    if (stored_id(tensor)) {
      set_stored_id(wide, model_.store().add_computed(count * sizeof(float), fill));
    } else {
      std::string raw(count * sizeof(float), '\0');
      fill({reinterpret_cast<std::uint8_t*>(raw.data()), raw.size()});
      wide.set_raw_data(std::move(raw));
    }
    tensor.Swap(&wide);
    ++report_.changes;
  }

  void widen(onnx::TypeProto& type) {
    if (type.has_tensor_type() && is_half(type.tensor_type().elem_type()))
      type.mutable_tensor_type()->set_elem_type(TensorProto::FLOAT);
    if (type.has_sequence_type()) widen(*type.mutable_sequence_type()->mutable_elem_type());
    if (type.has_optional_type()) widen(*type.mutable_optional_type()->mutable_elem_type());
  }

  void widen(onnx::GraphProto& graph, bool outermost = true) {
    for (auto& tensor : *graph.mutable_initializer()) widen(tensor);
    for (auto& info : *graph.mutable_value_info()) widen(*info.mutable_type());
    if (!outermost) {
      for (auto& info : *graph.mutable_input()) widen(*info.mutable_type());
      for (auto& info : *graph.mutable_output()) widen(*info.mutable_type());
    }
    // Attributes that name an element type.
    constexpr std::array kTypes = {"to", "dtype", "output_dtype", "output_datatype"};
    for (auto& node : *graph.mutable_node()) {
      for (auto& attribute : *node.mutable_attribute()) {
        const bool names_type = std::find(kTypes.begin(), kTypes.end(), attribute.name()) != kTypes.end();
        if (names_type && attribute.has_i() && is_half(static_cast<int>(attribute.i()))) {
          attribute.set_i(TensorProto::FLOAT);
          ++report_.changes;
        }
        if (attribute.has_t()) widen(*attribute.mutable_t());
        if (attribute.has_tp()) widen(*attribute.mutable_tp());
        for (auto& tensor : *attribute.mutable_tensors()) widen(tensor);
        if (attribute.has_g()) widen(*attribute.mutable_g(), false);
        for (auto& inner : *attribute.mutable_graphs()) widen(inner, false);
      }
    }
  }

  Model& model_;
  NameSet names_;
  PassReport& report_;
};

}  // namespace

void convert_to_float32(Model& model, PassReport& report) { Widener(model, report).run(); }

}  // namespace octet
