// Searches in steps: the module says what to run, whoever has a runtime runs it and answers. search.d.ts tells the
// order of the calls.
#include <emscripten/bind.h>
#include <emscripten/emscripten.h>

#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "calibration_steps.h"
#include "js_bridge.h"
#include "octet/error.h"
#include "octet/replay_engine.h"
#include "octet/report.h"
#include "octet/samples.h"
#include "octet/search.h"

namespace octet {
namespace {

using emscripten::val;

double seconds_now() { return emscripten_get_now() / 1000; }

std::optional<LearnedRanges> learned(const std::optional<Ranges>& ranges) {
  return ranges ? std::optional(LearnedRanges{*ranges, {}, {}}) : std::nullopt;
}

class SearchSteps {
 public:
  SearchSteps(Quantizer quantizer, const GivenRequest& given)
      : external_data_(given.options.external_data),
        engine_(seconds_now, learned(given.ranges)),
        search_(std::move(quantizer), given.options.plan_options, given.options.min_sqnr, engine_) {}

  val next() {
    return guarded([&] {
      const SearchQuestion* before = question_;
      question_ = engine_.run([&] { search_.run(); });
      done_ = question_ == nullptr;
      if (question_ && !before) begin();
      val result = val::object();
      result.set("ask", std::string(done_ ? "finish" : kAsks[static_cast<int>(question_->kind)]));
      result.set("stage", done_ ? std::string("writing") : question_->stage);
      result.set("done", number(done_ ? 0 : question_->done));
      result.set("total", number(done_ ? 1 : question_->total));
      if (calibration_) {
        result.set("calibration", calibration_);
        result.set("taps", array_of(calibration_->taps()));
      }
      return result;
    });
  }

  val check_model() {
    return guarded([&] {
      std::uint64_t total = 0;
      return written(val::object(), expected(SearchQuestion::Kind::kCheck).model, false, total);
    });
  }

  val add_outputs(val request) {
    return guarded([&] {
      expected(SearchQuestion::Kind::kCheck);
      meter_.add(to_sample(request["reference"]), to_sample(request["candidate"]));
      val result = val::object();
      result.set("samples", number(++compared_));
      return result;
    });
  }

  val answer(val request) {
    return guarded([&] {
      if (!question_) throw Error(ErrorCode::kUsage, "answer", "nothing was asked", "call next() first");
      switch (question_->kind) {
        case SearchQuestion::Kind::kCalibrate: {
          calibration_->expect_samples();
          LearnedRanges result{calibration_->ranges(), calibration_->notes(), {}};
          if (std::string hint = few_samples_hint(result.ranges.samples); !hint.empty())
            result.notes.push_back(std::move(hint));
          engine_.answer(std::move(result));
          break;
        }
        case SearchQuestion::Kind::kObserve:
          calibration_->expect_samples();
          engine_.answer(calibration_->channels());
          break;
        case SearchQuestion::Kind::kCheck: {
          std::optional<double> db;
          if (!text_or(request["error"], "").empty())
            db = -kSqnrEqual;
          else if (compared_ > 0)
            db = meter_.worst_sqnr_db();
          engine_.answer(db);
          break;
        }
        case SearchQuestion::Kind::kMeasure:
          throw Error(ErrorCode::kInternal, "answer", "this search measures no time");
      }
      question_ = nullptr;
      calibration_.reset();
      return val::object();
    });
  }

  val finish(val request) {
    return guarded([&] {
      if (!done_) throw Error(ErrorCode::kUsage, "finish", "the search is not at its end", "call next() first");
      Quantizer& quantizer = search_.quantizer();
      std::uint64_t total = 0;
      val result = written(request, quantizer.apply(quantizer.plan()), external_data_, total);
      result.set("report", parsed(quantizer_report_json(quantizer, total)));
      result.set("changed", array_of(search_.changed()));
      result.set("sqnr_db", search_.sqnr_db() ? val(*search_.sqnr_db()) : val::null());
      result.set("reached", search_.reached() ? val(*search_.reached()) : val::null());
      return result;
    });
  }

 private:
  static constexpr const char* kAsks[] = {"calibrate", "observe", "check", "measure"};

  void begin() {
    meter_ = DriftMeter();
    compared_ = 0;
    if (question_->kind == SearchQuestion::Kind::kCheck) return;
    calibration_ = std::make_shared<CalibrationSteps>(question_->model, question_->fingerprint, question_->taps,
                                                      question_->channels);
  }

  const SearchQuestion& expected(SearchQuestion::Kind kind) const {
    if (!question_ || question_->kind != kind)
      throw Error(ErrorCode::kUsage, "check", "was not asked for", "call next() first");
    return *question_;
  }

  bool external_data_ = false, done_ = false;
  ReplayEngine engine_;
  Search search_;
  const SearchQuestion* question_ = nullptr;  // that stands
  std::shared_ptr<CalibrationSteps> calibration_;
  DriftMeter meter_;
  std::uint64_t compared_ = 0;
};

val start_search(val request) {
  return guarded([&] {
    GivenRequest given = given_of(request);
    PlanOptions& options = given.options.plan_options;
    const bool steps = options.equalize || options.smooth_quant > 0 || options.bias_correction;
    if (given.options.plan && steps)
      throw Error(ErrorCode::kUsage, "option plan",
                  "a plan holds such steps already, equalize and the like make a new one", "leave one of the two out");
    const val asked = request["options"];
    // The steps are about the ranges of activations.
    if (steps && (is_absent(asked) || is_absent(asked["mode"]))) options.mode = Mode::kStatic;
    Quantizer quantizer(load(request), options, given.options.plan ? &*given.options.plan : nullptr,
                        progress_of(request, "plan"));
    if (given.ranges && !given.ranges->model.empty() && given.ranges->model != quantizer.fingerprint())
      throw Error(ErrorCode::kUsage, "ranges", "they were learned from another model",
                  "calibrate this one, with the same option prepare or without it");
    val result = val::object();
    result.set("search", std::make_shared<SearchSteps>(std::move(quantizer), given));
    return result;
  });
}

}  // namespace
}  // namespace octet

EMSCRIPTEN_BINDINGS(octet_search) {
  emscripten::class_<octet::SearchSteps>("Search")
      .smart_ptr<std::shared_ptr<octet::SearchSteps>>("SearchHandle")
      .function("next", &octet::SearchSteps::next)
      .function("check_model", &octet::SearchSteps::check_model)
      .function("add_outputs", &octet::SearchSteps::add_outputs)
      .function("answer", &octet::SearchSteps::answer)
      .function("finish", &octet::SearchSteps::finish);
  emscripten::function("start_search", &octet::start_search);
}
