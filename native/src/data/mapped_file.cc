#include "data/mapped_file.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstring>
#include <system_error>

#include "octet/error.h"

namespace octet {
namespace {

namespace fs = std::filesystem;

std::string system_message(int code) { return std::generic_category().message(code); }

// Mapped when the file system can; plain positional reads otherwise.
class MappedFile final : public ByteSource {
 public:
  explicit MappedFile(const fs::path& path) : name_(path.string()) {
    descriptor_ = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
    if (descriptor_ < 0) throw Error(ErrorCode::kRead, name_, system_message(errno));
    struct stat facts {};
    if (::fstat(descriptor_, &facts) != 0 || !S_ISREG(facts.st_mode)) {
      ::close(descriptor_);
      throw Error(ErrorCode::kRead, name_, S_ISDIR(facts.st_mode) ? "is a folder" : "is not a regular file");
    }
    size_ = static_cast<std::uint64_t>(facts.st_size);
    if (size_ == 0) return;
    void* mapping = ::mmap(nullptr, size_, PROT_READ, MAP_PRIVATE, descriptor_, 0);
    if (mapping == MAP_FAILED) return;
    data_ = static_cast<std::uint8_t*>(mapping);
    // Files that fit the page cache with ease are fetched at once; longer ones stream with a wide read-ahead.
    ::madvise(data_, size_, size_ <= kFetchAtOnce ? MADV_WILLNEED : MADV_SEQUENTIAL);
  }

  MappedFile(const MappedFile&) = delete;
  MappedFile& operator=(const MappedFile&) = delete;

  ~MappedFile() override {
    if (data_ != nullptr) ::munmap(data_, size_);
    ::close(descriptor_);
  }

  std::uint64_t size() const override { return size_; }
  bool concurrent() const override { return true; }

  void read(std::uint64_t offset, std::span<std::uint8_t> out) const override {
    if (offset > size_ || out.size() > size_ - offset) throw Error(ErrorCode::kRead, name_, "ends too early");
    if (out.empty()) return;
    if (data_ != nullptr) {
      note_use(out.size());
      std::memcpy(out.data(), data_ + offset, out.size());
      return;
    }
    while (!out.empty()) {
      const ssize_t count = ::pread(descriptor_, out.data(), out.size(), static_cast<off_t>(offset));
      if (count < 0 && errno == EINTR) continue;
      if (count < 0) throw Error(ErrorCode::kRead, name_, system_message(errno));
      if (count == 0) throw Error(ErrorCode::kRead, name_, "became shorter while it was read");
      offset += static_cast<std::uint64_t>(count);
      out = out.subspan(static_cast<std::size_t>(count));
    }
  }

  std::span<const std::uint8_t> view(std::uint64_t offset, std::uint64_t length) const override {
    if (data_ == nullptr || offset > size_ || length > size_ - offset) return {};
    note_use(length);
    return {data_ + offset, length};
  }

 private:
  static constexpr std::uint64_t kFetchAtOnce = std::uint64_t{256} << 20;
  static constexpr std::uint64_t kKeepResident = std::uint64_t{48} << 20;

  // Dropping pages of a mapping that is never written loses nothing: whoever still reads them gets them again from
  // the page cache. That bounds what this process holds, whatever the size of the file.
  void note_use(std::uint64_t length) const {
    if (used_.fetch_add(length, std::memory_order_relaxed) + length <= kKeepResident) return;
    used_.store(length, std::memory_order_relaxed);
    ::madvise(data_, size_, MADV_DONTNEED);
  }

  std::string name_;
  int descriptor_ = -1;
  std::uint8_t* data_ = nullptr;
  std::uint64_t size_ = 0;
  mutable std::atomic<std::uint64_t> used_{0};
};

bool inside(const fs::path& path, const fs::path& folder) {
  const auto [end, ignored] = std::mismatch(folder.begin(), folder.end(), path.begin(), path.end());
  return end == folder.end();
}

}  // namespace

std::shared_ptr<ByteSource> open_file(const fs::path& path) { return std::make_shared<MappedFile>(path); }

OpenExternal external_beside(const fs::path& model) {
  return [model](const std::string& location) -> std::shared_ptr<ByteSource> {
    const fs::path relative(location);
    const bool climbs = std::find(relative.begin(), relative.end(), fs::path("..")) != relative.end();
    const bool cut = location.find('\0') != std::string::npos;
    if (location.empty() || relative.is_absolute() || climbs || cut) {
      throw Error(ErrorCode::kRead, location, "names external data outside the model's folder");
    }
    std::error_code fault;
    const fs::path folder = fs::weakly_canonical(fs::absolute(model).parent_path(), fault);
    const fs::path real_folder = fs::weakly_canonical(fs::absolute(model), fault).parent_path();
    const fs::path found = fs::weakly_canonical(folder / relative, fault);
    if (fault) throw Error(ErrorCode::kRead, (folder / relative).string(), fault.message());
    if (!inside(found, folder) && !inside(found, real_folder)) {
      throw Error(ErrorCode::kRead, (folder / relative).string(), "leads outside the model's folder");
    }
    return open_file(found);
  };
}

std::string read_text_file(const std::filesystem::path& path) {
  const auto source = open_file(path);
  std::string text(source->size(), '\0');
  source->read(0, {reinterpret_cast<std::uint8_t*>(text.data()), text.size()});
  return text;
}

}  // namespace octet
