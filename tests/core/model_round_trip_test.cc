#include "gmock/gmock.h"
#include "model/tensor_access.h"
#include "model_fixtures.h"

namespace octet {
namespace {

using namespace fixtures;  // NOLINT: the tests' own helpers
using onnx::TensorProto;

// What another program reads: everything, large tensors as raw data.
std::string canonical(onnx::ModelProto proto) { return proto.SerializeAsString(); }

onnx::ModelProto model_with_everything() {
  auto proto = small_model();
  auto* graph = proto.mutable_graph();
  *graph->add_initializer() = raw_tensor("big", TensorProto::FLOAT, {64, 32}, noise(64 * 32 * 4));
  *graph->add_initializer() = raw_tensor("small", TensorProto::INT64, {2}, noise(16));
  *graph->add_initializer() = raw_tensor("at_limit", TensorProto::UINT8, {1024}, noise(1024));
  *graph->add_initializer() = raw_tensor("over_limit", TensorProto::UINT8, {1025}, noise(1025));
  auto* words = graph->add_initializer();
  words->set_name("words");
  words->set_data_type(TensorProto::STRING);
  words->add_dims(3);
  for (const char* word : {"a", "", "ccc"}) words->add_string_data(word);
  graph->mutable_initializer(0)->set_doc_string("kept");
  graph->set_doc_string("graph doc");

  auto* constant = graph->add_node();
  constant->set_op_type("Constant");
  constant->set_name("c");
  constant->add_output("c");
  auto* value = constant->add_attribute();
  value->set_name("value");
  value->set_type(onnx::AttributeProto::TENSOR);
  *value->mutable_t() = raw_tensor("", TensorProto::INT8, {50, 50}, noise(2500, 7));
  constant->mutable_metadata_props()->Add()->set_key("node key");

  // A subgraph two levels down, with an initializer of its own.
  onnx::GraphProto* inner = graph;
  for (int level = 0; level < 2; ++level) {
    auto* node = inner->add_node();
    node->set_op_type("If");
    node->add_input("x");
    node->add_output("z" + std::to_string(level));
    auto* branch = node->add_attribute();
    branch->set_name("then_branch");
    branch->set_type(onnx::AttributeProto::GRAPH);
    inner = branch->mutable_g();
    inner->set_name("branch" + std::to_string(level));
    *inner->add_initializer() =
        raw_tensor("big", TensorProto::FLOAT16, {1000}, noise(2000, 9u + static_cast<unsigned>(level)));
  }
  auto* lists = graph->add_node()->add_attribute();
  lists->set_name("tensors");
  for (unsigned i = 0; i < 3; ++i)
    *lists->add_tensors() = raw_tensor("", TensorProto::DOUBLE, {200}, noise(1600, 20 + i));

  auto* sparse = graph->add_sparse_initializer();
  *sparse->mutable_values() = raw_tensor("sparse", TensorProto::FLOAT, {400}, noise(1600, 30));
  *sparse->mutable_indices() = raw_tensor("", TensorProto::INT64, {400}, noise(3200, 31));
  sparse->add_dims(4000);

  auto* function = proto.add_functions();
  function->set_name("f");
  function->set_domain("local");
  function->add_output("o");
  auto* body = function->add_node();
  body->set_op_type("Constant");
  body->add_output("o");
  auto* attribute = body->add_attribute();
  attribute->set_name("value");
  *attribute->mutable_t() = raw_tensor("inside", TensorProto::FLOAT, {300}, noise(1200, 40));
  auto* fallback = function->add_attribute_proto();
  fallback->set_name("default");
  *fallback->mutable_t() = raw_tensor("", TensorProto::FLOAT, {301}, noise(1204, 41));
  auto* import = proto.add_opset_import();
  import->set_domain("local");
  import->set_version(1);
  return proto;
}

TEST(ModelRoundTrip, KeepsEveryFieldAndByte) {
  const auto proto = model_with_everything();
  const Model model = load(proto);
  EXPECT_EQ(canonical(parse(save(model))), canonical(proto));
}

TEST(ModelRoundTrip, HoldsOnlySmallTensorsInTheSkeleton) {
  const Model model = load(model_with_everything());
  EXPECT_LT(model.proto().ByteSizeLong(), 5000u);
  const auto& graph = model.proto().graph();
  EXPECT_TRUE(stored_id(graph.initializer(0)));
  EXPECT_FALSE(stored_id(graph.initializer(1)));
  EXPECT_FALSE(stored_id(graph.initializer(2)));
  EXPECT_TRUE(stored_id(graph.initializer(3)));
  EXPECT_FALSE(stored_id(graph.initializer(4)));
  const auto bytes = tensor_bytes(model, graph.initializer(0));
  EXPECT_EQ(Bytes(bytes.bytes().begin(), bytes.bytes().end()), noise(64 * 32 * 4));
}

TEST(ModelRoundTrip, LeaksNoMarker) {
  const Model model = load(model_with_everything());
  const Bytes bytes = save(model);
  EXPECT_THAT(std::string(bytes.begin(), bytes.end()), testing::Not(testing::HasSubstr("octet:")));
}

TEST(ModelRoundTrip, IsAFixedPoint) {
  const Bytes once = save(load(model_with_everything()));
  EXPECT_EQ(save(load(once)), once);
}

TEST(ModelRoundTrip, ReadsWithoutAView) {
  auto proto = model_with_everything();
  *proto.mutable_graph()->add_initializer() = raw_tensor("huge", TensorProto::INT8, {1000, 1000}, noise(1000000));
  const auto source = std::make_shared<PositionalSource>(to_bytes(proto));
  const Model model = load_model(source, "m.onnx");
  EXPECT_LT(source->bytes_read, 3 * 64u * 1024u);
  EXPECT_LT(source->reads, 8u);
  EXPECT_EQ(model.file_bytes, source->size());
  EXPECT_EQ(canonical(parse(save(model))), canonical(proto));
}

TEST(ModelRoundTrip, DropsTrainingInformation) {
  auto proto = small_model();
  *proto.add_training_info()->mutable_algorithm()->add_initializer() =
      raw_tensor("t", TensorProto::FLOAT, {1000}, noise(4000));
  const auto saved = parse(save(load(proto)));
  proto.clear_training_info();
  EXPECT_EQ(canonical(saved), canonical(proto));
}

TEST(ModelRoundTrip, KeepsUnknownFields) {
  auto bytes = small_model().SerializeAsString();
  bytes += message(1000, "something newer");
  const Bytes saved = save(load(to_bytes(bytes)));
  EXPECT_EQ(std::string(saved.begin(), saved.end()), bytes);
}

TEST(ModelRoundTrip, ClonesShareBytes) {
  Model copy;
  {
    const Model model = load(model_with_everything());
    copy = model.clone();
  }
  EXPECT_EQ(copy.name, "m.onnx");
  EXPECT_EQ(canonical(parse(save(copy))), canonical(model_with_everything()));
}

}  // namespace
}  // namespace octet
