// y, mask = F(x), nobody reads mask   →   y = F(x)
// Of outputs that the operator's definition calls optional: those at the end go, those before one that is read become
// "". A kernel need not compute what has no name. Not of BatchNormalization: once the number of its outputs said
// whether it trains.
#include "model/graph_match.h"
#include "onnx/defs/schema.h"
#include "prepare/analysis.h"
#include "prepare/pass.h"

namespace octet {
namespace {

// Nothing is known of an operator that onnx does not define.
bool is_optional(const onnx::OpSchema* schema, int output) {
  return schema && output < static_cast<int>(schema->outputs().size()) &&
         schema->outputs()[static_cast<std::size_t>(output)].GetOption() == onnx::OpSchema::Optional;
}

bool is_read(const GraphView& view, const NodeAt& at, int output) {
  const Value* value = view.find(*at.scope, at.node->output(output));
  return value && (!value->uses.empty() || value->graph_outputs > 0);
}

}  // namespace

void run_drop_unused_outputs(Model& model, PassReport& report) {
  const auto analysis = analyze(model);
  const GraphView& view = analysis->view;
  const auto opset = static_cast<int>(opset_of(model.proto()));
  for (const NodeAt& at : view.nodes()) {
    auto& node = *at.node;
    if (node.output_size() < 2 || !is_standard(node) || is_op(node, "BatchNormalization")) continue;
    int read = 0;
    for (int i = 0; i < node.output_size(); ++i) read += is_read(view, at, i);
    if (read == 0 || read == node.output_size()) continue;  // nothing to do, or all of it for drop_unused
    // Asked late: the registry describes every operator there is the first time.
    const auto* schema = onnx::OpSchemaRegistry::Schema(node.op_type(), opset, "");
    for (int i = 0; i < node.output_size(); ++i) {
      if (node.output(i).empty() || is_read(view, at, i) || !is_optional(schema, i)) continue;
      node.set_output(i, "");
      ++report.changes;
    }
    while (node.output_size() > 1 && node.output(node.output_size() - 1).empty() &&
           is_optional(schema, node.output_size() - 1))
      node.mutable_output()->RemoveLast();
  }
}

}  // namespace octet
