#include "fuzz/mutate.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <limits>
#include <set>

#include "fuzz/words.h"
#include "onnx/defs/parser.h"

namespace octet::fuzz {
namespace {

void fill(onnx::GraphProto& graph) {
  std::set<std::string> made;
  for (auto& node : *graph.mutable_node()) {
    made.insert(node.output().begin(), node.output().end());
    for (auto& attribute : *node.mutable_attribute()) {
      if (attribute.has_g()) fill(*attribute.mutable_g());
    }
  }
  for (const auto& tensor : graph.initializer()) made.insert(tensor.name());
  for (const auto& info : graph.value_info()) {
    if (made.contains(info.name())) continue;
    auto& tensor = *graph.add_initializer();
    tensor.set_name(info.name());
    tensor.set_data_type(info.type().tensor_type().elem_type());
    std::int64_t count = 1;
    for (const auto& dim : info.type().tensor_type().shape().dim()) {
      tensor.add_dims(dim.dim_value());
      count *= dim.dim_value();
    }
    for (std::int64_t i = 0; i < count; ++i) {
      const int value = static_cast<int>(i * 37 % 101) - 50;
      switch (tensor.data_type()) {
        case onnx::TensorProto::FLOAT:
          tensor.add_float_data(static_cast<float>(value) / 50);
          break;
        case onnx::TensorProto::DOUBLE:
          tensor.add_double_data(value);
          break;
        case onnx::TensorProto::INT64:
          tensor.add_int64_data(value);
          break;
        default:
          tensor.add_int32_data(value & 0x3fff);
      }
    }
  }
  graph.clear_value_info();
}

// Every graph of a model, the main one first.
void graphs_of(onnx::GraphProto& graph, std::vector<onnx::GraphProto*>& found) {
  found.push_back(&graph);
  for (auto& node : *graph.mutable_node()) {
    for (auto& attribute : *node.mutable_attribute()) {
      if (attribute.has_g()) graphs_of(*attribute.mutable_g(), found);
    }
  }
}

std::string name_in(onnx::GraphProto& graph, Random& random) {
  std::vector<std::string> names = {"", "nowhere"};
  for (const auto& input : graph.input()) names.push_back(input.name());
  for (const auto& tensor : graph.initializer()) names.push_back(tensor.name());
  for (const auto& node : graph.node()) names.insert(names.end(), node.output().begin(), node.output().end());
  return random.pick(names);
}

void mutate_attribute(onnx::AttributeProto& attribute, Random& random) {
  switch (random.below(9)) {
    case 0:
      attribute.set_name(random.pick(kAttributes));
      break;
    case 1:
      attribute.set_i(random.pick(kNumbers));
      break;
    case 2:
      attribute.clear_ints();
      break;
    case 3:
      attribute.add_ints(random.pick(kNumbers));
      break;
    case 4:
      attribute.set_type(static_cast<onnx::AttributeProto::AttributeType>(1 + random.below(12)));
      break;
    case 5:
      attribute.set_f(random.one_in(2) ? std::numeric_limits<float>::quiet_NaN() : 0);
      break;
    case 6:
      attribute.set_s("text");
      break;
    case 7:
      attribute.clear_i(), attribute.clear_f(), attribute.clear_g();
      break;
    default:
      if (attribute.ints_size() > 0)
        attribute.set_ints(static_cast<int>(random.below(static_cast<std::size_t>(attribute.ints_size()))),
                           random.pick(kNumbers));
  }
}

void mutate_node(onnx::GraphProto& graph, onnx::NodeProto& node, Random& random) {
  switch (random.below(12)) {
    case 0:
      node.set_op_type(random.pick(kOps));
      break;
    case 1:
      node.set_domain(random.one_in(2) ? "com.microsoft" : random.one_in(2) ? "" : "mine");
      break;
    case 2:
      node.clear_output();
      break;
    case 3:
      node.clear_input();
      break;
    case 4:
    case 5:
      if (node.input_size() > 0)
        node.set_input(static_cast<int>(random.below(static_cast<std::size_t>(node.input_size()))),
                       name_in(graph, random));
      break;
    case 6:
      node.add_input(name_in(graph, random));
      break;
    case 7:
      node.add_output(random.one_in(2) ? "" : name_in(graph, random));
      break;
    case 8:
      if (node.output_size() > 0) node.set_output(0, random.one_in(2) ? "" : name_in(graph, random));
      break;
    case 9: {
      auto& attribute = *node.add_attribute();
      attribute.set_name(random.pick(kAttributes));
      attribute.set_type(onnx::AttributeProto::INT);
      mutate_attribute(attribute, random);
      break;
    }
    case 10:
      if (node.input_size() > 0) node.mutable_input()->RemoveLast();
      break;
    default:
      if (node.attribute_size() > 0)
        mutate_attribute(
            *node.mutable_attribute(static_cast<int>(random.below(static_cast<std::size_t>(node.attribute_size())))),
            random);
  }
}

// Dims that still hold as many elements get past the loader; the others test it.
void mutate_tensor(onnx::TensorProto& tensor, Random& random) {
  std::uint64_t product = 1;  // whatever was made of the dims before
  for (const auto dim : tensor.dims()) product *= static_cast<std::uint64_t>(dim);
  const auto count = static_cast<std::int64_t>(product);
  switch (random.below(9)) {
    case 0:
      tensor.clear_dims(), tensor.add_dims(count);
      break;
    case 1:
      tensor.clear_dims(), tensor.add_dims(1), tensor.add_dims(count), tensor.add_dims(1);
      break;
    case 2:
      tensor.clear_dims(), tensor.clear_float_data(), tensor.add_dims(0), tensor.add_dims(random.pick(kNumbers));
      break;
    case 3:
      tensor.clear_dims(), tensor.clear_float_data(), tensor.add_float_data(1);
      break;
    case 4:
      tensor.add_dims(1);
      break;
    case 5:
      tensor.set_data_type(static_cast<int>(random.below(26)));
      break;
    case 6:
    case 7:  // sizes, axes and the like
      if (tensor.data_type() == onnx::TensorProto::INT64 && tensor.int64_data_size() > 0) {
        random.pick(*tensor.mutable_int64_data()) = random.pick(kNumbers);
      } else if (tensor.data_type() == onnx::TensorProto::INT64 && tensor.raw_data().size() >= sizeof(std::int64_t)) {
        const std::int64_t number = random.pick(kNumbers);
        const std::size_t at = random.below(tensor.raw_data().size() / sizeof number) * sizeof number;
        std::memcpy(tensor.mutable_raw_data()->data() + at, &number, sizeof number);
      }
      break;
    default:
      if (tensor.dims_size() > 0)
        tensor.set_dims(0, random.pick(kNumbers));
      else if (tensor.float_data_size() > 0)
        tensor.set_float_data(0, std::numeric_limits<float>::infinity());
  }
}

void mutate_type(onnx::TypeProto& type, Random& random) {
  switch (random.below(6)) {
    case 0:
      type.Clear();
      break;
    case 1:
      type.mutable_sequence_type()->mutable_elem_type()->mutable_tensor_type()->set_elem_type(1);
      break;
    case 2:
      type.mutable_tensor_type()->set_elem_type(static_cast<int>(random.below(26)));
      break;
    case 3:
      type.mutable_tensor_type()->mutable_shape()->add_dim()->set_dim_value(random.pick(kNumbers));
      break;
    case 4:
      type.mutable_tensor_type()->clear_shape();
      break;
    default:
      if (type.tensor_type().shape().dim_size() > 0)
        random.pick(*type.mutable_tensor_type()->mutable_shape()->mutable_dim()).set_dim_value(random.pick(kNumbers));
  }
}

void mutate_graph(onnx::GraphProto& graph, Random& random) {
  switch (random.below(8)) {
    case 0:
      *graph.add_node() = onnx::NodeProto();
      break;
    case 1:
      if (graph.node_size() > 1) graph.mutable_node()->SwapElements(0, graph.node_size() - 1);
      break;
    case 2:
      if (graph.node_size() > 0) *graph.add_node() = onnx::NodeProto(graph.node(0));
      break;
    case 3:
      graph.add_output()->set_name(name_in(graph, random));
      break;
    case 4:
      graph.add_input()->set_name(name_in(graph, random));
      break;
    case 5:
      graph.clear_output();
      break;
    case 6:
      graph.clear_input();
      break;
    default:
      if (graph.initializer_size() > 1) graph.mutable_initializer(0)->set_name(graph.initializer(1).name());
  }
}

}  // namespace

onnx::ModelProto seed_model(const std::string& text, int opset) {
  const bool whole = text.starts_with("<");
  onnx::ModelProto model;
  const std::string header =
      "<ir_version: 8, opset_import: [\"\" : " + std::to_string(opset) + ", \"com.microsoft\" : 1]>\n";
  const auto status = onnx::OnnxParser::Parse(model, ((whole ? "" : header) + text).c_str());
  if (!status.IsOK()) throw std::logic_error(status.ErrorMessage());
  fill(*model.mutable_graph());
  return model;
}

void mutate_model(onnx::ModelProto& model, Random& random) {
  for (std::size_t i = 0, changes = 1 + random.below(4); i < changes; ++i) {
    std::vector<onnx::GraphProto*> graphs;
    graphs_of(*model.mutable_graph(), graphs);
    onnx::GraphProto& graph = *graphs[random.below(graphs.size())];
    const std::size_t kind = random.below(20);
    if (kind == 0 && graph.value_info_size() + graph.output_size() > 0) {
      auto& info = graph.value_info_size() > 0 && random.one_in(2) ? random.pick(*graph.mutable_value_info())
                   : graph.output_size() > 0                       ? random.pick(*graph.mutable_output())
                                                                   : random.pick(*graph.mutable_value_info());
      mutate_type(*info.mutable_type(), random);
    } else if (kind == 1 && graph.input_size() > 0) {
      mutate_type(*random.pick(*graph.mutable_input()).mutable_type(), random);
    } else if (kind < 11 && graph.node_size() > 0) {
      mutate_node(graph,
                  *graph.mutable_node(static_cast<int>(random.below(static_cast<std::size_t>(graph.node_size())))),
                  random);
    } else if (kind < 15 && graph.initializer_size() > 0) {
      mutate_tensor(*graph.mutable_initializer(
                        static_cast<int>(random.below(static_cast<std::size_t>(graph.initializer_size())))),
                    random);
    } else if (kind < 18) {
      mutate_graph(graph, random);
    } else if (kind == 18 && model.functions_size() > 0 && model.functions(0).node_size() > 0) {
      model.mutable_functions(0)->mutable_node(0)->set_op_type(model.functions(0).name());
      model.mutable_functions(0)->mutable_node(0)->set_domain(model.functions(0).domain());
    } else if (model.opset_import_size() > 0) {
      model.mutable_opset_import(0)->set_version(static_cast<std::int64_t>(7 + random.below(22)));
    }
  }
}

void mutate_bytes(std::string& bytes, Random& random) {
  for (std::size_t i = 0, changes = 1 + random.below(6); i < changes && !bytes.empty(); ++i) {
    const std::size_t at = random.below(bytes.size());
    switch (random.below(6)) {
      case 0:
        bytes[at] = static_cast<char>(bytes[at] ^ (1 << random.below(8)));
        break;
      case 1:
        bytes[at] = static_cast<char>(random.one_in(2) ? 0xff : random.below(256));
        break;
      case 2:
        bytes.resize(at);
        break;
      case 3:
        bytes.insert(at, bytes.substr(at, random.below(40)));
        break;
      case 4:
        bytes.erase(at, random.below(40));
        break;
      default:
        std::reverse(bytes.begin() + static_cast<std::ptrdiff_t>(at),
                     bytes.begin() + static_cast<std::ptrdiff_t>(std::min(bytes.size(), at + 8)));
    }
  }
}

void mutate_plan(Plan& plan, Random& random) {
  constexpr std::array<int, 12> kInts = {
      0, 1, 2, 3, -1, 16, 32, 48, 65536, 1 << 30, std::numeric_limits<int>::max(), std::numeric_limits<int>::min()};
  for (std::size_t i = 0, changes = 1 + random.below(4); i < changes; ++i) {
    if (!plan.nodes.empty() && random.one_in(2)) {
      NodePlan& node = random.pick(plan.nodes);
      switch (random.below(4)) {
        case 0:
          node.action = static_cast<Action>(random.below(3));
          break;
        case 1:
          node.form = static_cast<Form>(random.below(5));
          break;
        case 2:
          node.node = random.pick(plan.nodes).node;
          break;
        default:
          node.weights.clear();
      }
    } else if (!plan.tensors.empty()) {
      TensorPlan& tensor = random.pick(plan.tensors);
      switch (random.below(9)) {
        case 0:
          tensor.type = static_cast<QuantType>(random.below(6));
          break;
        case 1:
          tensor.axis = random.pick(kInts);
          break;
        case 2:
          tensor.axis.reset();
          break;
        case 3:
          tensor.axes = random.pick(kInts);
          break;
        case 4:
          tensor.symmetric = !tensor.symmetric;
          break;
        case 5:
          tensor.transposed = !tensor.transposed;
          break;
        case 6:
          tensor.block_size = random.pick(kInts);
          break;
        case 7:
          tensor.tensor = plan.kept.empty() ? "ghost" : random.pick(plan.kept).tensor;
          break;
        default:
          plan.tensors.erase(plan.tensors.begin());
      }
    }
  }
}

}  // namespace octet::fuzz
