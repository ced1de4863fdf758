#include <algorithm>
#include <utility>

#include "cli/model_options.h"
#include "cli/text_file.h"
#include "octet/error.h"

namespace octet {
namespace {

// Checked alone, so that what is wrong with it is said of the flag.
void set_option(nlohmann::json& options, const char* flag, const nlohmann::json& value) {
  if (value.is_null() || value == "") return;
  std::string key(flag + 2);
  std::replace(key.begin(), key.end(), '-', '_');
  try {
    image_options_from_json(nlohmann::json{{key, value}}.dump());
  } catch (const Error& fault) {
    throw Error(fault.code(), flag, fault.problem(), fault.next());
  }
  options[key] = value;
}

}  // namespace

void SampleFlags::add_to(CLI::App& command) {
  command.add_option("--limit", limit, "use at most N samples")->type_name("N")->check(CLI::PositiveNumber);
  command.add_option("--shuffle", shuffle, "take samples in an order drawn with this seed, instead of by name")
      ->type_name("SEED");
  command.add_option("--image-recipe", image_recipe, "the options below as JSON, with keys like image_size")
      ->type_name("FILE");
  command.add_option("--image-size", image_size, "size of pictures (default: the model's input's, or their own)")
      ->type_name("WxH");
  command.add_option("--image-layout", image_layout, "nchw or nhwc (default: by the input's shape)")
      ->type_name("LAYOUT");
  command
      .add_option("--image-mean", image_mean,
                  "(pixel * scale - mean) / std: one number, or one per channel (default 0)")
      ->type_name("A,B,C");
  command.add_option("--image-std", image_std, "the same for std (default 1)")->type_name("A,B,C");
  command.add_option("--image-scale", image_scale, "the same for scale (default 1/255; 1 for integer inputs)")
      ->type_name("S");
  command.add_option("--image-order", image_order, "rgb (default) or bgr")->type_name("ORDER");
  command
      .add_option("--image-fit", image_fit, "stretch (default), crop the middle, or pad with black, to the size wanted")
      ->type_name("FIT");
}

SampleOptions SampleFlags::sample_options(std::size_t usual_limit) const {
  SampleOptions options;
  options.limit = limit > 0 ? limit : usual_limit;
  options.shuffle = shuffle;
  nlohmann::json given = nlohmann::json::object();
  if (!image_recipe.empty()) given = nlohmann::json::parse(image_options_to_json(read_recipe_file(image_recipe)));
  set_option(given, "--image-size", image_size);
  set_option(given, "--image-layout", image_layout);
  set_option(given, "--image-mean", image_mean);
  set_option(given, "--image-std", image_std);
  set_option(given, "--image-order", image_order);
  set_option(given, "--image-fit", image_fit);
  if (image_scale) set_option(given, "--image-scale", *image_scale);
  options.image = image_options_from_json(given.dump());
  return options;
}

}  // namespace octet
