// Nothing that bytes say may crash, hang or fill the memory; what is wrong is said in a sentence.
#include "gmock/gmock.h"
#include "model/tensor_access.h"
#include "model_fixtures.h"

namespace octet {
namespace {

using namespace fixtures;  // NOLINT: the tests' own helpers
using onnx::TensorProto;
using testing::HasSubstr;

// Name, type FLOAT, dims, payload.
std::string float_tensor(const std::string& dims, const std::string& payload) {
  return message(8, "w") + number(2, 1) + dims + payload;
}

std::string nested_graphs(int levels) {
  std::string graph = message(2, "g");
  for (int i = 0; i < levels; ++i) graph = message(1, message(5, message(6, graph)));
  return graph;
}

std::string nested_types(int levels) {
  std::string type = message(1, number(1, 1));
  for (int i = 0; i < levels; ++i) type = message(4, message(1, type));
  return message(11, message(1, "x") + message(2, type));
}

Bytes model_with_graph(const std::string& graph) {
  return to_bytes(number(1, 8) + message(7, graph) + message(8, number(2, 17)));
}

struct Hostile {
  const char* name;
  Bytes bytes;
  ErrorCode code;
  const char* says;
};

std::vector<Hostile> hostile_inputs() {
  const std::string big(2000, 'x');
  const std::string big_dims = number(1, 500);
  const std::string two_to_62 = number(1, std::uint64_t{1} << 62);
  const std::string negative = number(1, ~std::uint64_t{0});
  const auto malformed = ErrorCode::kMalformed;
  const auto unsupported = ErrorCode::kUnsupported;
  const auto versions = [](std::uint64_t ir, std::uint64_t opset) {
    return to_bytes(number(1, ir) + message(7, message(2, "g")) + message(8, number(2, opset)));
  };
  auto twice = small_model();
  for (int i = 0; i < 2; ++i) *twice.mutable_graph()->add_initializer() = raw_tensor("w", 1, {1}, noise(4));
  const std::string graph = message(7, message(2, "g"));
  return {
      {"empty", {}, malformed, "empty"},
      {"json", to_bytes(std::string("  {\"a\": 1}")), malformed, "JSON"},
      {"html", to_bytes(std::string("<html><body>404</body></html>")), malformed, "text file"},
      {"git lfs", to_bytes(std::string("version https://git-lfs.github.com/spec/v1\n")), malformed, "git lfs pull"},
      {"zip", to_bytes(std::string("PK\x03\x04 and more")), malformed, "zip"},
      {"tflite", to_bytes(std::string("\x1c\0\0\0TFL3", 8)), malformed, "TensorFlow Lite"},
      {"words", to_bytes(std::string("this is no model at all")), malformed, "byte"},
      {"no graph", to_bytes(number(1, 8) + message(8, number(2, 17))), malformed, "no graph"},
      {"two graphs", to_bytes(number(1, 8) + graph + graph), malformed, "twice"},
      {"graph is a number", to_bytes(number(1, 8) + number(7, 1)), malformed, "byte 2"},
      {"group", to_bytes(number(1, 8) + varint(7 << 3 | 3)), malformed, "wire type 3"},
      {"field zero", to_bytes(number(1, 8) + std::string(1, '\0')), malformed, "byte 2"},
      {"endless number", to_bytes(number(1, 8) + std::string(20, '\xff')), malformed, "ten bytes"},
      {"length beyond the file", to_bytes(number(1, 8) + varint(7 << 3 | 2) + varint(1000) + "abc"), malformed,
       "cut off"},
      {"length beyond everything", to_bytes(number(1, 8) + varint(7 << 3 | 2) + varint(~std::uint64_t{0})), malformed,
       "byte 3"},
      {"length beyond its message", model_with_graph(varint(5 << 3 | 2) + varint(50)), malformed, "announced"},
      {"graphs too deep", model_with_graph(nested_graphs(40)), malformed, "nested"},
      {"types too deep", model_with_graph(nested_types(2000)), malformed, "nested"},
      {"dims overflow", model_with_initializer(float_tensor(two_to_62 + number(1, 4), message(9, big))), malformed,
       "'w'"},
      {"bytes overflow", model_with_initializer(float_tensor(two_to_62, message(9, big))), malformed, "'w'"},
      {"negative dim", model_with_initializer(float_tensor(negative, message(9, big))), malformed, "negative"},
      {"too many dims", model_with_initializer(float_tensor(message(1, std::string(5000, '\1')), message(9, "abcd"))),
       malformed, "dimensions"},
      {"raw too short", model_with_initializer(float_tensor(number(1, 501), message(9, big))), malformed, "'w'"},
      {"raw too long", model_with_initializer(float_tensor(number(1, 499), message(9, big))), malformed, "2000 bytes"},
      {"raw twice", model_with_initializer(float_tensor(big_dims, message(9, big) + message(9, big))), malformed,
       "twice"},
      {"raw and typed", model_with_initializer(float_tensor(big_dims, message(9, big) + message(4, big))), malformed,
       "twice"},
      {"wrong typed field", model_with_initializer(float_tensor(big_dims, message(7, std::string(500, '\1')))),
       malformed, "field 7"},
      {"half a float", model_with_initializer(float_tensor(big_dims, message(4, big + "x"))), malformed,
       "inside a value"},
      {"half a number",
       model_with_initializer(message(8, "w") + number(2, 7) + number(1, 500) + message(7, std::string(500, '\x81'))),
       malformed, "byte"},
      {"no values", model_with_initializer(float_tensor(number(1, 1u << 30), "")), malformed, "no values"},
      {"no type", model_with_initializer(message(8, "w") + message(9, big)), malformed, "no element type"},
      {"unknown type", model_with_initializer(message(8, "w") + number(2, 99) + message(9, big)), unsupported, "99"},
      {"segments", model_with_initializer(float_tensor(big_dims, message(3, number(1, 0)))), unsupported, "segments"},
      {"strings missing",
       model_with_initializer(message(8, "w") + number(2, 8) + number(1, 1u << 30) + message(6, "a")), malformed,
       "strings"},
      {"unknown location", model_with_initializer(float_tensor(big_dims, message(9, big) + number(14, 7))), malformed,
       "location"},
      {"initializers of one name", to_bytes(twice), malformed, "'w'"},
      {"no ir version", to_bytes(message(7, message(2, "g")) + message(8, number(2, 17))), malformed, "IR version"},
      {"ir 2", versions(2, 17), unsupported, "IR version 2"},
      {"ir of the future", versions(99, 17), unsupported, "IR version 99"},
      {"no opset", to_bytes(number(1, 8) + message(7, message(2, "g"))), malformed, "opset"},
      {"opset 6", versions(8, 6), unsupported, "opset 6; re-export with 7 or newer"},
      {"opset of the future", versions(8, 99), unsupported, "opset 99"},
  };
}

TEST(ModelHostile, SaysWhatIsWrong) {
  for (const Hostile& hostile : hostile_inputs()) {
    SCOPED_TRACE(hostile.name);
    const Error error = load_error(hostile.bytes);
    EXPECT_EQ(error.code(), hostile.code) << error.what();
    EXPECT_THAT(error.what(), HasSubstr(hostile.says));
    EXPECT_THAT(error.what(), testing::StartsWith("m.onnx: "));
    EXPECT_EQ(load_error([&] { load_model(std::make_shared<PositionalSource>(hostile.bytes), "m.onnx"); }).what(),
              std::string(error.what()));
  }
}

TEST(ModelHostile, NamesTheNodeOfAnAttribute) {
  auto proto = small_model();
  auto* node = proto.mutable_graph()->add_node();
  node->set_name("scale");
  auto* attribute = node->add_attribute();
  attribute->set_name("value");
  *attribute->mutable_t() = raw_tensor("", TensorProto::FLOAT, {3}, noise(4));
  EXPECT_THAT(load_error(proto).what(), HasSubstr("attribute 'value' of node 'scale'"));
}

TEST(ModelHostile, KeepsMessagesShortAndOnOneLine) {
  auto proto = small_model();
  *proto.mutable_graph()->add_initializer() =
      raw_tensor("\x1b[31m\n" + std::string(100000, 'n'), TensorProto::FLOAT, {3}, noise(4));
  const std::string what = load_error(proto).what();
  EXPECT_LT(what.size(), 600u);
  EXPECT_EQ(what.find_first_of("\n\x1b"), std::string::npos);
}

// Two bytes each in the file, a hundred and more in memory.
TEST(ModelHostile, BoundsTheNumberOfParts) {
  const auto repeat = [](const std::string& part, std::size_t count) {
    std::string all;
    all.reserve(part.size() * count);
    for (std::size_t i = 0; i < count; ++i) all += part;
    return all;
  };
  const Error nodes = load_error(model_with_graph(repeat(message(1, ""), std::size_t{3} << 20)));
  EXPECT_EQ(nodes.code(), ErrorCode::kUnsupported);
  EXPECT_THAT(nodes.what(), HasSubstr("too many nodes"));
  const Error values = load_error(model_with_graph(repeat(message(13, ""), std::size_t{9} << 20)));
  EXPECT_EQ(values.code(), ErrorCode::kUnsupported);
  EXPECT_THAT(values.what(), HasSubstr("too many parts"));
}

// All kinds of tensors in little space.
Bytes seed_model() {
  auto proto = small_model();
  auto* graph = proto.mutable_graph();
  *graph->add_initializer() = raw_tensor("big", TensorProto::FLOAT, {300}, noise(1200));
  auto* typed = graph->add_initializer();
  typed->set_name("typed");
  typed->set_data_type(TensorProto::INT16);
  typed->add_dims(600);
  for (int i = 0; i < 600; ++i) typed->add_int32_data(i % 7 - 3);
  auto* floats = graph->add_initializer();
  floats->set_name("floats");
  floats->set_data_type(TensorProto::FLOAT);
  floats->add_dims(2);
  floats->add_float_data(1);
  floats->add_float_data(2);
  auto* outside = graph->add_initializer();
  outside->set_name("outside");
  outside->set_data_type(TensorProto::INT8);
  outside->add_dims(1500);
  outside->set_data_location(TensorProto::EXTERNAL);
  for (const auto& [key, value] : {std::pair{"location", "d"}, {"offset", "100"}, {"length", "1500"}}) {
    outside->add_external_data()->set_key(key);
    outside->mutable_external_data(outside->external_data_size() - 1)->set_value(value);
  }
  auto* branch = graph->add_node()->add_attribute();
  branch->set_name("then_branch");
  *branch->mutable_g()->add_initializer() = raw_tensor("inner", TensorProto::UINT4, {2100}, noise(1050));
  *graph->add_sparse_initializer()->mutable_values() = raw_tensor("sparse", TensorProto::DOUBLE, {1}, noise(8));
  return to_bytes(proto);
}

// Loads, and when that works saves and loads again: whatever comes, only an Error may come out.
bool survives(const Bytes& bytes, const OpenExternal& open) {
  try {
    const Model model = load(bytes, open);
    MemorySink sink;
    const SaveResult sizes = save_model(model, sink);
    EXPECT_EQ(sizes.model_bytes, sink.bytes().size());
    const Model again = load(sink.bytes());
    MemorySink second;
    save_model(again, second);
    EXPECT_EQ(second.bytes(), sink.bytes());
    return true;
  } catch (const Error& error) {
    EXPECT_NE(error.code(), ErrorCode::kInternal) << error.what();
    return false;
  }
}

TEST(ModelHostile, SurvivesTruncationAtEveryByte) {
  Folder folder;
  folder.files["d"] = noise(2000);
  const Bytes whole = seed_model();
  EXPECT_TRUE(survives(whole, folder.opener()));
  for (std::size_t size = 0; size < whole.size(); ++size) {
    survives(Bytes(whole.begin(), whole.begin() + static_cast<std::ptrdiff_t>(size)), folder.opener());
  }
}

TEST(ModelHostile, SurvivesMutations) {
  Folder folder;
  folder.files["d"] = noise(2000);
  const Bytes whole = seed_model();
  std::uint64_t state = 20240607;
  const auto random = [&](std::uint64_t below) {
    state = state * 6364136223846793005u + 1442695040888963407u;
    return static_cast<std::size_t>((state >> 33) % below);
  };
  // Payloads say nothing; most changes go to what surrounds them.
  constexpr int kMutations = 20000;
  int loaded = 0;
  for (int i = 0; i < kMutations; ++i) {
    Bytes bytes = whole;
    for (std::size_t n = 1 + random(4); n > 0 && !bytes.empty(); --n) {
      std::size_t at = random(bytes.size());
      for (int tries = 0; tries < 3 && bytes[at] > 0x7f; ++tries) at = random(bytes.size());
      const auto place = bytes.begin() + static_cast<std::ptrdiff_t>(at);
      switch (random(5)) {
        case 0:
          bytes[at] = static_cast<std::uint8_t>(random(256));
          break;
        case 1:
          bytes[at] ^= static_cast<std::uint8_t>(1u << random(8));
          break;
        case 2:
          bytes.erase(place,
                      place + static_cast<std::ptrdiff_t>(1 + random(std::min<std::uint64_t>(8, bytes.size() - at))));
          break;
        case 3:
          bytes.insert(place, static_cast<std::uint8_t>(random(256)));
          break;
        default:
          bytes[at] = static_cast<std::uint8_t>(random(16) << 3 | 2);
      }
    }
    loaded += survives(bytes, folder.opener());
  }
  EXPECT_GT(loaded, kMutations / 100);
}

}  // namespace
}  // namespace octet
