#include "data/samples.h"

#include <algorithm>
#include <utility>

#include "data/mapped_file.h"
#include "data/npz.h"
#include "octet/error.h"

namespace octet {
namespace {

namespace fs = std::filesystem;

// Of the files and folders in `folder`, calls `each` with their names and whether they are folders.
template <class Each>
void each_entry(const fs::path& folder, const Each& each) {
  std::error_code fault;
  for (fs::directory_iterator it(folder, fault), end; !fault && it != end; it.increment(fault)) {
    std::error_code ignored;
    each(it->path().filename().string(), fs::is_directory(it->path(), ignored));
  }
  if (fault) throw Error(ErrorCode::kRead, folder.string(), fault.message());
}

// The files that may belong to a sample: those of the folder and of the test-data sets in it.
std::vector<std::string> files_in(const fs::path& folder) {
  std::vector<std::string> files, sets;
  each_entry(folder, [&](const std::string& name, bool is_folder) {
    if (!is_folder) files.push_back(name);
    if (is_folder && name.starts_with("test_data_set_")) sets.push_back(name);
  });
  for (const std::string& set : sets) {
    each_entry(folder / set, [&](const std::string& name, bool is_folder) {
      if (!is_folder) files.push_back(set + "/" + name);
    });
  }
  return files;
}

class FileSamples final : public SampleReader {
 public:
  FileSamples(const fs::path& path, const std::vector<ValueInfo>& inputs, const SampleOptions& options) {
    std::error_code fault;
    if (!fs::exists(path, fault)) throw Error(ErrorCode::kRead, path.string(), "no such file or folder");
    SampleNaming naming;
    if (fs::is_directory(path, fault)) {
      paths_ = files_in(path);
      naming = {path.string(), (path / "").string(), false};
    } else {
      paths_ = {path.string()};
      naming = strip_common_folder(paths_);
    }
    samples_.emplace(paths_, naming, inputs, options);
    for (std::string& file : paths_) file.insert(0, naming.prefix);
  }

  std::optional<Sample> next() override {
    if (at_ == samples_->size()) return std::nullopt;
    const std::size_t i = at_++;
    if (samples_->is_archive(i)) return samples_->conform(i, read_npz(paths_[samples_->files(i).front()]));
    return samples_->read(i, [this](std::size_t file) {
      const auto source = open_file(paths_[file]);
      std::vector<std::uint8_t> bytes(source->size());
      source->read(0, bytes);
      return bytes;
    });
  }
  void rewind() override { at_ = 0; }
  std::size_t size() const override { return samples_->size(); }
  std::string name() const override { return at_ == 0 ? "" : samples_->base_name(at_ - 1); }
  std::size_t place() const override { return at_ == 0 ? 0 : samples_->place(at_ - 1); }
  std::string description() const override { return samples_->description(); }

 private:
  std::vector<std::string> paths_;
  std::optional<SampleFiles> samples_;
  std::size_t at_ = 0;
};

}  // namespace

nlohmann::json to_json(const SampleOptions& options) {
  nlohmann::json document = {{"limit", options.limit},
                             {"image", nlohmann::json::parse(image_options_to_json(options.image))}};
  if (options.shuffle) document["shuffle"] = *options.shuffle;
  return document;
}

SampleOptions sample_options_from_json(const nlohmann::json& document) {
  SampleOptions options;
  document.at("limit").get_to(options.limit);
  if (document.contains("shuffle")) options.shuffle = document.at("shuffle").get<std::uint64_t>();
  options.image = image_options_from_json(document.at("image").dump());
  return options;
}

std::unique_ptr<SampleReader> open_samples(const fs::path& path, const std::vector<ValueInfo>& inputs,
                                           const SampleOptions& options) {
  return std::make_unique<FileSamples>(path, inputs, options);
}

}  // namespace octet
