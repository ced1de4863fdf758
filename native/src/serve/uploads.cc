#include "serve/uploads.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <system_error>
#include <utility>

#include "octet/error.h"

namespace octet {

namespace fs = std::filesystem;

Uploads::Uploads(fs::path folder, std::uint64_t max_bytes)
    : files_(folder / "files"), incoming_(folder / "incoming"), max_bytes_(max_bytes) {
  for (const fs::path* path : {&files_, &incoming_}) {
    std::error_code fault;
    if (!fs::create_directory(*path, fault)) throw Error(ErrorCode::kWrite, path->string(), fault.message());
  }
}

std::unique_ptr<Uploads::Incoming> Uploads::begin(std::string name, std::uint64_t bytes) {
  const std::lock_guard lock(mutex_);
  if (bytes > max_bytes_ - taken_) {
    throw Error(ErrorCode::kWrite, name,
                fmt::format("does not fit: {} bytes beside {} of at most {}", bytes, taken_, max_bytes_),
                "remove files that are not needed, or start octet serve with a larger --max-mb");
  }
  if (sizes_.size() >= kMostFiles)
    throw Error(ErrorCode::kWrite, name, fmt::format("there are {} files already", sizes_.size()),
                "remove files that are not needed");
  auto incoming = std::unique_ptr<Incoming>(new Incoming(*this, std::move(name), bytes));
  taken_ += bytes;
  return incoming;
}

bool Uploads::remove(const std::string& name) {
  const std::lock_guard lock(mutex_);
  const auto found = sizes_.find(name);
  if (found == sizes_.end()) return false;
  ::unlink((files_ / name).c_str());
  taken_ -= found->second;
  sizes_.erase(found);
  return true;
}

bool Uploads::has(const std::string& name) const {
  const std::lock_guard lock(mutex_);
  return sizes_.contains(name);
}

std::shared_ptr<const fs::path> Uploads::gather(const std::vector<std::string>& names) {
  const std::lock_guard lock(mutex_);
  std::error_code fault;
  const std::shared_ptr<const fs::path> folder(new fs::path(incoming_ / std::to_string(serial_++)),
                                               [](const fs::path* gone) {
                                                 std::error_code ignored;
                                                 fs::remove_all(*gone, ignored);
                                                 delete gone;
                                               });
  if (!fs::create_directory(*folder, fault)) throw Error(ErrorCode::kWrite, "samples", fault.message());
  for (const std::string& name : names) {
    if (!sizes_.contains(name))
      throw Error(ErrorCode::kRead, name, "there is no such file here", "send it first: PUT /api/files/" + name);
    if (::link((files_ / name).c_str(), (*folder / name).c_str()) != 0 && errno != EEXIST)
      throw Error(ErrorCode::kWrite, name, std::generic_category().message(errno));
  }
  return folder;
}

Uploads::Incoming::Incoming(Uploads& uploads, std::string name, std::uint64_t bytes)
    : uploads_(uploads), name_(std::move(name)), bytes_(bytes) {
  path_ = uploads_.incoming_ / std::to_string(uploads_.serial_++);
  file_ = ::open(path_.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
  if (file_ < 0) throw Error(ErrorCode::kWrite, name_, std::generic_category().message(errno));
}

Uploads::Incoming::~Incoming() {
  if (file_ >= 0) ::close(file_);
  if (committed_) return;
  ::unlink(path_.c_str());
  const std::lock_guard lock(uploads_.mutex_);
  uploads_.taken_ -= bytes_;
}

bool Uploads::Incoming::write(std::string_view bytes) {
  if (bytes.size() > bytes_ - written_) return false;
  while (!bytes.empty()) {
    const ssize_t count = ::write(file_, bytes.data(), bytes.size());
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return false;
    bytes.remove_prefix(static_cast<std::size_t>(count));
    written_ += static_cast<std::uint64_t>(count);
  }
  return true;
}

bool Uploads::Incoming::commit() {
  if (written_ != bytes_ || ::close(std::exchange(file_, -1)) != 0) return false;
  const std::lock_guard lock(uploads_.mutex_);
  if (::rename(path_.c_str(), (uploads_.files_ / name_).c_str()) != 0) return false;
  committed_ = true;
  std::uint64_t& size = uploads_.sizes_[name_];
  uploads_.taken_ -= std::exchange(size, bytes_);  // of the file that had the name
  return true;
}

}  // namespace octet
