// Static nodes in either format. QDQ:
//   y = Conv(x, w, b)  →  y = DQ(Q(Conv(DQ(Q(x)), DQ(w'), DQ(b'))))
// QOperator, with Q and DQ only where floats begin and end:
//   y = Conv(x, w, b)  →  y' = QLinearConv(Q(x), w', b')
#pragma once

#include "quantize/static_product.h"
#include "quantize/static_rules.h"

namespace octet {

class StaticRewrite {
 public:
  StaticRewrite(Rewriter& rewriter, const Plan& plan);

  // Throws Error(kUsage) when the node cannot do what the plan says.
  void check(const NodeAt& at, const NodePlan& plan) const;
  // Looks at all static nodes before the first is rewritten.
  void prepare(const std::vector<NodeAt>& nodes);
  void rewrite(const NodeAt& at, const NodePlan& plan);

 private:
  // How one node's first output goes on.
  struct Output {
    std::string value;                 // in integers under this name; "": stays float
    onnx::NodeProto* clamp = nullptr;  // stands behind the node and is taken away
  };
  Output output_of(const NodeAt& at, const NodePlan& plan) const;
  bool clamp_is_exact(onnx::NodeProto& clamp, const std::string& value);
  void settle_clamp(const NodeAt& at, Output& output);

  void rewrite_qdq(const NodeAt& at, const NodePlan& plan, const StaticRule& rule);
  void product_qdq(const NodeAt& at, Output& output);
  void write_rounded(onnx::NodeProto& node, int index, const std::string& value);
  // A bias that is no vector, added in float behind the node's product, and what comes after it.
  void add_behind(const NodeAt& at, const std::string& product, const std::string& bias, const Output& output);
  std::string dequantized_constant(const NodeAt& at, int input, const NodePlan& plan);

  bool has_operator(const NodeAt& at, const NodePlan& plan, const StaticRule& rule) const;
  void rewrite_qoperator(const NodeAt& at, const NodePlan& plan, const StaticRule& rule);
  void product_qoperator(const NodeAt& at, const Output& output);
  void carry_qoperator(const NodeAt& at, const NodePlan& plan);
  void compute_qoperator(const NodeAt& at, const NodePlan& plan, const StaticRule& rule, const Output& output);
  // {integers, scale, zero point} of an input.
  std::vector<std::string> operand(const NodeAt& at, int input, const NodePlan& plan);

  Rewriter& rewriter_;
  const Plan& plan_;
  StaticValues values_;
};

}  // namespace octet
