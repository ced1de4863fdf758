#include "serve/job_child.h"

#include <chrono>
#include <cmath>

#include "data/open_model.h"
#include "engine/bench.h"
#include "engine/calibrate.h"
#include "engine/child_json.h"
#include "octet/facts.h"
#include "octet/quantizer.h"
#include "octet/ranges.h"
#include "serve/job_request.h"

namespace octet {
namespace {

using nlohmann::json;

// News as often as somebody can read them, and whenever a stage begins.
class News {
 public:
  explicit News(const TellParent& tell) : tell_(tell) {}

  void say(const std::string& stage, std::size_t done, std::size_t total) {
    const auto now = std::chrono::steady_clock::now();
    if (stage == stage_ && now - told_ < std::chrono::milliseconds(100)) return;
    stage_ = stage;
    told_ = now;
    tell_({{"stage", stage}, {"done", done}, {"total", total}});
  }

 private:
  const TellParent& tell_;
  std::string stage_;
  std::chrono::steady_clock::time_point told_;
};

json bench_report(const json& question, const TellParent& tell) {
  BenchJob job = bench_job_of(question.at("request"), job_places_from_json(question.at("places")));
  News news(tell);
  job.progress = [&](const char* stage, std::size_t done, std::size_t total) { news.say(stage, done, total); };
  for (std::size_t i = 0; i < job.models.size(); ++i) {
    news.say("open", i, job.models.size());
    Model model = open_model(job.models[i]);
    job.model_bytes.push_back(model.file_bytes);
    if (i == 0) job.synthetic.bounds = facts_of(model).index_bounds;
  }
  json report = to_json(bench(job));
  for (json& row : report.at("rows"))
    row["model"] = std::filesystem::path(row.at("model").get<std::string>()).filename().string();
  return report;
}

json learned_ranges(const json& question, const TellParent& tell) {
  const CalibrateJob job = calibrate_job_of(question.at("request"), job_places_from_json(question.at("places")));
  News news(tell);
  news.say("prepare", 0, 1);
  const Quantizer quantizer(open_model(job.model), job.options.plan_options,
                            job.options.plan ? &*job.options.plan : nullptr);
  const auto samples = open_samples(job.calib, inputs_of(quantizer.model()), job.samples);
  CalibrationOptions options;
  options.fingerprint = quantizer.fingerprint();
  const auto count = samples->size();
  options.progress = [&](double fraction) {
    news.say("calibrate", static_cast<std::size_t>(std::lround(fraction * static_cast<double>(count))), count);
  };
  const Calibration learned = run_calibration(quantizer.model(), quantizer.taps(true), *samples, options);
  return {{"ranges", ranges_to_json(learned.ranges)},
          {"samples", learned.ranges.samples},
          {"description", samples->description()},
          {"notes", learned.notes}};
}

}  // namespace

int bench_child_main() { return answer_parent("bench", bench_report); }

int calibrate_child_main() { return answer_parent("calibrate", learned_ranges); }

}  // namespace octet
