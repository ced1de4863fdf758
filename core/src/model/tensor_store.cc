#include <algorithm>
#include <limits>
#include <string>

#include "octet/error.h"
#include "octet/model.h"

namespace octet {
namespace {

// What append_to holds at a time of a source that cannot be looked at in place.
constexpr std::uint64_t kChunk = std::uint64_t{4} << 20;

// Not a vector: filling the buffer with zeros first would touch all of its memory twice.
std::shared_ptr<std::uint8_t[]> make_buffer(std::uint64_t size) {
  if (size > std::numeric_limits<std::size_t>::max() / 2) {
    throw Error(ErrorCode::kUnsupported, "",
                "a tensor of " + std::to_string(size) + " bytes does not fit in memory here",
                "use the command line on a 64-bit machine");
  }
  return std::shared_ptr<std::uint8_t[]>(new std::uint8_t[static_cast<std::size_t>(size)]);
}

bool aligned(const std::uint8_t* data, std::size_t alignment) {
  return reinterpret_cast<std::uintptr_t>(data) % alignment == 0;
}

}  // namespace

TensorBytes::TensorBytes(std::vector<std::uint8_t> owned) {
  const auto bytes = std::make_shared<const std::vector<std::uint8_t>>(std::move(owned));
  view_ = *bytes;
  holder_ = bytes;
}

TensorBytes::TensorBytes(std::shared_ptr<const void> holder, std::span<const std::uint8_t> view)
    : holder_(std::move(holder)), view_(view) {}

TensorStore::Id TensorStore::add_span(std::shared_ptr<const ByteSource> source, std::uint64_t offset,
                                      std::uint64_t length) {
  if (offset > source->size() || length > source->size() - offset) {
    throw Error(ErrorCode::kInternal, "", "a stored tensor lies outside its source");
  }
  Entry entry;
  entry.source = shared(std::move(source));
  entry.offset = offset;
  entry.size = length;
  entries_.push_back(std::move(entry));
  return static_cast<Id>(entries_.size() - 1);
}

TensorStore::Id TensorStore::add_owned(std::vector<std::uint8_t> bytes) {
  Entry entry;
  entry.size = bytes.size();
  entry.owned = std::make_shared<const std::vector<std::uint8_t>>(std::move(bytes));
  entries_.push_back(std::move(entry));
  return static_cast<Id>(entries_.size() - 1);
}

TensorStore::Id TensorStore::add_computed(std::uint64_t size, Produce produce) {
  Entry entry;
  entry.size = size;
  entry.produce = std::move(produce);
  entries_.push_back(std::move(entry));
  return static_cast<Id>(entries_.size() - 1);
}

std::uint64_t TensorStore::size(Id id) const { return entry(id).size; }

bool TensorStore::computed(Id id) const { return static_cast<bool>(entry(id).produce); }

TensorBytes TensorStore::read(Id id, std::size_t alignment) const {
  const Entry& stored = entry(id);
  if (stored.owned) return {stored.owned, *stored.owned};
  if (stored.source) {
    const auto view = stored.source->view(stored.offset, stored.size);
    if (view.size() == stored.size && aligned(view.data(), alignment)) return {stored.source, view};
  }
  auto buffer = make_buffer(stored.size);
  const std::span<std::uint8_t> out(buffer.get(), static_cast<std::size_t>(stored.size));
  fill(id, out);
  return {std::move(buffer), out};
}

void TensorStore::fill(Id id, std::span<std::uint8_t> out) const {
  const Entry& stored = entry(id);
  if (out.size() != stored.size) throw Error(ErrorCode::kInternal, "", "a buffer does not have its tensor's size");
  if (stored.produce) {
    stored.produce(out);
    return;
  }
  if (stored.owned) {
    std::copy(stored.owned->begin(), stored.owned->end(), out.begin());
    return;
  }
  const auto view = stored.source->view(stored.offset, stored.size);
  if (view.size() == out.size()) {
    std::copy(view.begin(), view.end(), out.begin());
  } else {
    stored.source->read(stored.offset, out);
  }
}

void TensorStore::append_to(Id id, ByteSink& sink) const {
  const Entry& stored = entry(id);
  if (stored.owned || stored.produce) {
    sink.append(read(id, 1).bytes());
    return;
  }
  const auto view = stored.source->view(stored.offset, stored.size);
  if (view.size() == stored.size) {
    sink.append(view);
    return;
  }
  const auto buffer = make_buffer(std::min(stored.size, kChunk));
  for (std::uint64_t done = 0; done < stored.size;) {
    const auto length = static_cast<std::size_t>(std::min(stored.size - done, kChunk));
    const std::span<std::uint8_t> out(buffer.get(), length);
    stored.source->read(stored.offset + done, out);
    sink.append(out);
    done += length;
  }
}

const TensorStore::Entry& TensorStore::entry(Id id) const {
  if (id >= entries_.size()) {
    throw Error(ErrorCode::kInternal, "", "no stored tensor has the number " + std::to_string(id));
  }
  return entries_[id];
}

std::shared_ptr<const ByteSource> TensorStore::shared(std::shared_ptr<const ByteSource> source) {
  if (source->concurrent()) return source;
  for (const auto& [plain, guard] : guarded_) {
    if (plain == source) return guard;
  }
  guarded_.emplace_back(source, make_concurrent(source));
  return guarded_.back().second;
}

}  // namespace octet
