#include <stb_image.h>
#include <stb_image_resize.h>

#include <algorithm>
#include <array>
#include <limits>
#include <memory>
#include <string>
#include <vector>

#include "octet/error.h"
#include "octet/sample_files.h"

namespace octet {
namespace {

// Beyond this a picture is a mistake or an attack: 200 MB of colors.
constexpr std::int64_t kMostPixels = std::int64_t{1} << 26;

struct FreePixels {
  void operator()(stbi_uc* pixels) const { stbi_image_free(pixels); }
};

struct Decoded {
  ImageSize size;
  std::unique_ptr<stbi_uc, FreePixels> pixels;
};

Decoded decode(std::span<const std::uint8_t> bytes, const std::string& name, int channels) {
  if (bytes.size() > static_cast<std::size_t>(std::numeric_limits<int>::max()))
    throw Error(ErrorCode::kData, name, "is too long for a picture");
  const int length = static_cast<int>(bytes.size());
  int width = 0, height = 0, stored = 0;
  const auto refuse = [&] {
    throw Error(ErrorCode::kData, name, std::string("is no readable picture: ") + stbi_failure_reason());
  };
  if (!stbi_info_from_memory(bytes.data(), length, &width, &height, &stored)) refuse();
  if (std::int64_t{width} * height > kMostPixels) {
    throw Error(ErrorCode::kData, name,
                "is " + std::to_string(width) + "x" + std::to_string(height) + ", too large to decode");
  }
  Decoded decoded;
  decoded.pixels.reset(stbi_load_from_memory(bytes.data(), length, &width, &height, &stored, channels));
  if (!decoded.pixels) refuse();
  decoded.size = {width, height};
  return decoded;
}

}  // namespace

bool is_image_file(std::string_view name) {
  const std::size_t dot = name.rfind('.');
  if (dot == std::string_view::npos) return false;
  std::string extension(name.substr(dot));
  std::transform(extension.begin(), extension.end(), extension.begin(),
                 [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; });
  constexpr std::array kExtensions{".png", ".jpg", ".jpeg", ".bmp"};
  return std::find(kExtensions.begin(), kExtensions.end(), extension) != kExtensions.end();
}

Tensor decode_image(std::span<const std::uint8_t> bytes, const std::string& name, const ImageInput& input,
                    const ImageOptions& options) {
  const Decoded decoded = decode(bytes, name, input.channels);
  const ImageFrame frame = frame_of(decoded.size, input, options.fit);
  const auto at = [&](ImageSize size, std::int64_t left, std::int64_t top) {
    return static_cast<std::size_t>((top * size.width + left) * input.channels);
  };
  Pixels pixels{frame.size, input.channels, std::vector<std::uint8_t>(at(frame.size, 0, frame.size.height))};
  const stbi_uc* from = decoded.pixels.get() + at(decoded.size, frame.crop_left, frame.crop_top);
  stbi_uc* to = pixels.bytes.data() + at(frame.size, frame.left, frame.top);
  if (frame.crop == frame.scaled) {
    for (std::int64_t row = 0; row < frame.crop.height; ++row) {
      std::copy_n(from + at(decoded.size, 0, row), at(frame.crop, frame.crop.width, 0), to + at(frame.size, 0, row));
    }
  } else if (!stbir_resize_uint8_generic(from, static_cast<int>(frame.crop.width), static_cast<int>(frame.crop.height),
                                         static_cast<int>(at(decoded.size, 0, 1)), to,
                                         static_cast<int>(frame.scaled.width), static_cast<int>(frame.scaled.height),
                                         static_cast<int>(at(frame.size, 0, 1)), input.channels,
                                         STBIR_ALPHA_CHANNEL_NONE, 0, STBIR_EDGE_CLAMP, STBIR_FILTER_TRIANGLE,
                                         STBIR_COLORSPACE_LINEAR, nullptr)) {
    throw Error(ErrorCode::kData, name, "cannot be resized: too little memory");
  }
  return tensor_from_pixels(pixels, input, options);
}

}  // namespace octet
