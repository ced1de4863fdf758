// Samples for calibration, verification and timing: real ones from files, or synthetic ones made from the model's
// inputs.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "engine/engine.h"
#include "octet/synthetic.h"
#include "octet/tensor.h"

namespace octet {

// Streams samples, one at a time. Throws Error(kData) naming the file, the input, what was found and what is wanted.
class SampleReader {
 public:
  virtual ~SampleReader() = default;
  virtual std::optional<Sample> next() = 0;  // nothing at the end
  virtual void rewind() = 0;
  virtual std::size_t size() const = 0;
  virtual std::string name() const { return {}; }  // of the sample last given, where it has one: its file's
  virtual std::string description() const { return {}; }  // for reports: where the samples come from
};

// `path`: a .npz (keys are input names; a single-input model accepts any single key), a .npy (single-input models),
// a TensorProto .pb (named, or single input), or a folder of them; also the ONNX test-data layout
// (test_data_set_*/input_*.pb, in input order; output_*.pb are ignored). Files are taken in name order, folders not
// entered otherwise; labels.json and other file kinds are ignored. Types must be equal or losslessly convertible (int32
// to int64, float64 to float32 …); ranks and fixed dims must match.
std::unique_ptr<SampleReader> open_samples(const std::filesystem::path& path, const std::vector<ValueInfo>& inputs);

// SyntheticInputs as a reader.
std::unique_ptr<SampleReader> make_synthetic(const std::vector<ValueInfo>& inputs, const SyntheticOptions& options);

// The same, with sizes for the unknown dims that `session` runs with: models often accept few. Tries a dozen, for about
// ten seconds; throws Error(kRun) with the runtime's first complaint when none runs.
std::unique_ptr<SampleReader> find_runnable_synthetic(const Session& session, const SyntheticOptions& options);

}  // namespace octet
