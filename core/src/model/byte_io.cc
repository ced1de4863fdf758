#include "octet/byte_io.h"

#include <cstring>
#include <mutex>

#include "octet/error.h"

namespace octet {
namespace {

bool inside(std::uint64_t size, std::uint64_t offset, std::uint64_t length) {
  return offset <= size && length <= size - offset;
}

// One reader at a time.
class GuardedSource final : public ByteSource {
 public:
  explicit GuardedSource(std::shared_ptr<const ByteSource> source) : source_(std::move(source)) {}

  std::uint64_t size() const override { return source_->size(); }

  void read(std::uint64_t offset, std::span<std::uint8_t> out) const override {
    const std::lock_guard lock(mutex_);
    source_->read(offset, out);
  }

  std::span<const std::uint8_t> view(std::uint64_t offset, std::uint64_t length) const override {
    const std::lock_guard lock(mutex_);
    return source_->view(offset, length);
  }

  bool concurrent() const override { return true; }

 private:
  std::shared_ptr<const ByteSource> source_;
  mutable std::mutex mutex_;
};

}  // namespace

void MemorySource::read(std::uint64_t offset, std::span<std::uint8_t> out) const {
  if (!inside(bytes_.size(), offset, out.size())) throw Error(ErrorCode::kRead, "", "read past the end of a buffer");
  if (!out.empty()) std::memcpy(out.data(), bytes_.data() + offset, out.size());
}

std::span<const std::uint8_t> MemorySource::view(std::uint64_t offset, std::uint64_t length) const {
  if (!inside(bytes_.size(), offset, length)) return {};
  return std::span(bytes_).subspan(static_cast<std::size_t>(offset), static_cast<std::size_t>(length));
}

std::shared_ptr<const ByteSource> make_concurrent(std::shared_ptr<const ByteSource> source) {
  if (source->concurrent()) return source;
  return std::make_shared<GuardedSource>(std::move(source));
}

}  // namespace octet
