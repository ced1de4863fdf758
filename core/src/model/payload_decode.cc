#include "model/payload_decode.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <utility>

#include "model/tensor_types.h"
#include "model/wire_reader.h"
#include "model/wire_schema.h"
#include "octet/error.h"
#include "onnx/onnx_pb.h"

namespace octet {

// Raw data, float_data and double_data are little-endian, and so is every machine Octet is built for.
static_assert(std::endian::native == std::endian::little);

namespace {

class Decoder {
 public:
  Decoder(const ByteSource& source, const std::string& name, int data_type, std::span<std::uint8_t> out)
      : reader_(source, name), type_(data_type), row_(*element_type(data_type)), out_(out) {}

  void segment(const PayloadSegment& segment) {
    if (row_.field == wire::kTensorFloats || row_.field == wire::kTensorDoubles) {
      fixed(segment);
    } else {
      varints(segment);
    }
  }

  void finish() const {
    if (!out_.empty()) throw Error(ErrorCode::kInternal, reader_.name(), "a tensor has fewer values than counted");
  }

 private:
  void fixed(const PayloadSegment& segment) {
    const std::uint64_t end = segment.offset + segment.length;
    if (!segment.tagged) {
      for (std::uint64_t at = segment.offset; at < end;) {
        const std::size_t length = static_cast<std::size_t>(std::min<std::uint64_t>(end - at, WireReader::kWindow));
        std::memcpy(take(length), reader_.at(at, length), length);
        at += length;
      }
      return;
    }
    const std::size_t width = row_.field_bytes;
    for (std::uint64_t at = segment.offset; at < end; at += 1 + width) {
      std::memcpy(take(width), reader_.at(at + 1, width), width);
    }
  }

  void varints(const PayloadSegment& segment) {
    const std::uint64_t end = segment.offset + segment.length;
    for (std::uint64_t at = segment.offset; at < end;) {
      if (segment.tagged) ++at;
      const std::uint64_t value = reader_.varint(at, end);
      put_integer(value, type_, row_.field_bytes, take(row_.field_bytes));
    }
  }

  std::uint8_t* take(std::size_t length) {
    if (length > out_.size())
      throw Error(ErrorCode::kInternal, reader_.name(), "a tensor has more values than counted");
    std::uint8_t* place = out_.data();
    out_ = out_.subspan(length);
    return place;
  }

  WireReader reader_;
  int type_;
  const ElementTypeRow& row_;
  std::span<std::uint8_t> out_;
};

}  // namespace

TensorStore::Produce decode_payload(std::shared_ptr<const ByteSource> source, std::string name, int data_type,
                                    std::vector<PayloadSegment> segments) {
  return [source = std::move(source), name = std::move(name), data_type,
          segments = std::move(segments)](std::span<std::uint8_t> out) {
    Decoder decoder(*source, name, data_type, out);
    for (const PayloadSegment& segment : segments) decoder.segment(segment);
    decoder.finish();
  };
}

void put_integer(std::uint64_t value, int data_type, unsigned width, std::uint8_t* out) {
  if (data_type == onnx::TensorProto::BOOL) value = value != 0;
  std::memcpy(out, &value, width);
}

}  // namespace octet
