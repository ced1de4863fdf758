// How weights and activations are spread: what the page draws beside a layer.
#include <emscripten/bind.h>

#include <optional>
#include <string>
#include <vector>

#include "js_bridge.h"
#include "octet/error.h"
#include "octet/quantizer.h"
#include "octet/value_histogram.h"

namespace octet {
namespace {

using emscripten::val;

constexpr std::size_t kBins = 100;

std::size_t bins_of(const val& request) {
  const val bins = request["bins"];
  if (is_absent(bins)) return kBins;
  if (!bins.isNumber() || !(bins.as<double>() >= 0)) throw Error(ErrorCode::kUsage, "bins", "is no number");
  return static_cast<std::size_t>(bins.as<double>());
}

val shown(const std::string& tensor, const ValueHistogram& histogram) {
  val counts = val::array(), channels = val::array();
  for (const std::uint64_t count : histogram.counts) counts.call<void>("push", number(count));
  for (const Interval& channel : histogram.channels) {
    val ends = val::object();
    ends.set("low", channel.low);
    ends.set("high", channel.high);
    channels.call<void>("push", ends);
  }
  val result = val::object();
  result.set("tensor", tensor);
  result.set("low", histogram.range.low);
  result.set("high", histogram.range.high);
  result.set("counts", counts);
  result.set("values", number(histogram.values));
  result.set("zeros", number(histogram.zeros));
  result.set("non_finite", number(histogram.non_finite));
  if (!histogram.channels.empty()) result.set("channels", channels);
  return result;
}

val weight_histograms(val request) {
  return guarded([&] {
    Model model = load(request);
    prepare_for_plan(model, given_of(request).options.plan_options.prepare);
    val result = val::array();
    const val tensors = request["tensors"];
    for (unsigned i = 0, count = tensors["length"].as<unsigned>(); i < count; ++i) {
      const val axis = tensors[i]["axis"];
      const std::string name = text_or(tensors[i]["tensor"], "");
      const std::optional<int> along = axis.isNumber() ? std::optional(axis.as<int>()) : std::nullopt;
      result.call<void>("push", shown(name, weight_histogram(model, name, bins_of(request), along)));
    }
    val object = val::object();
    object.set("histograms", result);
    return object;
  });
}

val activation_histograms(val request) {
  return guarded([&] {
    const Ranges ranges = ranges_from_json(json_text(request["ranges"], "ranges"));
    val result = val::array();
    const auto show = [&](const std::string& name, const Observation& observed) {
      result.call<void>("push", shown(name, activation_histogram(observed, bins_of(request))));
    };
    if (const val tensors = request["tensors"]; !is_absent(tensors)) {
      for (unsigned i = 0, count = tensors["length"].as<unsigned>(); i < count; ++i) {
        const std::string name = text_or(tensors[i], "");
        const auto found = ranges.tensors.find(name);
        if (found == ranges.tensors.end())
          throw Error(ErrorCode::kUsage, "tensor '" + name + "'", "calibration saw nothing of it");
        show(name, found->second);
      }
    } else {
      for (const auto& [name, observed] : ranges.tensors) show(name, observed);
    }
    val object = val::object();
    object.set("histograms", result);
    return object;
  });
}

}  // namespace
}  // namespace octet

EMSCRIPTEN_BINDINGS(octet_histograms) {
  emscripten::function("weight_histograms", &octet::weight_histograms);
  emscripten::function("activation_histograms", &octet::activation_histograms);
}
