#include "engine/measure_candidates.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <memory>
#include <utility>
#include <vector>

#include "data/labels_file.h"
#include "engine/engine.h"
#include "engine/interleave.h"
#include "engine/json_text.h"
#include "octet/candidate_drift.h"
#include "octet/error.h"

namespace octet {
namespace {

using nlohmann::json;

constexpr double kTimeout = 300;
// Samples and what the float model gives for them are held; what would take more than this, or longer to run, is not.
constexpr std::uint64_t kMostBytes = std::uint64_t{256} << 20;
constexpr double kMostSeconds = 15;
constexpr std::size_t kTimedSamples = 4;

struct Timing {
  std::size_t runs;
  double seconds;
};
constexpr Timing kTiming{40, 0.8}, kLongTiming{150, 3};

struct Judged {
  Sample sample, reference;
  std::string name;
  std::size_t place = 0;
};

std::uint64_t bytes_of(const Sample& sample) {
  std::uint64_t bytes = 0;
  for (const auto& [name, tensor] : sample) bytes += tensor.bytes.size();
  return bytes;
}

// The float model and what it gives.
class Reference {
 public:
  explicit Reference(const MeasureJob& job) : job_(job) {
    const auto start = std::chrono::steady_clock::now();
    try {
      const Session plain = Session::from_file(job.float_model, {.optimize = false, .threads = job.threads});
      const auto reader = open_samples(job.data, plain.inputs(), job.samples);
      std::uint64_t bytes = 0;
      while (std::optional<Sample> sample = reader->next()) {
        Sample reference = plain.run(*sample);
        bytes += bytes_of(*sample) + bytes_of(reference);
        samples_.push_back({std::move(*sample), std::move(reference), reader->name(), reader->place()});
        const std::chrono::duration<double> elapsed = std::chrono::steady_clock::now() - start;
        if (bytes > kMostBytes || elapsed.count() > kMostSeconds) break;
      }
      baseline_.emplace(Session::from_file(job.float_model, {.threads = job.threads}));
    } catch (const Error& fault) {
      if (fault.code() != ErrorCode::kRun) throw;
      throw Error(ErrorCode::kRun, job.float_model.filename().string(),
                  "the float model does not run: " + fault.problem(), fault.next());
    }
    if (samples_.empty()) throw Error(ErrorCode::kData, job.data.string(), "there are no samples");
    for (std::size_t i = 0; i < std::min(kTimedSamples, samples_.size()); ++i) timed_.push_back(samples_[i].sample);
  }

  json answer(const json& question) const {
    Measurement measured;
    try {
      const Session candidate =
          Session::from_file(question.at("candidate").get<std::string>(), {.threads = job_.threads});
      const auto effort = static_cast<Effort>(question.at("effort").get<int>());
      measured =
          compared(candidate, effort == Effort::kGlance ? std::min(kGlanceSamples, samples_.size()) : samples_.size());
      if (measured.runs && effort >= Effort::kSpeed)
        time(candidate, effort == Effort::kConfirm ? kLongTiming : kTiming, measured);
    } catch (const Error& fault) {
      if (fault.code() != ErrorCode::kRun) throw;
      measured = Measurement::failed(fault.problem());
    }
    return json::parse(measurement_to_json(measured));
  }

 private:
  Measurement compared(const Session& candidate, std::size_t count) const {
    CandidateDrift drift(job_.labels ? labels_of_file(*job_.labels) : labels_beside(job_.data));
    for (std::size_t i = 0; i < count; ++i) {
      const Judged& one = samples_[i];
      drift.add(one.place, one.name, one.reference, candidate.run(one.sample));
    }
    Measurement measured = drift.result();
    if (!measured.drop && job_.needs_labels && count == samples_.size())
      throw Error(ErrorCode::kData, "labels",
                  drift.why_no_accuracy().empty() ? "there are none for these samples" : drift.why_no_accuracy(),
                  "pass --labels FILE that fits the samples of --eval, or use --min-sqnr instead of --max-drop");
    return measured;
  }

  void time(const Session& candidate, const Timing& timing, Measurement& measured) const {
    const std::vector<const Session*> pair{&*baseline_, &candidate};
    // On a busy machine a few rounds are worth waiting for: of one or two the interval would say nothing.
    constexpr std::size_t kFewest = 7;
    constexpr double kPatience = 5;
    InterleaveResult times =
        time_interleaved(pair, timed_, {.warmup = 2, .runs = kFewest, .seconds = kPatience * timing.seconds});
    if (!times.cut_short) {
      const InterleaveResult more =
          time_interleaved(pair, timed_, {.warmup = 0, .runs = timing.runs, .seconds = timing.seconds});
      for (std::size_t i = 0; i < pair.size(); ++i) {
        times.milliseconds[i].insert(times.milliseconds[i].end(), more.milliseconds[i].begin(),
                                     more.milliseconds[i].end());
      }
    }
    measured.speedup = paired_speedup(times.milliseconds[0], times.milliseconds[1]);
    measured.float_ms = latency_stats(times.milliseconds[0]).median_ms;
    measured.candidate_ms = latency_stats(times.milliseconds[1]).median_ms;
  }

  MeasureJob job_;
  std::vector<Judged> samples_;
  std::vector<Sample> timed_;
  std::optional<Session> baseline_;
};

json to_json(const MeasureJob& job) {
  json document = {{"float_model", job.float_model.string()},
                   {"data", job.data.string()},
                   {"samples", to_json(job.samples)},
                   {"needs_labels", job.needs_labels},
                   {"threads", job.threads}};
  if (job.labels) document["labels"] = job.labels->string();
  return document;
}

MeasureJob job_from_json(const json& document) {
  MeasureJob job;
  job.float_model = document.at("float_model").get<std::string>();
  job.data = document.at("data").get<std::string>();
  job.samples = sample_options_from_json(document.at("samples"));
  document.at("needs_labels").get_to(job.needs_labels);
  document.at("threads").get_to(job.threads);
  if (document.contains("labels")) job.labels = document.at("labels").get<std::string>();
  return job;
}

}  // namespace

CandidateMeter::CandidateMeter(const MeasureJob& job, const std::filesystem::path& executable)
    : child_(kMeasureCommand, to_json(job), executable) {}

Measurement CandidateMeter::measure(const std::filesystem::path& candidate, std::uint64_t bytes, Effort effort) {
  const auto answer = child_.ask({{"candidate", candidate.string()}, {"effort", static_cast<int>(effort)}}, kTimeout);
  Measurement measured =
      answer.result ? measurement_from_json(json_text(*answer.result)) : Measurement::failed(answer.why_not);
  measured.bytes = bytes;
  return measured;
}

int measure_child_main() {
  return answer_lines("measuring", [](const json& greeting) -> Answerer {
    auto reference = std::make_shared<Reference>(job_from_json(greeting));
    return [reference](const json& question) { return reference->answer(question); };
  });
}

}  // namespace octet
