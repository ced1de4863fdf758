// Values in typed fields: large ones become raw bytes, whatever form they have in the wire format.
#include <numeric>

#include "model/tensor_access.h"
#include "model_fixtures.h"

namespace octet {
namespace {

using namespace fixtures;  // NOLINT: the tests' own helpers
using onnx::TensorProto;

enum class Form { kPacked, kSplit, kSingle, kLongTags };

const char* form_name(Form form) {
  constexpr const char* kNames[] = {"packed", "split", "single", "long tags"};
  return kNames[static_cast<int>(form)];
}

// `values` are the wire bytes of the values; `wire` is their wire type outside of packed fields.
std::string list_field(std::uint32_t field, unsigned wire, const std::vector<std::string>& values, Form form) {
  const auto join = [&](std::size_t from, std::size_t to) {
    return std::accumulate(values.begin() + static_cast<std::ptrdiff_t>(from),
                           values.begin() + static_cast<std::ptrdiff_t>(to), std::string());
  };
  std::string out;
  switch (form) {
    case Form::kPacked:
      return message(field, join(0, values.size()));
    case Form::kSplit:
      out = message(field, join(0, 3)) + varint(field << 3 | wire) + values[3] + message(99, "between") +
            varint(field << 3 | wire) + values[4] + varint(field << 3 | wire) + values[5];
      return out + message(field, join(6, values.size()));
    case Form::kSingle:
      for (const auto& value : values) out += varint(field << 3 | wire) + value;
      return out;
    default:  // a tag may be padded
      for (const auto& value : values)
        out += static_cast<char>(field << 3 | wire | 0x80) + std::string(1, '\0') + value;
      return out;
  }
}

struct Typed {
  int type;
  std::uint32_t field;
  unsigned wire;
  std::vector<std::string> values;  // on the wire
  Bytes raw;                        // what they mean
  std::vector<std::int64_t> dims;
};

template <class T>
void put(Bytes& bytes, T value) {
  const auto* begin = reinterpret_cast<const std::uint8_t*>(&value);
  bytes.insert(bytes.end(), begin, begin + sizeof(T));
}

// Integers of type T from a sequence with both signs and all sizes of varints.
template <class T>
Typed integers(int type, std::uint32_t field, std::size_t count) {
  Typed typed{type, field, 0, {}, {}, {static_cast<std::int64_t>(count)}};
  for (std::size_t i = 0; i < count; ++i) {
    const auto wide = static_cast<std::int64_t>(i * i * i * 0x9E3779B9u) << (i % 20);
    const auto value = static_cast<T>(i % 2 ? wide : -wide);
    typed.values.push_back(varint(static_cast<std::uint64_t>(static_cast<std::int64_t>(value))));
    put(typed.raw, value);
  }
  return typed;
}

template <class T>
Typed floats(int type, std::uint32_t field, std::size_t count, std::int64_t elements) {
  Typed typed{type, field, sizeof(T) == 4 ? 5u : 1u, {}, {}, {elements}};
  for (std::size_t i = 0; i < count; ++i) {
    const T value = static_cast<T>(i) * static_cast<T>(0.37) - 5;
    typed.values.push_back(fixed(value));
    put(typed.raw, value);
  }
  return typed;
}

std::vector<Typed> all_types() {
  std::vector<Typed> all = {
      floats<float>(TensorProto::FLOAT, 4, 700, 700),
      floats<float>(TensorProto::COMPLEX64, 4, 700, 350),
      floats<double>(TensorProto::DOUBLE, 10, 300, 300),
      floats<double>(TensorProto::COMPLEX128, 10, 300, 150),
      integers<std::int8_t>(TensorProto::INT8, 5, 1500),
      integers<std::uint8_t>(TensorProto::UINT8, 5, 1500),
      integers<std::int16_t>(TensorProto::INT16, 5, 700),
      integers<std::uint16_t>(TensorProto::UINT16, 5, 700),
      integers<std::uint16_t>(TensorProto::FLOAT16, 5, 700),
      integers<std::uint16_t>(TensorProto::BFLOAT16, 5, 700),
      integers<std::int32_t>(TensorProto::INT32, 5, 400),
      integers<std::int64_t>(TensorProto::INT64, 7, 300),
      integers<std::uint32_t>(TensorProto::UINT32, 11, 300),
      integers<std::uint64_t>(TensorProto::UINT64, 11, 300),
      integers<std::uint8_t>(TensorProto::FLOAT8E4M3FN, 5, 1500),
      integers<std::uint8_t>(TensorProto::INT4, 5, 1500),
      integers<std::uint8_t>(TensorProto::UINT2, 5, 1500),
  };
  all[15].dims = {2999};     // two to a byte, the last alone
  all[16].dims = {3, 1999};  // four to a byte
  Typed booleans{TensorProto::BOOL, 5, 0, {}, {}, {1100}};
  for (int i = 0; i < 1100; ++i) {
    const unsigned value = i % 3 == 0 ? 256u : i % 3 == 1 ? 1u : 0u;
    booleans.values.push_back(varint(value));
    booleans.raw.push_back(value != 0);
  }
  all.push_back(booleans);
  return all;
}

std::string tensor_message(const Typed& typed, Form form) {
  std::string out;
  for (const auto dim : typed.dims) out += number(1, static_cast<std::uint64_t>(dim));
  out += number(2, static_cast<std::uint64_t>(typed.type));
  out += list_field(typed.field, typed.wire, typed.values, form);
  return out + message(8, "w");
}

TEST(ModelPayload, TypedFieldsBecomeRaw) {
  for (const Typed& typed : all_types()) {
    for (const Form form : {Form::kPacked, Form::kSplit, Form::kSingle, Form::kLongTags}) {
      SCOPED_TRACE(type_name(typed.type) + ", " + form_name(form));
      const Bytes bytes = model_with_initializer(tensor_message(typed, form));
      const Model model = load(bytes);
      const auto& tensor = model.proto().graph().initializer(0);
      ASSERT_TRUE(stored_id(tensor));
      const TensorBytes stored = tensor_bytes(model, tensor);
      EXPECT_EQ(Bytes(stored.bytes().begin(), stored.bytes().end()), typed.raw);
      const auto saved = parse(save(model)).graph().initializer(0);
      EXPECT_EQ(to_bytes(saved.raw_data()), typed.raw);
      EXPECT_EQ(saved.float_data_size() + saved.int32_data_size() + saved.int64_data_size(), 0);
      // The same through a source that cannot be looked at in place.
      const Model copied = load_model(std::make_shared<PositionalSource>(bytes), "m.onnx");
      EXPECT_EQ(to_bytes(parse(save(copied)).graph().initializer(0).raw_data()), typed.raw);
    }
  }
}

TEST(ModelPayload, LargeListsCrossReadingWindows) {
  Typed typed = integers<std::int64_t>(TensorProto::INT64, 7, 40000);
  const Bytes bytes = model_with_initializer(tensor_message(typed, Form::kPacked));
  const Model model = load_model(std::make_shared<PositionalSource>(bytes), "m.onnx");
  EXPECT_EQ(to_bytes(parse(save(model)).graph().initializer(0).raw_data()), typed.raw);
}

TEST(ModelPayload, SmallTypedFieldsStayAndDecode) {
  TensorProto tensor;
  tensor.set_data_type(TensorProto::INT8);
  tensor.add_dims(3);
  for (const int value : {-1, 127, -128}) tensor.add_int32_data(value);
  EXPECT_EQ(tensor_as_int64(Model(), tensor), (std::vector<std::int64_t>{-1, 127, -128}));
  auto proto = small_model();
  *proto.mutable_graph()->add_initializer() = tensor;
  EXPECT_EQ(parse(save(load(proto))).SerializeAsString(), proto.SerializeAsString());
}

TEST(ModelPayload, PackedFloatsAreNotRead) {
  const Typed typed = floats<float>(TensorProto::FLOAT, 4, 100000, 100000);
  const auto source = std::make_shared<PositionalSource>(model_with_initializer(tensor_message(typed, Form::kPacked)));
  const Model model = load_model(source, "m.onnx");
  EXPECT_LT(source->bytes_read, 200000u);
  EXPECT_FALSE(model.store().computed(*stored_id(model.proto().graph().initializer(0))));
}

TEST(ModelPayload, ValuesAsFloatAndInteger) {
  Model model;
  const auto half = make_tensor(model, "h", TensorProto::FLOAT16, {2}, {0x00, 0x3c, 0x00, 0xc0});
  EXPECT_EQ(tensor_as_float(model, half), (std::vector<float>{1, -2}));
  const auto bf16 = make_tensor(model, "b", TensorProto::BFLOAT16, {2}, {0x80, 0x3f, 0x00, 0xc0});
  EXPECT_EQ(tensor_as_float(model, bf16), (std::vector<float>{1, -2}));
  Bytes bytes;
  put(bytes, 0.1);
  EXPECT_EQ(tensor_as_float(model, make_tensor(model, "d", TensorProto::DOUBLE, {1}, bytes)),
            std::vector<float>{static_cast<float>(0.1)});
  const auto nibbles = make_tensor(model, "n", TensorProto::INT4, {3}, {0x8f, 0x07});
  EXPECT_EQ(tensor_as_int64(model, nibbles), (std::vector<std::int64_t>{-1, -8, 7}));
  const auto crumbs = make_tensor(model, "c", TensorProto::INT2, {4}, {0b10'01'11'00});
  EXPECT_EQ(tensor_as_int64(model, crumbs), (std::vector<std::int64_t>{0, -1, 1, -2}));
  EXPECT_EQ(load_error([&] { tensor_as_float(model, nibbles); }).code(), ErrorCode::kMalformed);
  EXPECT_EQ(load_error([&] { tensor_as_int64(model, half); }).code(), ErrorCode::kMalformed);
  EXPECT_EQ(load_error([&] { make_tensor(model, "x", TensorProto::FLOAT, {3}, {1, 2}); }).code(), ErrorCode::kInternal);
}

TEST(ModelPayload, SizesOfTypes) {
  EXPECT_EQ(bytes_for(TensorProto::FLOAT, 3), 12u);
  EXPECT_EQ(bytes_for(TensorProto::UINT4, 3), 2u);
  EXPECT_EQ(bytes_for(TensorProto::UINT2, 5), 2u);
  EXPECT_EQ(bytes_for(TensorProto::STRING, 5), 0u);
  EXPECT_EQ(load_error([] { bytes_for(TensorProto::DOUBLE, ~std::uint64_t{0}); }).code(), ErrorCode::kMalformed);
  EXPECT_EQ(load_error([] { bytes_for(77, 1); }).code(), ErrorCode::kMalformed);
}

// Typed views are aligned wherever the bytes lie; those who can do without say so and get no copy.
TEST(ModelPayload, AlignsWhatItReturns) {
  TensorStore store;
  const auto source = std::make_shared<MemorySource>(noise(4096));
  for (std::uint64_t offset = 0; offset < 16; ++offset) {
    const auto id = store.add_span(source, offset, 2048);
    for (const std::size_t alignment : {1u, 4u, 8u}) {
      const TensorBytes bytes = store.read(id, alignment);
      EXPECT_EQ(reinterpret_cast<std::uintptr_t>(bytes.bytes().data()) % alignment, 0u);
      EXPECT_TRUE(std::equal(bytes.bytes().begin(), bytes.bytes().end(), source->view(offset, 2048).begin()));
    }
    EXPECT_EQ(store.read(id, 1).bytes().data(), source->view(offset, 2048).data());
  }
}

}  // namespace
}  // namespace octet
