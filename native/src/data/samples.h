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
#include "octet/image.h"
#include "octet/samples.h"
#include "octet/synthetic.h"
#include "octet/tensor.h"

namespace octet {

// What to take of a folder or file, and how.
struct SampleOptions {
  std::size_t limit = 0;                      // at most so many; 0: all
  std::optional<std::uint64_t> shuffle = {};  // seed of another order than that of names, before the limit counts
  ImageOptions image = {};                    // how pictures become tensors
  std::size_t shard = 1, shards = 1;          // of those, every shards-th from the shard-th on; counted from 1
};
nlohmann::json to_json(const SampleOptions& options);
SampleOptions sample_options_from_json(const nlohmann::json& document);

// `path`: a .npz (keys are input names; a single-input model accepts any single key), a .npy (single-input models),
// a TensorProto .pb (named, or single input), or a folder of them; also the ONNX test-data layout
// (test_data_set_*/input_*.pb, in input order; output_*.pb are ignored). For models with one input also pictures (.png,
// .jpg, .jpeg, .bmp) and little-endian float32 without a header (.raw, .bin), whose length gives the size that the
// model leaves open, if it is one. Files are taken in name order, folders not entered otherwise; labels.json and other
// file kinds are ignored, pictures where there are arrays, raw numbers where there is either. What samples hold is
// checked by conform_sample.
std::unique_ptr<SampleReader> open_samples(const std::filesystem::path& path, const std::vector<ValueInfo>& inputs,
                                           const SampleOptions& options = {});

// SyntheticInputs as a reader.
std::unique_ptr<SampleReader> make_synthetic(const std::vector<ValueInfo>& inputs, const SyntheticOptions& options);

// The same, with sizes for the unknown dims that `session` runs with: models often accept few. Tries a dozen, for about
// ten seconds; throws Error(kRun) with the runtime's first complaint when none runs.
std::unique_ptr<SampleReader> find_runnable_synthetic(const Session& session, const SyntheticOptions& options);

}  // namespace octet
