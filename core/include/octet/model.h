// A model: a small ONNX skeleton plus a store of the large tensors, which stay where they are until needed.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "octet/byte_io.h"

namespace onnx {
class ModelProto;
class TensorProto;
}  // namespace onnx

namespace octet {

// Bytes of one tensor, little-endian, row-major, as ONNX `raw_data` has them (4-bit types packed two per byte,
// low nibble first). Either a view into a mapped source or owned; valid while the object lives.
class TensorBytes {
 public:
  TensorBytes() = default;
  explicit TensorBytes(std::vector<std::uint8_t> owned);
  TensorBytes(std::shared_ptr<const void> holder, std::span<const std::uint8_t> view);

  std::span<const std::uint8_t> bytes() const { return view_; }
  template <class T>
  std::span<const T> as() const {  // the data is aligned for T: the store copies when a mapping is not
    return {reinterpret_cast<const T*>(view_.data()), view_.size() / sizeof(T)};
  }

 private:
  std::shared_ptr<const void> holder_;
  std::span<const std::uint8_t> view_;
};

// Large tensors, by id. An id is what the skeleton's TensorProto carries in place of its bytes.
// Reading (the const members) is safe from several threads, adding while others read is not.
class TensorStore {
 public:
  using Id = std::uint32_t;
  // Fills a buffer of exactly the tensor's size, every byte of it. Must be deterministic and callable from any thread.
  using Produce = std::function<void(std::span<std::uint8_t>)>;

  // Bytes at [offset, offset + length) of a source. A source that is not concurrent() is read by one thread at a time.
  Id add_span(std::shared_ptr<const ByteSource> source, std::uint64_t offset, std::uint64_t length);
  Id add_owned(std::vector<std::uint8_t> bytes);
  // Bytes made on demand, each time they are read or written: how quantized weights stream.
  Id add_computed(std::uint64_t size, Produce produce);

  std::uint64_t size(Id id) const;
  // Whether reading means work (add_computed) and not just looking.
  bool computed(Id id) const;
  // In place when the bytes lie in memory at that alignment (in bytes), else copied or produced into a buffer aligned
  // for any element. Ask for 1 when unaligned loads will do: weights in a mapped file are aligned only by chance.
  TensorBytes read(Id id, std::size_t alignment = 4) const;
  // The same bytes into a buffer of exactly size(id).
  void fill(Id id, std::span<std::uint8_t> out) const;
  // The same bytes in order, without holding more of them than needed.
  void append_to(Id id, ByteSink& sink) const;

 private:
  struct Entry {
    std::shared_ptr<const ByteSource> source;
    std::uint64_t offset = 0, size = 0;
    std::shared_ptr<const std::vector<std::uint8_t>> owned;
    Produce produce;
  };
  const Entry& entry(Id id) const;
  std::shared_ptr<const ByteSource> shared(std::shared_ptr<const ByteSource> source);

  std::vector<Entry> entries_;
  // Sources that are not concurrent() and what stands for them, so that all their entries share one lock.
  std::vector<std::pair<std::shared_ptr<const ByteSource>, std::shared_ptr<const ByteSource>>> guarded_;
};

class Model {
 public:
  Model();
  Model(Model&&) noexcept;
  Model& operator=(Model&&) noexcept;
  ~Model();

  onnx::ModelProto& proto() { return *proto_; }
  const onnx::ModelProto& proto() const { return *proto_; }
  TensorStore& store() { return *store_; }
  const TensorStore& store() const { return *store_; }

  // A copy of the skeleton on the same store: what is added through one stays as long as the other lives.
  Model clone() const;

  // Where the model came from, for messages; not a path to open.
  std::string name;
  std::uint64_t file_bytes = 0;  // size of the input including external data it refers to

 private:
  std::unique_ptr<onnx::ModelProto> proto_;
  std::shared_ptr<TensorStore> store_;
};

// Reads a model. Tensors with more than kInlineBytes of payload never pass through protobuf: the skeleton keeps a
// marker, the store (source, offset, length). Typed fields (float_data, int32_data …) become raw bytes, decoded on
// demand. External data is opened through `open` (may be empty when the model has none); what is small of it becomes
// inline. Training information is dropped; unknown fields are kept.
// Throws Error: kMalformed for bytes that are no model (naming the offset or field), kRead for a missing external file,
// kUnsupported for opsets or IR versions newer than the built-in ones.
Model load_model(std::shared_ptr<const ByteSource> source, const std::string& name, const OpenExternal& open = {});

inline constexpr std::uint64_t kInlineBytes = 1024;
inline constexpr std::uint64_t kMaxProtobufBytes = 0x7fffffff;

struct SaveOptions {
  bool external_data = false;  // also chosen by itself when one file would pass 2 GB
  std::string external_location;  // file name written into the skeleton; "model.onnx.data" when empty
  unsigned threads = 1;           // tensors produced in parallel; the bytes do not depend on it
};

struct SaveResult {
  std::uint64_t model_bytes = 0, external_bytes = 0;
};

// Size of save_model's output, without producing any tensor. Only initializers move to external data; tensors in
// attributes stay inside, since runtimes do not look for theirs elsewhere.
SaveResult measure_model(const Model& model, const SaveOptions& options = {});

// Writes the model tensor by tensor, deterministic bytes. `external` receives external data when it is used
// (asked for once, on first need). Memory: a few tensors at a time.
SaveResult save_model(const Model& model, ByteSink& sink, const std::function<ByteSink&()>& external = {},
                      const SaveOptions& options = {});

}  // namespace octet
