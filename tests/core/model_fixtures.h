// Small models for the tests of loading and saving: from ONNX text, and from wire bytes made by hand.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <functional>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "gtest/gtest.h"
#include "octet/error.h"
#include "octet/model.h"
#include "onnx/defs/parser.h"
#include "onnx/onnx_pb.h"

namespace octet::fixtures {

using Bytes = std::vector<std::uint8_t>;

inline onnx::ModelProto parse_text(const std::string& text) {
  onnx::ModelProto proto;
  const auto status = onnx::OnnxParser::Parse(proto, text.c_str());
  EXPECT_TRUE(status.IsOK()) << status.ErrorMessage();
  return proto;
}

// One Identity; tests add what they need.
inline onnx::ModelProto small_model() {
  return parse_text(R"(<ir_version: 8, opset_import: ["" : 17], producer_name: "tests", metadata_props: ["k": "v"]>
    g (float[n] x) => (float[n] y) { y = Identity (x) })");
}

inline Bytes to_bytes(const std::string& text) { return Bytes(text.begin(), text.end()); }
inline Bytes to_bytes(const onnx::ModelProto& proto) { return to_bytes(proto.SerializeAsString()); }

// Bytes that never repeat in a simple way.
inline Bytes noise(std::size_t size, std::uint32_t seed = 1) {
  Bytes bytes(size);
  std::uint32_t state = seed * 2654435761u + 1;
  for (auto& byte : bytes) {
    state = state * 1664525u + 1013904223u;
    byte = static_cast<std::uint8_t>(state >> 24);
  }
  return bytes;
}

inline onnx::TensorProto raw_tensor(const std::string& name, int type, const std::vector<std::int64_t>& dims,
                                    const Bytes& bytes) {
  onnx::TensorProto tensor;
  tensor.set_name(name);
  tensor.set_data_type(type);
  for (const auto dim : dims) tensor.add_dims(dim);
  tensor.set_raw_data(bytes.data(), bytes.size());
  return tensor;
}

// A source that can only be read, one thread at a time, and that remembers how much was.
class PositionalSource final : public ByteSource {
 public:
  explicit PositionalSource(Bytes bytes) : bytes_(std::move(bytes)) {}
  std::uint64_t size() const override { return bytes_.size(); }
  void read(std::uint64_t offset, std::span<std::uint8_t> out) const override {
    ASSERT_LE(offset + out.size(), bytes_.size());
    std::copy_n(bytes_.begin() + static_cast<std::ptrdiff_t>(offset), out.size(), out.begin());
    bytes_read += out.size();
    ++reads;
  }
  mutable std::uint64_t bytes_read = 0, reads = 0;

 private:
  Bytes bytes_;
};

inline Model load(Bytes bytes, const OpenExternal& open = {}) {
  return load_model(std::make_shared<MemorySource>(std::move(bytes)), "m.onnx", open);
}
inline Model load(const onnx::ModelProto& proto, const OpenExternal& open = {}) { return load(to_bytes(proto), open); }

// External files by name; counts how often each is opened.
struct Folder {
  std::map<std::string, Bytes> files;
  std::map<std::string, int> opened;

  OpenExternal opener() {
    return [this](const std::string& location) -> std::shared_ptr<ByteSource> {
      ++opened[location];
      const auto file = files.find(location);
      if (file == files.end()) throw Error(ErrorCode::kRead, location, "no such file");
      return std::make_shared<MemorySource>(file->second);
    };
  }
};

inline Bytes save(const Model& model, const SaveOptions& options = {}) {
  MemorySink sink;
  const SaveResult result = save_model(model, sink, {}, options);
  EXPECT_EQ(result.model_bytes, sink.bytes().size());
  EXPECT_EQ(result.external_bytes, 0u);
  EXPECT_EQ(measure_model(model, options).model_bytes, sink.bytes().size());
  return sink.bytes();
}

inline onnx::ModelProto parse(const Bytes& bytes) {
  onnx::ModelProto proto;
  EXPECT_TRUE(proto.ParseFromArray(bytes.data(), static_cast<int>(bytes.size())));
  return proto;
}

// The error that loading ends with; fails the test when there is none.
inline Error load_error(const std::function<void()>& call) {
  try {
    call();
  } catch (const Error& error) {
    return error;
  }
  ADD_FAILURE() << "no error";
  return Error(ErrorCode::kInternal, "", "no error");
}
inline Error load_error(const Bytes& bytes, const OpenExternal& open = {}) {
  return load_error([&] { load(bytes, open); });
}
inline Error load_error(const onnx::ModelProto& proto, const OpenExternal& open = {}) {
  return load_error(to_bytes(proto), open);
}

// Wire format by hand.
inline std::string varint(std::uint64_t value) {
  std::string out;
  for (; value >= 0x80; value >>= 7) out.push_back(static_cast<char>(value | 0x80));
  out.push_back(static_cast<char>(value));
  return out;
}
inline std::string number(std::uint32_t field, std::uint64_t value) { return varint(field << 3) + varint(value); }
inline std::string message(std::uint32_t field, const std::string& content) {
  return varint(field << 3 | 2) + varint(content.size()) + content;
}
template <class T>
std::string fixed(T value) {
  std::string out(sizeof(T), '\0');
  std::memcpy(out.data(), &value, sizeof(T));
  return out;
}

// A model around the wire bytes of one initializer.
inline Bytes model_with_initializer(const std::string& tensor) {
  return to_bytes(number(1, 8) + message(7, message(2, "g") + message(5, tensor)) + message(8, number(2, 17)));
}

}  // namespace octet::fixtures
