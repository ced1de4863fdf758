// One TensorProto on its way from the wire format into the skeleton: what is large of it goes to the store.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "model/payload_decode.h"
#include "model/wire_reader.h"
#include "octet/model.h"
#include "onnx/onnx_pb.h"

namespace octet {

class TensorLoader {
 public:
  TensorLoader(std::shared_ptr<const ByteSource> source, WireReader& reader, TensorStore& store,
               const OpenExternal& open)
      : source_(std::move(source)), reader_(reader), store_(store), open_(open) {}

  // Appends the content of the message at [begin, end) to `out`, with a marker instead of a large payload. `place`
  // tells where the tensor stands when it has no name. Returns its name.
  std::string load(std::uint64_t begin, std::uint64_t end, const std::string& place, WireWriter& out);

  // Bytes of all external files that were opened.
  std::uint64_t external_bytes() const;

 private:
  struct Run {
    std::uint64_t begin = 0, end = 0;
    bool payload = false;
  };
  struct External {
    std::string location;
    std::uint64_t offset = 0;
    std::optional<std::uint64_t> length;
  };
  struct Fields {
    onnx::TensorProto facts;  // name, type and dimensions, nothing else
    std::vector<Run> runs;    // all fields but those of external data, in order
    std::uint32_t payload_field = 0;
    std::vector<PayloadSegment> segments;
    std::uint64_t values = 0;  // in typed fields
    std::uint64_t raw_size = 0;
    bool external = false;
    External where;
  };

  Fields collect(std::uint64_t begin, std::uint64_t end, const std::string& place);
  void add_dims(const WireField& field, Fields& fields);
  void add_payload(const WireField& field, Fields& fields);
  void add_external(const WireField& field, Fields& fields);
  std::uint64_t parse_number(const std::string& text, const std::string& key) const;

  // Bytes of the payload; throws when they are not what type and dimensions need.
  std::uint64_t checked_size(const Fields& fields) const;
  TensorStore::Id store_payload(const Fields& fields, std::uint64_t size);
  std::shared_ptr<const ByteSource> open_external(const std::string& location);
  void write_external(const Fields& fields, std::uint64_t size, WireWriter& out);
  void copy_runs(const Fields& fields, bool with_payload, WireWriter& out);
  void write_marker(TensorStore::Id id, WireWriter& out);
  [[noreturn]] void fail(const std::string& problem) const;

  std::shared_ptr<const ByteSource> source_;
  WireReader& reader_;
  TensorStore& store_;
  const OpenExternal& open_;
  std::map<std::string, std::shared_ptr<const ByteSource>> files_;
  std::string label_;  // of the tensor at hand, for messages
  std::uint64_t at_ = 0;
};

}  // namespace octet
