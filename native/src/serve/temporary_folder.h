// A folder of this process alone, gone with it.
#pragma once

#include <filesystem>

namespace octet {

class TemporaryFolder {
 public:
  // In the system's folder for temporary files; nobody else may look into it. Throws Error(kWrite).
  TemporaryFolder();
  ~TemporaryFolder();  // with all that is in it
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;

  const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
  int lock_ = -1;  // held as long as the folder is in use
};

}  // namespace octet
