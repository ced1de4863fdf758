// Reading protobuf's wire format straight from a ByteSource, field by field, without ever touching what is skipped.
// The bytes are hostile: every length is checked against the message around it, and errors name the byte.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "octet/byte_io.h"

namespace octet {

enum class WireType : std::uint8_t { kVarint = 0, kFixed64 = 1, kBytes = 2, kFixed32 = 5 };

struct WireField {
  std::uint32_t number = 0;
  WireType type = WireType::kVarint;
  std::uint64_t start = 0;           // where its tag begins
  std::uint64_t begin = 0, end = 0;  // its content, without tag and length
  std::uint64_t value = 0;           // of a varint
  std::uint64_t length() const { return end - begin; }
};

class WireReader {
 public:
  // Offsets in messages count from the start of `source`, which must outlive the reader; `name` is for messages.
  WireReader(const ByteSource& source, std::string name);

  std::uint64_t size() const { return size_; }
  const std::string& name() const { return name_; }

  // Most fields that may be read; any number without it.
  void limit_fields(std::uint64_t limit) { fields_left_ = limit; }

  // The field at `at` of a message that ends at `end`; the next one begins at its end.
  WireField field(std::uint64_t at, std::uint64_t end);

  // The varint at `at`, which is moved behind it.
  std::uint64_t varint(std::uint64_t& at, std::uint64_t end);

  // Number of varints in a packed field; every one of them is whole and of at most ten bytes.
  std::uint64_t count_varints(std::uint64_t begin, std::uint64_t end);

  // Up to kWindow bytes in place; valid until the next call.
  const std::uint8_t* at(std::uint64_t offset, std::size_t length);

  void append_to(std::string& out, std::uint64_t begin, std::uint64_t end);
  std::string text(std::uint64_t begin, std::uint64_t end);

  // Throws Error(kMalformed) for what stands at `offset`.
  [[noreturn]] void fail(std::uint64_t offset, const std::string& problem) const;

  static constexpr std::size_t kWindow = std::size_t{64} << 10;

 private:
  [[noreturn]] void fail_length(std::uint64_t offset, std::uint64_t needed, std::uint64_t end) const;

  const ByteSource& source_;
  std::string name_;
  std::uint64_t size_;
  std::uint64_t fields_left_ = ~std::uint64_t{0};
  // All of the source when it can be looked at in place, else the part that was read last.
  std::span<const std::uint8_t> window_;
  std::uint64_t window_begin_ = 0;
  std::vector<std::uint8_t> buffer_;
};

// Writing: varints, tags and messages whose length is known only when they are complete.
class WireWriter {
 public:
  std::string& bytes() { return bytes_; }

  void varint(std::uint64_t value);
  void tag(std::uint32_t number, WireType type);

  // Appends a stretch of the source. What is written is held in memory and parsed, so it is bounded.
  void copy(WireReader& reader, std::uint64_t begin, std::uint64_t end);

  // Between open and close the content of a message is appended. Lengths take four bytes, padded, so that nothing has
  // to move: enough for kMaxBytes.
  std::size_t open(std::uint32_t number);
  void close(std::size_t mark);

  static std::uint64_t varint_size(std::uint64_t value);

  static constexpr std::uint64_t kMaxBytes = std::uint64_t{128} << 20;

 private:
  std::string bytes_;
};

}  // namespace octet
