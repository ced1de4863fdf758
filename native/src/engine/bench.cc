#include "engine/bench.h"

#include <algorithm>
#include <chrono>
#include <ctime>

#include "engine/bench_reasons.h"
#include "engine/engine.h"
#include "engine/interleave.h"
#include "engine/measure_json.h"
#include "octet/error.h"
#include "octet/report.h"

namespace octet {
namespace {

std::uint64_t bytes_of(const BenchJob& job, std::size_t model) {
  if (model < job.model_bytes.size() && job.model_bytes[model] != 0) return job.model_bytes[model];
  std::error_code fault;
  const std::uintmax_t size = std::filesystem::file_size(job.models[model], fault);
  return fault ? 0 : size;
}

std::vector<Sample> all_of(SampleReader& reader) {
  std::vector<Sample> samples;
  while (std::optional<Sample> sample = reader.next()) samples.push_back(std::move(*sample));
  return samples;
}

// Mean number of items, and of tokens where an integer matrix comes in, per run.
struct Load {
  double items = 1;
  std::optional<double> tokens;
};

Load load_of(const std::vector<ValueInfo>& inputs, const std::vector<Sample>& samples) {
  Load load{0, std::nullopt};
  double tokens = 0;
  bool has_tokens = false;
  for (const Sample& sample : samples) {
    bool first = true;
    double items = 1;
    const Tensor* matrix = nullptr;
    for (const ValueInfo& input : inputs) {
      const auto found = sample.find(input.name);
      if (found == sample.end()) continue;
      const Tensor& tensor = found->second;
      if (std::exchange(first, false) && !tensor.dims.empty()) items = static_cast<double>(tensor.dims[0]);
      if (matrix == nullptr && tensor.dims.size() == 2 && (tensor.type == kInt64 || tensor.type == kInt32)) {
        matrix = &tensor;
      }
    }
    load.items += items;
    if (matrix != nullptr) tokens += static_cast<double>(matrix->dims[0] * matrix->dims[1]);
    has_tokens = has_tokens || matrix != nullptr;
  }
  const auto count = static_cast<double>(samples.size());
  load.items /= count;
  if (has_tokens) load.tokens = tokens / count;
  return load;
}

std::string time_now() {
  const std::time_t now = std::time(nullptr);
  std::tm utc{};
  gmtime_r(&now, &utc);
  char text[32];
  std::strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%SZ", &utc);
  return text;
}

class Bench {
 public:
  explicit Bench(const BenchJob& job) : job_(job) {}

  BenchResult run() {
    if (job_.models.empty()) throw Error(ErrorCode::kUsage, "bench", "names no model");
    refuse_to_time_in_emulator("bench");
    result_.created = time_now();
    result_.environment = this_environment();
    result_.runtime = runtime_version();
    result_.warmup = job_.warmup;
    result_.runs = runs();
    result_.thresholds = job_.thresholds;
    result_.synthetic = !job_.data.has_value();
    for (const unsigned threads : job_.threads) {
      run_with(threads);
      ++setting_;
    }
    explain_rows();
    if (job_.profile) profile_rows();
    return std::move(result_);
  }

 private:
  std::size_t runs() const { return std::max<std::size_t>(job_.runs, 1); }

  // `done` of the `count` that every thread setting has.
  void tell(const char* stage, std::size_t done, std::size_t count) const {
    if (job_.progress) job_.progress(stage, setting_ * count + done, job_.threads.size() * count);
  }

  void run_with(unsigned threads) {
    const std::size_t first_row = result_.rows.size();
    std::vector<std::optional<Session>> sessions(job_.models.size());
    for (std::size_t i = 0; i < job_.models.size(); ++i) {
      BenchRow& row = result_.rows.emplace_back();
      row.model = job_.models[i];
      row.threads = threads;
      row.file_bytes = bytes_of(job_, i);
      if (!job_.memory) continue;
      tell("memory", i, job_.models.size());
      row.memory = memory_of(i, threads);
    }
    for (std::size_t i = 0; i < job_.models.size(); ++i) {
      BenchRow& row = result_.rows[first_row + i];
      tell("load", i, job_.models.size());
      const auto start = std::chrono::steady_clock::now();
      try {
        sessions[i] = Session::from_file(job_.models[i], {.optimize = true, .threads = threads});
      } catch (const Error& error) {
        row.error = error.problem();
      }
      row.load_ms = std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start).count();
    }
    prepare_samples(sessions, first_row);
    compare(sessions, first_row);
    time(sessions, first_row);
  }

  // Before this process holds any of the models: both would have to fit.
  MemoryResult memory_of(std::size_t model, unsigned threads) const {
    MemoryJob job;
    job.model = job_.models[model];
    job.data = job_.data;
    job.samples = job_.samples;
    job.synthetic = job_.synthetic;
    job.threads = threads;
    job.seconds = job_.seconds;
    return measure_peak_memory(job);
  }

  // Samples are chosen once, by the first model that loads, and serve every model and thread setting.
  void prepare_samples(const std::vector<std::optional<Session>>& sessions, std::size_t first_row) {
    if (!samples_.empty()) return;
    const auto found =
        std::find_if(sessions.begin(), sessions.end(), [](const auto& session) { return session.has_value(); });
    if (found == sessions.end()) {
      throw Error(ErrorCode::kRun, result_.rows[first_row].model.string(), result_.rows[first_row].error);
    }
    const std::unique_ptr<SampleReader> reader = job_.data ? open_samples(*job_.data, (*found)->inputs(), job_.samples)
                                                           : find_runnable_synthetic(**found, job_.synthetic);
    samples_ = all_of(*reader);
    if (samples_.empty()) throw Error(ErrorCode::kData, "bench", "there are no samples");
    result_.samples_description = reader->description();
    result_.samples = samples_.size();
    load_ = load_of((*found)->inputs(), samples_);
  }

  // Numbers of a model that computes something else would mean nothing, so outputs are compared before time is taken.
  void compare(std::vector<std::optional<Session>>& sessions, std::size_t first_row) {
    std::vector<DriftMeter> meters(sessions.size());
    std::size_t compared = 0;
    for (const Sample& sample : samples_) {
      tell("compare", compared++, samples_.size());
      std::optional<Sample> reference;
      for (std::size_t i = 0; i < sessions.size(); ++i) {
        if (!sessions[i]) continue;
        try {
          Sample outputs = sessions[i]->run(sample);
          if (reference) meters[i].add(*reference, outputs);
          if (i == 0) reference = std::move(outputs);
        } catch (const Error& error) {
          result_.rows[first_row + i].error = error.problem();
          sessions[i].reset();
        }
      }
    }
    for (std::size_t i = 1; i < sessions.size(); ++i) {
      if (!sessions[i] || !sessions[0]) continue;
      result_.rows[first_row + i].drift = meters[i].result();
      result_.rows[first_row + i].worst_sqnr_db = meters[i].worst_sqnr_db();
    }
  }

  void time(const std::vector<std::optional<Session>>& sessions, std::size_t first_row) {
    std::vector<const Session*> timed;
    std::vector<std::size_t> rows;
    for (std::size_t i = 0; i < sessions.size(); ++i) {
      if (!sessions[i]) continue;
      timed.push_back(&*sessions[i]);
      rows.push_back(first_row + i);
    }
    if (timed.empty()) return;
    const InterleaveResult times =
        time_interleaved(timed, samples_,
                         {.warmup = job_.warmup,
                          .runs = runs(),
                          .seconds = job_.seconds * static_cast<double>(timed.size()),
                          .progress = [this](std::size_t rounds) { tell("time", rounds, runs()); }});
    result_.cut_short = result_.cut_short || times.cut_short;
    for (std::size_t i = 0; i < timed.size(); ++i) {
      BenchRow& row = result_.rows[rows[i]];
      row.milliseconds = times.milliseconds[i];
      row.latency = latency_stats(row.milliseconds);
      row.outliers = outliers_in(row.milliseconds, row.latency);
      if (sessions[0] && i != 0) row.speedup = paired_speedup(times.milliseconds[0], row.milliseconds);
      const double per_second = row.latency.median_ms > 0 ? 1000 / row.latency.median_ms : 0;
      row.samples_per_second = load_.items * per_second;
      if (load_.tokens) row.tokens_per_second = *load_.tokens * per_second;
      if (row.speedup) row.verdict = judge(figures(row, result_.rows[first_row]));
    }
  }

  VerdictInput figures(const BenchRow& row, const BenchRow& baseline) const {
    return {.float_bytes = baseline.file_bytes,
            .output_bytes = row.file_bytes,
            .speedup = row.speedup,
            .sqnr_db = row.worst_sqnr_db,
            .synthetic = result_.synthetic,
            .thresholds = job_.thresholds};
  }

  // When nothing is timed any more, since it loads models again.
  void explain_rows() {
    BenchReasons reasons(job_);
    for (std::size_t i = 0; i < result_.rows.size(); ++i) {
      BenchRow& row = result_.rows[i];
      if (!row.verdict) continue;
      const std::size_t model = i % job_.models.size();
      const BenchRow& baseline = result_.rows[i - model];
      row.explanation = reasons.of(model, *row.verdict, figures(row, baseline), baseline.latency.median_ms);
    }
  }

  void profile_rows() {
    for (BenchRow& row : result_.rows) {
      if (row.error.empty())
        row.profile = profile_model(row.model, samples_, {.threads = row.threads, .seconds = job_.seconds});
    }
  }

  const BenchJob& job_;
  BenchResult result_;
  std::size_t setting_ = 0;  // of threads, that is at work
  std::vector<Sample> samples_;
  Load load_;
};

}  // namespace

std::size_t outliers_in(std::span<const double> milliseconds, const LatencyStats& stats) {
  const double limit = stats.median_ms + kOutlierDeviations * stats.mad_ms;
  return static_cast<std::size_t>(
      std::count_if(milliseconds.begin(), milliseconds.end(), [&](double time) { return time > limit; }));
}

BenchResult bench(const BenchJob& job) { return Bench(job).run(); }

nlohmann::json to_json(const BenchResult& result) {
  nlohmann::json rows = nlohmann::json::array();
  for (const BenchRow& row : result.rows) {
    nlohmann::json entry = {{"name", row.model.filename().string()},
                            {"model", row.model.string()},
                            {"threads", row.threads},
                            {"file_bytes", row.file_bytes}};
    if (!row.error.empty()) {
      entry["error"] = row.error;
    } else {
      entry["load_ms"] = row.load_ms;
      if (row.memory.bytes > 0) entry["peak_memory_bytes"] = row.memory.bytes;
      if (!row.memory.why_not.empty()) entry["peak_memory_error"] = row.memory.why_not;
      entry["latency"] = latency_json(row.latency);
      entry["milliseconds"] = row.milliseconds;
      entry["outliers"] = row.outliers;
      entry["samples_per_second"] = row.samples_per_second;
      if (row.tokens_per_second) entry["tokens_per_second"] = *row.tokens_per_second;
      if (row.speedup) entry["speedup"] = speedup_json(*row.speedup);
      if (!row.drift.empty()) {
        entry["drift"] = drift_json(row.drift);
        entry["worst_sqnr_db"] = number_json(row.worst_sqnr_db);
      }
      if (row.profile) entry["profile"] = to_json(*row.profile);
      if (row.verdict) entry["verdict"] = nlohmann::json::parse(verdict_to_json(*row.verdict, row.explanation));
    }
    rows.push_back(std::move(entry));
  }
  return {{"octet_report", "bench"},
          {"octet", OCTET_VERSION},
          {"created", result.created},
          {"runtime", result.runtime},
          {"environment", to_json(result.environment)},
          {"warmup", result.warmup},
          {"runs", result.runs},
          {"thresholds", thresholds_json(result.thresholds)},
          {"synthetic", result.synthetic},
          {"samples_description", result.samples_description},
          {"samples", result.samples},
          {"cut_short", result.cut_short},
          {"rows", std::move(rows)}};
}

}  // namespace octet
