// Comparing layers in steps: the module hands out models that show their values, whoever has a runtime runs them and
// hands back what they showed. layers.d.ts tells the order of the calls.
#include <emscripten/bind.h>

#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "js_bridge.h"
#include "octet/error.h"
#include "octet/layer_steps.h"
#include "octet/report.h"
#include "octet/samples.h"
#include "octet/synthetic.h"

namespace octet {
namespace {

using emscripten::val;

class LayerComparison {
 public:
  LayerComparison(const std::function<Model()>& open_reference, Model candidate)
      : inputs_(inputs_of(open_reference())), steps_(open_reference, std::move(candidate)) {}

  val begin_sample(val request) {
    return guarded([&] {
      const std::string name = text_or(request["name"], "sample");
      sample_ = conform_sample(to_sample(request["sample"]), inputs_, name);
      val result = val::object();
      result.set("sample", from_sample(*sample_));
      return result;
    });
  }

  val plan_slices(val request) {
    return guarded([&] {
      const val budget = request["budget"];
      const std::uint64_t bytes = is_absent(budget) ? LayerSteps::kMemoryBudget : byte_count(budget, "budget");
      val slices = val::array();
      for (const LayerSlice& slice : steps_.cut(begun(), bytes)) {
        val fields = val::object();
        fields.set("reference", array_of(slice.reference));
        fields.set("candidate", array_of(slice.candidate));
        slices.call<void>("push", fields);
      }
      val result = val::object();
      result.set("slices", slices);
      return result;
    });
  }

  val slice_model(val request) {
    return guarded([&] {
      const std::size_t slice = slice_of(request);
      const std::string which = text_or(request["which"], "");
      if (which != "reference" && which != "candidate")
        throw Error(ErrorCode::kUsage, "which", "is none of both models", "use reference or candidate");
      std::uint64_t total = 0;
      return written(val::object(),
                     which == "reference" ? steps_.reference_model(slice) : steps_.candidate_model(slice), false,
                     total);
    });
  }

  val add(val request) {
    return guarded([&] {
      const std::size_t slice = slice_of(request);
      steps_.add(slice, begun(), to_sample(request["reference"]), to_sample(request["candidate"]));
      val result = val::object();
      result.set("samples", number(steps_.samples(slice)));
      return result;
    });
  }

  val result(val request) {
    return guarded([&] {
      LayersResult found = steps_.result();
      found.samples_description = text_or(request["description"], "");
      val result = val::object();
      result.set("layers", parsed(layers_to_json(found)));
      return result;
    });
  }

 private:
  const Sample& begun() const {
    if (!sample_) throw Error(ErrorCode::kUsage, "sample", "none was begun", "call begin_sample() first");
    return *sample_;
  }

  static std::size_t slice_of(const val& request) {
    const val slice = request["slice"];
    if (!slice.isNumber() || !(slice.as<double>() >= 0)) throw Error(ErrorCode::kUsage, "slice", "must be a number");
    return static_cast<std::size_t>(slice.as<double>());
  }

  std::vector<ValueInfo> inputs_;
  LayerSteps steps_;
  std::optional<Sample> sample_;
};

val start_layers(val request) {
  return guarded([&] {
    const val reference = request["reference"], candidate = request["candidate"];
    for (const auto& [name, source] : {std::pair("reference", reference), std::pair("candidate", candidate)}) {
      if (is_absent(source)) throw Error(ErrorCode::kUsage, name, "is missing", "pass { model }");
    }
    val result = val::object();
    result.set("layers", std::make_shared<LayerComparison>([&] { return load(reference); }, load(candidate)));
    return result;
  });
}

}  // namespace
}  // namespace octet

EMSCRIPTEN_BINDINGS(octet_layers) {
  emscripten::class_<octet::LayerComparison>("LayerSteps")
      .smart_ptr<std::shared_ptr<octet::LayerComparison>>("LayerStepsHandle")
      .function("begin_sample", &octet::LayerComparison::begin_sample)
      .function("plan_slices", &octet::LayerComparison::plan_slices)
      .function("slice_model", &octet::LayerComparison::slice_model)
      .function("add", &octet::LayerComparison::add)
      .function("result", &octet::LayerComparison::result);
  emscripten::function("start_layers", &octet::start_layers);
}
