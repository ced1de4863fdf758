// Samples for calibration, verification and timing: real ones from files, or synthetic ones made from the model's
// inputs.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "engine/engine.h"
#include "octet/sample_files.h"
#include "octet/samples.h"
#include "octet/synthetic.h"
#include "octet/tensor.h"

namespace octet {

nlohmann::json to_json(const SampleOptions& options);
SampleOptions sample_options_from_json(const nlohmann::json& document);

// `path`: a file or a folder of files that SampleFiles groups and reads. Throws as that does, and Error(kRead) naming
// the file that cannot be read.
std::unique_ptr<SampleReader> open_samples(const std::filesystem::path& path, const std::vector<ValueInfo>& inputs,
                                           const SampleOptions& options = {});

// SyntheticInputs as a reader.
std::unique_ptr<SampleReader> make_synthetic(const std::vector<ValueInfo>& inputs, const SyntheticOptions& options);

// The same, with sizes for the unknown dims that `session` runs with: models often accept few. Tries a dozen, for about
// ten seconds; throws Error(kRun) with the runtime's first complaint when none runs.
std::unique_ptr<SampleReader> find_runnable_synthetic(const Session& session, const SyntheticOptions& options);

}  // namespace octet
