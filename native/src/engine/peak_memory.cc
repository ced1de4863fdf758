#include "engine/peak_memory.h"

#include <chrono>
#include <memory>

#include "engine/child_json.h"
#include "engine/engine.h"
#include "engine/process_memory.h"
#include "octet/error.h"

namespace octet {
namespace {

using nlohmann::json;

json job_json(const MemoryJob& job) {
  json document = {{"model", job.model.string()},
                   {"samples", to_json(job.samples)},
                   {"synthetic", to_json(job.synthetic)},
                   {"threads", job.threads},
                   {"seconds", job.seconds}};
  if (job.data) document["data"] = job.data->string();
  return document;
}

MemoryJob job_from_json(const json& document) {
  MemoryJob job;
  job.model = document.at("model").get<std::string>();
  job.samples = sample_options_from_json(document.at("samples"));
  job.synthetic = synthetic_from_json(document.at("synthetic"));
  document.at("threads").get_to(job.threads);
  document.at("seconds").get_to(job.seconds);
  if (document.contains("data")) job.data = document.at("data").get<std::string>();
  return job;
}

std::uint64_t peak_of(const MemoryJob& job) {
  const auto start = std::chrono::steady_clock::now();
  const Session session = Session::from_file(job.model, {.optimize = true, .threads = job.threads});
  const std::unique_ptr<SampleReader> samples = job.data ? open_samples(*job.data, session.inputs(), job.samples)
                                                         : find_runnable_synthetic(session, job.synthetic);
  while (const std::optional<Sample> sample = samples->next()) {
    session.time_run(*sample);  // copies no outputs
    if (std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count() > job.seconds) break;
  }
  return own_peak_bytes();
}

}  // namespace

MemoryResult measure_peak_memory(const MemoryJob& job, double timeout_seconds,
                                 const std::filesystem::path& executable) {
  const ChildAnswer answer = ask_child(kMemoryCommand, job_json(job), {"running the model", "the measuring process"},
                                       timeout_seconds, executable);
  if (answer.error) return {0, answer.error->problem()};
  if (!answer.result) return {0, answer.why_not};
  const auto bytes = answer.result->get<std::uint64_t>();
  return {bytes, bytes == 0 ? "the system does not say" : ""};
}

int memory_child_main() {
  return answer_parent("memory", [](const json& job) { return json(peak_of(job_from_json(job))); });
}

}  // namespace octet
