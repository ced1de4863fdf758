#include "data/npz.h"

#include <zip.h>

#include <algorithm>
#include <memory>

#include "octet/error.h"
#include "octet/sample_files.h"

namespace octet {
namespace {

// One array of one sample. Beyond this a length is a mistake or an attack, not data to calibrate on.
constexpr std::uint64_t kMaxArray = std::uint64_t{2} << 30;
constexpr std::size_t kChunk = std::size_t{1} << 20;

struct CloseArchive {
  void operator()(zip_t* archive) const { zip_discard(archive); }
};
struct CloseEntry {
  void operator()(zip_file_t* entry) const { zip_fclose(entry); }
};

// Grows with what really arrives, so that a declared length alone reserves nothing.
std::vector<std::uint8_t> read_entry(zip_t* archive, zip_uint64_t index, const std::string& name) {
  const std::unique_ptr<zip_file_t, CloseEntry> entry(zip_fopen_index(archive, index, 0));
  if (!entry) throw Error(ErrorCode::kData, name, std::string("cannot be read: ") + zip_strerror(archive));
  std::vector<std::uint8_t> bytes;
  std::size_t filled = 0;
  while (true) {
    if (bytes.size() - filled < kChunk) bytes.resize(std::max(filled + kChunk, filled + filled / 2));
    const zip_int64_t count = zip_fread(entry.get(), bytes.data() + filled, bytes.size() - filled);
    if (count < 0) {
      throw Error(ErrorCode::kData, name, std::string("cannot be read: ") + zip_file_strerror(entry.get()));
    }
    if (count == 0) break;
    filled += static_cast<std::size_t>(count);
    if (filled > kMaxArray) throw Error(ErrorCode::kData, name, "is longer than 2 GB");
  }
  bytes.resize(filled);
  return bytes;
}

}  // namespace

Sample read_npz(const std::filesystem::path& path) {
  int code = 0;
  const std::unique_ptr<zip_t, CloseArchive> archive(zip_open(path.c_str(), ZIP_RDONLY, &code));
  if (!archive) {
    zip_error_t reason;
    zip_error_init_with_code(&reason, code);
    const std::string text = zip_error_strerror(&reason);
    zip_error_fini(&reason);
    const bool unreadable = code == ZIP_ER_NOENT || code == ZIP_ER_OPEN || code == ZIP_ER_READ;
    throw Error(unreadable ? ErrorCode::kRead : ErrorCode::kData, path.string(), "is no readable .npz: " + text);
  }
  Sample sample;
  const zip_int64_t count = zip_get_num_entries(archive.get(), 0);
  for (zip_int64_t i = 0; i < count; ++i) {
    const auto index = static_cast<zip_uint64_t>(i);
    const char* raw = zip_get_name(archive.get(), index, 0);
    const auto key = npz_key(raw == nullptr ? "" : raw);
    if (!key) continue;
    const std::string name = npz_array_name(path.string(), *key);
    sample[*key] = parse_npy(read_entry(archive.get(), index, name), name);
  }
  return sample;
}

}  // namespace octet
