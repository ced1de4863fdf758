#include "model/wire_reader.h"

#include <algorithm>
#include <utility>

#include "octet/error.h"

namespace octet {
namespace {

constexpr std::size_t kMaxVarint = 10;  // bytes of a 64-bit value, seven bits in each
constexpr std::size_t kMaxTag = 5;      // protobuf reads no longer tags and lengths either

constexpr const char* kFetchAgain =
    "if it was downloaded or copied, the file may be incomplete or damaged: fetch it again";

}  // namespace

WireReader::WireReader(const ByteSource& source, std::string name)
    : source_(source), name_(std::move(name)), size_(source.size()) {
  const auto whole = source.view(0, size_);
  if (whole.size() == size_) window_ = whole;
}

WireField WireReader::field(std::uint64_t at, std::uint64_t end) {
  if (fields_left_-- == 0) {
    throw Error(ErrorCode::kUnsupported, name_, "byte " + std::to_string(at) + ": the model has too many parts");
  }
  WireField field;
  field.start = at;
  const std::uint64_t tag = varint(at, end);
  if (at - field.start > kMaxTag || tag > 0xffffffffu || tag >> 3 == 0) fail(field.start, "no valid field starts here");
  field.number = static_cast<std::uint32_t>(tag >> 3);
  field.begin = at;
  switch (tag & 7) {
    case 0:
      field.value = varint(at, end);
      field.end = at;
      break;
    case 1:
      if (end - at < 8) fail_length(at, 8, end);
      field.end = at + 8;
      break;
    case 2: {
      const std::uint64_t length = varint(at, end);
      if (at - field.begin > kMaxTag) fail(field.begin, "the length of a field takes too many bytes");
      if (length > end - at) fail_length(at, length, end);
      field.begin = at;
      field.end = at + length;
      break;
    }
    case 5:
      if (end - at < 4) fail_length(at, 4, end);
      field.end = at + 4;
      break;
    default:
      fail(field.start, "field " + std::to_string(field.number) + " has the wire type " + std::to_string(tag & 7) +
                            ", which ONNX does not use");
  }
  field.type = static_cast<WireType>(tag & 7);
  return field;
}

std::uint64_t WireReader::varint(std::uint64_t& at, std::uint64_t end) {
  const auto available = static_cast<std::size_t>(std::min<std::uint64_t>(end - at, kMaxVarint));
  const std::uint8_t* bytes = this->at(at, available);
  std::uint64_t value = 0;
  for (std::size_t i = 0; i < available; ++i) {
    value |= std::uint64_t{bytes[i] & 0x7fu} << (7 * i);
    if (bytes[i] < 0x80) {
      at += i + 1;
      return value;
    }
  }
  if (available == kMaxVarint) fail(at, "a number takes more than ten bytes");
  fail_length(at, available + 1, end);
}

std::uint64_t WireReader::count_varints(std::uint64_t begin, std::uint64_t end) {
  std::uint64_t count = 0;
  std::size_t run = 0;  // bytes of the varint so far
  for (std::uint64_t from = begin; from < end;) {
    const auto length = static_cast<std::size_t>(std::min<std::uint64_t>(end - from, kWindow));
    const std::uint8_t* bytes = at(from, length);
    for (std::size_t i = 0; i < length; ++i) {
      if (bytes[i] < 0x80) {
        ++count;
        run = 0;
      } else if (++run == kMaxVarint) {
        fail(from + i, "a number takes more than ten bytes");
      }
    }
    from += length;
  }
  if (run != 0) fail(end - run, "a number goes on after the end of its list");
  return count;
}

const std::uint8_t* WireReader::at(std::uint64_t offset, std::size_t length) {
  if (offset >= window_begin_ && offset - window_begin_ <= window_.size() &&
      length <= window_.size() - static_cast<std::size_t>(offset - window_begin_)) {
    return window_.data() + (offset - window_begin_);
  }
  if (length > kWindow || offset > size_ || length > size_ - offset) {
    throw Error(ErrorCode::kInternal, name_, "read outside the file at byte " + std::to_string(offset));
  }
  buffer_.resize(kWindow);
  const auto filled = static_cast<std::size_t>(std::min<std::uint64_t>(kWindow, size_ - offset));
  window_ = {};  // stays empty when the read fails
  source_.read(offset, std::span(buffer_).first(filled));
  window_ = std::span(buffer_).first(filled);
  window_begin_ = offset;
  return window_.data();
}

void WireReader::append_to(std::string& out, std::uint64_t begin, std::uint64_t end) {
  if (begin == end) return;
  const auto length = static_cast<std::size_t>(end - begin);
  if (begin >= window_begin_ && end - window_begin_ <= window_.size()) {
    const auto* bytes = window_.data() + (begin - window_begin_);
    out.append(reinterpret_cast<const char*>(bytes), length);
    return;
  }
  const std::size_t old = out.size();
  out.resize(old + length);
  source_.read(begin, {reinterpret_cast<std::uint8_t*>(out.data()) + old, length});
}

std::string WireReader::text(std::uint64_t begin, std::uint64_t end) {
  std::string out;
  append_to(out, begin, end);
  return out;
}

void WireReader::fail(std::uint64_t offset, const std::string& problem) const {
  throw Error(ErrorCode::kMalformed, name_, "byte " + std::to_string(offset) + ": " + problem, kFetchAgain);
}

void WireReader::fail_length(std::uint64_t offset, std::uint64_t needed, std::uint64_t end) const {
  const std::string place = "byte " + std::to_string(offset) + ": ";
  if (end == size_) {
    throw Error(ErrorCode::kMalformed, name_,
                place + "the file is cut off: at least " + std::to_string(needed) + " bytes should follow, " +
                    std::to_string(end - offset) + " do",
                kFetchAgain);
  }
  fail(offset, std::to_string(needed) + " bytes are announced, the message around them has " +
                   std::to_string(end - offset) + " left");
}

void WireWriter::varint(std::uint64_t value) {
  while (value >= 0x80) {
    bytes_.push_back(static_cast<char>(value | 0x80));
    value >>= 7;
  }
  bytes_.push_back(static_cast<char>(value));
}

void WireWriter::tag(std::uint32_t number, WireType type) {
  varint(std::uint64_t{number} << 3 | static_cast<std::uint64_t>(type));
}

void WireWriter::copy(WireReader& reader, std::uint64_t begin, std::uint64_t end) {
  if (end - begin > kMaxBytes - std::min<std::uint64_t>(bytes_.size(), kMaxBytes)) {
    throw Error(ErrorCode::kUnsupported, reader.name(),
                "the model has more than " + std::to_string(kMaxBytes >> 20) + " MB besides its tensors (at byte " +
                    std::to_string(begin) + ")",
                "keep large values in tensors, not in texts or lists of numbers");
  }
  reader.append_to(bytes_, begin, end);
}

std::size_t WireWriter::open(std::uint32_t number) {
  tag(number, WireType::kBytes);
  bytes_.append(4, '\0');
  return bytes_.size();
}

void WireWriter::close(std::size_t mark) {
  const std::size_t length = bytes_.size() - mark;
  if (length >> 28 != 0) throw Error(ErrorCode::kInternal, "", "a message does not fit its length");
  for (std::size_t i = 0; i < 4; ++i) {
    bytes_[mark - 4 + i] = static_cast<char>((length >> (7 * i) & 0x7f) | (i < 3 ? 0x80 : 0));
  }
}

std::uint64_t WireWriter::varint_size(std::uint64_t value) {
  std::uint64_t size = 1;
  while (value >>= 7) ++size;
  return size;
}

}  // namespace octet
