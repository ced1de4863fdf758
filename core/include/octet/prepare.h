// Preparing a model: passes that never change what it computes.
#pragma once

#include <string>
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

// Fills value_info with what onnx's shape inference finds on the skeleton, and says how far it came over the outputs of
// all nodes, subgraphs included.
struct ShapeCoverage {
  int values = 0, typed = 0, ranked = 0, shaped = 0;  // shaped: every dimension a number or a name
  std::string note;                                   // why inference stopped early, if it did
};
ShapeCoverage infer_shapes(Model& model);

// Raises (or lowers) the default domain's opset with onnx's converter. Throws Error(kUnsupported) naming the operator
// that has no conversion.
void convert_opset(Model& model, int version);

// What Octet writes at most: the newest that ONNX Runtime 1.30 loads.
inline constexpr int kMaxOpset = 26;
inline constexpr int kMaxIrVersion = 13;

}  // namespace octet
