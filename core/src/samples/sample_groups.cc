// Which files make up one sample.
#include <algorithm>
#include <charconv>
#include <map>
#include <utility>

#include "octet/error.h"
#include "octet/sample_files.h"

namespace octet {
namespace {

constexpr const char* kKnownFiles =
    ".npz, .npy, .pb, .png, .jpg, .bmp, .raw and .bin files can be read, folders of them, and test_data_set_* folders";

// A file of a folder: its name there, its place in the list.
using Entry = std::pair<std::string, std::size_t>;

// The N of "input_N.pb".
std::optional<unsigned> input_index(std::string_view name) {
  constexpr std::string_view kPrefix = "input_", kSuffix = ".pb";
  if (name.size() <= kPrefix.size() + kSuffix.size() || !name.starts_with(kPrefix) || !name.ends_with(kSuffix))
    return {};
  unsigned index = 0;
  const char* end = name.data() + name.size() - kSuffix.size();
  const auto [stop, fault] = std::from_chars(name.data() + kPrefix.size(), end, index);
  if (fault != std::errc{} || stop != end) return {};
  return index;
}

// The inputs of a test-data set in input order: input_10 comes after input_9. Empty when the folder holds none.
std::vector<std::size_t> test_data_inputs(const std::vector<Entry>& entries) {
  std::vector<std::pair<unsigned, Entry>> found;
  for (const Entry& entry : entries) {
    if (const auto index = input_index(entry.first)) found.emplace_back(*index, entry);
  }
  std::sort(found.begin(), found.end());
  std::vector<std::size_t> result;
  for (const auto& [index, entry] : found) result.push_back(entry.second);
  return result;
}

}  // namespace

SampleNaming strip_common_folder(std::vector<std::string>& files) {
  SampleNaming naming;
  if (files.empty()) return {"the selection", "", false};
  std::string& common = naming.prefix;
  common = files.front().substr(0, files.front().rfind('/') + 1);
  for (const std::string& file : files) {
    while (!file.starts_with(common)) common.erase(common.size() < 2 ? 0 : common.rfind('/', common.size() - 2) + 1);
  }
  naming.one_file = files.size() == 1;
  naming.all = naming.one_file     ? files.front()
               : common.size() > 1 ? common.substr(0, common.size() - 1)
               : common.empty()    ? "the selection"
                                   : common;
  for (std::string& file : files) file.erase(0, common.size());
  return naming;
}

SampleFiles::Kind SampleFiles::kind_of(std::string_view name) {
  // Names with a leading dot are other programs' leavings, "._x.npz" among them.
  if (name.empty() || name.front() == '.') return Kind::kNone;
  for (const std::string_view extension : {".npz", ".npy", ".pb"}) {
    if (name.ends_with(extension)) return Kind::kArrays;
  }
  if (is_image_file(name)) return Kind::kPictures;
  return name.ends_with(".raw") || name.ends_with(".bin") ? Kind::kRaw : Kind::kNone;
}

void SampleFiles::group() {
  if (naming_.one_file) {
    kind_ = kind_of(files_.front());
    if (kind_ == Kind::kNone) throw Error(ErrorCode::kData, naming_.all, std::string("is no sample: ") + kKnownFiles);
    samples_.push_back({naming_.all, {0}});
    return;
  }
  std::vector<Entry> here;
  std::map<std::string, std::vector<Entry>> folders;
  for (std::size_t i = 0; i < files_.size(); ++i) {
    const std::string& name = files_[i];
    const std::size_t slash = name.find('/');
    if (slash == std::string::npos) {
      here.emplace_back(name, i);
    } else if (name.find('/', slash + 1) == std::string::npos) {
      folders[name.substr(0, slash)].emplace_back(name.substr(slash + 1), i);
    }
  }
  if (auto inputs = test_data_inputs(here); !inputs.empty()) {
    kind_ = Kind::kArrays;
    samples_.push_back({naming_.all, std::move(inputs), true});
    return;
  }
  for (const auto& [name, entries] : folders) {
    if (!name.starts_with("test_data_set_")) continue;
    auto inputs = test_data_inputs(entries);
    if (inputs.empty()) continue;
    kind_ = Kind::kArrays;
    samples_.push_back({naming_.prefix + name, std::move(inputs), true});
  }
  for (const auto& [name, file] : here) kind_ = std::min(kind_, kind_of(name));
  for (const auto& [name, file] : here) {
    const bool output = name.starts_with("output_") && name.ends_with(".pb");
    if (kind_ != Kind::kNone && kind_of(name) == kind_ && !output) samples_.push_back({full_name(file), {file}});
  }
  if (samples_.empty()) throw Error(ErrorCode::kData, naming_.all, std::string("holds no samples: ") + kKnownFiles);
  std::stable_sort(samples_.begin(), samples_.end(), [](const Parts& a, const Parts& b) { return a.name < b.name; });
}

}  // namespace octet
