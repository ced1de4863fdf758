// How pictures become tensors, as JSON.
#include <algorithm>
#include <charconv>
#include <cmath>
#include <nlohmann/json.hpp>

#include "octet/error.h"
#include "octet/image.h"

namespace octet {
namespace {

using Json = nlohmann::ordered_json;

// The largest side that any model takes, with room; what lies above it is a slip of the keyboard.
constexpr std::int64_t kLargestSide = 16384;

[[noreturn]] void refuse(const std::string& key, const Json& value, const std::string& next) {
  const std::string text = value.is_string() ? value.get<std::string>() : value.dump();
  throw Error(ErrorCode::kUsage, key, "'" + text + "' does not fit", next);
}

ImageSize size_of(const std::string& key, const Json& value) {
  ImageSize size;
  if (value.is_string()) {
    const auto text = value.get<std::string>();
    const char* const end = text.data() + text.size();
    const auto width = std::from_chars(text.data(), end, size.width);
    if (width.ec != std::errc{} || width.ptr == end || *width.ptr != 'x')
      size = {};
    else if (const auto height = std::from_chars(width.ptr + 1, end, size.height);
             height.ec != std::errc{} || height.ptr != end)
      size = {};
  } else if (value.is_array() && value.size() == 2 && value[0].is_number_integer() && value[1].is_number_integer()) {
    size = {value[0].get<std::int64_t>(), value[1].get<std::int64_t>()};
  }
  if (std::min(size.width, size.height) < 1 || std::max(size.width, size.height) > kLargestSide)
    refuse(key, value, "write width and height, as 224x224");
  return size;
}

double number_of(const std::string& key, const Json& value) {
  if (!value.is_number() || !std::isfinite(value.get<double>())) refuse(key, value, "write a number");
  return value.get<double>();
}

std::vector<double> numbers_of(const std::string& key, const Json& value) {
  Json list = value;
  if (value.is_string()) list = Json::parse("[" + value.get<std::string>() + "]", nullptr, false);
  if (value.is_number()) list = Json::array({value});
  const bool fits = list.is_array() && (list.size() == 1 || list.size() == 3 || list.size() == 4) &&
                    std::all_of(list.begin(), list.end(), [](const Json& entry) { return entry.is_number(); });
  if (!fits) refuse(key, value, "write one number, or one for each channel with commas between");
  std::vector<double> numbers;
  for (const Json& entry : list) numbers.push_back(number_of(key, entry));
  return numbers;
}

bool chosen(const std::string& key, const Json& value, const char* first, const char* second) {
  if (value != first && value != second) refuse(key, value, std::string("use ") + first + " or " + second);
  return value == second;
}

void set(ImageOptions& options, const std::string& key, const Json& value) {
  if (key == "image_size") {
    options.size = size_of(key, value);
  } else if (key == "image_layout") {
    options.layout = chosen(key, value, "nchw", "nhwc") ? ImageLayout::kNhwc : ImageLayout::kNchw;
  } else if (key == "image_order") {
    options.order = chosen(key, value, "rgb", "bgr") ? ImageOrder::kBgr : ImageOrder::kRgb;
  } else if (key == "image_mean") {
    options.mean = numbers_of(key, value);
  } else if (key == "image_std") {
    options.deviation = numbers_of(key, value);
    if (std::find(options.deviation.begin(), options.deviation.end(), 0.0) != options.deviation.end())
      refuse(key, value, "a divisor cannot be 0");
  } else if (key == "image_scale") {
    options.scale = number_of(key, value);
  } else if (key == "image_fit") {
    if (value == "stretch")
      options.fit = ImageFit::kStretch;
    else if (value == "crop")
      options.fit = ImageFit::kCrop;
    else if (value == "pad")
      options.fit = ImageFit::kPad;
    else
      refuse(key, value, "use stretch, crop or pad");
  } else {
    throw Error(ErrorCode::kUsage, key, "is no option of pictures",
                "use image_size, image_layout, image_mean, image_std, image_scale, image_order, image_fit");
  }
}

}  // namespace

ImageOptions image_options_from_json(std::string_view json) {
  const Json document = Json::parse(json, nullptr, false);
  if (!document.is_object()) throw Error(ErrorCode::kUsage, "", "is no JSON object of options of pictures");
  ImageOptions options;
  for (const auto& [key, value] : document.items()) {
    if (!value.is_null()) set(options, key, value);
  }
  return options;
}

std::string image_options_to_json(const ImageOptions& options) {
  Json document = Json::object();
  if (options.size) document["image_size"] = {options.size->width, options.size->height};
  if (options.layout) document["image_layout"] = *options.layout == ImageLayout::kNhwc ? "nhwc" : "nchw";
  if (!options.mean.empty()) document["image_mean"] = options.mean;
  if (!options.deviation.empty()) document["image_std"] = options.deviation;
  if (options.scale) document["image_scale"] = *options.scale;
  document["image_order"] = options.order == ImageOrder::kBgr ? "bgr" : "rgb";
  document["image_fit"] = options.fit == ImageFit::kPad ? "pad" : options.fit == ImageFit::kCrop ? "crop" : "stretch";
  return document.dump();
}

}  // namespace octet
