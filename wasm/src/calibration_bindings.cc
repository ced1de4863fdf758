// Calibration in steps: the module hands out the segments of the prepared model, whoever has a runtime runs them and
// hands back what they give. octet.d.ts tells the order of the calls; lib/calibrate.ts makes them.
#include <emscripten/bind.h>

#include <algorithm>
#include <limits>
#include <memory>
#include <span>
#include <utility>

#include "calibration_steps.h"
#include "js_bridge.h"
#include "octet/dtype.h"
#include "octet/error.h"
#include "octet/quantizer.h"
#include "octet/samples.h"
#include "octet/synthetic.h"

namespace octet {
namespace {

using emscripten::val;

std::vector<std::string> each_once(std::vector<std::string> names, const std::vector<ChannelTap>& channels) {
  for (const ChannelTap& tap : channels) {
    if (std::find(names.begin(), names.end(), tap.value) == names.end()) names.push_back(tap.value);
  }
  return names;
}

// Without the inputs, which nobody has to run anything for.
std::vector<std::string> made(const std::vector<std::string>& names, const std::vector<ValueInfo>& inputs) {
  std::vector<std::string> result;
  for (const auto& name : names) {
    if (std::none_of(inputs.begin(), inputs.end(), [&](const ValueInfo& input) { return input.name == name; }))
      result.push_back(name);
  }
  return result;
}

}  // namespace

CalibrationSteps::CalibrationSteps(const Model& prepared, const std::string& fingerprint,
                                   const std::vector<std::string>& names, const std::vector<ChannelTap>& channels)
    : inputs_(inputs_of(prepared)), names_(each_once(names, channels)), segmented_(prepared, made(names_, inputs_)) {
  ranges_.model = fingerprint;
  for (const auto& name : names) taps_[name].whole = true;
  for (const ChannelTap& tap : channels) {
    taps_[tap.value].by_channels = true;
    taps_[tap.value].axis = tap.axis;
  }
}

void CalibrationSteps::expect_samples() const {
  if (ranges_.samples == 0)
    throw Error(ErrorCode::kData, "samples", "there is not one sample to learn ranges from", "give some");
}

val CalibrationSteps::begin_sample(val request) {
  return guarded([&] {
    const std::string name = text_or(request["name"], "");
    Sample sample = to_sample(request["sample"]);
    sample = conform_sample(std::move(sample), inputs_, name.empty() ? "sample" : name);
    non_finite_.begin_sample(ranges_.samples, name);
    dims_.clear();
    for (const auto& [input, tensor] : sample) {
      dims_[input] = tensor.dims;
      if (taps_.contains(input)) add(input, tensor);
    }
    val result = val::object();
    result.set("sample", from_sample(sample));
    return result;
  });
}

val CalibrationSteps::plan_segments(val request) {
  return guarded([&] {
    auto sizes = segmented_.estimate(dims_);
    if (const val measured = request["sizes"]; !is_absent(measured)) {
      const val names = val::global("Object").call<val>("keys", measured);
      for (const auto& name : emscripten::vecFromJSArray<std::string>(names))
        sizes[name] = byte_count(measured[name], "sizes");
    }
    const val budget = request["budget"];
    segmented_.cut(sizes, is_absent(budget) ? std::numeric_limits<std::uint64_t>::max() : byte_count(budget, "budget"));
    val segments = val::array();
    for (const Segment& segment : segmented_.segments()) {
      val fields = val::object();
      fields.set("inputs", array_of(segment.inputs));
      fields.set("outputs", array_of(segment.outputs));
      fields.set("observed", array_of(segment.observed));
      fields.set("dropped", array_of(segment.dropped));
      segments.call<void>("push", fields);
    }
    val result = val::object();
    result.set("segments", segments);
    return result;
  });
}

val CalibrationSteps::segment_model(val index) {
  return guarded([&] {
    const std::size_t count = segmented_.segments().size();
    const double at = index.isNumber() ? index.as<double>() : -1;
    if (!(at >= 0 && at < static_cast<double>(count)))
      throw Error(ErrorCode::kUsage, "segment", "there are " + std::to_string(count) + ", counted from 0");
    std::uint64_t total = 0;
    return written(val::object(), segmented_.model_of(static_cast<std::size_t>(at)), false, total);
  });
}

val CalibrationSteps::observe(val name, val tensor) {
  return guarded([&] {
    const std::string tap = text_or(name, "");
    if (!taps_.contains(tap)) throw Error(ErrorCode::kUsage, "'" + tap + "'", "is not among the taps");
    val result = val::object();
    result.set("observed", add(tap, to_tensor(tap, tensor)));
    return result;
  });
}

val CalibrationSteps::end_sample() {
  return guarded([&] {
    ++ranges_.samples;
    val result = val::object();
    result.set("samples", number(ranges_.samples));
    return result;
  });
}

val CalibrationSteps::forget() {
  return guarded([&] {
    ranges_.samples = 0;
    ranges_.tensors.clear();
    channels_.clear();
    non_finite_.clear();
    return val::object();
  });
}

val CalibrationSteps::learned() {
  return guarded([&] {
    expect_samples();
    val result = val::object();
    result.set("ranges", ranges_to_json(ranges_));
    result.set("samples", number(ranges_.samples));
    result.set("notes", array_of(notes()));
    result.set("hint", few_samples_hint(ranges_.samples));
    return result;
  });
}

// False for what is no float tensor.
bool CalibrationSteps::add(const std::string& name, const Tensor& tensor) {
  if (!is_float_type(tensor.type)) return false;
  std::vector<float> converted;
  std::span<const float> values{reinterpret_cast<const float*>(tensor.bytes.data()),
                                tensor.bytes.size() / sizeof(float)};
  if (tensor.type != kFloat) {
    converted = to_float(tensor);
    values = converted;
  }
  const Tap& tap = taps_.at(name);
  if (tap.whole) {
    Observation& observation = ranges_.tensors[name];
    const std::uint64_t before = observation.non_finite();
    observation.add(values);
    if (observation.non_finite() != before) non_finite_.add(name);
  }
  if (tap.by_channels) channels_[name].add(values, tensor.dims, tap.axis);
  return true;
}

namespace {

val start_calibration(val request) {
  return guarded([&] {
    GivenOptions given = given_of(request).options;
    const val options = request["options"];
    if (is_absent(options) || is_absent(options["mode"])) given.plan_options.mode = Mode::kStatic;
    if (!given.plan && given.plan_options.mode != Mode::kStatic)
      throw Error(ErrorCode::kUsage, "option mode", "calibration is for static mode", "leave it out");
    const std::string taps = is_absent(request["taps"]) ? "all" : text_or(request["taps"], "");
    if (taps != "all" && taps != "plan")
      throw Error(ErrorCode::kUsage, "taps", "are none that Octet knows", "use all or plan");
    const Quantizer quantizer(load(request), given.plan_options, given.plan ? &*given.plan : nullptr,
                              progress_of(request, "plan"));
    const auto calibration =
        std::make_shared<CalibrationSteps>(quantizer.model(), quantizer.fingerprint(), quantizer.taps(taps == "all"));
    val result = val::object();
    result.set("calibration", calibration);
    result.set("taps", array_of(calibration->taps()));
    return result;
  });
}

}  // namespace
}  // namespace octet

EMSCRIPTEN_BINDINGS(octet_calibration) {
  emscripten::class_<octet::CalibrationSteps>("Calibration")
      .smart_ptr<std::shared_ptr<octet::CalibrationSteps>>("CalibrationHandle")
      .function("begin_sample", &octet::CalibrationSteps::begin_sample)
      .function("plan_segments", &octet::CalibrationSteps::plan_segments)
      .function("segment_model", &octet::CalibrationSteps::segment_model)
      .function("observe", &octet::CalibrationSteps::observe)
      .function("end_sample", &octet::CalibrationSteps::end_sample)
      .function("forget", &octet::CalibrationSteps::forget)
      .function("learned", &octet::CalibrationSteps::learned);
  emscripten::function("start_calibration", &octet::start_calibration);
}
