// Options that several commands share.
#pragma once

#include <CLI/CLI.hpp>

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "data/open_model.h"
#include "data/samples.h"
#include "octet/facts.h"
#include "octet/model.h"
#include "octet/plan.h"

namespace octet {

// --limit, --shuffle, --image-…: which samples to take of files, and how. They go for --data and --calib alike.
struct SampleFlags {
  std::size_t limit = 0;
  std::optional<std::uint64_t> shuffle;
  std::string image_recipe, image_size, image_layout, image_mean, image_std, image_order, image_fit;
  std::optional<double> image_scale;

  void add_to(CLI::App& command);
  // What they come to; `usual_limit` is the command's own where --limit is absent, 0: all. Reads the recipe; a flag
  // wins over it. Throws Error(kUsage) or Error(kRead).
  SampleOptions sample_options(std::size_t usual_limit) const;
};

// --data, --dim, --fix, --seed and the flags above: where inputs come from.
struct InputOptions {
  std::string data;
  SampleFlags samples;
  std::vector<std::string> dims, fixed;
  std::uint64_t seed = 1;
  bool beside_data = false;

  void add_to(CLI::App& command);
  // For a command that changes the model itself by --dim and --fix, with what they do there: real samples may then
  // stand beside them, and give the inputs that stay.
  void add_to(CLI::App& command, const char* dim_help, const char* fix_help);
  std::optional<std::filesystem::path> path() const;
  // Throws Error(kUsage) for NAME=VALUE pairs that are none, name nothing of the model, or stand beside real samples.
  SyntheticOptions synthetic(const ModelFacts& facts) const;
};

// --calib: samples to learn ranges from. The flags of samples come from InputOptions where a command has both, and from
// here where it has no --data.
struct CalibOptions {
  std::string calib;

  void add_to(CLI::App& command);                      // beside InputOptions: --calib alone
  void add_to(CLI::App& command, SampleFlags& flags);  // --calib and the flags
  std::optional<std::filesystem::path> path() const;
};

// Throws Error when an output is the input, a folder, or exists without `force`.
void refuse_clash(const std::filesystem::path& model, const std::filesystem::path& output, bool force);

// --mode, --target, --weight-type …: what a plan is made from.
struct QuantizationOptions {
  std::string mode = "auto", target = "auto", weight_type = "qint8";
  std::string format = "qdq", activation_type = "quint8", method = "best";
  double percentile = 99.9;
  bool per_channel = false, per_tensor = false, reduce_range = false, no_prepare = false, symmetric_activations = false;
  bool round_outputs = false;
  int block_size = 0;
  bool equalize = false, bias_correction = false;
  double smooth_quant = 0;
  std::string nodes_to_quantize, nodes_to_exclude, op_types;

  void add_to(CLI::App& command);
  // `calibrated`: there are samples or ranges to calibrate with, which makes static the default.
  PlanOptions plan_options(bool calibrated = false) const;
};

Target this_machine();
unsigned machine_threads();

}  // namespace octet
