#include "tiny_models.h"

#include <unistd.h>

#include <cstring>
#include <fstream>
#include <stdexcept>

#include "onnx/onnx_pb.h"

namespace octet::tiny {
namespace {

Bytes serialized(const google::protobuf::MessageLite& message) {
  const std::string text = message.SerializeAsString();
  return {text.begin(), text.end()};
}

onnx::ModelProto new_model(std::int64_t opset = 13) {
  onnx::ModelProto model;
  model.set_ir_version(8);
  auto* import = model.add_opset_import();
  import->set_domain("");
  import->set_version(opset);
  model.mutable_graph()->set_name("tiny");
  return model;
}

void set_info(onnx::ValueInfoProto* info, const std::string& name, int type, const std::vector<std::string>& dims) {
  info->set_name(name);
  auto* tensor = info->mutable_type()->mutable_tensor_type();
  tensor->set_elem_type(type);
  auto* shape = tensor->mutable_shape();
  for (const std::string& dim : dims) {
    if (std::isdigit(static_cast<unsigned char>(dim[0])) != 0) {
      shape->add_dim()->set_dim_value(std::stoll(dim));
    } else {
      shape->add_dim()->set_dim_param(dim);
    }
  }
}

void add_node(onnx::GraphProto* graph, const std::string& op, const std::vector<std::string>& inputs,
              const std::string& output, const std::string& domain = "") {
  auto* node = graph->add_node();
  node->set_op_type(op);
  node->set_domain(domain);
  for (const std::string& input : inputs) node->add_input(input);
  node->add_output(output);
}

template <class T>
void add_initializer(onnx::GraphProto* graph, const std::string& name, int type, const std::vector<std::int64_t>& dims,
                     const std::vector<T>& values) {
  auto* tensor = graph->add_initializer();
  tensor->set_name(name);
  tensor->set_data_type(type);
  for (const std::int64_t dim : dims) tensor->add_dims(dim);
  tensor->set_raw_data(values.data(), values.size() * sizeof(T));
}

onnx::ModelProto matmul_model(float nudge) {
  onnx::ModelProto model = new_model();
  auto* graph = model.mutable_graph();
  set_info(graph->add_input(), "x", kFloat, {"batch", "4"});
  set_info(graph->add_output(), "y", kFloat, {"batch", "3"});
  std::vector<float> weights(12);
  for (std::size_t i = 0; i < weights.size(); ++i) weights[i] = 0.25f * static_cast<float>(i) - 1 + nudge;
  add_initializer<float>(graph, "W", kFloat, {4, 3}, weights);
  add_initializer<float>(graph, "b", kFloat, {3}, {0.5f, 0, -0.5f});
  add_node(graph, "MatMul", {"x", "W"}, "xW");
  add_node(graph, "Add", {"xW", "b"}, "y");
  return model;
}

}  // namespace

Bytes matmul(float nudge) { return serialized(matmul_model(nudge)); }

Bytes matmul_external(const std::string& file_name, Bytes& external) {
  onnx::ModelProto model = matmul_model(0);
  auto* weights = model.mutable_graph()->mutable_initializer(0);
  const std::string raw = weights->raw_data();
  external.assign(raw.begin(), raw.end());
  weights->clear_raw_data();
  weights->set_data_location(onnx::TensorProto::EXTERNAL);
  const auto add_entry = [&](const std::string& key, const std::string& value) {
    auto* entry = weights->add_external_data();
    entry->set_key(key);
    entry->set_value(value);
  };
  add_entry("location", file_name);
  add_entry("offset", "0");
  add_entry("length", std::to_string(raw.size()));
  return serialized(model);
}

Bytes identity(int type, const std::vector<std::int64_t>& dims) {
  onnx::ModelProto model = new_model();
  auto* graph = model.mutable_graph();
  std::vector<std::string> shape;
  for (std::size_t axis = 0; axis < dims.size(); ++axis) {
    shape.push_back(dims[axis] < 0 ? "d" + std::to_string(axis) : std::to_string(dims[axis]));
  }
  set_info(graph->add_input(), "in", type, shape);
  set_info(graph->add_output(), "out", type, shape);
  add_node(graph, "Identity", {"in"}, "out");
  return serialized(model);
}

Bytes fixed_reshape() {
  onnx::ModelProto model = new_model();
  auto* graph = model.mutable_graph();
  set_info(graph->add_input(), "signal", kFloat, {"1", "length"});
  set_info(graph->add_output(), "y", kFloat, {"1", "4", "8"});
  add_initializer<std::int64_t>(graph, "shape", kInt64, {3}, {1, 4, 8});
  add_node(graph, "Reshape", {"signal", "shape"}, "y");
  return serialized(model);
}

Bytes token_table() {
  onnx::ModelProto model = new_model();
  auto* graph = model.mutable_graph();
  set_info(graph->add_input(), "input_ids", kInt64, {"batch", "seq"});
  set_info(graph->add_input(), "attention_mask", kInt64, {"batch", "seq"});
  set_info(graph->add_output(), "y", kFloat, {"batch", "seq", "5"});
  std::vector<float> table(64 * 5);
  for (std::size_t i = 0; i < table.size(); ++i) table[i] = static_cast<float>(i % 17) - 8;
  add_initializer<float>(graph, "table", kFloat, {64, 5}, table);
  add_initializer<std::int64_t>(graph, "last", kInt64, {1}, {2});
  add_node(graph, "Gather", {"table", "input_ids"}, "rows");
  add_node(graph, "Unsqueeze", {"attention_mask", "last"}, "mask3");
  add_node(graph, "Cast", {"mask3"}, "mask");
  auto* to = graph->mutable_node(2)->add_attribute();
  to->set_name("to");
  to->set_type(onnx::AttributeProto::INT);
  to->set_i(kFloat);
  add_node(graph, "Mul", {"rows", "mask"}, "y");
  return serialized(model);
}

Bytes custom_operator() {
  onnx::ModelProto model = new_model();
  auto* import = model.add_opset_import();
  import->set_domain("nobody.knows");
  import->set_version(1);
  auto* graph = model.mutable_graph();
  set_info(graph->add_input(), "x", kFloat, {"1", "4"});
  set_info(graph->add_output(), "y", kFloat, {"1", "4"});
  add_node(graph, "Mystery", {"x"}, "y", "nobody.knows");
  return serialized(model);
}

Bytes not_finite() {
  onnx::ModelProto model = matmul_model(0);
  auto* graph = model.mutable_graph();
  graph->mutable_node(1)->set_output(0, "sum");
  add_node(graph, "Sub", {"sum", "sum"}, "zero");
  add_node(graph, "Div", {"sum", "zero"}, "y");
  return serialized(model);
}

void write(const std::filesystem::path& path, const Bytes& bytes) {
  std::ofstream stream(path, std::ios::binary);
  stream.write(reinterpret_cast<const char*>(bytes.data()), static_cast<std::streamsize>(bytes.size()));
  if (!stream) throw std::runtime_error("cannot write " + path.string());
}

Tensor floats(std::vector<std::int64_t> dims, const std::vector<float>& values) {
  Tensor tensor{kFloat, std::move(dims), Bytes(values.size() * sizeof(float))};
  if (!values.empty()) std::memcpy(tensor.bytes.data(), values.data(), tensor.bytes.size());
  return tensor;
}

Tensor ints(std::vector<std::int64_t> dims, const std::vector<std::int64_t>& values) {
  Tensor tensor{kInt64, std::move(dims), Bytes(values.size() * sizeof(std::int64_t))};
  if (!values.empty()) std::memcpy(tensor.bytes.data(), values.data(), tensor.bytes.size());
  return tensor;
}

Folder::Folder() {
  std::string name = (std::filesystem::temp_directory_path() / "octet_test_XXXXXX").string();
  if (::mkdtemp(name.data()) == nullptr) throw std::runtime_error("no temporary folder");
  path = std::filesystem::canonical(name);
}

Folder::~Folder() {
  std::error_code ignored;
  std::filesystem::remove_all(path, ignored);
}

}  // namespace octet::tiny
