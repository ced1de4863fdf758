// Which files make up a sample, and what their bytes say.
#include "octet/sample_files.h"

#include <gmock/gmock.h>

#include <cstring>

#include "model_fixtures.h"
#include "octet/error.h"
#include "value_infos.h"

namespace octet {
namespace {

using fixtures::Bytes;
using fixtures::value_info;
using testing::ElementsAre;
using testing::EndsWith;
using testing::HasSubstr;
using testing::IsEmpty;

const std::vector<ValueInfo> kTwoFloats{value_info("x", kFloat, {1, 2})};

SampleFiles files_of(std::vector<std::string> names, const std::vector<ValueInfo>& inputs = kTwoFloats,
                     const SampleOptions& options = {}) {
  const SampleNaming naming = strip_common_folder(names);
  return SampleFiles(names, naming, inputs, options);
}

std::vector<std::string> names_in(const SampleFiles& files) {
  std::vector<std::string> names;
  for (std::size_t i = 0; i < files.size(); ++i) names.push_back(files.name(i));
  return names;
}

template <class Call>
std::string refused(ErrorCode code, const Call& call) {
  try {
    call();
  } catch (const Error& error) {
    EXPECT_EQ(code_name(error.code()), code_name(code)) << error.what();
    return error.what();
  }
  ADD_FAILURE() << "nothing was refused";
  return {};
}

Bytes floats(const std::vector<float>& values) {
  Bytes bytes(values.size() * sizeof(float));
  std::memcpy(bytes.data(), values.data(), bytes.size());
  return bytes;
}

Bytes npy(const std::string& header, const Bytes& payload) {
  Bytes bytes{0x93, 'N', 'U', 'M', 'P', 'Y', 1, 0, static_cast<std::uint8_t>(header.size()), 0};
  bytes.insert(bytes.end(), header.begin(), header.end());
  bytes.insert(bytes.end(), payload.begin(), payload.end());
  return bytes;
}

Bytes tensor_proto(const std::string& name, const std::vector<float>& values) {
  return fixtures::to_bytes(
      fixtures::raw_tensor(name, kFloat, {1, static_cast<std::int64_t>(values.size())}, floats(values))
          .SerializeAsString());
}

Sample read(const SampleFiles& files, const std::vector<Bytes>& contents, std::size_t i = 0) {
  return files.read(i, [&](std::size_t file) { return contents.at(file); });
}

TEST(SampleNames, LoseTheFolderThatAllAreIn) {
  const auto stripped = [](std::vector<std::string> names) {
    const SampleNaming naming = strip_common_folder(names);
    std::string all = naming.all + "|" + naming.prefix + (naming.one_file ? "|one" : "|");
    for (const std::string& name : names) all += "|" + name;
    return all;
  };
  EXPECT_EQ(stripped({"a.npy", "b.npy"}), "the selection|||a.npy|b.npy");
  EXPECT_EQ(stripped({"calib/b.npy", "calib/a.npy"}), "calib|calib/||b.npy|a.npy");
  EXPECT_EQ(stripped({"d/calib/a.npy", "d/calib/deep/b"}), "d/calib|d/calib/||a.npy|deep/b");
  EXPECT_EQ(stripped({"calib/a.npy", "calibrated/a.npy"}), "the selection|||calib/a.npy|calibrated/a.npy");
  EXPECT_EQ(stripped({"/a.npy", "/b.npy"}), "/|/||a.npy|b.npy");
  EXPECT_EQ(stripped({"/a/a.npy", "b.npy"}), "the selection|||/a/a.npy|b.npy");
  EXPECT_EQ(stripped({"d/a.npy"}), "d/a.npy|d/|one|a.npy");
  EXPECT_EQ(stripped({"a.npy"}), "a.npy||one|a.npy");
  EXPECT_EQ(stripped({}), "the selection||");
}

TEST(SampleGroups, AreFilesInNameOrder) {
  const SampleFiles files = files_of({"d/b.npz", "d/labels.json", "d/a.npy", "d/._b.npz", "d/c.pb", "d/output_0.pb",
                                      "d/notes.txt", "d/p.png", "d/r.raw", "d/sub/z.npz"});
  EXPECT_THAT(names_in(files), ElementsAre("d/a.npy", "d/b.npz", "d/c.pb"));
  EXPECT_THAT(files.files(0), ElementsAre(2));
  EXPECT_EQ(files.base_name(1), "b.npz");
  EXPECT_FALSE(files.is_archive(0));
  EXPECT_TRUE(files.is_archive(1));
  EXPECT_EQ(files.description(), "3 samples from d");
  EXPECT_FALSE(files.picture());
  EXPECT_THAT(refused(ErrorCode::kUsage, [&] { files.name(3); }), HasSubstr("sample 3: there are 3"));
}

TEST(SampleGroups, AreOfOneKind) {
  const std::vector<ValueInfo> picture{value_info("x", kFloat, {1, 3, 2, 2})};
  EXPECT_THAT(names_in(files_of({"b.JPG", "a.raw", "a.png"}, picture)), ElementsAre("a.png", "b.JPG"));
  EXPECT_THAT(names_in(files_of({"b.bin", "a.raw", "a.txt"})), ElementsAre("a.raw", "b.bin"));
  EXPECT_THAT(names_in(files_of({"a.png", "a.raw", "test_data_set_0/input_0.pb", "b.npy"})),
              ElementsAre("b.npy", "test_data_set_0"));
  EXPECT_EQ(files_of({"b.png", "a.png"}, picture).description(),
            "2 pictures from the selection (rgb, nchw, 2x2 by stretch, scale 1/255)");
  EXPECT_THAT(refused(ErrorCode::kData,
                      [] {
                        files_of({"d/b.png", "d/a.png"});
                      }),
              HasSubstr("d: holds pictures, input 'x' is float32 [1,2]"));
}

TEST(SampleGroups, AreTestDataSetsInInputOrder) {
  const std::vector<std::string> names{"model.onnx",
                                       "test_data_set_1/input_0.pb",
                                       "test_data_set_0/input_10.pb",
                                       "test_data_set_0/input_9.pb",
                                       "test_data_set_0/output_0.pb",
                                       "test_data_set_0/deep/input_1.pb",
                                       "other/input_0.pb",
                                       "test_data_set_2/output_0.pb"};
  const SampleFiles files = files_of(names);
  EXPECT_THAT(names_in(files), ElementsAre("test_data_set_0", "test_data_set_1"));
  EXPECT_THAT(files.files(0), ElementsAre(3, 2));
  // The folder itself.
  const SampleFiles one = files_of({"d/set/input_1.pb", "d/set/output_0.pb", "d/set/input_0.pb", "d/set/x.npz"});
  EXPECT_THAT(names_in(one), ElementsAre("d/set"));
  EXPECT_THAT(one.files(0), ElementsAre(2, 0));
}

TEST(SampleGroups, SayWhereThereIsNone) {
  EXPECT_THAT(refused(ErrorCode::kData, [] { files_of({}); }), HasSubstr("the selection: holds no samples: .npz, "));
  EXPECT_THAT(refused(ErrorCode::kData, [] { files_of({"d/a.txt", "d/b.gif"}); }), HasSubstr("d: holds no samples"));
  EXPECT_THAT(refused(ErrorCode::kData, [] { files_of({"d/a.txt"}); }), HasSubstr("d/a.txt: is no sample: .npz, "));
  EXPECT_THAT(refused(ErrorCode::kData, [] { files_of({""}); }), HasSubstr("is no sample"));
}

TEST(SampleGroups, AreLimitedShuffledAndSharded) {
  std::vector<std::string> names;
  for (char c = 'a'; c <= 'j'; ++c) names.push_back(std::string(1, c) + ".npy");
  SampleOptions options;
  options.limit = 4;
  EXPECT_THAT(names_in(files_of(names, kTwoFloats, options)), ElementsAre("a.npy", "b.npy", "c.npy", "d.npy"));
  options.shuffle = 3;
  options.shards = 2;
  options.shard = 2;
  const SampleFiles files = files_of(names, kTwoFloats, options);
  EXPECT_EQ(files.size(), 2u);
  EXPECT_EQ(files.total(), 10u);
  EXPECT_EQ(files.description(), "2 of 10 samples from the selection, shard 2 of 2, shuffled with seed 3");
  EXPECT_EQ(files.name(1), names[files.place(1)]);
}

TEST(SampleBytes, OfEveryFormat) {
  const std::string header = "{'descr': '<f4', 'fortran_order': False, 'shape': (1, 2), }\n";
  const std::vector<Bytes> contents{npy(header, floats({1, 2})), tensor_proto("whatever", {3, 4})};
  const SampleFiles arrays = files_of({"a.npy", "b.pb"});
  EXPECT_THAT(to_float(read(arrays, contents, 0).at("x")), ElementsAre(1, 2));
  EXPECT_THAT(to_float(read(arrays, contents, 1).at("x")), ElementsAre(3, 4));
  EXPECT_THAT(to_float(read(files_of({"a.raw"}), {floats({5, 6})}).at("x")), ElementsAre(5, 6));
  const SampleFiles archive = files_of({"a.npz"});
  EXPECT_EQ(npz_key("arr_0.npy"), "arr_0");
  for (const char* other : {".npy", "a.txt", "a", ""}) EXPECT_FALSE(npz_key(other)) << other;
  EXPECT_EQ(npz_array_name("a.npz", "x"), "a.npz: 'x'");
  const Tensor array = parse_npy(contents[0], "a.npz");
  EXPECT_THAT(to_float(archive.conform(0, {{"arr_0", array}}).at("x")), ElementsAre(1, 2));
  EXPECT_THAT(refused(ErrorCode::kData,
                      [&] {
                        archive.conform(0, {{"a", array}, {"b", array}});
                      }),
              EndsWith("a.npz: lacks input 'x': it holds 'a', 'b', the model wants 'x'"));
  refused(ErrorCode::kInternal, [&] { read(archive, contents); });
}

TEST(SampleBytes, OfTestDataGoByNameOrPlace) {
  const std::vector<ValueInfo> inputs{value_info("a", kFloat, {1, 1}), value_info("b", kFloat, {1, 1})};
  const SampleFiles set = files_of({"input_0.pb", "input_1.pb"}, inputs);
  for (const auto& [first, second] : {std::pair("", ""), std::pair("a", "b"), std::pair("other", "another")}) {
    const Sample sample = read(set, {tensor_proto(first, {1}), tensor_proto(second, {2})});
    EXPECT_THAT(to_float(sample.at("a")), ElementsAre(1));
    EXPECT_THAT(to_float(sample.at("b")), ElementsAre(2));
  }
  EXPECT_THAT(to_float(read(set, {tensor_proto("b", {1}), tensor_proto("a", {2})}).at("a")), ElementsAre(2));
  EXPECT_THAT(refused(ErrorCode::kData,
                      [] {
                        read(files_of({"s/input_0.pb", "s/input_1.pb"}), {});
                      }),
              HasSubstr("s: holds 2 inputs, the model has 1"));
  EXPECT_THAT(refused(ErrorCode::kMalformed, [&] { read(set, {Bytes{0xff}, {}}); }), HasSubstr("input_0.pb"));
}

TEST(SampleBytes, ThatDoNotFitAreNamed) {
  const SampleFiles raw = files_of({"d/b.raw", "d/a.raw"});
  EXPECT_THAT(refused(ErrorCode::kData,
                      [&] {
                        read(raw, {floats({1, 2}), floats({1})});
                      }),
              HasSubstr("d/a.raw: holds 4 bytes, input 'x' is float32 [1,2]: 8 bytes of float32"));
  EXPECT_THAT(refused(ErrorCode::kData,
                      [] {
                        read(files_of({"a.raw"}, {value_info("x", kFloat, {3, -1})}), {floats({1})});
                      }),
              HasSubstr("a multiple of 12 bytes"));
  const std::string header = "{'descr': '<i8', 'fortran_order': False, 'shape': (1,), }\n";
  EXPECT_THAT(refused(ErrorCode::kData, [&] { read(files_of({"a.npy"}), {npy(header, Bytes(8))}); }),
              HasSubstr("a.npy: input 'x' is int64 [1], the model wants float32 [1,2]"));
  EXPECT_THAT(refused(ErrorCode::kData, [&] { read(files_of({"d/a.npy"}), {npy(header, Bytes(7))}); }),
              HasSubstr("d/a.npy: is int64 [1] but holds 7 bytes instead of 8"));
  EXPECT_THAT(refused(ErrorCode::kData, [] { read(files_of({"a.npy"}), {Bytes{}}); }), HasSubstr("is no .npy array"));
}

// A caller that reads lazily holds one file at a time, and none for a set that cannot fit.
TEST(SampleBytes, AreAskedForOneByOne) {
  const std::vector<ValueInfo> inputs{value_info("a", kFloat, {1, 1}), value_info("b", kFloat, {1, 1})};
  std::vector<std::size_t> asked;
  files_of({"input_1.pb", "input_0.pb"}, inputs).read(0, [&](std::size_t file) {
    asked.push_back(file);
    return tensor_proto("", {1});
  });
  EXPECT_THAT(asked, ElementsAre(1, 0));
  asked.clear();
  refused(ErrorCode::kData, [&] {
    files_of({"input_0.pb", "input_1.pb"}).read(0, [&](std::size_t file) {
      asked.push_back(file);
      return Bytes{};
    });
  });
  EXPECT_THAT(asked, IsEmpty());
}

}  // namespace
}  // namespace octet
