#include "cli/model_options.h"

#include <algorithm>
#include <thread>

#include "octet/error.h"

namespace octet {
namespace {

std::pair<std::string, std::string> split_pair(const char* option, const std::string& text) {
  const auto at = text.rfind('=');
  if (at == std::string::npos || at == 0 || at + 1 == text.size())
    throw Error(ErrorCode::kUsage, std::string(option) + " " + text, "expected NAME=VALUE");
  return {text.substr(0, at), text.substr(at + 1)};
}

// Names may hold commas only when they are quoted by nothing: a list is split at every comma, as in the Python tool's
// examples.
std::vector<std::string> split_list(const std::string& text) {
  std::vector<std::string> items;
  std::size_t start = 0;
  while (start <= text.size() && !text.empty()) {
    const auto end = std::min(text.find(',', start), text.size());
    if (end > start) items.push_back(text.substr(start, end - start));
    start = end + 1;
  }
  return items;
}

bool has_input(const ModelFacts& facts, const std::string& name) {
  return std::any_of(facts.inputs.begin(), facts.inputs.end(),
                     [&](const ValueFacts& input) { return input.name == name; });
}

// A symbol in some input's shape, or INPUT:AXIS.
bool has_dimension(const ModelFacts& facts, const std::string& name) {
  const auto colon = name.rfind(':');
  if (colon != std::string::npos && has_input(facts, name.substr(0, colon))) return true;
  return std::any_of(facts.inputs.begin(), facts.inputs.end(), [&](const ValueFacts& input) {
    const auto& symbols = input.symbols;
    return std::find(symbols.begin(), symbols.end(), name) != symbols.end();
  });
}

}  // namespace

void InputOptions::add_to(CLI::App& command) {
  add_to(command, "size of a symbolic dimension for made-up inputs", "value of an input for made-up inputs");
  beside_data = false;
}

void InputOptions::add_to(CLI::App& command, const char* dim_help, const char* fix_help) {
  beside_data = true;
  command.add_option("--data", data,
                     "real samples: .npz, .npy, TensorProto .pb, pictures, raw float32, or a folder of them; without "
                     "it inputs are made up");
  command.add_option("--dim", dims, dim_help)->type_name("NAME=N")->expected(1)->take_all();
  command.add_option("--fix", fixed, fix_help)->type_name("NAME=VALUE")->expected(1)->take_all();
  command.add_option("--seed", seed, "seed of made-up inputs")->capture_default_str();
  samples.add_to(command);
}

void CalibOptions::add_to(CLI::App& command) {
  command.add_option("--calib", calib,
                     "representative samples to learn ranges from: .npz, .npy, TensorProto .pb, pictures, raw float32, "
                     "or a folder of them");
}

void CalibOptions::add_to(CLI::App& command, SampleFlags& flags) {
  add_to(command);
  flags.add_to(command);
}

std::optional<std::filesystem::path> CalibOptions::path() const {
  return calib.empty() ? std::nullopt : std::optional<std::filesystem::path>(calib);
}

std::optional<std::filesystem::path> InputOptions::path() const {
  return data.empty() ? std::nullopt : std::optional<std::filesystem::path>(data);
}

SyntheticOptions InputOptions::synthetic(const ModelFacts& facts) const {
  SyntheticOptions options;
  options.seed = seed;
  options.bounds = facts.index_bounds;
  if (!beside_data && !data.empty() && !(dims.empty() && fixed.empty())) {
    throw Error(ErrorCode::kUsage, "--data", "--dim and --fix are for made-up inputs", "leave one of the two out");
  }
  for (const auto& text : fixed) {
    const auto pair = split_pair("--fix", text);
    if (!has_input(facts, pair.first))
      throw Error(ErrorCode::kUsage, "--fix " + text, "the model has no such input", "octet inspect lists them");
    options.fixed.insert(pair);
  }
  for (const auto& text : dims) {
    const auto [name, value] = split_pair("--dim", text);
    std::size_t used = 0;
    long long size = -1;
    try {
      size = std::stoll(value, &used);
    } catch (const std::exception&) {
    }
    if (used != value.size() || size < 0)
      throw Error(ErrorCode::kUsage, "--dim " + text, "the size must be a whole number from 0");
    if (!has_dimension(facts, name)) {
      throw Error(ErrorCode::kUsage, "--dim " + text, "no input has a dimension of this name",
                  "octet inspect lists them; INPUT:AXIS works too");
    }
    options.dims[name] = size;
  }
  return options;
}

void refuse_clash(const std::filesystem::path& model, const std::filesystem::path& output, bool force) {
  std::error_code ignored;
  if (std::filesystem::equivalent(model, output, ignored))
    throw Error(ErrorCode::kUsage, output.string(), "this is the input itself", "choose another output");
  if (std::filesystem::is_directory(output, ignored))
    throw Error(ErrorCode::kWrite, output.string(), "this is a folder", "name a file");
  if (!force && std::filesystem::exists(output, ignored))
    throw Error(ErrorCode::kWrite, output.string(), "exists already",
                "choose another name, or pass --force to replace it");
}

void QuantizationOptions::add_to(CLI::App& command) {
  command
      .add_option(
          "--mode", mode,
          "dynamic: integer MatMul, Gemm, Attention, LSTM, no data needed · static: integer Conv, MatMul, Gemm and "
          "what "
          "lies between, ranges from --calib · weights: 8-bit storage, float arithmetic · auto: static with --calib or "
          "--ranges, else dynamic")
      ->check(CLI::IsMember({"auto", "dynamic", "static", "weights"}))
      ->capture_default_str();
  command.add_option("--target", target, "where the model will run; sets the defaults")
      ->check(CLI::IsMember({"auto", "x64", "x64-novnni", "arm64", "wasm", "any"}))
      ->capture_default_str();
  command.add_option("--weight-type", weight_type, "type of stored weights; 4 bits for matrices, in blocks")
      ->check(CLI::IsMember({"qint8", "quint8", "qint4", "quint4", "qint16", "quint16"}))
      ->capture_default_str();
  auto* channel =
      command.add_flag("--per-channel", per_channel, "a scale per output channel (the default wherever it is exact)");
  command.add_flag("--per-tensor", per_tensor, "one scale per weight tensor")->excludes(channel);
  command.add_flag("--reduce-range", reduce_range,
                   "7-bit weights, for processors without VNNI whose 8-bit products saturate");
  command.add_option("--format", format, "static: qdq (pairs of Q and DQ around operators) or qoperator")
      ->check(CLI::IsMember({"qdq", "qoperator"}))
      ->capture_default_str();
  command.add_option("--activation-type", activation_type, "static: type of activations; quint8 is the fast one")
      ->check(CLI::IsMember({"quint8", "qint8", "quint16", "qint16"}))
      ->capture_default_str();
  command.add_flag("--symmetric-activations", symmetric_activations, "static: zero in the middle of the range");
  command.add_flag(
      "--round-outputs", round_outputs,
      "static: round what MatMul and Gemm give also where no integer node reads it, as the Python tool does");
  command.add_option("--method", method, "static: how ranges are read from the samples; best picks per tensor")
      ->check(CLI::IsMember({"minmax", "average", "entropy", "percentile", "mse", "best"}))
      ->capture_default_str();
  command.add_option("--percentile", percentile, "static: share of values inside the range, for --method percentile")
      ->capture_default_str();
  command.add_flag("--equalize", equalize,
                   "static: share the spread of weights between a product and the next; kept where it helps");
  command.add_flag("--bias-correction", bias_correction,
                   "static: give back to biases what rounding takes on average, as the samples show");
  command
      .add_option("--smooth-quant", smooth_quant,
                  "static: even out the channels that matrices read (SmoothQuant), 0 to 1; 0.5 is usual")
      ->type_name("ALPHA");
  command.add_flag("--no-prepare", no_prepare, "leave out folding, clean-up and fusion (octet prepare)");
  command
      .add_option("--block-size", block_size, "store matrices in blocks of N along K (MatMulNBits); 32 for 4-bit types")
      ->type_name("N");
  command
      .add_option("--nodes-to-quantize", nodes_to_quantize,
                  "only these nodes: names, globs (* ?), op:TYPE; separated by commas")
      ->type_name("LIST");
  command.add_option("--nodes-to-exclude", nodes_to_exclude, "leave these nodes in float: names, globs, op:TYPE")
      ->type_name("LIST");
  command
      .add_option(
          "--op-types", op_types,
          "only these operator types; naming Conv allows integer convolutions in dynamic mode, and in static mode "
          "types that are not quantized by default")
      ->type_name("LIST");
}

PlanOptions QuantizationOptions::plan_options(bool calibrated) const {
  PlanOptions options;
  options.mode = mode != "auto" ? mode_from(mode).value() : calibrated ? Mode::kStatic : Mode::kDynamic;
  options.format = format_from(format).value();
  options.activation_type = quant_type_from(activation_type).value();
  options.symmetric_activations = symmetric_activations;
  options.round_outputs = round_outputs;
  options.method = range_method_from(method).value();
  options.percentile = percentile;
  options.target = target == "auto" ? this_machine() : target_from(target).value();
  options.weight_type = quant_type_from(weight_type).value();
  if (per_channel) options.per_channel = true;
  if (per_tensor) options.per_channel = false;
  options.reduce_range = reduce_range;
  options.smooth_quant = smooth_quant;
  options.bias_correction = bias_correction;
  options.equalize = equalize;
  options.prepare = !no_prepare;
  options.block_size = block_size;
  options.nodes_to_quantize = split_list(nodes_to_quantize);
  options.nodes_to_exclude = split_list(nodes_to_exclude);
  options.op_types = split_list(op_types);
  options.threads = machine_threads();
  return options;
}

Target this_machine() {
#if defined(__x86_64__)
  const bool vnni = __builtin_cpu_supports("avx512vnni");
  return vnni ? Target::kX64 : Target::kX64NoVnni;
#else
  return Target::kArm64;
#endif
}

unsigned machine_threads() { return std::max(1u, std::thread::hardware_concurrency()); }

}  // namespace octet
