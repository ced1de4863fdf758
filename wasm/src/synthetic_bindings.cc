// Inputs made up from what a model says of them.
#include <emscripten/bind.h>

#include <algorithm>
#include <optional>
#include <string>
#include <vector>

#include "js_bridge.h"
#include "octet/error.h"
#include "octet/facts.h"
#include "octet/synthetic.h"

namespace octet {
namespace {

using emscripten::val;

bool has_input(const ModelFacts& facts, const std::string& name) {
  const auto is_it = [&](const ValueFacts& input) { return input.name == name; };
  return std::any_of(facts.inputs.begin(), facts.inputs.end(), is_it);
}

// A symbol in some input's shape, or INPUT:AXIS.
bool has_dimension(const ModelFacts& facts, const std::string& name) {
  const auto colon = name.rfind(':');
  if (colon != std::string::npos && has_input(facts, name.substr(0, colon))) return true;
  return std::any_of(facts.inputs.begin(), facts.inputs.end(), [&](const ValueFacts& input) {
    return std::find(input.symbols.begin(), input.symbols.end(), name) != input.symbols.end();
  });
}

// Names and values of an object; nothing where it is absent.
template <class Take>
void each_of(const val& object, const std::string& what, Take&& take) {
  if (is_absent(object)) return;
  if (object.typeOf().as<std::string>() != "object") throw Error(ErrorCode::kUsage, what, "must be an object by name");
  const val names = val::global("Object").call<val>("keys", object);
  for (const auto& name : emscripten::vecFromJSArray<std::string>(names)) take(name, object[name]);
}

// What names nothing of the model is refused, as on the command line: the core passes over it.
SyntheticOptions options_of(const val& request, const ModelFacts& facts) {
  constexpr double kMostSize = 1 << 30;
  SyntheticOptions options;
  options.bounds = facts.index_bounds;
  if (request["count"].isNumber()) options.count = static_cast<std::size_t>(request["count"].as<double>());
  if (request["seed"].isNumber()) options.seed = static_cast<std::uint64_t>(request["seed"].as<double>());
  each_of(request["dims"], "dims", [&](const std::string& name, const val& given) {
    const double size = given.isNumber() ? given.as<double>() : -1;
    if (!(size >= 0 && size <= kMostSize && size == static_cast<double>(static_cast<std::int64_t>(size))))
      throw Error(ErrorCode::kUsage, "dimension '" + name + "'", "the size must be a whole number from 0");
    if (!has_dimension(facts, name))
      throw Error(ErrorCode::kUsage, "dimension '" + name + "'", "no input has a dimension of this name",
                  "take a name out of the inputs' shapes, or INPUT:AXIS");
    options.dims[name] = static_cast<std::int64_t>(size);
  });
  each_of(request["fixed"], "fixed", [&](const std::string& name, const val& given) {
    if (!given.isString()) throw Error(ErrorCode::kUsage, "fixed '" + name + "'", "the value must be given as text");
    if (!has_input(facts, name)) throw Error(ErrorCode::kUsage, "fixed '" + name + "'", "the model has no such input");
    options.fixed[name] = given.as<std::string>();
  });
  return options;
}

val make_samples(val request) {
  return guarded([&] {
    Model model = load(request);
    const SyntheticOptions options = options_of(request, facts_of(model));
    std::optional<std::int64_t> free_size;
    const val size = request["free_size"];
    if (size.isNumber()) free_size = static_cast<std::int64_t>(size.as<double>());
    const std::vector<ValueInfo> inputs = inputs_of(model);
    const SyntheticInputs made(inputs, options, free_size);

    val samples = val::array(), sizes = val::array();
    for (std::size_t i = 0; i < made.count(); ++i) samples.call<void>("push", from_sample(made.sample(i)));
    for (const auto& other : sizes_to_try(inputs, options)) {
      if (other) sizes.call<void>("push", static_cast<double>(*other));
    }
    val result = val::object();
    result.set("samples", samples);
    result.set("description", made.description());
    result.set("sizes_to_try", sizes);
    return result;
  });
}

}  // namespace
}  // namespace octet

EMSCRIPTEN_BINDINGS(octet_synthetic) { emscripten::function("make_samples", &octet::make_samples); }
