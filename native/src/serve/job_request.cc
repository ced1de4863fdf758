#include "serve/job_request.h"

#include <algorithm>
#include <limits>
#include <thread>

#include "engine/measure_json.h"
#include "octet/error.h"
#include "octet/image.h"
#include "serve/guard.h"
#include "serve/request_fields.h"

namespace octet {
namespace {

using nlohmann::json;
namespace fs = std::filesystem;

constexpr std::uint64_t kMostModels = 16, kMostSamples = 10'000, kMostRuns = 100'000, kMostSettings = 16,
                        kMostThreads = 1024;
constexpr std::uint64_t kAnyNumber = std::numeric_limits<std::uint64_t>::max();

std::string name_in(const RequestFields& fields, const char* key, const json& value) {
  if (!value.is_string() || !is_upload_name(value.get_ref<const std::string&>()))
    fields.refuse(key, "must name files that were sent here", "PUT /api/files/NAME sends one");
  return value.get<std::string>();
}

std::vector<std::string> names_in(const RequestFields& fields, const char* key, const json& value, std::uint64_t most) {
  if (!value.is_array() || value.empty() || value.size() > most)
    fields.refuse(key, "must be a list of up to " + std::to_string(most) + " names");
  std::vector<std::string> names;
  for (const json& entry : value) names.push_back(name_in(fields, key, entry));
  return names;
}

// "served", a name, or a list of them.
std::optional<fs::path> samples_path(RequestFields& fields, const char* key, const JobPlaces& places,
                                     const std::optional<fs::path>& served) {
  const json* value = fields.get(key);
  if (value == nullptr) return std::nullopt;
  if (*value == kServed) {
    if (!served) fields.refuse(key, "this server was started without such a folder", "start it with --data or --calib");
    return served;
  }
  if (value->is_array()) {
    names_in(fields, key, *value, kMostSamples);
    return places.gathered;
  }
  return places.uploads / name_in(fields, key, *value);
}

SampleOptions sample_options_of(RequestFields& fields, SampleOptions options) {
  const json* given = fields.get("samples");
  if (given == nullptr) return options;
  RequestFields samples(*given, "samples");
  samples.read("limit", options.limit, 0, kAnyNumber);
  if (const json* seed = samples.get("shuffle")) options.shuffle = samples.whole(*seed, "shuffle", 0, kAnyNumber);
  if (const json* image = samples.get("image")) options.image = image_options_from_json(image->dump());
  samples.close();
  return options;
}

Thresholds thresholds_of(RequestFields& fields) {
  Thresholds limits;
  const json* given = fields.get("thresholds");
  if (given == nullptr) return limits;
  constexpr double kHuge = 1e6;
  RequestFields thresholds(*given, "thresholds");
  thresholds.read("min_sqnr_db", limits.min_sqnr_db, -kHuge, kHuge);
  thresholds.read("min_smaller", limits.min_smaller, 1e-6, kHuge);
  thresholds.read("slower", limits.slower, 1e-6, 1);
  thresholds.read("faster", limits.faster, 1, kHuge);
  thresholds.close();
  return limits;
}

void read_synthetic(RequestFields& fields, SyntheticOptions& options) {
  if (const json* dims = fields.get("dims")) {
    if (!dims->is_object()) fields.refuse("dims", "must be an object of names and sizes");
    for (const auto& [name, size] : dims->items())
      options.dims[name] = static_cast<std::int64_t>(fields.whole(size, "dims." + name, 0, 1 << 30));
  }
  const json* given = fields.get("synthetic");
  if (given == nullptr) return;
  RequestFields synthetic(*given, "synthetic");
  synthetic.read("count", options.count, 1, 1000);
  synthetic.read("seed", options.seed, 0, kAnyNumber);
  synthetic.close();
}

std::vector<unsigned> threads_of(RequestFields& fields) {
  const unsigned all = std::max(1u, std::thread::hardware_concurrency());
  const json* given = fields.get("threads");
  if (given == nullptr) return all > 1 ? std::vector<unsigned>{1, all} : std::vector<unsigned>{1};
  if (!given->is_array() || given->empty() || given->size() > kMostSettings)
    fields.refuse("threads", "must be a list of up to 16 numbers");
  std::vector<unsigned> threads;
  for (const json& entry : *given)
    threads.push_back(static_cast<unsigned>(fields.whole(entry, "threads", 1, kMostThreads)));
  return threads;
}

}  // namespace

json to_json(const JobPlaces& places) {
  json document = {{"uploads", places.uploads.string()}, {"gathered", places.gathered.string()}};
  if (places.data) document["data"] = places.data->string();
  if (places.calib) document["calib"] = places.calib->string();
  return document;
}

JobPlaces job_places_from_json(const json& document) {
  JobPlaces places;
  places.uploads = document.at("uploads").get<std::string>();
  places.gathered = document.at("gathered").get<std::string>();
  if (document.contains("data")) places.data = document.at("data").get<std::string>();
  if (document.contains("calib")) places.calib = document.at("calib").get<std::string>();
  return places;
}

BenchJob bench_job_of(const json& request, const JobPlaces& places) {
  RequestFields fields(request, "");
  BenchJob job;
  const json* models = fields.get("models");
  if (models == nullptr) fields.refuse("models", "is missing", "name files that were sent, the baseline first");
  for (const std::string& name : names_in(fields, "models", *models, kMostModels))
    job.models.push_back(places.uploads / name);
  job.data = samples_path(fields, "data", places, places.data);
  job.samples = sample_options_of(fields, job.samples);
  read_synthetic(fields, job.synthetic);
  if (job.data && !job.synthetic.dims.empty())
    fields.refuse("dims", "are for made-up inputs", "leave dims or data out");
  job.threads = threads_of(fields);
  fields.read("warmup", job.warmup, 0, kMostRuns);
  fields.read("runs", job.runs, 1, kMostRuns);
  fields.read("seconds", job.seconds, 0, 86'400);
  fields.read("memory", job.memory);
  job.thresholds = thresholds_of(fields);
  if (const json* plan = fields.get("plan")) job.plan = plan_from_json(plan->dump());
  fields.read("calibrated_on", job.calibrated_on, 0, kAnyNumber);
  fields.close();
  return job;
}

CalibrateJob calibrate_job_of(const json& request, const JobPlaces& places) {
  RequestFields fields(request, "");
  CalibrateJob job;
  const json* model = fields.get("model");
  if (model == nullptr) fields.refuse("model", "is missing", "name a file that was sent");
  job.model = places.uploads / name_in(fields, "model", *model);
  const auto calib = samples_path(fields, "calib", places, places.calib);
  if (!calib) fields.refuse("calib", "is missing", "name files that were sent, or \"served\"");
  job.calib = *calib;
  job.samples = sample_options_of(fields, job.samples);
  const json* options = fields.get("options");
  job.options = options_from_json(options == nullptr ? "{}" : options->dump(), Target::kWasm);
  job.options.plan_options.mode = Mode::kStatic;
  fields.close();
  return job;
}

NamedFiles files_named(const json& request, const char* samples_key) {
  NamedFiles files;
  if (request.contains("models")) files.models = request.at("models").get<std::vector<std::string>>();
  if (request.contains("model")) files.models = {request.at("model").get<std::string>()};
  const auto samples = request.find(samples_key);
  if (samples == request.end() || samples->is_null() || *samples == kServed) return files;
  files.gather = samples->is_array();
  if (files.gather)
    files.samples = samples->get<std::vector<std::string>>();
  else
    files.samples = {samples->get<std::string>()};
  return files;
}

}  // namespace octet
