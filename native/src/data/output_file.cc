#include <fcntl.h>
#include <fmt/format.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <climits>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <system_error>
#include <utility>
#include <vector>

#include "data/mapped_file.h"
#include "octet/error.h"

namespace octet {
namespace {

namespace fs = std::filesystem;

// Temporaries to remove when a signal ends the process. A handler may neither lock nor allocate, so this is a fixed
// table; a slot is filled completely before it is marked live.
enum SlotState : int { kFree, kFilling, kLive };
struct Slot {
  std::atomic<int> state{kFree};
  std::array<char, PATH_MAX> path{};
};
std::array<Slot, 32> open_temporaries;
static_assert(std::atomic<int>::is_always_lock_free);

Slot* remember(const std::string& path) {
  if (path.size() >= PATH_MAX) return nullptr;
  for (Slot& slot : open_temporaries) {
    int expected = kFree;
    if (!slot.state.compare_exchange_strong(expected, kFilling)) continue;
    std::memcpy(slot.path.data(), path.c_str(), path.size() + 1);
    slot.state.store(kLive);
    return &slot;
  }
  return nullptr;  // more outputs at once than slots: only an interrupt leaves this one behind
}

void forget(Slot*& slot) {
  if (slot != nullptr) slot->state.store(kFree);
  slot = nullptr;
}

extern "C" void octet_end_on_signal(int) {
  for (Slot& slot : open_temporaries) {
    if (slot.state.load() == kLive) ::unlink(slot.path.data());
  }
  ::_exit(130);
}

[[noreturn]] void fail(const fs::path& path, const std::string& what, const std::string& next = {}) {
  throw Error(ErrorCode::kWrite, path.string(), what, next);
}

[[noreturn]] void fail_with(const fs::path& path, int code) { fail(path, std::generic_category().message(code)); }

[[noreturn]] void refuse_existing(const fs::path& path) {
  fail(path, "exists already", "choose another name, or pass --force to replace it");
}

// In the folder of the target, so that the rename is one step; opened here rather than by mkstemp, which would give the
// output its private permissions.
int create_temporary(const fs::path& target, fs::path& temporary) {
  constexpr std::size_t kLongestStem = 200;  // names end at 255 bytes
  const std::string stem = target.filename().string().substr(0, kLongestStem);
  for (int attempt = 0; attempt < 100; ++attempt) {
    std::uint32_t random = 0;
    if (::getrandom(&random, sizeof random, 0) != sizeof random) random = static_cast<std::uint32_t>(attempt);
    temporary = target.parent_path() / fmt::format(".{}.{:08x}.tmp", stem, random);
    const int descriptor = ::open(temporary.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    if (descriptor >= 0) return descriptor;
    if (errno != EEXIST) fail_with(target, errno);
  }
  fail(target, "no temporary name is free beside it");
}

}  // namespace

struct OutputFile::Impl {
  fs::path path, temporary;
  bool force = false, in_place = false, committed = false;
  int descriptor = -1;
  Slot* slot = nullptr;
  std::vector<std::uint8_t> buffer;

  static constexpr std::size_t kBuffer = std::size_t{256} << 10;

  void write(std::span<const std::uint8_t> bytes) const {
    while (!bytes.empty()) {
      const ssize_t count = ::write(descriptor, bytes.data(), bytes.size());
      if (count < 0 && errno == EINTR) continue;
      if (count < 0) fail_with(path, errno);
      bytes = bytes.subspan(static_cast<std::size_t>(count));
    }
  }

  void flush() {
    write(buffer);
    buffer.clear();
  }

  // Takes the final name; without `force` in one step that cannot replace a file made meanwhile.
  void take_name() const {
    const char *from = temporary.c_str(), *to = path.c_str();
    if (force) {
      if (::rename(from, to) != 0) fail_with(path, errno);
      return;
    }
    if (::renameat2(AT_FDCWD, from, AT_FDCWD, to, RENAME_NOREPLACE) == 0) return;
    if (errno == EINVAL || errno == ENOSYS) {  // not every file system knows the flag
      if (::link(from, to) == 0) {
        ::unlink(from);
        return;
      }
      if (errno != EEXIST && ::access(to, F_OK) != 0 && ::rename(from, to) == 0) return;
    }
    if (errno == EEXIST || ::access(to, F_OK) == 0) refuse_existing(path);
    fail_with(path, errno);
  }
};

OutputFile::OutputFile(fs::path path, bool force) : impl_(std::make_unique<Impl>()) {
  std::error_code fault;
  impl_->path = fs::absolute(path, fault);
  impl_->force = force;
  if (fault || !path.has_filename()) fail(path, "is no file name");
  const fs::file_status status = fs::status(impl_->path, fault);
  if (fs::is_directory(status)) fail(path, "is a folder");
  if (fs::is_character_file(status) || fs::is_fifo(status) || fs::is_socket(status)) {
    impl_->in_place = true;
    impl_->temporary = impl_->path;
    impl_->descriptor = ::open(impl_->path.c_str(), O_WRONLY | O_CLOEXEC);
    if (impl_->descriptor < 0) fail_with(path, errno);
    return;
  }
  if (!force && fs::exists(fs::symlink_status(impl_->path, fault))) refuse_existing(path);
  if (!fs::is_directory(impl_->path.parent_path(), fault)) {
    fail(path, "cannot be written: the folder " + impl_->path.parent_path().string() + " does not exist");
  }
  impl_->descriptor = create_temporary(impl_->path, impl_->temporary);
  impl_->slot = remember(impl_->temporary.string());
}

OutputFile::~OutputFile() {
  if (impl_->descriptor >= 0) ::close(impl_->descriptor);
  if (!impl_->committed && !impl_->in_place) ::unlink(impl_->temporary.c_str());
  forget(impl_->slot);
}

void OutputFile::append(std::span<const std::uint8_t> bytes) {
  if (impl_->buffer.size() + bytes.size() > Impl::kBuffer) impl_->flush();
  if (bytes.size() >= Impl::kBuffer) {
    impl_->write(bytes);
  } else {
    impl_->buffer.insert(impl_->buffer.end(), bytes.begin(), bytes.end());
  }
}

void OutputFile::flush() { impl_->flush(); }

void OutputFile::commit() {
  impl_->flush();
  // Some file systems report a full disk only here, so the file is closed before it takes its name.
  if (::close(std::exchange(impl_->descriptor, -1)) != 0 && errno != EINTR) fail_with(impl_->path, errno);
  if (!impl_->in_place) impl_->take_name();
  impl_->committed = true;
  forget(impl_->slot);
}

const fs::path& OutputFile::temporary() const { return impl_->temporary; }

fs::path scratch_path(const std::string& stem) {
  std::error_code fault;
  const fs::path folder = fs::temp_directory_path(fault);
  if (fault) fail(stem, "there is no folder for temporary files", "set TMPDIR to one");
  std::uint64_t random = 0;
  if (::getrandom(&random, sizeof random, 0) != sizeof random) fail(folder, "the system gives no random numbers");
  return folder / fmt::format("{}.{:016x}", stem, random);
}

ScratchFile::ScratchFile(fs::path path) : path_(std::move(path)), slot_(remember(path_.string())) {}

ScratchFile::~ScratchFile() {
  ::unlink(path_.c_str());
  auto* slot = static_cast<Slot*>(slot_);
  forget(slot);
}

void remove_outputs_on_signal() {
  for (const int number : {SIGINT, SIGTERM}) {
    struct sigaction action {};
    // A caller that ignores the signal (nohup, a background job) means it.
    if (::sigaction(number, nullptr, &action) == 0 && action.sa_handler == SIG_IGN) continue;
    action = {};
    action.sa_handler = octet_end_on_signal;
    ::sigaction(number, &action, nullptr);
  }
}

}  // namespace octet
