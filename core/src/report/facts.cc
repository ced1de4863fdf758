#include "octet/facts.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "model/graph_view.h"
#include "model/tensor_access.h"
#include "report/json_text.h"

namespace octet {
namespace {

constexpr std::size_t kLargest = 20;

std::string shape_text(const onnx::TensorShapeProto& shape) {
  std::string text = "[";
  for (const auto& dim : shape.dim()) {
    if (text.size() > 1) text += ", ";
    text += dim.has_dim_value() ? std::to_string(dim.dim_value()) : dim.dim_param().empty() ? "?" : dim.dim_param();
  }
  return text + "]";
}

std::string dims_text(const onnx::TensorProto& tensor) {
  std::string text = "[";
  for (const auto dim : tensor.dims()) text += (text.size() > 1 ? ", " : "") + std::to_string(dim);
  return text + "]";
}

ValueFacts value_facts(const onnx::ValueInfoProto& value) {
  if (!value.type().has_tensor_type()) return {value.name(), "not a tensor", "?", {}};
  const auto& type = value.type().tensor_type();
  ValueFacts facts{value.name(), type_name(type.elem_type()), type.has_shape() ? shape_text(type.shape()) : "?", {}};
  for (const auto& dim : type.shape().dim()) {
    if (!dim.dim_param().empty()) facts.symbols.push_back(dim.dim_param());
  }
  return facts;
}

bool is_integer_op(const onnx::NodeProto& node) {
  const std::string& op = node.op_type();
  return op == "QuantizeLinear" || op == "DequantizeLinear" || op == "DynamicQuantizeLinear" || op == "ConvInteger" ||
         op == "MatMulInteger" || op == "MatMulNBits" || op == "QGemm" || op == "QAttention" ||
         op == "DynamicQuantizeLSTM" || op == "DynamicQuantizeMatMul" || op.starts_with("QLinear");
}

class Collector {
 public:
  explicit Collector(ModelFacts& facts) : facts_(facts) {}

  void graph(onnx::GraphProto& graph) {
    for (const auto& tensor : graph.initializer()) add(tensor);
    for (auto& node : *graph.mutable_node()) this->node(node);
  }

  void node(onnx::NodeProto& node) {
    ++facts_.nodes;
    ++facts_.operators[is_standard(node) ? node.op_type() : node.domain() + "." + node.op_type()];
    facts_.quantized_already = facts_.quantized_already || is_integer_op(node);
    for (const auto& attribute : node.attribute()) {
      if (attribute.has_t() && node.op_type() == "Constant")
        add(attribute.t(), node.output_size() > 0 ? node.output(0) : std::string());
    }
    for (onnx::GraphProto* inner : subgraphs(node)) {
      ++facts_.subgraphs;
      graph(*inner);
    }
  }

 private:
  void add(const onnx::TensorProto& tensor, const std::string& name = {}) {
    if (tensor.data_type() == onnx::TensorProto::UNDEFINED) return;  // some exports write such for "none"
    const std::uint64_t bytes = tensor_byte_size(tensor);
    facts_.stored_bytes += bytes;
    if (is_float_type(tensor.data_type())) {
      facts_.parameters += element_count(tensor);
      facts_.float_bytes += bytes;
    }
    facts_.largest.push_back(
        {name.empty() ? tensor.name() : name, type_name(tensor.data_type()), dims_text(tensor), bytes});
  }

  ModelFacts& facts_;
};

// Follows integer inputs through operators that only move values, down to the tables that they index.
std::map<std::string, std::int64_t> index_bounds(onnx::GraphProto& graph) {
  std::map<std::string, std::int64_t> bounds;
  std::unordered_map<std::string, const onnx::TensorProto*> tables;
  for (const auto& tensor : graph.initializer()) tables.emplace(tensor.name(), &tensor);
  for (const auto& node : graph.node()) {
    if (is_op(node, "Constant") && node.output_size() == 1 && node.attribute_size() == 1 && node.attribute(0).has_t())
      tables.emplace(node.output(0), &node.attribute(0).t());
  }
  std::unordered_map<std::string, std::string> origin;  // value → the input it comes from unchanged
  for (const auto& input : graph.input()) {
    if (!tables.contains(input.name())) origin.emplace(input.name(), input.name());
  }
  for (const auto& node : graph.node()) {
    if (node.input_size() == 0 || node.output_size() == 0) continue;
    for (const char* op :
         {"Identity", "Cast", "Reshape", "Squeeze", "Unsqueeze", "Flatten", "Transpose", "Slice", "Expand"}) {
      const auto found = origin.find(node.input(0));
      if (is_op(node, op) && found != origin.end()) origin.emplace(node.output(0), found->second);
    }
    if (!is_op(node, "Gather") || node.input_size() < 2) continue;
    const auto table = tables.find(node.input(0));
    const auto source = origin.find(node.input(1));
    const auto axis = static_cast<int>(int_attribute(node, "axis", 0));
    if (table == tables.end() || source == origin.end() || axis < 0 || axis >= table->second->dims_size()) continue;
    const std::int64_t length = table->second->dims(axis);
    const auto [entry, added] = bounds.emplace(source->second, length);
    if (!added) entry->second = std::min(entry->second, length);
  }
  return bounds;
}

}  // namespace

ModelFacts facts_of(Model& model) {
  auto& proto = model.proto();
  ModelFacts facts;
  facts.name = model.name;
  facts.producer = proto.producer_name() + (proto.producer_version().empty() ? "" : " " + proto.producer_version());
  facts.ir_version = proto.ir_version();
  facts.file_bytes = model.file_bytes;
  facts.functions = proto.functions_size();
  for (const auto& opset : proto.opset_import())
    facts.opsets[opset.domain().empty() ? "ai.onnx" : opset.domain()] = opset.version();
  Collector collector(facts);
  collector.graph(*proto.mutable_graph());
  for (auto& function : *proto.mutable_functions()) {
    for (auto& node : *function.mutable_node()) collector.node(node);
  }
  facts.index_bounds = index_bounds(*proto.mutable_graph());
  std::unordered_set<std::string> stored;
  for (const auto& tensor : proto.graph().initializer()) stored.insert(tensor.name());
  for (const auto& input : proto.graph().input()) {
    if (!stored.contains(input.name())) facts.inputs.push_back(value_facts(input));
  }
  for (const auto& output : proto.graph().output()) facts.outputs.push_back(value_facts(output));
  std::stable_sort(facts.largest.begin(), facts.largest.end(),
                   [](const auto& a, const auto& b) { return a.bytes > b.bytes; });
  if (facts.largest.size() > kLargest) facts.largest.resize(kLargest);
  return facts;
}

std::string facts_to_json(const ModelFacts& facts) {
  using Json = nlohmann::ordered_json;
  const auto values = [](const std::vector<ValueFacts>& list) {
    Json json = Json::array();
    for (const auto& value : list) json.push_back({{"name", value.name}, {"type", value.type}, {"shape", value.shape}});
    return json;
  };
  Json json{{"name", facts.name},
            {"producer", facts.producer},
            {"ir_version", facts.ir_version},
            {"opsets", facts.opsets},
            {"file_bytes", facts.file_bytes},
            {"parameters", facts.parameters},
            {"float_bytes", facts.float_bytes},
            {"stored_bytes", facts.stored_bytes},
            {"nodes", facts.nodes},
            {"subgraphs", facts.subgraphs},
            {"functions", facts.functions},
            {"quantized_already", facts.quantized_already},
            {"operators", facts.operators},
            {"inputs", values(facts.inputs)},
            {"outputs", values(facts.outputs)},
            {"largest", Json::array()}};
  for (const auto& tensor : facts.largest)
    json["largest"].push_back(
        {{"name", tensor.name}, {"type", tensor.type}, {"shape", tensor.shape}, {"bytes", tensor.bytes}});
  return json_text(json, 1);
}

}  // namespace octet
