// The plan: what becomes of each node and stored tensor, and why. Plain data with a JSON form; the output of apply_plan
// depends on the model and the plan alone.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "octet/model.h"

namespace octet {

enum class Mode { kDynamic, kStatic, kWeights };
enum class Target { kX64, kX64NoVnni, kArm64, kWasm, kAny };
enum class QuantType { kInt4, kUint4, kInt8, kUint8, kInt16, kUint16 };  // of weights and activations
enum class Format { kQdq, kQOperator };                                  // of static integer nodes

// How the range of an activation is read from what calibration saw of it.
enum class RangeMethod {
  kMinMax,      // smallest and largest value
  kAverage,     // mean over the samples of their smallest and largest values
  kEntropy,     // least Kullback-Leibler divergence between the values and their quantized form
  kPercentile,  // leaves out the rarest values at both ends
  kMse,         // least mean squared error of rounding and clipping together
  kBest,        // the one of these with the least measured error, tensor by tensor
};

struct Interval {
  float low = 0, high = 0;
};

// What a node does with its weights.
enum class Action {
  kKeep,     // stays as it is
  kWeights,  // weights stored in few bits, the computation stays in float
  kDynamic,  // computes in integers; activations are quantized while the model runs
  kStatic,   // computes in integers; the ranges of its activations are in the plan
};

// How a node finds its float weights again (Action::kWeights).
enum class Form {
  kNone,
  kFold,        // Cast → Mul: folded when the session starts, costs no speed and saves no memory
  kDequantize,  // DequantizeLinear, which the native runtime fuses with the MatMul behind it
  kBlocks,      // MatMulNBits: 4 or 8 bits in blocks along K
  kGather,      // Gather of the small table, then dequantized: only the rows read
};

struct TensorPlan {
  std::string tensor;  // name, or "NODE/name" where the name alone is not unique
  QuantType type = QuantType::kInt8;
  std::optional<int> axis;    // first axis with a scale per element; none = one scale per tensor
  int axes = 1;               // how many axes from there (2 for LSTM: direction and gate row)
  bool symmetric = true;      // zero point 0 (or the middle of an unsigned type)
  bool reduce_range = false;  // 7 bits, for processors whose 8-bit products saturate
  bool across = false;        // scales along the rows a matrix sums over, not its outputs: the last try before float
  bool transposed = false;    // stored with its two axes swapped (Gemm with transB)
  int block_size = 0;         // for Form::kBlocks
  std::uint64_t bytes = 0;    // of the float tensor; for reports
  int rank = 0;               // of the tensor
};

struct NodePlan {
  std::string node;  // its name when unique, else "OP(first output)"
  std::string op;
  Action action = Action::kKeep;
  Form form = Form::kNone;
  std::vector<std::string> weights;  // ids of the stored float tensors it reads, planned or not
  std::string why;
  // Of static nodes: values read and written in integers, and the Relu or Clip behind it that rounding replaces.
  std::vector<std::string> reads, writes;
  std::string absorbs;
};

// A value between nodes that static nodes read or write in integers. Of the main graph.
struct ActivationPlan {
  std::string tensor;  // the value's name
  QuantType type = QuantType::kUint8;
  bool symmetric = false;
  RangeMethod method = RangeMethod::kMinMax;  // of kBest: the one that won, once there is a range
  double percentile = 99.9;                   // for RangeMethod::kPercentile
  std::optional<Interval> range;              // nothing before calibration; zero always lies inside when it is used
  std::string same_as;                        // has the scale and zero point of this value, which it only carries on
};

struct KeptTensor {
  std::string tensor;
  std::uint64_t bytes = 0;
  std::string why;
};

// The channels of a value (along its last axis) are divided by `factors` on their way to the products named, whose
// weights are multiplied by them: the same product, of values that are easier to hold in few bits.
struct Smoothing {
  std::string value;
  std::vector<std::string> products;  // nodes
  std::vector<float> factors;
};

// Added to what a product gives, channel by channel: what rounding took from it on average.
struct BiasCorrection {
  std::string node;
  std::vector<float> values;
};

class ParamsCache;

struct Plan {
  Mode mode = Mode::kDynamic;
  Target target = Target::kAny;
  std::vector<NodePlan> nodes;              // in graph order
  std::vector<TensorPlan> tensors;          // stored in few bits
  std::vector<ActivationPlan> activations;  // of static nodes
  Format format = Format::kQdq;
  std::vector<KeptTensor> kept;    // float tensors that stay, each with its reason
  std::vector<std::string> notes;  // what the user should know
  bool prepared = false;           // names are those of the prepared model, not only of the normalized one
  // Done to the prepared model before anything else, in this order; names above are those of what comes of it.
  bool equalized = false;  // weight ranges of neighbouring products evened out (equalize_model)
  std::vector<Smoothing> smoothed;
  std::vector<BiasCorrection> corrections;

  // Scales found while planning: spares apply_plan a pass over the weights, never changes its result; not part of the
  // JSON.
  std::shared_ptr<const ParamsCache> cache;
};

struct PlanOptions {
  Mode mode = Mode::kDynamic;
  Target target = Target::kAny;
  QuantType weight_type = QuantType::kInt8;
  std::optional<bool> per_channel;  // default: wherever it is exact for the operator
  bool reduce_range = false;        // implied by Target::kX64NoVnni
  Format format = Format::kQdq;
  QuantType activation_type = QuantType::kUint8;
  bool symmetric_activations = false;
  bool round_outputs = false;  // of MatMul and Gemm also where no integer node reads them, as the Python tool does
  RangeMethod method = RangeMethod::kBest;
  double percentile = 99.9;
  int block_size = 0;  // 0: 32 for 4 bits, none for 8 bits
  // Names of nodes, globs over names (* ?), or op:TYPE. Empty nodes_to_quantize and op_types mean all.
  std::vector<std::string> nodes_to_quantize, nodes_to_exclude, op_types;
  // Asked for by the caller, who decides by what they bring: the planner itself does none of them.
  bool equalize = false, bias_correction = false;
  double smooth_quant = 0;  // 0: none; up to 1: how much of the spread goes from the activations to the weights
  bool prepare = true;      // fold, clean up and fuse first (octet/prepare.h); a plan that is given decides for itself
  unsigned threads = 1;
};

// Called with the work done and the whole, in bytes; throw from it to cancel.
using Progress = std::function<void(std::uint64_t done, std::uint64_t total)>;

// Marks the nodes that the lists name. To be called on the model as loaded, before normalize(), so that the names are
// the user's own. Throws Error(kUsage) for an entry that matches nothing.
void select_nodes(Model& model, const PlanOptions& options);

// Plans a normalized model. Reads each candidate weight once, so that a weight with NaN or infinity is refused here
// (Error(kNonFinite), naming it).
Plan make_plan(Model& model, const PlanOptions& options, const Progress& progress = {});

// Rewrites a normalized model. Quantized weights are made while the model is written, tensor by tensor.
// Throws Error(kUsage) when the plan names what the model does not have.
void apply_plan(Model& model, const Plan& plan);

// What the plan stores, in bytes; `float_bytes` counts every stored float tensor of the normalized model.
struct PlanSizes {
  std::uint64_t float_bytes = 0, planned_bytes = 0, stored_bytes = 0;
};
PlanSizes plan_sizes(Model& model, const Plan& plan);

std::string plan_to_json(const Plan& plan);
Plan plan_from_json(std::string_view json);  // throws Error(kMalformed) naming the field

// Names in the option's spelling, and back (nothing when unknown).
std::string_view name_of(Mode mode);
std::string_view name_of(Target target);
std::string_view name_of(QuantType type);
std::string_view name_of(Action action);
std::string_view name_of(Form form);
std::string_view name_of(RangeMethod method);
std::string_view name_of(Format format);
// Whole types before anyone takes the address of a function below: Clang 14 gives it another signature in WebAssembly
// otherwise, and the call through it traps.
static_assert(sizeof(std::optional<Mode>) > 0);
static_assert(sizeof(std::optional<Target>) > 0);
static_assert(sizeof(std::optional<QuantType>) > 0);
static_assert(sizeof(std::optional<Action>) > 0);
static_assert(sizeof(std::optional<Form>) > 0);
static_assert(sizeof(std::optional<RangeMethod>) > 0);
static_assert(sizeof(std::optional<Format>) > 0);
std::optional<Mode> mode_from(std::string_view name);
std::optional<Target> target_from(std::string_view name);
std::optional<QuantType> quant_type_from(std::string_view name);
std::optional<Action> action_from(std::string_view name);
std::optional<Form> form_from(std::string_view name);
std::optional<Format> format_from(std::string_view name);
std::optional<RangeMethod> range_method_from(std::string_view name);

}  // namespace octet
