// The module's calls: a few coarse ones that take a request object and return a plain object. js_bridge.h says how.
#include <emscripten/bind.h>
#include <malloc.h>

#include <cmath>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "js_bridge.h"
#include "octet/error.h"
#include "octet/report.h"

namespace octet {
namespace {

using emscripten::val;

// A quantizer with the ranges that the request gives it.
Quantizer quantizer_of(const val& request, const GivenRequest& given) {
  const GivenOptions& options = given.options;
  Quantizer quantizer(load(request), options.plan_options, options.plan ? &*options.plan : nullptr,
                      progress_of(request, "plan"));
  if (given.ranges) quantizer.set_ranges(*given.ranges);
  return quantizer;
}

val quantize_model(val request) {
  return guarded([&] {
    const GivenRequest given = given_of(request);
    if (const std::string key = given.options.search_key(); !key.empty())
      throw Error(ErrorCode::kUsage, "option " + key, "takes runs of the model", "start a search");
    const auto refuse = [](const char* where) {
      throw Error(ErrorCode::kUsage, where, "static mode needs the ranges of activations",
                  "pass ranges, which calibration learns from samples");
    };
    if (!given.ranges && !given.options.plan && given.options.plan_options.mode == Mode::kStatic) refuse("option mode");
    Quantizer quantizer = quantizer_of(request, given);
    if (!given.ranges && !quantizer.taps().empty()) refuse("option plan");
    std::uint64_t total = 0;
    val result = written(request, quantizer.apply(quantizer.plan()), given.options.external_data, total);
    result.set("report", parsed(quantizer_report_json(quantizer, total)));
    return result;
  });
}

val prepare_model(val request) {
  return guarded([&] {
    const PrepareOptions options = prepare_options_from_json(options_text(request));
    Model model = load(request);
    const ModelFacts before = facts_of(model);
    const auto passes = prepare(model, options);
    std::uint64_t total = 0;
    val result = written(request, model, false, total);
    result.set("report", parsed(preparation_json(before, facts_of(model), total, passes, cover_shapes(model))));
    return result;
  });
}

// Of a static plan without ranges: the size with some, to which they add or take a few nodes at most.
std::optional<std::uint64_t> size_without_ranges(const Quantizer& quantizer) {
  if (quantizer.taps().empty()) return std::nullopt;
  Plan plan = quantizer.plan();
  for (ActivationPlan& activation : plan.activations) {
    if (activation.same_as.empty() && !activation.range) activation.range = Interval{0, 1};
  }
  const SaveResult sizes = measure_model(quantizer.apply(plan));
  return sizes.model_bytes + sizes.external_bytes;
}

val inspect_model(val request) {
  return guarded([&] {
    Quantizer quantizer = quantizer_of(request, given_of(request));
    val result = val::object();
    result.set("report", parsed(quantizer_report_json(quantizer, size_without_ranges(quantizer))));
    return result;
  });
}

val merge_ranges(val parts) {
  return guarded([&] {
    if (!val::global("Array").call<bool>("isArray", parts) || parts["length"].as<unsigned>() == 0)
      throw Error(ErrorCode::kUsage, "ranges", "there are none to merge", "pass a list of what calibration learned");
    Ranges whole;
    for (unsigned i = 0, count = parts["length"].as<unsigned>(); i < count; ++i)
      whole.merge(ranges_from_json(json_text(parts[i], "ranges")));
    val result = val::object();
    result.set("ranges", ranges_to_json(whole));
    result.set("samples", number(whole.samples));
    return result;
  });
}

void read_threshold(const val& request, const char* key, double& value, double low, double high, const char* wanted) {
  const val given = request[key];
  if (is_absent(given)) return;
  value = given.isNumber() ? given.as<double>() : std::nan("");
  if (!(value >= low && value <= high)) throw Error(ErrorCode::kUsage, key, std::string("must be ") + wanted);
}

// As the command line's options of these names.
Thresholds thresholds_of(const val& request) {
  constexpr double kHuge = 1e6, kLeast = 1e-6;
  Thresholds limits;
  read_threshold(request, "min_sqnr", limits.min_sqnr_db, -kHuge, kHuge, "a number of decibels");
  read_threshold(request, "min_smaller", limits.min_smaller, kLeast, kHuge, "a ratio above 0");
  read_threshold(request, "slower", limits.slower, kLeast, 1, "a ratio above 0, at most 1");
  read_threshold(request, "faster", limits.faster, 1, kHuge, "a ratio of at least 1");
  return limits;
}

val judge_runs(val request) {
  return guarded([&] {
    DriftMeter meter;
    const val runs = request["runs"];
    for (unsigned i = 0, count = runs["length"].as<unsigned>(); i < count; ++i) {
      meter.add(to_sample(runs[i]["reference"]), to_sample(runs[i]["candidate"]));
    }
    const auto reference = emscripten::convertJSArrayToNumberVector<double>(request["reference_ms"]);
    const auto candidate = emscripten::convertJSArrayToNumberVector<double>(request["candidate_ms"]);
    VerdictInput input;
    input.float_bytes = static_cast<std::uint64_t>(request["input_bytes"].as<double>());
    input.output_bytes = static_cast<std::uint64_t>(request["output_bytes"].as<double>());
    input.synthetic = request["synthetic"].as<bool>();
    input.sqnr_db = meter.worst_sqnr_db();
    input.thresholds = thresholds_of(request);
    RunFacts facts;
    if (const val count = request["calibrated_on"]; count.isNumber())
      facts.calibrated_on = static_cast<std::size_t>(count.as<double>());
    val result = val::object();
    result.set("drift", parsed(drift_to_json(meter.result())));
    result.set("worst_sqnr_db", meter.worst_sqnr_db());
    if (!reference.empty() && !candidate.empty()) {
      input.speedup = paired_speedup(reference, candidate);
      const LatencyStats baseline = latency_stats(reference);
      facts.float_ms = baseline.median_ms;
      val latency = val::object();
      latency.set("baseline", parsed(latency_to_json(baseline)));
      latency.set("candidate", parsed(latency_to_json(latency_stats(candidate))));
      latency.set("speedup", parsed(speedup_to_json(*input.speedup)));
      result.set("latency", latency);
    }
    const Verdict verdict = judge(input);
    Explanation explanation;
    if (const val plan = request["plan"]; !is_absent(plan))
      explanation = explain(verdict, input, plan_from_json(json_text(plan, "plan")), facts);
    result.set("verdict", parsed(verdict_to_json(verdict, explanation)));
    return result;
  });
}

std::string version() { return OCTET_VERSION; }

// What the module holds right now; the same before and after a call.
double allocated_bytes() { return number(mallinfo().uordblks); }

}  // namespace
}  // namespace octet

EMSCRIPTEN_BINDINGS(octet) {
  emscripten::function("quantize_model", &octet::quantize_model);
  emscripten::function("prepare_model", &octet::prepare_model);
  emscripten::function("inspect_model", &octet::inspect_model);
  emscripten::function("merge_ranges", &octet::merge_ranges);
  emscripten::function("judge_runs", &octet::judge_runs);
  emscripten::function("version", &octet::version);
  emscripten::function("allocated_bytes", &octet::allocated_bytes);
}
