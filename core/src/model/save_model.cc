// The skeleton goes through protobuf, its wire format through a walk that puts the payloads back where markers stand:
// once to learn all lengths, once to write.
#include <algorithm>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "google/protobuf/io/coded_stream.h"
#include "google/protobuf/io/zero_copy_stream_impl_lite.h"
#include "model/external_location.h"
#include "model/ordered_output.h"
#include "model/tensor_access.h"
#include "model/wire_reader.h"
#include "model/wire_schema.h"
#include "octet/error.h"
#include "octet/model.h"

namespace octet {
namespace {

using onnx::TensorProto;

constexpr const char* kDefaultLocation = "model.onnx.data";

// Runtimes map external data in pages where they can; what is smaller than many pages is only kept in cache lines.
constexpr std::uint64_t kPage = 4096, kCacheLine = 64, kPagedBytes = std::uint64_t{1} << 20;

class TextSource final : public ByteSource {
 public:
  explicit TextSource(const std::string& text) : text_(text) {}
  std::uint64_t size() const override { return text_.size(); }
  void read(std::uint64_t offset, std::span<std::uint8_t> out) const override {
    const auto bytes = view(offset, out.size());
    std::copy(bytes.begin(), bytes.end(), out.begin());
  }
  std::span<const std::uint8_t> view(std::uint64_t offset, std::uint64_t length) const override {
    const std::span bytes(reinterpret_cast<const std::uint8_t*>(text_.data()), text_.size());
    return bytes.subspan(static_cast<std::size_t>(offset), static_cast<std::size_t>(length));
  }

 private:
  const std::string& text_;
};

std::string serialize(const Model& model) {
  const std::size_t size = model.proto().ByteSizeLong();
  if (size > kMaxProtobufBytes) {
    throw Error(ErrorCode::kUnsupported, model.name, "the model has more than 2 GB besides its tensors");
  }
  std::string text;
  text.reserve(size);
  {
    google::protobuf::io::StringOutputStream stream(&text);
    google::protobuf::io::CodedOutputStream coded(&stream);
    coded.SetSerializationDeterministic(true);
    if (!model.proto().SerializeToCodedStream(&coded)) {
      throw Error(ErrorCode::kInternal, model.name, "the model cannot be serialized");
    }
  }
  return text;
}

class Layout {
 public:
  // `text` is the serialized skeleton and outlives the layout.
  Layout(const Model& model, const std::string& text, const SaveOptions& options)
      : model_(model), source_(text), reader_(source_, model.name), options_(options) {
    sizes_.model_bytes = measure(MessageKind::kModel, 0, text.size(), false);
  }

  const SaveResult& sizes() const { return sizes_; }

  // Steps refer to bytes of the layout.
  std::vector<OutputStep> steps(ByteSink& sink, ByteSink* external) {
    emit(MessageKind::kModel, 0, source_.size());
    std::vector<OutputStep> steps;
    const auto padding = std::span(padding_);
    for (const Payload& payload : payloads_) {
      if (payload.external) {
        steps.push_back({external, padding.first(static_cast<std::size_t>(payload.padding)), true, payload.id});
      }
    }
    const std::span bytes(reinterpret_cast<const std::uint8_t*>(out_.bytes().data()), out_.bytes().size());
    std::size_t begin = 0;
    for (const Hole& hole : holes_) {
      steps.push_back({&sink, bytes.subspan(begin, hole.at - begin), true, hole.id});
      begin = hole.at;
    }
    steps.push_back({&sink, bytes.subspan(begin), false, 0});
    return steps;
  }

 private:
  // A tensor whose bytes are in the store, in the order in which the walks meet them.
  struct Payload {
    std::string header;  // the message's content; in the model its raw data follow
    TensorStore::Id id = 0;
    std::uint64_t size = 0, padding = 0;
    bool external = false;
  };
  // Where a payload is to be inserted in out_.
  struct Hole {
    std::size_t at = 0;
    TensorStore::Id id = 0;
  };

  // Length of the message's content when the payloads are in place. Remembers the lengths that change.
  std::uint64_t measure(MessageKind kind, std::uint64_t begin, std::uint64_t end, bool initializer) {
    if (kind == MessageKind::kTensor) return measure_tensor(begin, end, initializer);
    std::uint64_t size = end - begin;
    for (std::uint64_t at = begin; at < end;) {
      const WireField field = reader_.field(at, end);
      at = field.end;
      const MessageKind child = child_field(kind, field.number).kind;
      if (child == MessageKind::kNone || !may_hold_tensors(child)) continue;
      const std::size_t slot = lengths_.size();
      lengths_.push_back(0);
      const bool is_initializer = kind == MessageKind::kGraph && field.number == wire::kGraphInitializer;
      const std::uint64_t length = measure(child, field.begin, field.end, is_initializer);
      lengths_[slot] = length;
      size += length + WireWriter::varint_size(length);
      size -= field.length() + WireWriter::varint_size(field.length());
    }
    return size;
  }

  std::uint64_t measure_tensor(std::uint64_t begin, std::uint64_t end, bool initializer) {
    if (!is_external(begin, end)) return end - begin;
    TensorProto tensor;
    const auto text = source_.view(begin, end - begin);
    if (!tensor.ParseFromArray(text.data(), static_cast<int>(text.size()))) {
      throw Error(ErrorCode::kInternal, model_.name, "a tensor cannot be read back");
    }
    const auto id = stored_id(tensor);
    if (!id || model_.store().size(*id) != tensor_byte_size(tensor)) {
      throw Error(
          ErrorCode::kInternal, model_.name,
          "tensor '" + tensor.name() + "' " + (id ? "has stored bytes of another size" : "has no stored bytes"));
    }
    Payload payload;
    payload.id = *id;
    payload.size = model_.store().size(*id);
    payload.external = options_.external_data && initializer && payload.size > 0;
    tensor.clear_external_data();
    tensor.clear_data_location();
    if (payload.external) place_outside(tensor, payload);
    payload.header = tensor.SerializeAsString();
    const std::uint64_t inside = payload.external ? 0 : 1 + WireWriter::varint_size(payload.size) + payload.size;
    const std::uint64_t length = payload.header.size() + inside;
    payloads_.push_back(std::move(payload));
    return length;
  }

  void place_outside(TensorProto& tensor, Payload& payload) {
    const std::uint64_t alignment = payload.size >= kPagedBytes ? kPage : kCacheLine;
    payload.padding = (alignment - sizes_.external_bytes % alignment) % alignment;
    const std::uint64_t offset = sizes_.external_bytes + payload.padding;
    sizes_.external_bytes = offset + payload.size;
    const auto add = [&](const char* key, const std::string& value) {
      auto* entry = tensor.add_external_data();
      entry->set_key(key);
      entry->set_value(value);
    };
    add("location", options_.external_location);
    add("offset", std::to_string(offset));
    add("length", std::to_string(payload.size));
    tensor.set_data_location(TensorProto::EXTERNAL);
  }

  bool is_external(std::uint64_t begin, std::uint64_t end) {
    bool external = false;
    for (std::uint64_t at = begin; at < end;) {
      const WireField field = reader_.field(at, end);
      at = field.end;
      if (field.number == wire::kTensorLocation) external = field.value == TensorProto::EXTERNAL;
    }
    return external;
  }

  // The second walk meets messages in the order of the first.
  void emit(MessageKind kind, std::uint64_t begin, std::uint64_t end) {
    if (kind == MessageKind::kTensor && is_external(begin, end)) {
      emit_payload(payloads_[next_payload_++]);
      return;
    }
    std::uint64_t copied = begin;
    for (std::uint64_t at = begin; kind != MessageKind::kTensor && at < end;) {
      const WireField field = reader_.field(at, end);
      at = field.end;
      const MessageKind child = child_field(kind, field.number).kind;
      if (child == MessageKind::kNone || !may_hold_tensors(child)) continue;
      reader_.append_to(out_.bytes(), copied, field.start);
      copied = field.end;
      out_.tag(field.number, WireType::kBytes);
      out_.varint(lengths_[next_length_++]);
      emit(child, field.begin, field.end);
    }
    reader_.append_to(out_.bytes(), copied, end);
  }

  void emit_payload(const Payload& payload) {
    out_.bytes() += payload.header;
    if (payload.external) return;
    out_.tag(wire::kTensorRaw, WireType::kBytes);
    out_.varint(payload.size);
    holes_.push_back({out_.bytes().size(), payload.id});
  }

  const Model& model_;
  TextSource source_;
  WireReader reader_;
  const SaveOptions& options_;
  SaveResult sizes_;
  std::vector<std::uint64_t> lengths_;
  std::vector<Payload> payloads_;
  std::size_t next_length_ = 0, next_payload_ = 0;
  WireWriter out_;
  std::vector<Hole> holes_;
  std::vector<std::uint8_t> padding_ = std::vector<std::uint8_t>(kPage);
};

// Holds what a layout refers to.
struct Saving {
  Saving(const Model& model, const SaveOptions& wanted) : options(wanted), text(serialize(model)) {
    if (options.external_location.empty()) options.external_location = kDefaultLocation;
    if (const std::string problem = location_problem(options.external_location); !problem.empty()) {
      throw Error(ErrorCode::kUsage, options.external_location, "the name of the external data file " + problem);
    }
    layout.emplace(model, text, options);
    if (!options.external_data && layout->sizes().model_bytes > kMaxProtobufBytes) {
      options.external_data = true;
      layout.emplace(model, text, options);
    }
    if (layout->sizes().model_bytes > kMaxProtobufBytes) {
      throw Error(ErrorCode::kUnsupported, model.name,
                  "the model has more than 2 GB of tensors in attributes, which must stay in the model file",
                  "make them initializers");
    }
  }

  SaveOptions options;
  std::string text;
  std::optional<Layout> layout;
};

}  // namespace

SaveResult measure_model(const Model& model, const SaveOptions& options) {
  return Saving(model, options).layout->sizes();
}

SaveResult save_model(const Model& model, ByteSink& sink, const std::function<ByteSink&()>& external,
                      const SaveOptions& options) {
  Saving saving(model, options);
  const SaveResult sizes = saving.layout->sizes();
  ByteSink* outside = nullptr;
  if (sizes.external_bytes > 0) {
    if (!external) {
      throw Error(ErrorCode::kUsage, model.name, "the model needs an external data file",
                  "models above 2 GB cannot be one file");
    }
    outside = &external();
  }
  write_in_order(model.store(), saving.layout->steps(sink, outside), options.threads);
  return sizes;
}

}  // namespace octet
