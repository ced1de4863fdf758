// Samples from files: the module says which files it wants and what their bytes hold, whoever has the files reads them.
// samples.d.ts tells more.
#include <emscripten/bind.h>

#include <cmath>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "js_bridge.h"
#include "octet/error.h"
#include "octet/sample_files.h"
#include "octet/samples.h"
#include "octet/synthetic.h"

namespace octet {
namespace {

using emscripten::val;

constexpr double kMostCount = 9007199254740991.0;  // what a number of JavaScript counts without gaps

std::optional<std::uint64_t> count_of(const val& options, const char* key) {
  const val value = options[key];
  if (is_absent(value)) return std::nullopt;
  const double count = value.isNumber() ? value.as<double>() : -1;
  if (!(count >= 0 && count <= kMostCount && count == std::floor(count)))
    throw Error(ErrorCode::kUsage, key, "must be a whole number that is not negative");
  return static_cast<std::uint64_t>(count);
}

SampleOptions sample_options_of(const val& request) {
  SampleOptions options;
  const val given = request["options"];
  if (is_absent(given)) return options;
  const val keys = val::global("Object").call<val>("keys", given);
  for (const auto& key : emscripten::vecFromJSArray<std::string>(keys)) {
    if (key != "limit" && key != "shuffle" && key != "image")
      throw Error(ErrorCode::kUsage, key, "is no option of samples", "there are limit, shuffle, image");
  }
  options.limit = static_cast<std::size_t>(count_of(given, "limit").value_or(0));
  options.shuffle = count_of(given, "shuffle");
  if (const val image = given["image"]; !is_absent(image))
    options.image = image_options_from_json(json_text(image, "image"));
  return options;
}

std::vector<std::string> files_of(const val& request) {
  const val files = request["files"];
  if (!val::global("Array").call<bool>("isArray", files))
    throw Error(ErrorCode::kUsage, "files", "is no list", "pass the paths of the files");
  for (unsigned i = 0, count = files["length"].as<unsigned>(); i < count; ++i) {
    if (!files[i].isString()) throw Error(ErrorCode::kUsage, "files", "holds what is no path");
  }
  return emscripten::vecFromJSArray<std::string>(files);
}

val array_of(const std::vector<double>& values) {
  val array = val::array();
  for (const double value : values) array.call<void>("push", value);
  return array;
}

val size_of(const std::optional<std::int64_t>& side) { return side ? val(static_cast<double>(*side)) : val::null(); }

class OpenedSamples {
 public:
  OpenedSamples(const std::vector<std::string>& files, const SampleNaming& naming, const std::vector<ValueInfo>& inputs,
                const SampleOptions& options)
      : options_(options), samples_(files, naming, inputs, options) {
    try {
      picture_ = image_input(inputs, options_.image, "");
    } catch (const Error&) {
      // No input that takes pictures: nothing to see of these samples.
    }
  }

  double count() const { return number(samples_.size()); }

  val describe() const {
    val result = val::object();
    result.set("count", number(samples_.size()));
    result.set("total", number(samples_.total()));
    result.set("description", samples_.description());
    result.set("picture", samples_.picture().has_value());
    result.set("image", picture_ ? image() : val::null());
    return result;
  }

  val files(unsigned i) const {
    return guarded([&] {
      val places = val::array();
      for (const std::size_t file : samples_.files(i)) places.call<void>("push", number(file));
      val result = val::object();
      result.set("name", samples_.base_name(i));
      result.set("files", places);
      result.set("archive", samples_.is_archive(i));
      return result;
    });
  }

  val read(unsigned i, val contents) const {
    return guarded([&] {
      const Sample sample = samples_.is_archive(i)
                                ? samples_.conform(i, arrays(i, contents))
                                : samples_.read(i, [&](std::size_t file) { return content(i, file, contents); });
      val result = val::object();
      result.set("name", samples_.base_name(i));
      result.set("place", number(samples_.place(i)));
      result.set("sample", from_sample(sample));
      return result;
    });
  }

 private:
  // What a preview takes: the way from a pixel to the value that the model gets.
  val image() const {
    val fields = val::object();
    fields.set("layout", std::string(picture_->layout == ImageLayout::kNhwc ? "nhwc" : "nchw"));
    fields.set("channels", picture_->channels);
    fields.set("width", size_of(picture_->width));
    fields.set("height", size_of(picture_->height));
    fields.set("order", std::string(options_.image.order == ImageOrder::kBgr ? "bgr" : "rgb"));
    fields.set("scale", pixel_scale(*picture_, options_.image));
    fields.set("mean", array_of(options_.image.mean));
    fields.set("std", array_of(options_.image.deviation));
    return fields;
  }

  Sample arrays(std::size_t i, const val& entries) const {
    const std::string& file = samples_.name(i);
    if (entries.typeOf().as<std::string>() != "object" || entries.isNull())
      throw Error(ErrorCode::kUsage, file, "is to be unpacked first", "pass its entries by name");
    Sample sample;
    const val names = val::global("Object").call<val>("keys", entries);
    for (const auto& entry : emscripten::vecFromJSArray<std::string>(names)) {
      const auto key = npz_key(entry);
      if (!key) continue;
      const std::string name = npz_array_name(file, *key);
      sample[*key] = parse_npy(to_bytes(entries[entry], name), name);
    }
    return sample;
  }

  std::vector<std::uint8_t> content(std::size_t i, std::size_t file, const val& contents) const {
    const auto& wanted = samples_.files(i);
    for (std::size_t place = 0; place < wanted.size(); ++place) {
      if (wanted[place] == file) return to_bytes(contents[static_cast<unsigned>(place)], samples_.name(i));
    }
    throw Error(ErrorCode::kInternal, samples_.name(i), "has no such file");
  }

  SampleOptions options_;
  SampleFiles samples_;
  std::optional<ImageInput> picture_;
};

val open_samples(val request) {
  return guarded([&] {
    std::vector<std::string> files = files_of(request);
    const SampleNaming naming = strip_common_folder(files);
    const SampleOptions options = sample_options_of(request);
    val result = val::object();
    result.set("samples", std::make_shared<OpenedSamples>(files, naming, inputs_of(load(request)), options));
    return result;
  });
}

}  // namespace
}  // namespace octet

EMSCRIPTEN_BINDINGS(octet_samples) {
  emscripten::class_<octet::OpenedSamples>("SampleFiles")
      .smart_ptr<std::shared_ptr<octet::OpenedSamples>>("SampleFilesHandle")
      .function("count", &octet::OpenedSamples::count)
      .function("describe", &octet::OpenedSamples::describe)
      .function("files", &octet::OpenedSamples::files)
      .function("read", &octet::OpenedSamples::read);
  emscripten::function("open_samples", &octet::open_samples);
}
