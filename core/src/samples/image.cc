#include "octet/image.h"

#include <algorithm>
#include <cstring>

#include "octet/dtype.h"
#include "octet/error.h"

namespace octet {
namespace {

bool holds_bytes(int type) {
  return type == kUint8 || type == kUint16 || type == kInt16 || type == kInt32 || type == kInt64 || type == kUint32 ||
         type == kUint64;
}

bool channels_fit(std::int64_t dim) { return dim == 1 || dim == 3 || dim == 4; }

// Of the three axes behind the batch.
ImageLayout layout_of(const std::int64_t* axes) {
  if (channels_fit(axes[0])) return ImageLayout::kNchw;
  if (channels_fit(axes[2])) return ImageLayout::kNhwc;
  // An open number of channels: where the other end cannot be channels, or as most exporters write it.
  return axes[0] >= 0 && axes[2] < 0 ? ImageLayout::kNhwc : ImageLayout::kNchw;
}

std::optional<std::int64_t> side_of(std::int64_t dim, std::optional<std::int64_t> wanted, const std::string& wants) {
  if (dim < 0) return wanted;
  if (wanted && *wanted != dim)
    throw Error(ErrorCode::kUsage, "--image-size", "the size is fixed: " + wants, "leave it out");
  return dim;
}

void check_numbers(const ImageInput& input, const ImageOptions& options, const std::string& wants) {
  const bool any = options.scale || !options.mean.empty() || !options.deviation.empty();
  if (any && !is_float_type(input.type)) {
    throw Error(ErrorCode::kUsage, "--image-scale, --image-mean, --image-std", "pixels go in as they are: " + wants,
                "leave them out");
  }
  for (const auto* numbers : {&options.mean, &options.deviation}) {
    if (numbers->size() > 1 && numbers->size() != static_cast<std::size_t>(input.channels)) {
      throw Error(ErrorCode::kUsage, numbers == &options.mean ? "--image-mean" : "--image-std",
                  std::to_string(numbers->size()) + " numbers for " + std::to_string(input.channels) +
                      (input.channels == 1 ? " channel: " : " channels: ") + wants);
    }
  }
}

std::string number_text(double value) {
  std::string text = std::to_string(value);
  text.erase(text.find_last_not_of('0') + 1);
  if (text.back() == '.') text.pop_back();
  return text;
}

std::string list_text(const std::vector<double>& values) {
  std::string text;
  for (const double value : values) text += (text.empty() ? "" : ",") + number_text(value);
  return text;
}

double value_for(const std::vector<double>& values, std::size_t channel, double otherwise) {
  return values.empty() ? otherwise : values[values.size() == 1 ? 0 : channel];
}

std::int64_t scaled_side(std::int64_t side, std::int64_t to, std::int64_t from, std::int64_t most) {
  return std::clamp<std::int64_t>((2 * side * to + from) / (2 * from), 1, most);
}

}  // namespace

ImageInput image_input(const std::vector<ValueInfo>& inputs, const ImageOptions& options, const std::string& where) {
  if (inputs.size() != 1) {
    std::string names;
    for (const ValueInfo& input : inputs) names += (names.empty() ? "'" : ", '") + input.name + "'";
    throw Error(ErrorCode::kData, where,
                "a picture fills one input, the model has " + std::to_string(inputs.size()) + ": " + names,
                "put all inputs of a sample into one .npz, by name");
  }
  const ValueInfo& info = inputs.front();
  const std::string wants =
      "input '" + info.name + "' is " + (info.is_tensor ? describe(info.type, info.dims) : std::string("no tensor"));
  const auto refuse = [&](const std::string& why) {
    throw Error(ErrorCode::kData, where, "holds pictures, " + wants + ": " + why, "store the samples as .npy or .npz");
  };
  ImageInput input;
  input.name = info.name;
  input.type = info.type;
  if (!info.is_tensor || !(is_float_type(info.type) || holds_bytes(info.type))) refuse("it takes no pixels");
  std::vector<std::int64_t> dims = info.dims;
  if (dims.empty()) dims.assign(4, -1);  // nothing is said of the shape
  input.rank = dims.size();
  if (input.rank < 3 || input.rank > 4) refuse("a picture has 3 axes, or 4 with one for the batch");
  if (input.rank == 4) {
    if (dims[0] > 1) refuse("it takes several at once");
    dims.erase(dims.begin());
  }
  input.layout = options.layout.value_or(layout_of(dims.data()));
  const bool last = input.layout == ImageLayout::kNhwc;
  const std::int64_t channels = dims[last ? 2 : 0];
  if ((channels >= 0 || input.rank == 3) && !channels_fit(channels))
    refuse("no axis of 1, 3 or 4 channels where they belong");
  input.channels = channels < 0 ? 3 : static_cast<int>(channels);
  const auto wanted = [&](std::int64_t ImageSize::*side) {
    return options.size ? std::optional<std::int64_t>((*options.size).*side) : std::nullopt;
  };
  input.height = side_of(dims[last ? 0 : 1], wanted(&ImageSize::height), wants);
  input.width = side_of(dims[last ? 1 : 2], wanted(&ImageSize::width), wants);
  check_numbers(input, options, wants);
  return input;
}

double pixel_scale(const ImageInput& input, const ImageOptions& options) {
  return options.scale.value_or(is_float_type(input.type) ? 1.0 / 255 : 1.0);
}

std::string describe(const ImageInput& input, const ImageOptions& options) {
  std::string text = input.channels == 1 ? "gray" : options.order == ImageOrder::kBgr ? "bgr" : "rgb";
  if (input.channels == 4) text += "a";
  text += input.layout == ImageLayout::kNhwc ? ", nhwc, " : ", nchw, ";
  if (input.width || input.height) {
    const auto side = [](const std::optional<std::int64_t>& length) {
      return length ? std::to_string(*length) : std::string("own");
    };
    text += side(input.width) + "x" + side(input.height) + " by ";
    text += options.fit == ImageFit::kPad ? "pad" : options.fit == ImageFit::kCrop ? "crop" : "stretch";
  } else {
    text += "own size, which --image-size would set";
  }
  if (!is_float_type(input.type)) return text + ", pixels as they are";
  text += ", scale " + (options.scale ? number_text(*options.scale) : std::string("1/255"));
  if (!options.mean.empty()) text += ", mean " + list_text(options.mean);
  if (!options.deviation.empty()) text += ", std " + list_text(options.deviation);
  return text;
}

ImageFrame frame_of(ImageSize picture, const ImageInput& input, ImageFit fit) {
  ImageFrame frame;
  frame.size = {input.width.value_or(picture.width), input.height.value_or(picture.height)};
  frame.crop = picture;
  frame.scaled = frame.size;
  const bool wider = picture.width * frame.size.height > picture.height * frame.size.width;
  if (fit == ImageFit::kCrop) {
    if (wider) {
      frame.crop.width = scaled_side(picture.height, frame.size.width, frame.size.height, picture.width);
    } else {
      frame.crop.height = scaled_side(picture.width, frame.size.height, frame.size.width, picture.height);
    }
    frame.crop_left = (picture.width - frame.crop.width) / 2;
    frame.crop_top = (picture.height - frame.crop.height) / 2;
  } else if (fit == ImageFit::kPad) {
    if (wider) {
      frame.scaled.height = scaled_side(picture.height, frame.size.width, picture.width, frame.size.height);
    } else {
      frame.scaled.width = scaled_side(picture.width, frame.size.height, picture.height, frame.size.width);
    }
    frame.left = (frame.size.width - frame.scaled.width) / 2;
    frame.top = (frame.size.height - frame.scaled.height) / 2;
  }
  return frame;
}

Tensor tensor_from_pixels(const Pixels& pixels, const ImageInput& input, const ImageOptions& options) {
  const auto channels = static_cast<std::size_t>(input.channels);
  const auto count = static_cast<std::size_t>(pixels.size.width * pixels.size.height);
  const std::size_t size = dtype_size(input.type);
  const bool last = input.layout == ImageLayout::kNhwc;
  Tensor tensor;
  tensor.type = input.type;
  if (input.rank == 4) tensor.dims.push_back(1);
  if (!last) tensor.dims.push_back(input.channels);
  tensor.dims.insert(tensor.dims.end(), {pixels.size.height, pixels.size.width});
  if (last) tensor.dims.push_back(input.channels);
  tensor.bytes.resize(count * channels * size);
  const double scale = pixel_scale(input, options);
  constexpr std::size_t kLevels = 256;
  for (std::size_t channel = 0; channel < channels; ++channel) {
    // A pixel has 256 values: each is computed and converted once.
    std::vector<double> levels(kLevels);
    for (std::size_t level = 0; level < kLevels; ++level) {
      levels[level] = (static_cast<double>(level) * scale - value_for(options.mean, channel, 0)) /
                      value_for(options.deviation, channel, 1);
    }
    const Tensor table = tensor_from_doubles(input.type, {kLevels}, levels);
    const bool swap = options.order == ImageOrder::kBgr && channels >= 3 && channel < 3;
    const std::uint8_t* from = pixels.bytes.data() + (swap ? 2 - channel : channel);
    std::uint8_t* to = tensor.bytes.data() + (last ? channel : channel * count) * size;
    const std::size_t step = (last ? channels : 1) * size;
    for (std::size_t i = 0; i < count; ++i)
      std::memcpy(to + i * step, table.bytes.data() + from[i * channels] * size, size);
  }
  return tensor;
}

}  // namespace octet
