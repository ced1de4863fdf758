#include "engine/verify.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <future>

#include "data/labels_file.h"
#include "engine/engine.h"
#include "engine/interleave.h"
#include "engine/probe.h"
#include "engine/process_memory.h"
#include "octet/error.h"

namespace octet {
namespace {

namespace fs = std::filesystem;

// Weights stand in memory as the runtime's copy, as its rearranged copy for fast kernels, and once more while loading.
constexpr std::uint64_t kMemoryFactor = 3;
constexpr std::size_t kTimedSamples = 4;

// A session, or why there is none.
struct Loaded {
  std::optional<Session> session;
  std::string error;
};

Loaded load(const fs::path& path, bool optimize, unsigned threads, const fs::path& optimized_file = {}) {
  try {
    const EngineOptions options{.optimize = optimize, .threads = threads, .optimized_file = optimized_file};
    return {Session::from_file(path, options), {}};
  } catch (const Error& error) {
    return {std::nullopt, error.problem()};
  }
}

struct Sessions {
  Loaded reference;  // float, plain
  Loaded baseline;   // float, optimized; only where time is measured
  Loaded candidate;  // optimized
  Loaded plain;      // the candidate, plain
};

// Loading is one thread's work per model, so two of them load side by side.
Sessions load_all(const VerifyJob& job) {
  Sessions sessions;
  auto other = std::async(std::launch::async, [&] {
    sessions.reference = load(job.float_model, false, job.threads);
    sessions.plain = load(job.candidate, false, job.threads);
  });
  sessions.candidate = load(job.candidate, true, job.threads, job.integers ? optimized_beside(job.candidate) : "");
  if (job.latency_seconds > 0) sessions.baseline = load(job.float_model, true, job.threads);
  other.get();
  return sessions;
}

// Empty when both models fit memory.
std::string memory_complaint(const VerifyJob& job) {
  const auto bytes_of = [](std::uint64_t given, const fs::path& path) -> std::uint64_t {
    std::error_code fault;
    const std::uintmax_t size = fs::file_size(path, fault);
    return given != 0 ? given : (fault ? 0 : size);
  };
  const std::uint64_t needed =
      kMemoryFactor * (bytes_of(job.float_bytes, job.float_model) + bytes_of(job.candidate_bytes, job.candidate));
  const std::uint64_t available = job.memory_limit != 0 ? job.memory_limit : available_memory_bytes();
  if (available == 0 || needed <= available) return {};
  constexpr double kMegabyte = 1e6;
  return fmt::format("running both models takes about {:.0f} MB of memory and {:.0f} MB are left",
                     static_cast<double>(needed) / kMegabyte, static_cast<double>(available) / kMegabyte);
}

std::optional<Sample> try_run(const Session& session, const Sample& sample, std::string& error) {
  try {
    return session.run(sample);
  } catch (const Error& fault) {
    error = fault.problem();
    return std::nullopt;
  }
}

struct Meters {
  DriftMeter drift, consistency;
  std::optional<AccuracyMeter> accuracy;  // none for made-up samples
};

// Runs one sample through all sessions and adds it to the meters. False when a model failed; `result` then says which.
bool measure_sample(const Sessions& sessions, const Sample& sample, const SampleReader& reader, bool& compare_plain,
                    Meters& meters, VerifyResult& result) {
  std::string float_error, error, plain_error;
  std::optional<Sample> reference, plain;
  auto other = std::async(std::launch::async, [&] {
    reference = try_run(*sessions.reference.session, sample, float_error);
    if (compare_plain) plain = try_run(*sessions.plain.session, sample, plain_error);
  });
  const std::optional<Sample> candidate = try_run(*sessions.candidate.session, sample, error);
  other.get();
  if (!reference) {
    result.verified = false;
    result.why = fmt::format("the float model does not run with {}: {}", reader.description(), float_error);
    return false;
  }
  result.verified = true;
  if (!candidate) {
    result.runs = false;
    result.error = error;
    return false;
  }
  result.runs = true;
  meters.drift.add(*reference, *candidate);
  if (meters.accuracy) meters.accuracy->add(reader.place(), reader.name(), *reference, *candidate);
  if (compare_plain && !plain) {
    result.plain_error = plain_error;
    compare_plain = false;
  }
  if (plain) meters.consistency.add(*plain, *candidate);
  ++result.samples;
  return true;
}

void measure_latency(const Sessions& sessions, const std::vector<Sample>& samples, double seconds,
                     VerifyResult& result) {
  if (!sessions.baseline.session || samples.empty()) return;
  const std::vector<const Session*> pair{&*sessions.baseline.session, &*sessions.candidate.session};
  try {
    // Ten rounds settle a median; quick models get more, since they are over before the clock is steady.
    InterleaveResult times = time_interleaved(pair, samples, {.warmup = 2, .runs = 10, .seconds = seconds});
    if (!times.cut_short) {
      const InterleaveResult more =
          time_interleaved(pair, samples, {.warmup = 0, .runs = 90, .seconds = std::min(seconds, 0.15)});
      for (std::size_t i = 0; i < pair.size(); ++i) {
        times.milliseconds[i].insert(times.milliseconds[i].end(), more.milliseconds[i].begin(),
                                     more.milliseconds[i].end());
      }
    }
    result.latency = VerifyResult::Latency{latency_stats(times.milliseconds[0]), latency_stats(times.milliseconds[1]),
                                           paired_speedup(times.milliseconds[0], times.milliseconds[1])};
  } catch (const Error& error) {
    result.why = "not timed: " + error.problem();
  }
}

void measure(const VerifyJob& job, const Sessions& sessions, SampleReader& reader, VerifyResult& result) {
  const auto start = std::chrono::steady_clock::now();
  Meters meters;
  if (job.data) meters.accuracy = labels_beside(*job.data);
  bool compare_plain = sessions.plain.session.has_value();
  std::vector<Sample> timed;
  while (std::optional<Sample> sample = reader.next()) {
    if (!measure_sample(sessions, *sample, reader, compare_plain, meters, result)) return;
    if (result.samples == 1) result.probed = probe_values(job.candidate, job.probe, *sample);
    if (timed.size() < kTimedSamples) timed.push_back(std::move(*sample));
    if (std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count() > job.sample_seconds) break;
  }
  if (result.samples < reader.size()) {
    result.samples_description += fmt::format(" (the first {} of them)", result.samples);
  }
  result.drift = meters.drift.result();
  result.worst_sqnr_db = meters.drift.worst_sqnr_db();
  if (meters.accuracy) {
    result.accuracy = meters.accuracy->result();
    result.accuracy_why_not = meters.accuracy->why_not();
  }
  result.finite =
      std::all_of(result.drift.begin(), result.drift.end(), [](const auto& output) { return output.finite; });
  if (compare_plain) {
    result.consistency = meters.consistency.result();
    result.consistency_sqnr_db = meters.consistency.worst_sqnr_db();
  }
  if (job.latency_seconds > 0) measure_latency(sessions, timed, job.latency_seconds, result);
}

// Real samples for some inputs, one made-up value for those that are fixed.
class FixedBeside final : public SampleReader {
 public:
  FixedBeside(std::unique_ptr<SampleReader> samples, Sample fixed)
      : samples_(std::move(samples)), fixed_(std::move(fixed)) {}
  std::optional<Sample> next() override {
    auto sample = samples_->next();
    if (sample) sample->insert(fixed_.begin(), fixed_.end());
    return sample;
  }
  void rewind() override { samples_->rewind(); }
  std::size_t size() const override { return samples_->size(); }
  std::string name() const override { return samples_->name(); }
  std::size_t place() const override { return samples_->place(); }
  std::string description() const override { return samples_->description(); }

 private:
  std::unique_ptr<SampleReader> samples_;
  Sample fixed_;
};

std::unique_ptr<SampleReader> samples_for(const VerifyJob& job, const Session& reference) {
  if (job.data) {
    std::vector<ValueInfo> read, fixed;
    for (const ValueInfo& input : reference.inputs())
      (job.synthetic.fixed.contains(input.name) ? fixed : read).push_back(input);
    auto samples = open_samples(*job.data, read, job.samples);
    if (fixed.empty()) return samples;
    SyntheticOptions options = job.synthetic;
    options.dims.clear();  // of other inputs
    return std::make_unique<FixedBeside>(std::move(samples), SyntheticInputs(fixed, options, std::nullopt).sample(0));
  }
  return find_runnable_synthetic(reference, job.synthetic);
}

void verify_into(const VerifyJob& job, VerifyResult& result) {
  result.synthetic = !job.data.has_value();
  if (result.why = memory_complaint(job); !result.why.empty()) return;
  try {
    result.runtime = runtime_version();
  } catch (const Error& error) {
    result.why = error.what();
    return;
  }
  const Sessions sessions = load_all(job);
  if (job.integers && sessions.candidate.session) {
    try {
      result.integers = integer_share(optimized_beside(job.candidate));
    } catch (const Error& error) {
      result.why = "which operators run in integers is not known: " + error.problem();
    }
    remove_optimized(job);
  }
  result.loads = sessions.candidate.session.has_value();
  result.error = sessions.candidate.error;
  result.plain_error = sessions.plain.error;
  if (!sessions.reference.session) {
    result.why = "the float model does not load: " + sessions.reference.error;
    return;
  }
  if (!result.loads) {
    result.verified = true;  // that it does not load is certain
    return;
  }
  std::unique_ptr<SampleReader> reader;
  try {
    reader = samples_for(job, *sessions.reference.session);
  } catch (const Error& error) {
    if (job.data || error.code() == ErrorCode::kUsage) throw;
    result.why = error.problem() + (error.next().empty() ? "" : "; " + error.next());
    return;
  }
  result.samples_description = reader->description();
  measure(job, sessions, *reader, result);
}

}  // namespace

fs::path optimized_beside(const fs::path& model) { return model.string() + ".optimized"; }

void remove_optimized(const VerifyJob& job) {
  std::error_code ignored;
  if (job.integers) fs::remove(optimized_beside(job.candidate), ignored);
}

VerifyResult verify(const VerifyJob& job) {
  const auto start = std::chrono::steady_clock::now();
  VerifyResult result;
  verify_into(job, result);
  result.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  result.peak_bytes = own_peak_bytes();
  return result;
}

}  // namespace octet
