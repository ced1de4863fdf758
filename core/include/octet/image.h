// Pictures as inputs of a model: what a model wants of them, and pixels as the tensor it takes. Decoding and resizing
// are the caller's; everything here is integers and one float32 formula, the same on every platform.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "octet/tensor.h"

namespace octet {

enum class ImageLayout { kNchw, kNhwc };
enum class ImageOrder { kRgb, kBgr };
// How a picture of another shape meets the size wanted.
enum class ImageFit {
  kStretch,  // width and height scaled apart
  kCrop,     // the largest part of the middle with the shape wanted
  kPad,      // the whole picture in the middle, black around it
};

struct ImageSize {
  std::int64_t width = 0, height = 0;
  bool operator==(const ImageSize&) const = default;
};

struct ImageOptions {
  std::optional<ImageSize> size = {};      // default: the model's; where that is open, each picture's own
  std::optional<ImageLayout> layout = {};  // default: by the axis of 1 or 3 channels
  // value = (pixel · scale − mean) / deviation, pixels from 0 to 255; one mean and deviation, or one for each channel,
  // in the order of the channels as the model takes them. Default of the scale: 1/255 for float inputs, 1 for integers.
  std::vector<double> mean = {}, deviation = {};
  std::optional<double> scale = {};
  ImageOrder order = ImageOrder::kRgb;
  ImageFit fit = ImageFit::kStretch;
};

// An object with image_size ("WxH" or [W, H]), image_layout ("nchw", "nhwc"), image_mean, image_std (a number, a list,
// or "A,B,C"), image_scale, image_order ("rgb", "bgr"), image_fit ("stretch", "crop", "pad"): all optional, no others.
// Throws Error(kUsage) naming the key.
ImageOptions image_options_from_json(std::string_view json);
std::string image_options_to_json(const ImageOptions& options);

// What an input takes of a picture.
struct ImageInput {
  std::string name;
  int type = kUndefined;
  ImageLayout layout = ImageLayout::kNchw;
  std::size_t rank = 4;                       // 3: no batch
  int channels = 3;                           // 1 gray, 3 colors, 4 colors and alpha
  std::optional<std::int64_t> width, height;  // nothing: the picture's own
};

// Throws Error(kData), with `where`, for a model with several inputs, or an input that no picture fits: another rank,
// no axis of 1, 3 or 4 channels, several pictures at once, text. Error(kUsage) for options that the input cannot take.
ImageInput image_input(const std::vector<ValueInfo>& inputs, const ImageOptions& options, const std::string& where);

// What a pixel is multiplied by: the scale that is asked for, or the default of the input's type.
double pixel_scale(const ImageInput& input, const ImageOptions& options);

// In a line, for reports: "rgb, nchw, 224x224 by stretch, scale 1/255".
std::string describe(const ImageInput& input, const ImageOptions& options);

// Rows of interleaved channels, red first.
struct Pixels {
  ImageSize size;
  int channels = 3;
  std::vector<std::uint8_t> bytes;
};

// Where a picture goes: `crop` of it from (crop_left, crop_top), scaled to `scaled`, at (left, top) of a black picture
// of `size`.
struct ImageFrame {
  std::int64_t crop_left = 0, crop_top = 0;
  ImageSize crop, scaled;
  std::int64_t left = 0, top = 0;
  ImageSize size;
};
ImageFrame frame_of(ImageSize picture, const ImageInput& input, ImageFit fit);

// `pixels` has the channels that `input` takes. Deterministic: the formula in double, rounded once to the input's type.
Tensor tensor_from_pixels(const Pixels& pixels, const ImageInput& input, const ImageOptions& options);

}  // namespace octet
