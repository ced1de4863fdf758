// A walk over the wire format copies everything but large payloads into a reduced model, which protobuf then parses.
#include <limits>
#include <string>
#include <unordered_set>
#include <utility>

#include "google/protobuf/io/coded_stream.h"
#include "model/load_checks.h"
#include "model/load_tensor.h"
#include "model/tensor_access.h"
#include "model/wire_reader.h"
#include "model/wire_schema.h"
#include "octet/error.h"
#include "octet/model.h"

namespace octet {
namespace {

// Two bytes of an empty message or text become a hundred and more in memory, so these bound memory too; the largest
// exports have a tenth of them. The second counts graphs, nodes, attributes and tensors, whose objects are the largest.
constexpr std::uint64_t kMaxFields = std::uint64_t{8} << 20;
constexpr std::uint64_t kMaxLargeMessages = std::uint64_t{2} << 20;

class SkeletonLoader {
 public:
  SkeletonLoader(std::shared_ptr<const ByteSource> source, const std::string& name, TensorStore& store,
                 const OpenExternal& open)
      : reader_(*source, name), tensors_(std::move(source), reader_, store, open) {
    reader_.limit_fields(kMaxFields);
  }

  // The model without its large payloads, in the wire format.
  std::string load() {
    check_is_protobuf(reader_);
    walk(MessageKind::kModel, 0, reader_.size(), 1);
    if (!has_graph_) throw Error(ErrorCode::kMalformed, reader_.name(), "the file holds no graph: it is no ONNX model");
    return std::move(out_.bytes());
  }

  std::uint64_t external_bytes() const { return tensors_.external_bytes(); }

 private:
  // Appends the message at [begin, end) to out_. Stretches without tensors are copied as they are; messages that may
  // hold tensors are written anew, because their lengths change.
  void walk(MessageKind kind, std::uint64_t begin, std::uint64_t end, int depth) {
    check_depth(begin, depth);
    std::uint64_t copied = begin;
    std::uint32_t seen = 0;
    std::unordered_set<std::string> names;
    for (std::uint64_t at = begin; at < end;) {
      const WireField field = next(kind, at, end);
      at = field.end;
      const ChildField child = child_field(kind, field.number);
      if (child.kind == MessageKind::kNone) {
        note_name(kind, field);
        continue;
      }
      if (!may_hold_tensors(child.kind)) {
        validate(child.kind, field.begin, field.end, depth + 1);
        continue;
      }
      // Protobuf would merge the two, and what was checked of one would not hold for the whole.
      if (!child.repeated && (seen >> field.number & 1) != 0) {
        reader_.fail(field.start, std::string(message_name(kind)) + " has its " + message_name(child.kind) + " twice");
      }
      seen |= 1u << field.number;
      out_.copy(reader_, copied, field.start);
      copied = field.end;
      if (child.kind == MessageKind::kTrainingInfo) continue;  // inference only

      if (++large_messages_ > kMaxLargeMessages) {
        throw Error(ErrorCode::kUnsupported, reader_.name(),
                    "byte " + std::to_string(field.start) + ": the model has too many nodes, attributes and tensors");
      }
      const std::size_t mark = out_.open(field.number);
      if (child.kind == MessageKind::kTensor) {
        const std::string name = tensors_.load(field.begin, field.end, place(), out_);
        if (kind == MessageKind::kGraph && !names.insert(name).second) {
          reader_.fail(field.start, "two initializers of one graph have the name '" + name.substr(0, 120) + "'");
        }
      } else {
        walk(child.kind, field.begin, field.end, depth + 1);
      }
      out_.close(mark);
      if (kind == MessageKind::kModel && child.kind == MessageKind::kGraph) has_graph_ = true;
    }
    out_.copy(reader_, copied, end);
  }

  // The same without copying, for messages that hold no tensors: protobuf tells neither what is wrong nor where.
  void validate(MessageKind kind, std::uint64_t begin, std::uint64_t end, int depth) {
    check_depth(begin, depth);
    for (std::uint64_t at = begin; at < end;) {
      const WireField field = next(kind, at, end);
      at = field.end;
      const ChildField child = child_field(kind, field.number);
      if (child.kind != MessageKind::kNone) validate(child.kind, field.begin, field.end, depth + 1);
    }
  }

  WireField next(MessageKind kind, std::uint64_t at, std::uint64_t end) {
    const WireField field = reader_.field(at, end);
    if (field.type != WireType::kBytes && child_field(kind, field.number).kind != MessageKind::kNone) {
      reader_.fail(field.start,
                   std::string(message_name(kind)) + " has no number as its field " + std::to_string(field.number));
    }
    return field;
  }

  void check_depth(std::uint64_t at, int depth) const {
    if (depth > kMaxNesting) {
      reader_.fail(at, "messages are nested more than " + std::to_string(kMaxNesting) + " deep");
    }
  }

  void note_name(MessageKind kind, const WireField& field) {
    if (field.type != WireType::kBytes || field.length() > 256) return;
    if (kind == MessageKind::kNode && field.number == wire::kNodeName) node_ = reader_.text(field.begin, field.end);
    if (kind == MessageKind::kAttribute && field.number == wire::kAttributeName) {
      attribute_ = reader_.text(field.begin, field.end);
    }
  }

  // Where a tensor without a name stands. Writers put names before attributes, and values last.
  std::string place() const { return "the tensor in attribute '" + attribute_ + "' of node '" + node_ + "'"; }

  WireReader reader_;
  TensorLoader tensors_;
  WireWriter out_;
  std::string node_, attribute_;
  std::uint64_t large_messages_ = 0;
  bool has_graph_ = false;
};

void parse_skeleton(const std::string& bytes, onnx::ModelProto& proto, const std::string& name) {
  google::protobuf::io::CodedInputStream input(reinterpret_cast<const std::uint8_t*>(bytes.data()),
                                               static_cast<int>(bytes.size()));
  input.SetTotalBytesLimit(std::numeric_limits<int>::max());
  input.SetRecursionLimit(kMaxNesting);
  if (!proto.ParseFromCodedStream(&input) || !input.ConsumedEntireMessage()) {
    throw Error(ErrorCode::kMalformed, name, "a field does not have the form that ONNX gives it", "export it again");
  }
}

}  // namespace

Model load_model(std::shared_ptr<const ByteSource> source, const std::string& name, const OpenExternal& open) {
  Model model;
  model.name = name;
  source = make_concurrent(std::move(source));
  SkeletonLoader loader(source, name, model.store(), open);
  parse_skeleton(loader.load(), model.proto(), name);
  check_versions(model.proto(), name);
  model.file_bytes = source->size() + loader.external_bytes();
  return model;
}

}  // namespace octet
