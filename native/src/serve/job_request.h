// What a client asks a job to do, read from its JSON: by the server before a job begins, and by the job.
#pragma once

#include <filesystem>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "data/samples.h"
#include "engine/bench.h"
#include "octet/options.h"

namespace octet {

// Where the files are that a request speaks of by names.
struct JobPlaces {
  std::filesystem::path uploads;
  std::filesystem::path gathered;                    // samples in several files
  std::optional<std::filesystem::path> data, calib;  // what "served" means
};

nlohmann::json to_json(const JobPlaces& places);
JobPlaces job_places_from_json(const nlohmann::json& document);

struct CalibrateJob {
  std::filesystem::path model, calib;
  GivenOptions options;
  SampleOptions samples;
};

// Throw Error(kUsage) naming the key that is unknown, missing or holds what it cannot, and what plan_from_json and
// options_from_json throw. Nothing is looked up: names are only joined to places.
BenchJob bench_job_of(const nlohmann::json& request, const JobPlaces& places);
CalibrateJob calibrate_job_of(const nlohmann::json& request, const JobPlaces& places);

// The uploads that a request names: models, and samples apart.
struct NamedFiles {
  std::vector<std::string> models, samples;
  bool gather = false;  // the samples stand in several files
};
NamedFiles files_named(const nlohmann::json& request, const char* samples_key);

}  // namespace octet
