// Preparing a model: passes that never change what it computes.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "octet/model.h"

namespace octet {

// What one pass did.
struct PassReport {
  std::string pass;
  int changes = 0;
  std::vector<std::string> notes;  // what it declined or what the user should know
};

// Brings any exported model into the one form that plans work on: functions inlined, nodes sorted, Constant nodes and
// constant Casts as initializers, Identity and Dropout gone, IR-3 inputs that have initializers removed, unused things
// dropped. Opset 27 is converted down to 26. Throws Error for graphs that are cyclic, unsound or cannot be converted.
std::vector<PassReport> normalize(Model& model);

struct PrepareOptions {
  std::map<std::string, std::string> fixed;  // inputs that become constants: a number, or numbers separated by commas
  std::map<std::string, std::int64_t> dims;  // sizes for dimensions: by symbol, or by INPUT:AXIS
  std::optional<int> opset;                  // convert the standard domain to this version
  bool to_float32 = false;                   // float16 and bfloat16 become float32
  bool keep_widened = false;        // leave folded weights wide for a plan to store anew; written so, a file would grow
  std::vector<std::string> passes;  // only these, in this order; empty: all, until nothing changes
};

// Makes a model easier to quantize and faster to run without changing what it computes: normalize(), then folding,
// clean-up and fusion until nothing changes. A report for every pass that ran. Throws what normalize() throws, and
// Error(kUsage) for options that do not fit the model.
std::vector<PassReport> prepare(Model& model, const PrepareOptions& options = {});

// What plans are made of, and name the tensors of: prepared with folded weights left wide, or only normalized.
std::vector<PassReport> prepare_for_plan(Model& model, bool prepared);

struct PassInfo {
  std::string_view name, summary;
  bool normalizes = false;  // runs in normalize() too
};
std::vector<PassInfo> list_passes();  // in the order they run

// A group of nodes that is one operation, written out: "LayerNormalization", "GELU (erf)", "attention" …
struct BlockInfo {
  std::string kind;
  std::vector<std::string> nodes;  // their ids, in order
  std::string output;              // the value that the block makes
};
// In the order of their last nodes; subgraphs included. No node is in two.
std::vector<BlockInfo> list_blocks(Model& model);

// How far shape inference comes over the outputs of all nodes, subgraphs included. Named dimensions are kept through
// arithmetic: "2*seq + 1" is a shape.
struct ShapeCoverage {
  int values = 0, typed = 0, ranked = 0, shaped = 0;  // shaped: every dimension a number or an expression of names
  std::vector<std::string> missing;                   // the first values without type or rank, with their nodes
  std::vector<std::string> to_probe;                  // those of the main graph, by name: a run would tell
  std::string note;                                   // what onnx's own rules stumbled over first
};

// What a run of the model told of values, by name. True for the inputs of that run: good for a report, never a reason
// to change a graph.
struct ProbedValue {
  int type = 0;
  std::size_t rank = 0;
};
using ProbedValues = std::map<std::string, ProbedValue>;
ShapeCoverage cover_shapes(Model& model, const ProbedValues& probed = {});

// Makes values between nodes outputs of the model too, so that a run shows them. Throws Error(kUsage) for a name that
// the main graph does not have.
void add_outputs(Model& model, const std::vector<std::string>& values);

// Writes what is known of every value between nodes into the model, in place of what it said before.
void describe_values(Model& model);

// Raises (or lowers) the default domain's opset with onnx's converter. Throws Error(kUnsupported) naming the operator
// that has no conversion.
void convert_opset(Model& model, int version);

// What Octet writes at most: the newest that ONNX Runtime 1.30 loads.
inline constexpr int kMaxOpset = 26;
inline constexpr int kMaxIrVersion = 13;

}  // namespace octet
