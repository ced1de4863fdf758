// Calibration in steps: the module hands out the segments of the prepared model, whoever has a runtime runs them and
// hands back what they give. octet.d.ts tells the order of the calls; lib/calibrate.ts makes them.
#include <emscripten/bind.h>

#include <algorithm>
#include <limits>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "js_bridge.h"
#include "octet/dtype.h"
#include "octet/error.h"
#include "octet/quantizer.h"
#include "octet/samples.h"
#include "octet/segments.h"
#include "octet/synthetic.h"

namespace octet {
namespace {

using emscripten::val;

constexpr std::size_t kMostNotes = 5;  // an infinite mask goes through every layer

bool is_observed_type(int type) { return type == kFloat || type == kFloat16 || type == kBfloat16 || type == kDouble; }

// Taps apart by who makes them.
struct Taps {
  std::vector<std::string> all, inputs, made;

  Taps(const std::vector<std::string>& names, const std::vector<ValueInfo>& model_inputs) : all(names) {
    for (const auto& name : names) {
      const bool given = std::any_of(model_inputs.begin(), model_inputs.end(),
                                     [&](const ValueInfo& input) { return input.name == name; });
      (given ? inputs : made).push_back(name);
    }
  }
};

class CalibrationSteps {
 public:
  CalibrationSteps(const Model& prepared, const std::vector<std::string>& names)
      : inputs_(inputs_of(prepared)), taps_(names, inputs_), segmented_(prepared, taps_.made) {
    ranges_.model = fingerprint_of(prepared);
    known_.insert(names.begin(), names.end());
  }

  const std::vector<std::string>& taps() const { return taps_.all; }

  val begin_sample(val request) {
    return guarded([&] {
      name_ = text_or(request["name"], "");
      Sample sample = to_sample(request["sample"]);
      sample = conform_sample(std::move(sample), inputs_, name_.empty() ? "sample" : name_);
      dims_.clear();
      touched_.clear();
      for (const auto& [name, tensor] : sample) dims_[name] = tensor.dims;
      for (const auto& name : taps_.inputs) {
        if (const auto found = sample.find(name); found != sample.end()) add(name, found->second);
      }
      val result = val::object();
      result.set("sample", from_sample(sample));
      return result;
    });
  }

  val plan_segments(val request) {
    return guarded([&] {
      auto sizes = segmented_.estimate(dims_);
      if (const val measured = request["sizes"]; !is_absent(measured)) {
        const val names = val::global("Object").call<val>("keys", measured);
        for (const auto& name : emscripten::vecFromJSArray<std::string>(names))
          sizes[name] = count_of(measured[name], "sizes");
      }
      const val budget = request["budget"];
      segmented_.cut(sizes, is_absent(budget) ? std::numeric_limits<std::uint64_t>::max() : count_of(budget, "budget"));
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

  val segment_model(val index) {
    return guarded([&] {
      const std::size_t count = segmented_.segments().size();
      const double at = index.isNumber() ? index.as<double>() : -1;
      if (!(at >= 0 && at < static_cast<double>(count)))
        throw Error(ErrorCode::kUsage, "segment", "there are " + std::to_string(count) + ", counted from 0");
      std::uint64_t total = 0;
      return written(val::object(), segmented_.model_of(static_cast<std::size_t>(at)), false, total);
    });
  }

  val observe(val name, val tensor) {
    return guarded([&] {
      const std::string tap = text_or(name, "");
      if (!known_.contains(tap)) throw Error(ErrorCode::kUsage, "'" + tap + "'", "is not among the taps");
      val result = val::object();
      result.set("observed", add(tap, to_tensor(tap, tensor)));
      return result;
    });
  }

  val end_sample() {
    return guarded([&] {
      ++ranges_.samples;
      for (const auto& name : touched_) {
        NonFinite& seen = non_finite_[name];
        if (seen.samples++ == 0) seen.first = name_;
      }
      touched_.clear();
      val result = val::object();
      result.set("samples", number(ranges_.samples));
      return result;
    });
  }

  val forget() {
    return guarded([&] {
      ranges_.samples = 0;
      ranges_.tensors.clear();
      non_finite_.clear();
      touched_.clear();
      return val::object();
    });
  }

  val learned() {
    return guarded([&] {
      if (ranges_.samples == 0)
        throw Error(ErrorCode::kData, "samples", "there is not one sample to learn ranges from", "give some");
      val result = val::object();
      result.set("ranges", ranges_to_json(ranges_));
      result.set("samples", number(ranges_.samples));
      result.set("notes", array_of(notes()));
      result.set("hint", few_samples_hint(ranges_.samples));
      return result;
    });
  }

 private:
  // What was seen of one value that was NaN or infinite.
  struct NonFinite {
    std::uint64_t samples = 0;
    std::string first;
  };

  static std::uint64_t count_of(const val& value, const char* what) {
    const double count = value.isNumber() ? value.as<double>() : -1;
    if (!(count >= 0 && count < 9e15)) throw Error(ErrorCode::kUsage, what, "must be in bytes");
    return static_cast<std::uint64_t>(count);
  }

  // False for what is no float tensor.
  bool add(const std::string& name, const Tensor& tensor) {
    if (!is_observed_type(tensor.type)) return false;
    Observation& observation = ranges_.tensors[name];
    const std::uint64_t before = observation.non_finite();
    if (tensor.type == kFloat)
      observation.add({reinterpret_cast<const float*>(tensor.bytes.data()), tensor.bytes.size() / sizeof(float)});
    else
      observation.add(to_float(tensor));
    if (observation.non_finite() != before) touched_.insert(name);
    return true;
  }

  std::vector<std::string> notes() const {
    std::vector<std::string> notes;
    for (const auto& [name, seen] : non_finite_) {
      if (notes.size() == kMostNotes) {
        notes.push_back("so were values of " + std::to_string(non_finite_.size() - kMostNotes) + " other tensors");
        break;
      }
      notes.push_back("'" + name + "': " + std::to_string(ranges_.tensors.at(name).non_finite()) +
                      " values were NaN or infinite in " + std::to_string(seen.samples) + " of " +
                      std::to_string(ranges_.samples) + " samples" +
                      (seen.first.empty() ? "" : ", first in " + seen.first) + "; they are left out");
    }
    return notes;
  }

  std::vector<ValueInfo> inputs_;
  Taps taps_;
  std::set<std::string> known_;
  SegmentedModel segmented_;
  Ranges ranges_;
  std::map<std::string, NonFinite> non_finite_;
  std::set<std::string> touched_;                          // non-finite in this sample
  std::map<std::string, std::vector<std::int64_t>> dims_;  // of this sample's inputs
  std::string name_;                                       // of this sample
};

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
    const auto calibration = std::make_shared<CalibrationSteps>(quantizer.model(), quantizer.taps(taps == "all"));
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
