// Reading samples: formats, conversions, and what is said when they do not fit.
#include "data/samples.h"

#include <gmock/gmock.h>
#include <zip.h>

#include <cstring>

#include "error_of.h"
#include "octet/dtype.h"
#include "onnx/onnx_pb.h"
#include "tiny_models.h"
#include "value_infos.h"

namespace octet {
namespace {

using fixtures::value_info;
using testing::ElementsAre;
using testing::HasSubstr;
using tiny::Bytes;

Bytes npy(const std::string& header, const Bytes& payload, int version = 1) {
  Bytes bytes{0x93, 'N', 'U', 'M', 'P', 'Y', static_cast<std::uint8_t>(version), 0};
  for (std::size_t i = 0; i < (version == 1 ? 2u : 4u); ++i) {
    bytes.push_back(static_cast<std::uint8_t>(header.size() >> (8 * i)));
  }
  bytes.insert(bytes.end(), header.begin(), header.end());
  bytes.insert(bytes.end(), payload.begin(), payload.end());
  return bytes;
}

std::string header(const std::string& descr, const std::string& shape, bool fortran = false) {
  return "{'descr': '" + descr + "', 'fortran_order': " + (fortran ? "True" : "False") + ", 'shape': " + shape +
         ", }\n";
}

Bytes npy_of(const Tensor& tensor) {
  std::string shape = "(";
  for (const std::int64_t dim : tensor.dims) shape += std::to_string(dim) + ",";
  const std::string descr = tensor.type == kFloat    ? "<f4"
                            : tensor.type == kInt64  ? "<i8"
                            : tensor.type == kDouble ? "<f8"
                                                     : "|u1";
  return npy(header(descr, shape + ")"), tensor.bytes);
}

void write_npz(const std::filesystem::path& path, const Sample& sample) {
  int code = 0;
  zip_t* archive = zip_open(path.c_str(), ZIP_CREATE | ZIP_TRUNCATE, &code);
  ASSERT_NE(archive, nullptr);
  std::vector<Bytes> kept;  // libzip reads them when it closes
  for (const auto& [name, tensor] : sample) kept.push_back(npy_of(tensor));
  std::size_t i = 0;
  for (const auto& [name, tensor] : sample) {
    zip_source_t* source = zip_source_buffer(archive, kept[i].data(), kept[i].size(), 0);
    ASSERT_GE(zip_file_add(archive, (name + ".npy").c_str(), source, 0), 0);
    ++i;
  }
  ASSERT_EQ(zip_close(archive), 0);
}

Bytes tensor_proto(const std::string& name, const Tensor& tensor) {
  onnx::TensorProto proto;
  proto.set_name(name);
  proto.set_data_type(tensor.type);
  for (const std::int64_t dim : tensor.dims) proto.add_dims(dim);
  proto.set_raw_data(tensor.bytes.data(), tensor.bytes.size());
  const std::string text = proto.SerializeAsString();
  return {text.begin(), text.end()};
}

TEST(Npy, ReadsVersionsOrdersAndTypes) {
  for (const int version : {1, 2, 3}) {
    const Tensor tensor = parse_npy(npy(header("<i2", "(2, 1)"), {1, 0, 2, 0}, version), "a");
    EXPECT_EQ(tensor.type, kInt16);
    EXPECT_THAT(tensor.dims, ElementsAre(2, 1));
    EXPECT_EQ(tensor.bytes, (Bytes{1, 0, 2, 0}));
  }
  EXPECT_EQ(parse_npy(npy(header(">i2", "(2,)"), {0, 1, 0, 2}), "a").bytes, (Bytes{1, 0, 2, 0}));
  EXPECT_TRUE(parse_npy(npy(header("<f8", "()"), Bytes(8)), "a").dims.empty());
  EXPECT_EQ(parse_npy(npy(header("|b1", "(3,)"), {1, 0, 1}), "a").type, kBool);
  EXPECT_TRUE(parse_npy(npy(header("<f4", "(0, 3)"), {}), "a").bytes.empty());
  // [[1 2 3] [4 5 6]] stored by columns.
  EXPECT_EQ(parse_npy(npy(header("|u1", "(2, 3)", true), {1, 4, 2, 5, 3, 6}), "a").bytes, (Bytes{1, 2, 3, 4, 5, 6}));
}

TEST(Npy, RefusesWhatIsNoPlainArrayOfNumbers) {
  const auto refuse = [](const Bytes& bytes) { return error_of(ErrorCode::kData, [&] { parse_npy(bytes, "a.npy"); }); };
  EXPECT_THAT(refuse(npy(header("|O", "(1,)"), Bytes(8))), HasSubstr("Python objects"));
  EXPECT_THAT(refuse(npy("{'descr': [('x', '<f4')], 'fortran_order': False, 'shape': (1,)}", Bytes(4))),
              HasSubstr("structured"));
  EXPECT_THAT(refuse(npy(header("<c8", "(1,)"), Bytes(8))), HasSubstr("<c8"));
  EXPECT_THAT(refuse(npy(header("<f4", "(3,)"), Bytes(8))), HasSubstr("8 bytes instead of 12"));
  EXPECT_THAT(refuse(npy(header("<f4", "(4611686018427387904, 8)"), Bytes(8))), HasSubstr("no valid size"));
  EXPECT_THAT(refuse(npy(header("<f4", "(-1,)"), Bytes(8))), HasSubstr("malformed"));
  EXPECT_THAT(refuse(npy("{'descr': '<f4'}", Bytes(8))), HasSubstr("malformed"));
  EXPECT_THAT(refuse(npy("{'descr': '<f4", {})), HasSubstr("malformed"));
  EXPECT_THAT(refuse(npy(header("<f4", "(1,)"), Bytes(4), 4)), HasSubstr("version 4"));
  EXPECT_THAT(refuse({1, 2, 3}), HasSubstr("no .npy"));
  Bytes cut = npy(header("<f4", "(1,)"), {});
  for (std::size_t size = 0; size < cut.size(); ++size)
    refuse(Bytes(cut.begin(), cut.begin() + static_cast<long>(size)));
  cut[8] = 255, cut[9] = 255;
  EXPECT_THAT(refuse(cut), HasSubstr("ends inside"));
}

TEST(TensorProto, ReadsTypedFieldsAndRefusesLies) {
  onnx::TensorProto proto;
  proto.set_name("t");
  proto.set_data_type(kInt8);
  proto.add_dims(2);
  proto.add_int32_data(-1);
  proto.add_int32_data(5);
  const auto parse = [&](std::string* name = nullptr) {
    const std::string text = proto.SerializeAsString();
    return parse_tensor_proto({reinterpret_cast<const std::uint8_t*>(text.data()), text.size()}, name);
  };
  std::string name;
  EXPECT_EQ(parse(&name).bytes, (Bytes{0xff, 5}));
  EXPECT_EQ(name, "t");
  proto.set_dims(0, 3);
  error_of(ErrorCode::kMalformed, [&] { parse(); });
  proto.set_dims(0, -3);
  error_of(ErrorCode::kMalformed, [&] { parse(); });
  proto.set_dims(0, std::int64_t{1} << 62);
  error_of(ErrorCode::kMalformed, [&] { parse(); });
  proto.set_data_type(kString);
  proto.set_dims(0, 2);
  error_of(ErrorCode::kUnsupported, [&] { parse(); });
  error_of(ErrorCode::kMalformed, [&] { parse_tensor_proto(Bytes{0xff, 0xff}); });
}

TEST(Conversion, KeepsEveryValueOrDeclines) {
  const auto converted = [](const Tensor& from, int type) {
    Tensor tensor = from;
    EXPECT_TRUE(convert_tensor(tensor, type));
    return tensor;
  };
  const auto declines = [](const Tensor& from, int type) {
    Tensor tensor = from;
    return !convert_tensor(tensor, type) && tensor.type == from.type && tensor.bytes == from.bytes;
  };
  const auto doubles = [](int type, const std::vector<double>& values) {
    return tensor_from_doubles(type, {static_cast<std::int64_t>(values.size())}, values);
  };
  EXPECT_EQ(converted(doubles(kInt32, {-7, 9}), kInt64).bytes, doubles(kInt64, {-7, 9}).bytes);
  EXPECT_EQ(converted(doubles(kInt64, {-7, 9}), kInt32).bytes, doubles(kInt32, {-7, 9}).bytes);
  EXPECT_TRUE(declines(doubles(kInt64, {1, 3e9}), kInt32));
  EXPECT_TRUE(declines(doubles(kInt32, {-1}), kUint8));
  EXPECT_EQ(converted(doubles(kDouble, {0.1, -3}), kFloat).bytes, doubles(kFloat, {0.1, -3}).bytes);
  EXPECT_TRUE(declines(doubles(kDouble, {1e300}), kFloat));
  EXPECT_TRUE(declines(doubles(kFloat, {1e6}), kFloat16));
  EXPECT_EQ(converted(doubles(kFloat16, {0.5, -2}), kDouble).bytes, doubles(kDouble, {0.5, -2}).bytes);
  EXPECT_EQ(converted(doubles(kUint8, {0, 255}), kFloat).bytes, doubles(kFloat, {0, 255}).bytes);
  EXPECT_EQ(converted(doubles(kInt64, {1 << 24}), kFloat).bytes, doubles(kFloat, {1 << 24}).bytes);
  EXPECT_TRUE(declines(doubles(kInt64, {(1 << 24) + 1}), kFloat));
  EXPECT_TRUE(declines(doubles(kFloat, {1}), kInt64));
  EXPECT_TRUE(declines(doubles(kFloat, {1}), kBool));
  EXPECT_EQ(converted(doubles(kInt64, {0, 1}), kBool).bytes, (Bytes{0, 1}));
  EXPECT_TRUE(declines(doubles(kInt64, {2}), kBool));
  EXPECT_EQ(converted(doubles(kBool, {0, 1}), kFloat).bytes, doubles(kFloat, {0, 1}).bytes);
}

TEST(Conversion, RoundsHalfPrecisionToEven) {
  const auto half = [](double value) {
    const Bytes bytes = tensor_from_doubles(kFloat16, {1}, {value}).bytes;
    return bytes[0] | bytes[1] << 8;
  };
  EXPECT_EQ(half(1), 0x3c00);
  EXPECT_EQ(half(-2), 0xc000);
  EXPECT_EQ(half(65504), 0x7bff);
  EXPECT_EQ(half(65520), 0x7c00);
  EXPECT_EQ(half(1 + 0x1p-11), 0x3c00);
  EXPECT_EQ(half(1 + 3 * 0x1p-11), 0x3c02);
  EXPECT_EQ(half(0x1p-24), 0x0001);
  EXPECT_EQ(half(0x1p-25), 0x0000);
  EXPECT_EQ(half(0x1.8p-25), 0x0001);
  EXPECT_EQ(half(0x1.ff8p-15), 0x03ff);
  EXPECT_EQ(half(0x1.ffcp-15), 0x0400);
  EXPECT_EQ(half(0x1p-14), 0x0400);
}

TEST(Samples, ReadsAFolderOfNpzInNameOrder) {
  const tiny::Folder folder;
  write_npz(folder / "02.npz", {{"x", tiny::floats({1}, {2})}, {"extra", tiny::ints({1}, {0})}});
  write_npz(folder / "01.npz", {{"x", tiny::floats({1}, {1})}});
  tiny::write(folder / "labels.json", {'{', '}'});
  tiny::write(folder / "._01.npz", {1});
  const auto reader = open_samples(folder.path, {value_info("x", kFloat, {1})});
  EXPECT_EQ(reader->size(), 2u);
  EXPECT_THAT(reader->description(), HasSubstr("2 samples from "));
  for (int pass = 0; pass < 2; ++pass) {
    EXPECT_THAT(to_float(reader->next()->at("x")), ElementsAre(1.0f));
    const auto second = reader->next();
    EXPECT_EQ(second->size(), 1u);
    EXPECT_THAT(to_float(second->at("x")), ElementsAre(2.0f));
    EXPECT_FALSE(reader->next());
    reader->rewind();
  }
}

TEST(Samples, SaysWhatWasFoundAndWhatIsWanted) {
  const tiny::Folder folder;
  write_npz(folder / "03.npz", {{"x", tiny::ints({1, 7}, std::vector<std::int64_t>(7))}});
  EXPECT_THAT(error_of(ErrorCode::kData,
                       [&] {
                         open_samples(folder / "03.npz", {value_info("x", kFloat, {1, 3, -1, -1})})->next();
                       }),
              testing::EndsWith("03.npz: input 'x' is int64 [1,7], the model wants float32 [1,3,-1,-1]"));
  EXPECT_THAT(
      error_of(
          ErrorCode::kData,
          [&] {
            open_samples(folder / "03.npz", {value_info("a", kInt64, {1, 7}), value_info("b", kInt64, {1})})->next();
          }),
      HasSubstr("lacks input 'a': it holds 'x', the model wants 'a', 'b'"));
  write_npz(folder / "04.npz", {{"x", tiny::floats({1}, {0.5f})}});
  EXPECT_THAT(
      error_of(ErrorCode::kData, [&] { open_samples(folder / "04.npz", {value_info("x", kInt64, {1})})->next(); }),
      HasSubstr("not every value survives"));
  tiny::write(folder / "05.npz", {'P', 'K', 3, 4});
  EXPECT_THAT(
      error_of(ErrorCode::kData, [&] { open_samples(folder / "05.npz", {value_info("x", kFloat, {1})})->next(); }),
      HasSubstr("05.npz"));
  error_of(ErrorCode::kRead, [&] { open_samples(folder / "none", {}); });
  tiny::write(folder / "notes.txt", {});
  error_of(ErrorCode::kData, [&] { open_samples(folder / "notes.txt", {}); });
  const tiny::Folder empty;
  EXPECT_THAT(error_of(ErrorCode::kData, [&] { open_samples(empty.path, {}); }), HasSubstr("holds no samples"));
}

TEST(Samples, ASingleInputTakesAnyKeyAndPlainArrays) {
  const tiny::Folder folder;
  write_npz(folder / "a.npz", {{"arr_0", tiny::floats({1}, {1})}});
  tiny::write(folder / "b.npy", npy_of(tiny::floats({1}, {2})));
  tiny::write(folder / "c.pb", tensor_proto("whatever", tiny::floats({1}, {3})));
  const auto reader = open_samples(folder.path, {value_info("x", kFloat, {-1})});
  for (const float wanted : {1.0f, 2.0f, 3.0f}) EXPECT_THAT(to_float(reader->next()->at("x")), ElementsAre(wanted));
}

TEST(Samples, ReadsTheTestDataLayout) {
  const tiny::Folder folder;
  const std::vector<ValueInfo> inputs{value_info("a", kFloat, {1}), value_info("b", kInt64, {1})};
  for (const std::string set : {"test_data_set_0", "test_data_set_1"}) {
    std::filesystem::create_directory(folder / set);
    tiny::write(folder.path / set / "output_0.pb", {0xff});
  }
  tiny::write(folder / "test_data_set_0/input_0.pb", tensor_proto("", tiny::floats({1}, {1})));
  tiny::write(folder / "test_data_set_0/input_1.pb", tensor_proto("", tiny::ints({1}, {2})));
  tiny::write(folder / "test_data_set_1/input_0.pb", tensor_proto("b", tiny::ints({1}, {4})));
  tiny::write(folder / "test_data_set_1/input_1.pb", tensor_proto("a", tiny::floats({1}, {3})));
  for (const auto& [path, count] : {std::pair{folder.path, 2u}, {folder / "test_data_set_0", 1u}}) {
    const auto reader = open_samples(path, inputs);
    ASSERT_EQ(reader->size(), count);
    float wanted = 1;
    while (const auto sample = reader->next()) {
      EXPECT_THAT(to_float(sample->at("a")), ElementsAre(wanted));
      EXPECT_THAT(to_float(sample->at("b")), ElementsAre(wanted + 1));
      wanted += 2;
    }
  }
  tiny::write(folder / "test_data_set_0/input_2.pb", tensor_proto("", tiny::ints({1}, {2})));
  EXPECT_THAT(error_of(ErrorCode::kData, [&] { open_samples(folder / "test_data_set_0", inputs)->next(); }),
              HasSubstr("holds 3 inputs, the model has 2"));
}

TEST(Samples, ReadsTheSmallGptsTokens) {
  const std::filesystem::path folder = std::filesystem::path(OCTET_TESTS_DIR) / "data/gpt_char/calib";
  const Session session = Session::from_file(folder / "../../gpt_char.onnx", {});
  const auto reader = open_samples(folder, session.inputs());
  EXPECT_EQ(reader->size(), 8u);
  while (const auto sample = reader->next()) EXPECT_FALSE(session.run(*sample).empty());
}

}  // namespace
}  // namespace octet
