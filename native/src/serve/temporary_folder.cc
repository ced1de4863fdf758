#include "serve/temporary_folder.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <string>
#include <system_error>

#include "octet/error.h"

namespace octet {
namespace {

namespace fs = std::filesystem;

// A folder is made under the second name and gets the first when it is locked, so that one with the first name that
// nobody has locked belongs to nobody.
constexpr const char *kName = "octet-serve-", *kNewName = "octet-new-";

// Models are large: what a process left behind that was killed is removed by the next.
void remove_abandoned(const fs::path& parent) {
  std::error_code ignored;
  for (const fs::directory_entry& entry : fs::directory_iterator(parent, ignored)) {
    if (!entry.path().filename().string().starts_with(kName)) continue;
    const int folder = ::open(entry.path().c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (folder < 0) continue;
    struct stat facts {};
    if (::fstat(folder, &facts) == 0 && facts.st_uid == ::geteuid() && ::flock(folder, LOCK_EX | LOCK_NB) == 0)
      fs::remove_all(entry.path(), ignored);
    ::close(folder);
  }
}

[[noreturn]] void fail(const fs::path& path, int code) {
  throw Error(ErrorCode::kWrite, path.string(), "no folder can be made here: " + std::generic_category().message(code),
              "set TMPDIR to a folder with room for the models");
}

}  // namespace

TemporaryFolder::TemporaryFolder() {
  std::error_code fault;
  const fs::path parent = fs::temp_directory_path(fault);
  if (fault) fail("TMPDIR", fault.value());
  remove_abandoned(parent);
  std::string made = (parent / (std::string(kNewName) + "XXXXXX")).string();
  if (::mkdtemp(made.data()) == nullptr) fail(parent, errno);
  path_ = parent / (kName + made.substr(made.size() - 6));
  lock_ = ::open(made.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (lock_ < 0 || ::flock(lock_, LOCK_EX | LOCK_NB) != 0 || ::rename(made.c_str(), path_.c_str()) != 0) {
    const int code = errno;
    ::rmdir(made.c_str());
    if (lock_ >= 0) ::close(lock_);
    fail(parent, code);
  }
}

TemporaryFolder::~TemporaryFolder() {
  std::error_code ignored;
  fs::remove_all(path_, ignored);
  ::close(lock_);
}

}  // namespace octet
