#include "engine/layers.h"

#include <future>

#include "data/mapped_file.h"
#include "engine/engine.h"
#include "engine/model_session.h"
#include "octet/error.h"

namespace octet {
namespace {

Model open(const std::filesystem::path& path) {
  return load_model(open_file(path), path.filename().string(), external_beside(path));
}

Sample run_one(const Session& session, const Sample& sample, const std::vector<std::string>& taps,
               const SampleReader& reader) {
  if (taps.empty()) return {};
  try {
    return session.run(sample, taps);
  } catch (const Error& fault) {
    throw Error(fault.code(), reader.name().empty() ? fault.where() : reader.name(), fault.problem(), fault.next());
  }
}

template <class Tell>
void run_slice(LayerSteps& steps, std::size_t slice, SampleReader& reader, const EngineOptions& options,
               const Tell& tell) {
  const LayerSlice& taps = steps.slices()[slice];
  const Session reference = open_session(steps.reference_model(slice), options),
                candidate = open_session(steps.candidate_model(slice), options);
  reader.rewind();
  std::size_t done = 0;
  while (const auto sample = reader.next()) {
    auto other = std::async(std::launch::async, [&] { return run_one(candidate, *sample, taps.candidate, reader); });
    const Sample floats = run_one(reference, *sample, taps.reference, reader), values = other.get();
    steps.add(slice, *sample, floats, values);
    tell(static_cast<double>(++done) / static_cast<double>(reader.size()));
  }
}

}  // namespace

LayersResult compare_layers(const LayersJob& job) {
  LayerSteps steps([&] { return open(job.reference); }, open(job.candidate));
  const EngineOptions options{.optimize = false, .threads = job.threads};
  std::unique_ptr<SampleReader> reader;
  {
    const Session plain = Session::from_file(job.reference, options);
    reader =
        job.data ? open_samples(*job.data, plain.inputs(), job.samples) : find_runnable_synthetic(plain, job.synthetic);
  }
  const auto sample = reader->next();
  if (!sample) throw Error(ErrorCode::kData, "compare", "there are no samples");
  const std::size_t count = steps.cut(*sample, job.memory_budget).size();
  for (std::size_t i = 0; i < count; ++i) {
    run_slice(steps, i, *reader, options, [&](double part) {
      if (job.progress) job.progress((static_cast<double>(i) + part) / static_cast<double>(count));
    });
  }
  LayersResult result = steps.result();
  result.samples = reader->size();
  result.samples_description = reader->description();
  return result;
}

}  // namespace octet
