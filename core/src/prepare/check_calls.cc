#include "prepare/check_calls.h"

#include "model/graph_view.h"
#include "octet/error.h"
#include "onnx/defs/schema.h"

namespace octet {

void check_calls(onnx::ModelProto& model) {
  const GraphView view(model);
  const auto opset = static_cast<int>(opset_of(model));
  for (const NodeAt& at : view.nodes()) {
    const onnx::NodeProto& node = *at.node;
    if (!is_standard(node)) continue;
    const std::string where = node.op_type() + " '" + node.name() + "'";
    const onnx::OpSchema* schema = onnx::OpSchemaRegistry::Schema(node.op_type(), opset, "");
    if (!schema) {
      throw Error(ErrorCode::kUnsupported, where, "opset " + std::to_string(opset) + " has no such operator",
                  "export the model again");
    }
    try {
      schema->Verify(node);
    } catch (const std::exception& fault) {
      throw Error(ErrorCode::kMalformed, where, fault.what(), "export the model again, or check it with onnx.checker");
    }
  }
}

void check_function_bodies(onnx::ModelProto& model) {
  for (auto& function : *model.mutable_functions()) {
    onnx::ModelProto body;
    *body.mutable_opset_import() = function.opset_import();
    auto& graph = *body.mutable_graph();
    for (const auto& name : function.input()) graph.add_input()->set_name(name);
    for (const auto& name : function.output()) graph.add_output()->set_name(name);
    graph.mutable_node()->Swap(function.mutable_node());
    sort_nodes(body);
    check_calls(body);
    graph.mutable_node()->Swap(function.mutable_node());
  }
}

}  // namespace octet
