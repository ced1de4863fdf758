// Which nodes compute in integers in static mode, and which values between them need a range.
#pragma once

#include <functional>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "octet/plan.h"
#include "prepare/shapes.h"
#include "quantize/static_rules.h"

namespace octet {

// What static mode makes of one node.
struct StaticNode {
  const StaticRule* rule = nullptr;
  std::vector<const Value*> reads, writes;   // values in integers
  const onnx::NodeProto* absorbs = nullptr;  // the clamp behind it, whose output it writes
};

class StaticPlanner {
 public:
  // `why_not`: why a node's weight cannot be had in integers, "" when it can; asked for products only. `blocked`: by
  // the user's lists.
  using WhyNot = std::function<std::string(const NodeAt&)>;
  using Blocked = std::function<bool(const NodeAt&)>;
  StaticPlanner(const Model& model, const GraphView& view, const PlanOptions& options, const Blocked& blocked,
                const WhyNot& why_not);

  // By node; what is not in it stays as it is without static mode.
  const std::map<const onnx::NodeProto*, StaticNode>& nodes() const { return nodes_; }
  // Why a node with a static form has not become one; "" when there is nothing to say.
  std::string why_not(const onnx::NodeProto& node) const;
  // Every value in integers, producers first.
  std::vector<ActivationPlan> activations() const;

 private:
  bool is_activation(const Value* value) const;
  std::vector<const Value*> read_by(const NodeAt& at, const StaticRule& rule) const;
  std::string refusal(const NodeAt& at, const StaticRule& rule) const;
  void find_blocks_to_spare();
  void choose_products();
  void grow_chains();
  bool fed(const Value* value, const std::set<const onnx::NodeProto*>& chain) const;
  bool leads_on(const Value& value, const std::set<const onnx::NodeProto*>& chain, int depth = 0) const;
  bool carries(const NodeAt& at) const;
  void add(const NodeAt& at, const StaticRule& rule);
  const onnx::NodeProto* clamp_behind(const Value& value) const;

  const Model& model_;
  const GraphView& view_;
  const PlanOptions& options_;
  Blocked blocked_;
  WhyNot weight_refusal_;
  Shapes shapes_;
  std::set<const onnx::NodeProto*> spared_;  // in blocks that are one operation
  std::map<const onnx::NodeProto*, NodeAt> chosen_;
  std::map<const onnx::NodeProto*, StaticNode> nodes_;
  std::map<const onnx::NodeProto*, std::string> refused_;
};

}  // namespace octet
