// Goes through a model node by node, in every graph, and fills Shapes.
#pragma once

#include <unordered_set>

#include "prepare/shape_node.h"

namespace octet {

class ShapeWalk {
 public:
  ShapeWalk(const Model& model, const GraphView& view, const ProbedValues& probed, Shapes& shapes);
  void run();

  // For the context that onnx's functions see.
  const Shapes& shapes() const { return shapes_; }
  // Binds the inputs of the graph that an attribute of `owner` holds, walks it, and gives the types of its outputs.
  std::vector<const onnx::TypeProto*> walk_subgraph(const onnx::NodeProto& owner, std::string_view attribute,
                                                    const std::vector<const onnx::TypeProto*>& inputs);
  // The elements of a value as a tensor or as sizes, for inference that asks for them; kept as long as this lives.
  const onnx::TensorProto* tensor_of(const Value* value);
  const onnx::TensorShapeProto* symbolic_of(const Value* value);

 private:
  void describe_inputs();
  void describe_stored(Scope& scope);
  void walk(Scope& scope);
  void infer(const NodeAt& at);
  void infer_with_onnx(ShapeNode& node);
  bool infer_if(ShapeNode& node);
  bool infer_loop(ShapeNode& node);
  void take(const Value& value, FoundOutput found);
  void fall_back(const Scope& scope, const Value& value, FoundOutput& found) const;
  void set(const Value& value, const onnx::TypeProto& type);
  Scope* scope_of(const onnx::GraphProto* graph) const;

  const Model& model_;
  const GraphView& view_;
  const ProbedValues& probed_;
  Shapes& shapes_;
  DimTexts texts_;
  std::unordered_map<const onnx::GraphProto*, Scope*> scopes_;
  std::unordered_map<const Scope*, std::unordered_map<std::string, const onnx::TypeProto*>> described_;
  std::unordered_set<const Scope*> walked_;
  std::vector<std::unique_ptr<onnx::TensorProto>> tensors_;
  std::vector<std::unique_ptr<onnx::TensorShapeProto>> sizes_;
};

}  // namespace octet
