// The values between static nodes while a model is rewritten: their parameters, and their integer and float forms, each
// made once.
#pragma once

#include <memory>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "quantize/rewriter.h"

namespace octet {

// A scale and zero point with the names of the tensors that hold them.
struct StoredParams {
  float scale = 1;
  std::int32_t zero_point = 0;
  std::string scale_name, zero_point_name;
};

class StaticValues {
 public:
  // Throws Error(kUsage) for a plan whose activations lack a range or are none of the model's.
  StaticValues(Rewriter& rewriter, const Plan& plan);

  // Null when the value is not planned in integers.
  const ActivationPlan* plan_of(const std::string& value) const;
  const StoredParams& params(const std::string& value);
  // Whether one only carries the other's elements on.
  bool share_params(const std::string& one, const std::string& other) const;

  // Q and DQ of a value that `producer` made in float under the name `raw`; whoever reads the value reads it rounded.
  void round_output(const onnx::NodeProto* producer, const std::string& raw, const std::string& value);
  // The value as `producer` made it in integers under integers_of(value), in float again for whoever wants that.
  void restore_output(const onnx::NodeProto* producer, const std::string& value);

  // What a static node reads: the value in integers, or those in float again.
  const std::string& integers_of(const std::string& value);
  const std::string& rounded(const std::string& value);

  // A stored operand of a node that is no weight of its own: in integers of the activation type.
  struct Constant {
    std::string data;
    StoredParams params;
  };
  Constant constant(const NodeAt& at, int input, const ActivationPlan& like);

  // QuantizeLinear or DequantizeLinear in the domain that has it for this opset and these types.
  void place(onnx::NodeProto& node, bool per_axis, int bits) const;

 private:
  struct Entry {
    const ActivationPlan* plan = nullptr;
    StoredParams params;
    std::string integers, rounded;
    bool made_here = false;  // by a static node
  };
  Entry& entry(const std::string& value);
  const Entry& entry(const std::string& value) const { return const_cast<StaticValues*>(this)->entry(value); }
  const Entry& root_of(const Entry& entry) const;
  void quantize_float(const std::string& value, Entry& entry);
  bool tempts_runtime(const Value& value) const;

  Rewriter& rewriter_;
  std::unordered_map<std::string, Entry> entries_;
};

// Scale and zero point of an activation with this range.
void activation_params(const ActivationPlan& plan, Interval range, float& scale, std::int32_t& zero_point);

}  // namespace octet
