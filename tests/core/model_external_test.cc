#include "gmock/gmock.h"
#include "model/external_location.h"
#include "model/tensor_access.h"
#include "model_fixtures.h"

namespace octet {
namespace {

using namespace fixtures;  // NOLINT: the tests' own helpers
using onnx::TensorProto;
using testing::HasSubstr;

TensorProto external_tensor(const std::string& name, int type, const std::vector<std::int64_t>& dims,
                            const std::vector<std::pair<std::string, std::string>>& entries) {
  TensorProto tensor = raw_tensor(name, type, dims, {});
  tensor.clear_raw_data();
  tensor.set_data_location(TensorProto::EXTERNAL);
  for (const auto& [key, value] : entries) {
    auto* entry = tensor.add_external_data();
    entry->set_key(key);
    entry->set_value(value);
  }
  return tensor;
}

onnx::ModelProto model_with(const std::vector<TensorProto>& tensors) {
  auto proto = small_model();
  for (const auto& tensor : tensors) *proto.mutable_graph()->add_initializer() = tensor;
  return proto;
}

Bytes slice(const Bytes& bytes, std::size_t from, std::size_t length) {
  return Bytes(bytes.begin() + static_cast<std::ptrdiff_t>(from),
               bytes.begin() + static_cast<std::ptrdiff_t>(from + length));
}

TEST(ModelExternal, ReadsSeveralFilesAndOffsets) {
  Folder folder;
  folder.files = {{"a.data", noise(10000, 1)}, {"weights/b.bin", noise(4000, 2)}};
  const auto proto = model_with({
      external_tensor("a0", TensorProto::FLOAT, {500}, {{"location", "a.data"}}),
      external_tensor("a1", TensorProto::FLOAT, {500},
                      {{"location", "a.data"}, {"offset", "8000"}, {"length", "2000"}, {"checksum", "0"}}),
      external_tensor("b", TensorProto::INT8, {1999}, {{"location", "weights/b.bin"}, {"offset", "2001"}}),
      external_tensor("tiny", TensorProto::INT64, {2}, {{"location", "a.data"}, {"offset", "64"}, {"length", "16"}}),
      external_tensor("none", TensorProto::FLOAT, {0, 7}, {{"location", "nowhere"}}),
  });
  const Model model = load(proto, folder.opener());
  EXPECT_EQ(folder.opened, (std::map<std::string, int>{{"a.data", 1}, {"weights/b.bin", 1}}));
  EXPECT_EQ(model.file_bytes, proto.ByteSizeLong() + 14000);
  EXPECT_FALSE(stored_id(model.proto().graph().initializer(3))) << "small values are inline";

  const auto saved = parse(save(model)).graph();
  EXPECT_EQ(to_bytes(saved.initializer(0).raw_data()), slice(folder.files["a.data"], 0, 2000));
  EXPECT_EQ(to_bytes(saved.initializer(1).raw_data()), slice(folder.files["a.data"], 8000, 2000));
  EXPECT_EQ(to_bytes(saved.initializer(2).raw_data()), slice(folder.files["weights/b.bin"], 2001, 1999));
  EXPECT_EQ(to_bytes(saved.initializer(3).raw_data()), slice(folder.files["a.data"], 64, 16));
  for (const auto& tensor : saved.initializer()) EXPECT_EQ(tensor.external_data_size(), 0);
}

TEST(ModelExternal, NamesTheMissingFile) {
  Folder folder;
  const auto proto = model_with({external_tensor("w", TensorProto::FLOAT, {500}, {{"location", "model.onnx.data"}})});
  for (const OpenExternal& open :
       {folder.opener(), OpenExternal(), OpenExternal([](const std::string&) { return nullptr; })}) {
    const Error error = load_error(proto, open);
    EXPECT_EQ(error.code(), ErrorCode::kRead);
    EXPECT_THAT(error.what(), HasSubstr("model.onnx.data"));
    EXPECT_THAT(error.next(), HasSubstr("beside the model"));
  }
}

TEST(ModelExternal, RejectsWhatDoesNotFit) {
  Folder folder;
  folder.files["d"] = noise(3000);
  using Entries = std::vector<std::pair<std::string, std::string>>;
  const Entries bad[] = {
      {},
      {{"location", "d"}, {"offset", "1001"}},
      {{"location", "d"}, {"offset", "18446744073709551615"}},
      {{"location", "d"}, {"offset", "99999999999999999999999"}},
      {{"location", "d"}, {"offset", "-4"}},
      {{"location", "d"}, {"offset", " 4"}},
      {{"location", "d"}, {"offset", ""}},
      {{"location", "d"}, {"length", "1999"}},
      {{"location", "d"}, {"length", "2001"}},
      {{"location", "d"}, {"length", "0x7d0"}},
      {{"location", std::string(10000, 'd')}},
  };
  for (const Entries& entries : bad) {
    const Error error =
        load_error(model_with({external_tensor("w", TensorProto::FLOAT, {500}, entries)}), folder.opener());
    EXPECT_EQ(error.code(), ErrorCode::kMalformed) << error.what();
  }
  auto both = external_tensor("w", TensorProto::FLOAT, {500}, {{"location", "d"}});
  both.set_raw_data(std::string(2000, 'x'));
  EXPECT_EQ(load_error(model_with({both}), folder.opener()).code(), ErrorCode::kMalformed);
  const auto text = external_tensor("w", TensorProto::STRING, {500}, {{"location", "d"}});
  EXPECT_EQ(load_error(model_with({text}), folder.opener()).code(), ErrorCode::kMalformed);
}

TEST(ModelExternal, StaysInsideTheFolder) {
  for (const char* good : {"a", "a.data", "a/b", "./a", "a..b", "..a", "ab:c", "octet:0", "weights\\b"}) {
    EXPECT_EQ(location_problem(good), "") << good;
  }
  const std::string bad[] = {"",      "/etc/passwd", "..",  "../a", "a/../../b", "a/..",
                             "..\\a", "\\\\host\\a", "\\a", "C:a",  "c:\\a",     std::string("a\0b", 3),
                             "a\nb"};
  Folder folder;
  for (const std::string& location : bad) {
    EXPECT_NE(location_problem(location), "") << location;
    const auto proto = model_with({external_tensor("w", TensorProto::FLOAT, {500}, {{"location", location}})});
    EXPECT_EQ(load_error(proto, folder.opener()).code(), ErrorCode::kMalformed) << location;
  }
  EXPECT_TRUE(folder.opened.empty());
}

// A file may call its external data like Octet's own markers: it is looked for like any other.
TEST(ModelExternal, ForeignMarkersAreOnlyNames) {
  Folder folder;
  auto proto = model_with({raw_tensor("first", TensorProto::FLOAT, {500}, noise(2000)),
                           external_tensor("w", TensorProto::FLOAT, {500}, {{"location", "octet:0"}})});
  EXPECT_EQ(load_error(proto, folder.opener()).code(), ErrorCode::kRead);
  folder.files["octet:0"] = noise(2000, 5);
  EXPECT_EQ(to_bytes(parse(save(load(proto, folder.opener()))).graph().initializer(1).raw_data()), noise(2000, 5));
  // Without the flag the entries mean nothing, and do not come back.
  proto.mutable_graph()->mutable_initializer(1)->clear_data_location();
  EXPECT_EQ(load_error(proto).code(), ErrorCode::kMalformed);
  proto.mutable_graph()->mutable_initializer(1)->set_raw_data(std::string(2000, 'x'));
  EXPECT_EQ(parse(save(load(proto))).graph().initializer(1).external_data_size(), 0);
}

TEST(ModelExternal, SavesAlignedAndReadsBack) {
  auto proto = model_with({raw_tensor("small", TensorProto::FLOAT, {4}, noise(16)),
                           raw_tensor("a", TensorProto::INT8, {3001}, noise(3001, 1)),
                           raw_tensor("page", TensorProto::INT8, {1 << 20}, noise(1 << 20, 2)),
                           raw_tensor("b", TensorProto::INT8, {3000}, noise(3000, 3))});
  auto* attribute = proto.mutable_graph()->add_node()->add_attribute();
  *attribute->mutable_t() = raw_tensor("attribute", TensorProto::INT8, {5000}, noise(5000, 4));
  const Model model = load(proto);
  MemorySink main, data;
  int asked = 0;
  SaveOptions options;
  options.external_data = true;
  options.external_location = "out.onnx.data";
  const auto give = [&]() -> ByteSink& { return ++asked, data; };
  const SaveResult result = save_model(model, main, give, options);
  EXPECT_EQ(asked, 1);
  EXPECT_EQ(result.model_bytes, main.bytes().size());
  EXPECT_EQ(result.external_bytes, data.bytes().size());
  const SaveResult measured = measure_model(model, options);
  EXPECT_EQ(measured.model_bytes, result.model_bytes);
  EXPECT_EQ(measured.external_bytes, result.external_bytes);

  const auto saved = parse(main.bytes()).graph();
  EXPECT_EQ(saved.initializer(0).data_location(), TensorProto::DEFAULT);
  EXPECT_EQ(saved.initializer(1).external_data(1).value(), "0");
  EXPECT_EQ(saved.initializer(2).external_data(1).value(), "4096");
  EXPECT_EQ(saved.initializer(3).external_data(1).value(), std::to_string(4096 + (1 << 20)));
  EXPECT_EQ(saved.initializer(3).external_data(0).value(), "out.onnx.data");
  EXPECT_EQ(saved.node(1).attribute(0).t().raw_data().size(), 5000u) << "tensors in attributes stay inside";

  Folder folder;
  folder.files["out.onnx.data"] = data.bytes();
  EXPECT_EQ(parse(save(load(main.bytes(), folder.opener()))).SerializeAsString(), proto.SerializeAsString());
}

TEST(ModelExternal, IsChosenAboveTwoGigabytes) {
  Model model = load(small_model());
  for (int i = 0; i < 3; ++i) {
    auto* tensor = model.proto().mutable_graph()->add_initializer();
    tensor->set_name("w" + std::to_string(i));
    tensor->set_data_type(TensorProto::FLOAT);
    tensor->add_dims(1 << 28);
    set_stored_id(*tensor, model.store().add_computed(std::uint64_t{1} << 30, [](std::span<std::uint8_t>) {}));
  }
  const SaveResult sizes = measure_model(model);
  EXPECT_LT(sizes.model_bytes, 2000u);
  EXPECT_EQ(sizes.external_bytes, std::uint64_t{3} << 30);
  MemorySink sink;
  EXPECT_EQ(load_error([&] { save_model(model, sink); }).code(), ErrorCode::kUsage);

  auto* attribute = model.proto().mutable_graph()->add_node()->add_attribute();
  for (int i = 0; i < 2; ++i) *attribute->add_tensors() = model.proto().graph().initializer(i);
  EXPECT_EQ(load_error([&] { measure_model(model); }).code(), ErrorCode::kUnsupported);
}

}  // namespace
}  // namespace octet
