// Several models timed against each other in one run, after their outputs were compared.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <nlohmann/json.hpp>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "data/samples.h"
#include "engine/environment.h"
#include "engine/peak_memory.h"
#include "engine/profile.h"
#include "octet/measure.h"
#include "octet/plan.h"
#include "octet/verdict.h"

namespace octet {

struct BenchJob {
  std::vector<std::filesystem::path> models;  // the first is what the others are measured against
  std::optional<std::filesystem::path> data;  // none: synthetic samples
  SampleOptions samples = {.limit = 8};       // of the data: all are held and cycled
  SyntheticOptions synthetic;
  std::vector<unsigned> threads = {1};
  std::size_t warmup = 5, runs = 50;
  double seconds = 20;                     // per model and thread setting; after that fewer runs are made, and said
  Thresholds thresholds;                   // of the verdicts
  bool memory = true;                      // measure it, in a process of its own for each model and thread setting
  bool profile = false;                    // of each row, once nothing is timed any more
  std::vector<std::uint64_t> model_bytes;  // with external data; missing or 0: the file's own size
  std::optional<Plan> plan;                // that the second model was made by; of others it is read off the model
  std::size_t calibrated_on = 0;           // samples the second model was; 0: unknown or none
  // Called with "memory", "load", "compare" or "time" and how much of it is done, over all thread settings.
  std::function<void(const char* stage, std::size_t done, std::size_t total)> progress = {};
};

// A run that took longer than the median and this many median absolute deviations is an outlier: the machine was at
// something else. Outliers are counted and said, and left in: median, spread and interval hardly notice a few.
inline constexpr double kOutlierDeviations = 5;
std::size_t outliers_in(std::span<const double> milliseconds, const LatencyStats& stats);

// One model with one thread setting.
struct BenchRow {
  std::filesystem::path model;
  unsigned threads = 1;
  std::string error;  // does not load or run; nothing below but file_bytes is filled then
  std::uint64_t file_bytes = 0;
  MemoryResult memory;  // neither bytes nor why_not: it was not asked for
  double load_ms = 0;
  std::vector<double> milliseconds;
  LatencyStats latency;
  std::size_t outliers = 0;        // of those runs
  std::optional<Speedup> speedup;  // against the first model
  double samples_per_second = 0;   // items of the batch
  std::optional<double> tokens_per_second;
  std::vector<OutputDrift> drift;  // against the first model
  double worst_sqnr_db = kSqnrEqual;
  std::optional<Verdict> verdict;  // from this row's own figures, against the first model
  Explanation explanation;         // of that verdict
  std::optional<Profile> profile;  // where BenchJob asks for it
};

struct BenchResult {
  std::string created;  // when it began: "2026-05-04T03:02:01Z"
  std::string runtime;
  Environment environment;           // before anything was run
  std::size_t warmup = 0, runs = 0;  // of each model, as asked for
  Thresholds thresholds;
  bool synthetic = false;
  std::string samples_description;
  std::size_t samples = 0;
  bool cut_short = false;      // some thread setting ran out of time
  std::vector<BenchRow> rows;  // by thread setting, then in the order of models
};

// Throws Error for options and samples that do not fit the first model that loads, in an emulator (kUsage), and when no
// model loads (kRun).
BenchResult bench(const BenchJob& job);

// The key "octet_report" with "bench" is what it is known by.
nlohmann::json to_json(const BenchResult& result);

}  // namespace octet
