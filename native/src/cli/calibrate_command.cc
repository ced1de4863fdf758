// octet calibrate: learns the ranges of what flows between a model's nodes, once, for any number of static plans; in
// parts on several machines if need be.
#include <fmt/format.h>

#include <charconv>
#include <chrono>
#include <iostream>
#include <nlohmann/json.hpp>

#include "cli/commands.h"
#include "cli/model_options.h"
#include "cli/terminal.h"
#include "cli/text_file.h"
#include "engine/calibrate.h"
#include "engine/json_text.h"
#include "engine/process_memory.h"
#include "octet/error.h"
#include "octet/quantizer.h"

namespace octet {
namespace {

using Json = nlohmann::ordered_json;

struct CalibrateOptions {
  std::string model, output, shard;
  std::vector<std::string> merge;
  CalibOptions calib;
  SampleFlags samples;
  std::uint64_t memory_budget = CalibrationOptions{}.memory_budget >> 20;
  bool no_prepare = false, no_observe = false, force = false, json = false;
};

// "2/8": the second of eight.
void read_shard(const std::string& text, SampleOptions& options) {
  if (text.empty()) return;
  const auto number = [](std::string_view digits) {
    std::size_t value = 0;
    const auto [end, fault] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
    return fault == std::errc() && end == digits.data() + digits.size() ? value : 0;
  };
  const std::size_t slash = std::min(text.find('/'), text.size());
  options.shard = number(std::string_view(text).substr(0, slash));
  options.shards = number(std::string_view(text).substr(std::min(slash + 1, text.size())));
  if (options.shard == 0 || options.shards == 0 || options.shard > options.shards)
    throw Error(ErrorCode::kUsage, "--shard " + text, "expected I/N with I from 1 to N", "for example --shard 1/4");
}

void check_combination(const CalibrateOptions& options) {
  const auto refuse = [](const char* where, const char* what, const char* next) {
    throw Error(ErrorCode::kUsage, where, what, next);
  };
  if (options.merge.empty()) {
    if (options.model.empty() || !options.calib.path())
      refuse("calibrate", "it needs a MODEL and samples", "octet calibrate MODEL --calib DATA -o RANGES.json");
    return;
  }
  if (options.calib.path() || !options.shard.empty())
    refuse("--merge", "it adds up ranges that are there already", "calibrate first, then merge what that wrote");
}

Quantizer prepared(const CalibrateOptions& options) {
  PlanOptions plan;
  plan.mode = Mode::kStatic;
  plan.target = this_machine();
  plan.prepare = !options.no_prepare;
  plan.threads = machine_threads();
  return {open_model(options.model), plan};
}

Json facts_of(const Ranges& ranges) {
  return {{"octet", OCTET_VERSION},
          {"samples", ranges.samples},
          {"values", ranges.tensors.size()},
          {"model", ranges.model}};
}

void merge(const CalibrateOptions& options) {
  Ranges ranges;
  for (const auto& path : options.merge) {
    try {
      ranges.merge(read_ranges_file(path));
    } catch (const Error& fault) {
      throw Error(fault.code(), path, fault.problem(), fault.next());
    }
  }
  if (!options.model.empty() && fingerprint_of(prepared(options).model()) != ranges.model) {
    throw Error(ErrorCode::kUsage, options.merge.front(),
                "these ranges were learned from another model than " + options.model,
                "calibrate this one, with the same --no-prepare or without it");
  }
  write_text_file(options.output, ranges_to_json(ranges) + "\n", options.force);
  if (options.json) {
    std::cout << facts_of(ranges).dump(1) << "\n";
    return;
  }
  std::cout << fmt::format("{} files → {}\nranges of {} values, {} samples\n", options.merge.size(), options.output,
                           ranges.tensors.size(), ranges.samples);
  if (const std::string hint = few_samples_hint(ranges.samples); !hint.empty()) std::cout << hint << "\n";
}

void calibrate(const CalibrateOptions& options) {
  SampleOptions sample_options = options.samples.sample_options(0);
  read_shard(options.shard, sample_options);
  const auto start = std::chrono::steady_clock::now();
  const Quantizer quantizer = prepared(options);
  const auto samples = open_samples(*options.calib.path(), inputs_of(quantizer.model()), sample_options);
  CalibrationOptions calibration;
  calibration.memory_budget = options.memory_budget << 20;
  calibration.observe = !options.no_observe;
  calibration.progress = [](double fraction) { Terminal::progress("calibrating", fraction); };
  const Calibration result = run_calibration(quantizer.model(), quantizer.taps(true), *samples, calibration);
  Terminal::clear_progress();
  write_text_file(options.output, ranges_to_json(result.ranges) + "\n", options.force);
  const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  // Of a part, only the whole can tell whether it is enough.
  const std::string hint = sample_options.shards > 1 ? "" : few_samples_hint(result.ranges.samples);
  if (options.json) {
    Json json = facts_of(result.ranges);
    json["source"] = samples->description();
    json["runtime"] = runtime_version();
    json["segments"] = result.segments;
    json["samples_at_once"] = result.side_by_side;
    json["seconds"] = seconds;
    json["run_seconds"] = result.run_seconds;
    json["observe_seconds"] = result.observe_seconds;
    json["peak_bytes"] = own_peak_bytes();
    json["notes"] = result.notes;
    std::cout << json_text(json, 1) << "\n";
    return;
  }
  std::cout << fmt::format("{} → {}\nranges of {} values, {}\n", options.model, options.output,
                           result.ranges.tensors.size(), samples->description());
  std::cout << fmt::format("calibrated in {:.1f} s with {} by ONNX Runtime {}{}\n", seconds,
                           format_bytes(own_peak_bytes()), runtime_version(),
                           result.segments > 1 ? fmt::format(", the model in {} segments", result.segments) : "");
  for (const auto& note : result.notes) std::cout << note << "\n";
  if (!hint.empty()) std::cout << hint << "\n";
}

void run(const CalibrateOptions& options) {
  check_combination(options);
  for (const auto& path : options.merge) refuse_clash(path, options.output, options.force);
  refuse_clash(options.model, options.output, options.force);
  options.merge.empty() ? calibrate(options) : merge(options);
}

}  // namespace

void add_calibrate_command(CLI::App& app) {
  auto options = std::make_shared<CalibrateOptions>();
  auto* command =
      app.add_subcommand("calibrate", "Learn the ranges of what flows through a model, for static quantization");
  command->add_option("MODEL", options->model, "the float model (.onnx)");
  command->add_option("-o,--output", options->output, "where the ranges go (.json)")->required();
  options->calib.add_to(*command, options->samples);
  command->add_option("--shard", options->shard, "take every N-th sample from the I-th on; parts are merged later")
      ->type_name("I/N");
  command->add_option("--merge", options->merge, "add up ranges instead: the same as one run over all their samples")
      ->type_name("R1 R2 …");
  command->add_option("--memory-budget", options->memory_budget, "megabytes of observed values held at once")
      ->type_name("MB")
      ->check(CLI::Range(1, 1 << 20))
      ->capture_default_str();
  command->add_flag("--no-prepare", options->no_prepare, "of the model as exported, for quantize --no-prepare");
  command->add_flag("--no-observe", options->no_observe, "run without observing, to time the rest")->group("");
  command->add_flag("--force", options->force, "replace an existing output");
  command->add_flag("--json", options->json, "report as JSON");
  command->callback([options] { run(*options); });
}

}  // namespace octet
