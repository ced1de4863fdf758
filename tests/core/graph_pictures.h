// Graphs as text, both ways: models from ONNX text with made-up weights, and a model printed one line per operator, so
// that a test shows what went in and what came out.
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <map>
#include <set>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "kernels/quantize_kernels.h"
#include "model/graph_view.h"
#include "model/tensor_access.h"
#include "model_fixtures.h"
#include "octet/prepare.h"
#include "octet/quantizer.h"
#include "onnx/checker.h"
#include "prepare/pass.h"

namespace octet::pictures {

// What a value_info of the text says, as a stored tensor: float types get values like trained weights (a bell around
// 0), integer types small numbers.
inline onnx::TensorProto made_up(const onnx::ValueInfoProto& info) {
  onnx::TensorProto tensor;
  tensor.set_name(info.name());
  const auto& type = info.type().tensor_type();
  std::uint64_t count = 1;
  for (const auto& dim : type.shape().dim()) {
    tensor.add_dims(dim.dim_value());
    count *= static_cast<std::uint64_t>(dim.dim_value());
  }
  std::uint32_t state = 2166136261u;
  for (const char c : info.name()) state = (state ^ static_cast<unsigned char>(c)) * 16777619u;
  const auto uniform = [&] {
    state = state * 1664525u + 1013904223u;
    return static_cast<float>(state >> 8) / 16777216.0f - 0.5f;
  };
  const auto weight = [&] { return uniform() + uniform() + uniform(); };
  for (std::uint64_t i = 0; i < count; ++i) {
    switch (type.elem_type()) {
      case onnx::TensorProto::FLOAT:
        tensor.add_float_data(weight());
        break;
      case onnx::TensorProto::DOUBLE:
        tensor.add_double_data(static_cast<double>(weight()));
        break;
      case onnx::TensorProto::FLOAT16:
        tensor.add_int32_data(float_to_half(weight()));
        break;
      case onnx::TensorProto::BFLOAT16:
        tensor.add_int32_data(float_to_bfloat16(weight()));
        break;
      case onnx::TensorProto::INT64:
        tensor.add_int64_data(static_cast<std::int64_t>(uniform() * 8 + 4));
        break;
      default:
        tensor.add_int32_data(static_cast<std::int32_t>(uniform() * 8 + 4));
    }
  }
  tensor.set_data_type(type.elem_type());
  return tensor;
}

// Values that the text declares beside a graph, but that no node makes, become stored tensors.
inline void add_weights(onnx::GraphProto& graph) {
  std::set<std::string> made;
  for (auto& node : *graph.mutable_node()) {
    made.insert(node.output().begin(), node.output().end());
    for (onnx::GraphProto* inner : subgraphs(node)) add_weights(*inner);
  }
  for (const auto& tensor : graph.initializer()) made.insert(tensor.name());
  google::protobuf::RepeatedPtrField<onnx::ValueInfoProto> kept;
  for (const auto& info : graph.value_info()) {
    if (made.contains(info.name()))
      *kept.Add() = info;
    else
      *graph.add_initializer() = made_up(info);
  }
  graph.mutable_value_info()->Swap(&kept);
}

// ONNX text; without a header of its own it gets IR 8 and the opset given.
inline onnx::ModelProto proto_of(const std::string& text, int opset = 17) {
  const bool whole = text.find_first_not_of(" \n") != std::string::npos && text[text.find_first_not_of(" \n")] == '<';
  auto proto = fixtures::parse_text(whole ? text
                                          : "<ir_version: 8, opset_import: [\"\" : " + std::to_string(opset) +
                                                ", \"com.microsoft\" : 1]>\n" + text);
  add_weights(*proto.mutable_graph());
  return proto;
}

// Through the wire format and the loader, as every model comes in.
inline Model model_of(const std::string& text, int opset = 17) { return fixtures::load(proto_of(text, opset)); }

inline std::string attribute_text(const onnx::AttributeProto& attribute) {
  std::ostringstream out;
  const auto list = [&](const auto& values) {
    out << '[';
    for (int i = 0; i < values.size(); ++i) out << (i ? "," : "") << values[i];
    out << ']';
  };
  out << attribute.name() << '=';
  switch (attribute.type()) {
    case onnx::AttributeProto::INT:
      out << attribute.i();
      break;
    case onnx::AttributeProto::FLOAT:
      out << attribute.f();
      break;
    case onnx::AttributeProto::STRING:
      out << attribute.s();
      break;
    case onnx::AttributeProto::INTS:
      list(attribute.ints());
      break;
    case onnx::AttributeProto::FLOATS:
      list(attribute.floats());
      break;
    case onnx::AttributeProto::STRINGS:
      list(attribute.strings());
      break;
    case onnx::AttributeProto::TENSOR:
      out << "tensor";
      break;
    default:
      out << "type " << attribute.type();
  }
  return out.str();
}

inline void draw(const onnx::GraphProto& graph, const std::string& indent, std::string& out) {
  for (const auto& node : graph.node()) {
    const auto list = [](const auto& names) {
      std::string text;
      for (int i = 0; i < names.size(); ++i) text += (i ? ", " : "") + (names[i].empty() ? "-" : names[i]);
      return text;
    };
    out += indent + list(node.output()) + " = " + (node.domain().empty() ? "" : node.domain() + ".") + node.op_type();
    std::map<std::string, std::string> attributes;
    for (const auto& attribute : node.attribute()) {
      if (!attribute.has_g() && attribute.graphs_size() == 0) attributes[attribute.name()] = attribute_text(attribute);
    }
    std::string between;
    for (const auto& [name, text] : attributes) between += (between.empty() ? "" : ", ") + text;
    if (!between.empty()) out += "<" + between + ">";
    out += "(" + list(node.input()) + ")\n";
    for (const auto& attribute : node.attribute()) {
      if (!attribute.has_g()) continue;
      out += indent + "  " + attribute.name() + ":\n";
      draw(attribute.g(), indent + "    ", out);
    }
  }
}

// One line per operator, "y = MatMul(x, w)"; operators of subgraphs indented below their owner.
inline std::string picture(const Model& model) {
  std::string out = "\n";
  draw(model.proto().graph(), "", out);
  return out;
}

inline void list_stored(const onnx::GraphProto& graph, const std::string& indent, std::string& out) {
  for (const auto& tensor : graph.initializer()) {
    out += indent + tensor.name() + ": " + type_name(tensor.data_type()) + "[";
    for (int i = 0; i < tensor.dims_size(); ++i) out += (i ? "," : "") + std::to_string(tensor.dims(i));
    out += "]\n";
  }
  for (const auto& node : graph.node()) {
    for (const auto& attribute : node.attribute()) {
      if (attribute.has_g()) list_stored(attribute.g(), indent + "  ", out);
    }
  }
}

// One line per stored tensor, "w: FLOAT[16,32]", in file order; those of subgraphs indented.
inline std::string stored(const Model& model) {
  std::string out = "\n";
  list_stored(model.proto().graph(), "", out);
  return out;
}

// An expected picture without the indentation of the test's own source: the first line sets it.
inline std::string lines(const std::string& text) {
  std::istringstream in(text);
  std::string out = "\n", line;
  std::size_t margin = std::string::npos;
  while (std::getline(in, line)) {
    const auto first = line.find_first_not_of(' ');
    if (first == std::string::npos) continue;
    if (margin == std::string::npos) margin = first;
    out += line.substr(std::min(margin, first)) + "\n";
  }
  return out;
}

// One pass alone, which leaves names that resolve.
inline PassReport run(void (*pass)(Model&, PassReport&), Model& model) {
  PassReport report;
  pass(model, report);
  EXPECT_NO_THROW(GraphView{model.proto()}) << picture(model);
  return report;
}

// The same, and then without the Identities it leaves and what nothing reads any more. Changes of the pass alone.
inline int run_and_sweep(void (*pass)(Model&, PassReport&), Model& model) {
  const int changes = run(pass, model).changes;
  run(run_remove_identities, model);
  run(run_drop_unused, model);
  return changes;
}

// What every model that leaves the core must stand: names resolve, producers come first, no name is used twice, onnx's
// checker is content, no marks are left, and the file that is written holds the same graph.
inline void expect_sound(Model& model) {
  EXPECT_NO_THROW(GraphView{model.proto()}) << picture(model);
  const auto before = picture(model);
  sort_nodes(model.proto());
  EXPECT_EQ(picture(model), before) << "nodes were not in order";
  const onnx::ModelProto written = fixtures::parse(fixtures::save(model));
  try {
    onnx::checker::check_model(written);
  } catch (const std::exception& fault) {
    ADD_FAILURE() << fault.what() << picture(model);
  }
  EXPECT_EQ(written.SerializeAsString().find("octet."), std::string::npos) << "a mark of ours is left";
  std::set<std::string> names;
  for (const auto& node : written.graph().node()) {
    EXPECT_TRUE(node.name().empty() || names.insert(node.name()).second) << "two nodes are named " << node.name();
  }
}

// Plans on the normalized model, so that a picture shows the rewrite alone.
inline PlanOptions dynamic_options() {
  PlanOptions options;
  options.prepare = false;
  return options;
}

inline PlanOptions weights_options(Target target = Target::kAny, QuantType type = QuantType::kInt8,
                                   int block_size = 0) {
  PlanOptions options = dynamic_options();
  options.mode = Mode::kWeights;
  options.target = target;
  options.weight_type = type;
  options.block_size = block_size;
  return options;
}

// Plans and applies; the result was checked to be sound.
inline Model quantized(Model model, const PlanOptions& options) {
  const Quantizer quantizer(std::move(model), options);
  Model result = quantizer.apply(quantizer.plan());
  expect_sound(result);
  return result;
}
inline Model quantized(const std::string& text, const PlanOptions& options, int opset = 17) {
  return quantized(model_of(text, opset), options);
}

// "NODE: action/form why" per node and "TENSOR: type axis=…" per planned tensor, "TENSOR: kept, why" for the rest.
inline std::string picture(const Plan& plan) {
  std::string out = "\n";
  for (const NodePlan& node : plan.nodes) {
    out += node.node + ": " + std::string(name_of(node.action));
    if (node.form != Form::kNone) out += "/" + std::string(name_of(node.form));
    out += " (" + node.why + ")\n";
  }
  for (const TensorPlan& tensor : plan.tensors) {
    out += tensor.tensor + ": " + std::string(name_of(tensor.type));
    if (tensor.axis) out += " axis=" + std::to_string(*tensor.axis);
    if (tensor.axes != 1) out += " axes=" + std::to_string(tensor.axes);
    if (tensor.block_size) out += " blocks of " + std::to_string(tensor.block_size);
    if (!tensor.symmetric) out += " asymmetric";
    if (tensor.reduce_range) out += " reduced";
    if (tensor.transposed) out += " transposed";
    out += "\n";
  }
  for (const KeptTensor& tensor : plan.kept) out += tensor.tensor + ": kept, " + tensor.why + "\n";
  return out;
}

inline Plan planned(const std::string& text, const PlanOptions& options, int opset = 17) {
  return Quantizer(model_of(text, opset), options).plan();
}

// The message of the Error that a call ends with; fails the test when there is none or its code is another.
inline std::string message_of(ErrorCode code, const std::function<void()>& call) {
  const Error error = fixtures::load_error(call);
  EXPECT_EQ(code_name(error.code()), code_name(code)) << error.what();
  return error.what();
}

}  // namespace octet::pictures
