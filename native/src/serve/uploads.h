// Files that a client sent, in a folder of the server's own, of a bounded size in all.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

namespace octet {

class Uploads {
 public:
  Uploads(std::filesystem::path folder, std::uint64_t max_bytes);

  // One file on its way; without commit() nothing of it stays. The room for it is taken at once.
  class Incoming {
   public:
    ~Incoming();
    Incoming(const Incoming&) = delete;
    Incoming& operator=(const Incoming&) = delete;

    bool write(std::string_view bytes);  // false: the disk is full
    // Takes the name, also from a file that has it. False when not all of its bytes came, or the disk is full.
    bool commit();

   private:
    friend class Uploads;
    Incoming(Uploads& uploads, std::string name, std::uint64_t bytes);

    Uploads& uploads_;
    std::string name_;
    std::filesystem::path path_;
    std::uint64_t bytes_, written_ = 0;
    int file_ = -1;
    bool committed_ = false;
  };

  // Of exactly `bytes`. Throws Error(kWrite) where it does not fit beside the others. `name` as is_upload_name wants
  // it.
  std::unique_ptr<Incoming> begin(std::string name, std::uint64_t bytes);
  bool remove(const std::string& name);  // false: there is none
  bool has(const std::string& name) const;

  const std::filesystem::path& folder() const { return files_; }
  std::uint64_t max_bytes() const { return max_bytes_; }

  // A folder that holds these files and no others, as long as somebody holds its path. Throws Error(kRead) naming the
  // first that is not there.
  std::shared_ptr<const std::filesystem::path> gather(const std::vector<std::string>& names);

 private:
  static constexpr std::size_t kMostFiles = 10'000;

  const std::filesystem::path files_, incoming_;
  const std::uint64_t max_bytes_;
  mutable std::mutex mutex_;
  std::map<std::string, std::uint64_t> sizes_;
  std::uint64_t taken_ = 0;  // with what is on its way
  std::uint64_t serial_ = 0;
};

}  // namespace octet
