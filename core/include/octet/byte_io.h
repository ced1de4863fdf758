// Positional reading and appending: the only way bytes enter or leave the core.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace octet {

// Random-access bytes that do not change while they are open. Safe to read from several threads when
// concurrent() says so.
class ByteSource {
 public:
  virtual ~ByteSource() = default;

  virtual std::uint64_t size() const = 0;

  // Fills `out` from `offset`. The range is inside size(): callers check first. Throws Error(kRead).
  virtual void read(std::uint64_t offset, std::span<std::uint8_t> out) const = 0;

  // The bytes in place when the source is memory or a mapped file, else an empty span.
  virtual std::span<const std::uint8_t> view(std::uint64_t offset, std::uint64_t length) const {
    (void)offset, (void)length;
    return {};
  }

  virtual bool concurrent() const { return false; }
};

// Receives bytes in order. Throws Error(kWrite).
class ByteSink {
 public:
  virtual ~ByteSink() = default;
  virtual void append(std::span<const std::uint8_t> bytes) = 0;
};

class MemorySource final : public ByteSource {
 public:
  explicit MemorySource(std::vector<std::uint8_t> bytes) : bytes_(std::move(bytes)) {}
  std::uint64_t size() const override { return bytes_.size(); }
  void read(std::uint64_t offset, std::span<std::uint8_t> out) const override;
  std::span<const std::uint8_t> view(std::uint64_t offset, std::uint64_t length) const override;
  bool concurrent() const override { return true; }

 private:
  std::vector<std::uint8_t> bytes_;
};

class MemorySink final : public ByteSink {
 public:
  void append(std::span<const std::uint8_t> bytes) override { bytes_.insert(bytes_.end(), bytes.begin(), bytes.end()); }
  std::vector<std::uint8_t>& bytes() { return bytes_; }

 private:
  std::vector<std::uint8_t> bytes_;
};

// The source itself when it is concurrent(), else one that takes turns around it. Make it once per source: two of
// them do not know of each other.
std::shared_ptr<const ByteSource> make_concurrent(std::shared_ptr<const ByteSource> source);

// Opens an external data file of a model. `location` is relative, already checked to stay inside the
// model's folder. Throws Error(kRead) naming the file.
using OpenExternal = std::function<std::shared_ptr<ByteSource>(const std::string& location)>;

}  // namespace octet
