#include "octet/sample_files.h"

#include <algorithm>
#include <utility>

#include "octet/dtype.h"
#include "octet/error.h"
#include "octet/samples.h"

namespace octet {
namespace {

// float32 without a header: the model says the shape.
template <class Read>
Sample read_raw(const std::string& name, const std::vector<ValueInfo>& inputs, const Read& read) {
  if (inputs.size() != 1) {
    throw Error(ErrorCode::kData, name, "raw numbers fill one input, the model has " + std::to_string(inputs.size()),
                "put all inputs of a sample into one .npz, by name");
  }
  const ValueInfo& input = inputs.front();
  const std::string wants = "input '" + input.name + "' is " + describe(input.type, input.dims);
  Tensor tensor{kFloat, input.dims, read()};
  const auto open = std::count_if(tensor.dims.begin(), tensor.dims.end(), [](std::int64_t dim) { return dim < 0; });
  if (open > 1 || tensor.dims.empty()) {
    throw Error(ErrorCode::kData, name, wants + ", and raw numbers tell at most one open size",
                "store the sample as .npy");
  }
  std::uint64_t known = sizeof(float);
  for (const std::int64_t dim : tensor.dims) known *= dim < 0 ? 1 : static_cast<std::uint64_t>(dim);
  const std::uint64_t found = tensor.bytes.size();
  if (known == 0 || found == 0 || (open == 0 ? found != known : found % known != 0)) {
    throw Error(ErrorCode::kData, name,
                "holds " + std::to_string(found) + " bytes, " + wants + (open == 0 ? ": " : ": a multiple of ") +
                    std::to_string(known) + " bytes of float32");
  }
  for (std::int64_t& dim : tensor.dims) {
    if (dim < 0) dim = static_cast<std::int64_t>(found / known);
  }
  return {{input.name, std::move(tensor)}};
}

// A .npy, or a TensorProto with the name that it gives itself.
std::pair<std::string, Tensor> read_tensor(const std::string& file, const std::vector<std::uint8_t>& bytes) {
  std::string name;
  if (file.ends_with(".npy")) return {name, parse_npy(bytes, file)};
  try {
    Tensor tensor = parse_tensor_proto(bytes, &name);
    return {name, std::move(tensor)};
  } catch (const Error& error) {
    throw Error(error.code(), file, error.problem());
  }
}

}  // namespace

SampleFiles::SampleFiles(const std::vector<std::string>& files, SampleNaming naming, std::vector<ValueInfo> inputs,
                         SampleOptions options)
    : files_(files), naming_(std::move(naming)), inputs_(std::move(inputs)), options_(std::move(options)) {
  group();
  order_ = sample_order(samples_.size(), options_.limit, options_.shuffle);
  std::size_t i = 0;
  std::erase_if(order_, [&](std::size_t) { return i++ % options_.shards != options_.shard - 1; });
  if (kind_ == Kind::kPictures) picture_ = image_input(inputs_, options_.image, naming_.all);
}

std::string SampleFiles::description() const {
  std::string text = std::to_string(size());
  if (size() < total()) text += " of " + std::to_string(total());
  text += std::string(picture_ ? " picture" : " sample") + (total() == 1 ? "" : "s") + " from " + naming_.all;
  if (options_.shards > 1)
    text += ", shard " + std::to_string(options_.shard) + " of " + std::to_string(options_.shards);
  if (options_.shuffle) text += ", shuffled with seed " + std::to_string(*options_.shuffle);
  if (picture_) text += " (" + describe(*picture_, options_.image) + ")";
  return text;
}

const SampleFiles::Parts& SampleFiles::parts(std::size_t i) const { return samples_[place(i)]; }

const std::string& SampleFiles::name(std::size_t i) const { return parts(i).name; }

std::string SampleFiles::base_name(std::size_t i) const {
  const std::string& all = name(i);
  return all.substr(all.rfind('/') + 1);
}

std::size_t SampleFiles::place(std::size_t i) const {
  if (i >= order_.size()) {
    throw Error(ErrorCode::kUsage, "sample " + std::to_string(i),
                "there are " + std::to_string(order_.size()) + ", counted from 0");
  }
  return order_[i];
}

const std::vector<std::size_t>& SampleFiles::files(std::size_t i) const { return parts(i).files; }

bool SampleFiles::is_archive(std::size_t i) const {
  return !parts(i).by_position && files_[parts(i).files.front()].ends_with(".npz");
}

Sample SampleFiles::read_tensors(const Parts& sample, const BytesOf& bytes_of) const {
  if (sample.by_position && sample.files.size() > inputs_.size()) {
    throw Error(
        ErrorCode::kData, sample.name,
        "holds " + std::to_string(sample.files.size()) + " inputs, the model has " + std::to_string(inputs_.size()));
  }
  Sample tensors;
  for (std::size_t i = 0; i < sample.files.size(); ++i) {
    auto [name, tensor] = read_tensor(full_name(sample.files[i]), bytes_of(sample.files[i]));
    // Test data names its tensors as the model does, or not at all; then the order of the inputs counts.
    const bool known = std::any_of(inputs_.begin(), inputs_.end(),
                                   [&name = name](const ValueInfo& input) { return input.name == name; });
    tensors[!known && sample.by_position ? inputs_[i].name : name] = std::move(tensor);
  }
  return tensors;
}

Sample SampleFiles::read(std::size_t i, const BytesOf& bytes_of) const {
  const Parts& sample = parts(i);
  if (is_archive(i)) throw Error(ErrorCode::kInternal, sample.name, "is to be unpacked first");
  const std::size_t first = sample.files.front();
  if (picture_) {
    Tensor tensor = decode_image(bytes_of(first), sample.name, *picture_, options_.image);
    return conform(i, {{picture_->name, std::move(tensor)}});
  }
  if (kind_ == Kind::kRaw) return conform(i, read_raw(sample.name, inputs_, [&] { return bytes_of(first); }));
  return conform(i, read_tensors(sample, bytes_of));
}

Sample SampleFiles::conform(std::size_t i, Sample arrays) const {
  return conform_sample(std::move(arrays), inputs_, name(i));
}

}  // namespace octet
