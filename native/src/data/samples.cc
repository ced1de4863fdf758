#include "data/samples.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <string_view>
#include <utility>

#include "data/image_file.h"
#include "data/mapped_file.h"
#include "data/npy.h"
#include "octet/dtype.h"
#include "octet/error.h"

namespace octet {
namespace {

namespace fs = std::filesystem;

// One sample: the file it stands in, or the inputs of one ONNX test-data set in input order.
struct SampleFiles {
  fs::path name;  // for messages
  std::vector<fs::path> parts;
  bool by_position = false;
};

constexpr const char* kKnownFiles =
    ".npz, .npy, .pb, .png, .jpg, .bmp, .raw and .bin files can be read, folders of them, and test_data_set_* folders";

// In the order in which a folder that holds several is understood: pictures beside arrays illustrate them.
enum class Kind { kArrays, kPictures, kRaw, kNone };

Kind kind_of(const fs::path& path) {
  // Names with a leading dot are other programs' leavings, "._x.npz" among them.
  if (path.filename().string().front() == '.') return Kind::kNone;
  const std::string extension = path.extension().string();
  if (extension == ".npz" || extension == ".npy" || extension == ".pb") return Kind::kArrays;
  if (is_image_file(path)) return Kind::kPictures;
  return extension == ".raw" || extension == ".bin" ? Kind::kRaw : Kind::kNone;
}

std::vector<fs::path> sorted_entries(const fs::path& folder) {
  std::vector<fs::path> entries;
  std::error_code fault;
  for (fs::directory_iterator it(folder, fault), end; !fault && it != end; it.increment(fault)) {
    entries.push_back(it->path());
  }
  if (fault) throw Error(ErrorCode::kRead, folder.string(), fault.message());
  std::sort(entries.begin(), entries.end());
  return entries;
}

// The N of "input_N.pb".
std::optional<unsigned> input_index(const fs::path& path) {
  const std::string name = path.filename().string();
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
std::vector<fs::path> test_data_inputs(const std::vector<fs::path>& entries) {
  std::vector<std::pair<unsigned, fs::path>> found;
  for (const fs::path& entry : entries) {
    if (const auto index = input_index(entry)) found.emplace_back(*index, entry);
  }
  std::sort(found.begin(), found.end());
  std::vector<fs::path> result;
  for (auto& [index, path] : found) result.push_back(std::move(path));
  return result;
}

std::vector<SampleFiles> list_samples(const fs::path& path) {
  std::error_code fault;
  if (!fs::exists(path, fault)) throw Error(ErrorCode::kRead, path.string(), "no such file or folder");
  if (!fs::is_directory(path, fault)) {
    if (kind_of(path) == Kind::kNone)
      throw Error(ErrorCode::kData, path.string(), std::string("is no sample: ") + kKnownFiles);
    return {{path, {path}}};
  }
  const std::vector<fs::path> entries = sorted_entries(path);
  if (auto inputs = test_data_inputs(entries); !inputs.empty()) return {{path, std::move(inputs), true}};
  std::vector<SampleFiles> samples;
  Kind kind = Kind::kNone;
  for (const fs::path& entry : entries) {
    if (!fs::is_directory(entry, fault)) kind = std::min(kind, kind_of(entry));
  }
  for (const fs::path& entry : entries) {
    const std::string name = entry.filename().string();
    if (fs::is_directory(entry, fault)) {
      if (!name.starts_with("test_data_set_")) continue;
      auto inputs = test_data_inputs(sorted_entries(entry));
      if (!inputs.empty()) samples.push_back({entry, std::move(inputs), true});
    } else if (kind != Kind::kNone && kind_of(entry) == kind &&
               !(name.starts_with("output_") && entry.extension() == ".pb")) {
      samples.push_back({entry, {entry}});
    }
  }
  if (samples.empty()) {
    throw Error(ErrorCode::kData, path.string(), std::string("holds no samples: ") + kKnownFiles);
  }
  return samples;
}

std::pair<std::string, Tensor> read_tensor_file(const fs::path& path) {
  const auto file = open_file(path);
  std::vector<std::uint8_t> bytes(file->size());
  file->read(0, bytes);
  std::string name;
  if (path.extension() == ".npy") return {name, parse_npy(bytes, path.string())};
  try {
    Tensor tensor = parse_tensor_proto(bytes, &name);
    return {name, std::move(tensor)};
  } catch (const Error& error) {
    throw Error(error.code(), path.string(), error.problem());
  }
}

// float32 without a header: the model says the shape.
Sample read_raw(const fs::path& path, const std::vector<ValueInfo>& inputs) {
  if (inputs.size() != 1) {
    throw Error(ErrorCode::kData, path.string(),
                fmt::format("raw numbers fill one input, the model has {}", inputs.size()),
                "put all inputs of a sample into one .npz, by name");
  }
  const ValueInfo& input = inputs.front();
  const std::string wants = fmt::format("input '{}' is {}", input.name, describe(input.type, input.dims));
  const auto file = open_file(path);
  Tensor tensor{kFloat, input.dims, std::vector<std::uint8_t>(file->size())};
  file->read(0, tensor.bytes);
  const auto open = std::count_if(tensor.dims.begin(), tensor.dims.end(), [](std::int64_t dim) { return dim < 0; });
  if (open > 1 || tensor.dims.empty()) {
    throw Error(ErrorCode::kData, path.string(), fmt::format("{}, and raw numbers tell at most one open size", wants),
                "store the sample as .npy");
  }
  std::uint64_t known = sizeof(float);
  for (const std::int64_t dim : tensor.dims) known *= dim < 0 ? 1 : static_cast<std::uint64_t>(dim);
  const std::uint64_t found = tensor.bytes.size();
  if (known == 0 || found == 0 || (open == 0 ? found != known : found % known != 0)) {
    throw Error(ErrorCode::kData, path.string(),
                fmt::format("holds {} bytes, {}: {}{} bytes of float32", found, wants,
                            open == 0 ? "" : "a multiple of ", known));
  }
  for (std::int64_t& dim : tensor.dims) {
    if (dim < 0) dim = static_cast<std::int64_t>(found / known);
  }
  return {{input.name, std::move(tensor)}};
}

Sample read_sample(const SampleFiles& files, const std::vector<ValueInfo>& inputs) {
  if (files.parts.front().extension() == ".npz") return read_npz(files.parts.front());
  if (kind_of(files.parts.front()) == Kind::kRaw) return read_raw(files.parts.front(), inputs);
  Sample sample;
  if (files.by_position && files.parts.size() > inputs.size()) {
    throw Error(ErrorCode::kData, files.name.string(),
                fmt::format("holds {} inputs, the model has {}", files.parts.size(), inputs.size()));
  }
  for (std::size_t i = 0; i < files.parts.size(); ++i) {
    auto [name, tensor] = read_tensor_file(files.parts[i]);
    // Test data names its tensors as the model does, or not at all; then the order of the inputs counts.
    const bool known =
        std::any_of(inputs.begin(), inputs.end(), [&](const ValueInfo& input) { return input.name == name; });
    sample[!known && files.by_position ? inputs[i].name : name] = std::move(tensor);
  }
  return sample;
}

class FileSamples final : public SampleReader {
 public:
  FileSamples(fs::path path, const std::vector<ValueInfo>& inputs, const SampleOptions& options)
      : path_(std::move(path)),
        inputs_(inputs),
        options_(options),
        samples_(list_samples(path_)),
        order_(sample_order(samples_.size(), options_.limit, options_.shuffle)) {
    std::size_t i = 0;
    std::erase_if(order_, [&](std::size_t) { return i++ % options_.shards != options_.shard - 1; });
    if (kind_of(samples_.front().name) == Kind::kPictures && !samples_.front().by_position)
      picture_ = image_input(inputs_, options_.image, path_.string());
  }

  std::optional<Sample> next() override {
    if (at_ == order_.size()) return std::nullopt;
    const SampleFiles& files = samples_[order_[at_++]];
    Sample sample = picture_ ? Sample{{picture_->name, read_image(files.name, *picture_, options_.image)}}
                             : read_sample(files, inputs_);
    return conform_sample(std::move(sample), inputs_, files.name.string());
  }
  void rewind() override { at_ = 0; }
  std::size_t size() const override { return order_.size(); }
  std::string name() const override { return at_ == 0 ? "" : samples_[place()].name.filename().string(); }
  std::size_t place() const override { return at_ == 0 ? 0 : order_[at_ - 1]; }
  std::string description() const override {
    std::string text = std::to_string(order_.size());
    if (order_.size() < samples_.size()) text += fmt::format(" of {}", samples_.size());
    text +=
        fmt::format(" {}{} from {}", picture_ ? "picture" : "sample", samples_.size() == 1 ? "" : "s", path_.string());
    if (options_.shards > 1) text += fmt::format(", shard {} of {}", options_.shard, options_.shards);
    if (options_.shuffle) text += fmt::format(", shuffled with seed {}", *options_.shuffle);
    if (picture_) text += " (" + describe(*picture_, options_.image) + ")";
    return text;
  }

 private:
  fs::path path_;
  std::vector<ValueInfo> inputs_;
  SampleOptions options_;
  std::optional<ImageInput> picture_;
  std::vector<SampleFiles> samples_;
  std::vector<std::size_t> order_;
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
