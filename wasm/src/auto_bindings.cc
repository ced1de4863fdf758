// The automatic search in steps: the module says what to run, whoever has a runtime runs it and answers. auto.d.ts
// tells the order of the calls.
#include <emscripten/bind.h>
#include <emscripten/emscripten.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "calibration_steps.h"
#include "js_bridge.h"
#include "octet/auto_search.h"
#include "octet/candidate_drift.h"
#include "octet/error.h"
#include "octet/replay_engine.h"
#include "octet/samples.h"

namespace octet {
namespace {

using emscripten::val;
using Kind = SearchQuestion::Kind;

double seconds_now() { return emscripten_get_now() / 1000; }

// All others are what the search decides.
constexpr const char* kTaken[] = {"target", "nodes_to_quantize", "nodes_to_exclude", "op_types", "external_data"};

void refuse_decided(const val& options) {
  if (is_absent(options)) return;
  for (const auto& key : emscripten::vecFromJSArray<std::string>(val::global("Object").call<val>("keys", options))) {
    if (is_absent(options[key]) || std::find(std::begin(kTaken), std::end(kTaken), key) != std::end(kTaken)) continue;
    throw Error(ErrorCode::kUsage, "option " + key, "the search does not take it: it decides itself",
                "there are target, nodes_to_quantize, nodes_to_exclude, op_types, external_data");
  }
}

// What a limit may be, in words.
constexpr const char* kDecibels = "a number of decibels";
constexpr const char* kPositive = "a number above 0";
constexpr const char* kPercent = "from 0 to 100";

std::optional<double> limit_of(const val& budget, const char* key, const char* wanted) {
  const val value = budget[key];
  if (is_absent(value)) return {};
  if (value.isNumber()) {
    const double limit = value.as<double>();
    const bool fits = wanted == kPositive ? limit > 0 : wanted == kPercent ? limit >= 0 && limit <= 100 : true;
    if (std::isfinite(limit) && fits) return limit;
  }
  throw Error(ErrorCode::kUsage, std::string("budget ") + key, std::string("the value must be ") + wanted);
}

AutoBudget budget_of(const val& budget) {
  AutoBudget result;
  if (is_absent(budget)) return result;
  result.max_drop = limit_of(budget, "max_drop", kPercent);
  if (result.max_drop && !is_absent(budget["min_sqnr"]))
    throw Error(ErrorCode::kUsage, "budget min_sqnr max_drop", "drift has one budget", "leave one of the two out");
  result.min_sqnr_db = limit_of(budget, "min_sqnr", kDecibels).value_or(result.min_sqnr_db);
  if (const auto bytes = limit_of(budget, "max_bytes", kPositive))
    result.max_bytes = static_cast<std::uint64_t>(*bytes);
  result.min_speedup = limit_of(budget, "min_speedup", kPositive);
  result.seconds = limit_of(budget, "seconds", kPositive).value_or(result.seconds);
  return result;
}

val to_val(const Speedup& speedup) {
  val result = val::object();
  result.set("ratio", speedup.ratio);
  result.set("low", speedup.low);
  result.set("high", speedup.high);
  return result;
}

class AutoSteps {
 public:
  AutoSteps(Quantizer quantizer, const GivenRequest& given, const AutoBudget& budget, MeasurementLog log,
            const std::string& labels)
      : budget_(budget),
        labels_(labels.empty() ? AccuracyMeter() : AccuracyMeter(labels)),
        needs_labels_(budget.max_drop || !labels.empty()),
        log_(std::move(log)),
        engine_(seconds_now, given.ranges ? std::optional(LearnedRanges{*given.ranges, {}, {}}) : std::nullopt),
        search_(std::move(quantizer), given.options.plan_options, budget, engine_, log_) {}

  val next() {
    return guarded([&] {
      const SearchQuestion* before = question_;
      if (!done_) question_ = engine_.run([&] { search_.run(); });
      done_ = question_ == nullptr;
      if (question_ && !before) begin();
      val result = val::object();
      result.set("ask", std::string(done_ ? "nothing" : kAsks[static_cast<int>(question_->kind)]));
      result.set("stage", done_ ? std::string() : question_->stage);
      result.set("done", number(done_ ? 0 : question_->done));
      result.set("total", number(done_ ? 0 : question_->total));
      if (calibration_) {
        result.set("calibration", calibration_);
        result.set("taps", array_of(calibration_->taps()));
      } else if (question_) {
        result.set("effort", std::string(kEfforts[static_cast<int>(question_->effort)]));
      }
      return result;
    });
  }

  val candidate_model() {
    return guarded([&] {
      std::uint64_t total = 0;
      return written(val::object(), expected().model, false, total);
    });
  }

  val add_outputs(val request) {
    return guarded([&] {
      expected();
      const val place = request["place"];
      meter_.add(is_absent(place) ? meter_.samples() : place.as<unsigned>(), text_or(request["name"], ""),
                 to_sample(request["reference"]), to_sample(request["candidate"]));
      val result = val::object();
      result.set("samples", number(meter_.samples()));
      return result;
    });
  }

  val answer(val request) {
    return guarded([&] {
      if (!question_) throw Error(ErrorCode::kUsage, "answer", "nothing was asked", "call next() first");
      if (question_->kind == Kind::kMeasure) {
        engine_.answer(std::optional(measured(request)));
      } else {
        calibration_->expect_samples();
        if (question_->kind == Kind::kObserve)
          engine_.answer(calibration_->channels());
        else
          engine_.answer(learned());
      }
      question_ = nullptr;
      calibration_.reset();
      return val::object();
    });
  }

  val stop() {
    return guarded([&] {
      if (question_ && question_->kind == Kind::kMeasure) {
        engine_.answer(std::optional<Measurement>());
        engine_.run([&] { search_.run(); });
      }
      question_ = nullptr;
      calibration_.reset();
      stopped_ = done_ = true;
      return val::object();
    });
  }

  val state() {
    return guarded([&] {
      const auto& candidates = search_.candidates();
      const auto front = search_.front();
      val list = val::array(), sensitivities = val::array();
      for (std::size_t i = 0; i < candidates.size(); ++i) {
        val candidate = to_val(candidates[i]);
        candidate.set("front", std::find(front.begin(), front.end(), i) != front.end());
        candidate.set("chosen", &candidates[i] == search_.chosen());
        list.call<void>("push", candidate);
      }
      for (const Sensitivity& one : search_.sensitivities()) {
        val entry = val::object();
        entry.set("nodes", array_of(one.nodes));
        entry.set("alone_db", one.alone_db);
        if (one.without_db) entry.set("without_db", *one.without_db);
        if (one.expected_db) entry.set("expected_db", *one.expected_db);
        sensitivities.call<void>("push", entry);
      }
      auto account = search_.account();
      std::optional<std::string> ended = search_.ended_early();
      if (stopped_ && !ended) {
        ended = "it was stopped";
        account.push_back("ended early: " + *ended);
      }
      val result = val::object();
      result.set("candidates", list);
      result.set("chosen", index_of(search_.chosen()));
      result.set("choices", choices());
      if (budget_.max_drop) result.set("choices_by_drop", choices_by_drop());
      result.set("sensitivities", sensitivities);
      result.set("account", array_of(account));
      result.set("unmet", search_.unmet());
      result.set("ended_early", ended ? val(*ended) : val::null());
      result.set("tried", number(search_.tried()));
      result.set("seconds", search_.seconds());
      return result;
    });
  }

  val plan(val index) {
    return guarded([&] {
      const auto& candidates = search_.candidates();
      const double i = index.isNumber() ? index.as<double>() : -1;
      if (!(i >= 0 && i < number(candidates.size())) || i != std::floor(i))
        throw Error(ErrorCode::kUsage, "plan", "there is no such candidate", "state() has all of them");
      val result = val::object();
      result.set("plan", parsed(plan_to_json(candidates[static_cast<std::size_t>(i)].plan)));
      return result;
    });
  }

  val log() {
    return guarded([&] {
      val result = val::object();
      result.set("log", log_.to_json());
      return result;
    });
  }

 private:
  static constexpr const char* kAsks[] = {"calibrate", "observe", "measure", "measure"};
  static constexpr const char* kEfforts[] = {"glance", "drift", "speed", "confirm"};

  void begin() {
    meter_ = CandidateDrift(labels_);
    if (question_->kind == Kind::kMeasure) return;
    calibration_ = std::make_shared<CalibrationSteps>(question_->model, question_->fingerprint, question_->taps,
                                                      question_->channels);
  }

  const SearchQuestion& expected() const {
    if (!question_ || question_->kind != Kind::kMeasure)
      throw Error(ErrorCode::kUsage, "candidate", "was not asked for", "call next() first");
    return *question_;
  }

  LearnedRanges learned() const {
    LearnedRanges result{calibration_->ranges(), calibration_->notes(), {}};
    if (std::string hint = few_samples_hint(result.ranges.samples); !hint.empty())
      result.notes.push_back(std::move(hint));
    return result;
  }

  Measurement measured(const val& request) {
    Measurement result;
    if (const std::string error = text_or(request["error"], ""); !error.empty()) {
      result = Measurement::failed(error);
    } else {
      if (meter_.samples() == 0)
        throw Error(ErrorCode::kUsage, "answer", "no outputs were added", "call add_outputs(), or answer an error");
      result = meter_.result();
      // The first few may be those without labels.
      if (needs_labels_ && !result.drop && question_->effort >= Effort::kDrift) {
        const std::string& why = meter_.why_no_accuracy();
        throw Error(ErrorCode::kData, "labels", why.empty() ? "there are none for these samples" : why,
                    "give labels that fit the samples, or ask for decibels");
      }
      if (result.runs && question_->effort >= Effort::kSpeed) time(request, result);
    }
    const SaveResult sizes = measure_model(question_->model);
    result.bytes = sizes.model_bytes + sizes.external_bytes;
    // With what was done since the answer before: planning and calibrating are part of the time.
    const double now = seconds_now();
    result.seconds = now - last_;
    last_ = now;
    return result;
  }

  static void time(const val& request, Measurement& result) {
    const auto times = [&](const char* key) {
      const val list = request[key];
      if (!val::global("Array").call<bool>("isArray", list) || list["length"].as<int>() == 0)
        throw Error(ErrorCode::kUsage, key, "the times of interleaved runs are wanted", "time both models in turn");
      return emscripten::convertJSArrayToNumberVector<double>(list);
    };
    const auto reference = times("reference_ms"), candidate = times("candidate_ms");
    result.speedup = paired_speedup(reference, candidate);
    result.float_ms = latency_stats(reference).median_ms;
    result.candidate_ms = latency_stats(candidate).median_ms;
  }

  val index_of(const AutoCandidate* candidate) const {
    return candidate ? val(static_cast<double>(candidate - search_.candidates().data())) : val::null();
  }

  // Which candidate would be chosen for which floor of drift: it changes where one of them falls below.
  val choices() const {
    std::vector<double> floors;
    for (const AutoCandidate& one : search_.candidates()) {
      if (one.measured.runs) floors.push_back(one.measured.sqnr_db);
    }
    std::sort(floors.begin(), floors.end());
    floors.erase(std::unique(floors.begin(), floors.end()), floors.end());
    floors.push_back(2 * kSqnrEqual);
    val result = val::array();
    for (const double floor : floors) {
      AutoBudget other = budget_;
      other.min_sqnr_db = floor;
      other.max_drop.reset();
      val choice = val::object();
      choice.set("up_to", floor);
      choice.set("candidate", index_of(search_.chosen_within(other)));
      result.call<void>("push", choice);
    }
    return result;
  }

  // The same for right answers lost: from each of them on one that loses as many may be chosen.
  val choices_by_drop() const {
    std::vector<double> drops{0};
    for (const AutoCandidate& one : search_.candidates()) {
      if (one.measured.drop && *one.measured.drop > 0) drops.push_back(*one.measured.drop);
    }
    std::sort(drops.begin(), drops.end());
    drops.erase(std::unique(drops.begin(), drops.end()), drops.end());
    val result = val::array();
    for (const double drop : drops) {
      AutoBudget other = budget_;
      other.max_drop = drop;
      val choice = val::object();
      choice.set("from", drop);
      choice.set("candidate", index_of(search_.chosen_within(other)));
      result.call<void>("push", choice);
    }
    return result;
  }

  static val to_val(const AutoCandidate& candidate) {
    const Measurement& measured = candidate.measured;
    val result = val::object(), interval = val::array();
    result.set("what", candidate.what);
    result.set("moved", array_of(candidate.moved));
    result.set("conversions", candidate.conversions);
    result.set("is_float", candidate.is_float);
    result.set("confirmed", candidate.confirmed);
    result.set("runs", measured.runs);
    if (!measured.error.empty()) result.set("error", measured.error);
    result.set("bytes", number(measured.bytes));
    result.set("samples", number(measured.samples));
    result.set("sqnr_db", measured.sqnr_db);
    interval.call<void>("push", measured.lowest_db);
    interval.call<void>("push", measured.highest_db);
    result.set("sqnr_interval_db", interval);
    if (measured.drop) result.set("drop", *measured.drop);
    if (measured.speedup) {
      result.set("speedup", octet::to_val(*measured.speedup));
      result.set("float_ms", measured.float_ms);
      result.set("candidate_ms", measured.candidate_ms);
    }
    result.set("seconds", measured.seconds);
    return result;
  }

  AutoBudget budget_;
  AccuracyMeter labels_;
  bool needs_labels_;
  MeasurementLog log_;
  ReplayEngine engine_;
  AutoSearch search_;
  const SearchQuestion* question_ = nullptr;  // that stands
  std::shared_ptr<CalibrationSteps> calibration_;
  CandidateDrift meter_{labels_};
  double last_ = seconds_now();
  bool done_ = false, stopped_ = false;
};

val start_auto(val request) {
  return guarded([&] {
    refuse_decided(request["options"]);
    GivenRequest given = given_of(request);
    const AutoBudget budget = budget_of(request["budget"]);
    MeasurementLog log(text_or(request["context"], ""));
    if (const std::string text = text_or(request["log"], ""); !text.empty()) log.read_json(text);
    Quantizer quantizer(load(request), given.options.plan_options, nullptr, progress_of(request, "plan"));
    val result = val::object();
    result.set("search", std::make_shared<AutoSteps>(std::move(quantizer), given, budget, std::move(log),
                                                     text_or(request["labels"], "")));
    return result;
  });
}

}  // namespace
}  // namespace octet

EMSCRIPTEN_BINDINGS(octet_auto) {
  emscripten::class_<octet::AutoSteps>("AutoSearch")
      .smart_ptr<std::shared_ptr<octet::AutoSteps>>("AutoSearchHandle")
      .function("next", &octet::AutoSteps::next)
      .function("candidate_model", &octet::AutoSteps::candidate_model)
      .function("add_outputs", &octet::AutoSteps::add_outputs)
      .function("answer", &octet::AutoSteps::answer)
      .function("stop", &octet::AutoSteps::stop)
      .function("state", &octet::AutoSteps::state)
      .function("plan", &octet::AutoSteps::plan)
      .function("log", &octet::AutoSteps::log);
  emscripten::function("start_auto", &octet::start_auto);
}
