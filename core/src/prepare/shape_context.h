// What onnx's inference functions see of a node: its types as ONNX writes them.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "onnx/defs/shape_inference.h"
#include "prepare/shape_walk.h"

namespace octet {

class ShapeContext final : public onnx::InferenceContext {
 public:
  ShapeContext(ShapeWalk& walk, const GraphView& view, const NodeAt& at);

  const onnx::AttributeProto* getAttribute(const std::string& name) const override;
  size_t getNumInputs() const override;
  const onnx::TypeProto* getInputType(size_t index) const override;
  bool hasInput(size_t index) const override;
  const onnx::TensorProto* getInputData(size_t index) const override;
  const onnx::TensorShapeProto* getSymbolicInput(size_t index) const override;
  const onnx::SparseTensorProto* getInputSparseData(size_t) const override { return nullptr; }
  size_t getNumOutputs() const override { return outputs_.size(); }
  onnx::TypeProto* getOutputType(size_t index) override;
  onnx::GraphInferencer* getGraphAttributeInferencer(const std::string& attribute_name) override;

  const std::vector<onnx::TypeProto>& outputs() const { return outputs_; }

 private:
  const Value* value(size_t index) const;

  ShapeWalk& walk_;
  const GraphView& view_;
  NodeAt at_;
  std::vector<onnx::TypeProto> outputs_;
  std::map<std::string, std::unique_ptr<onnx::GraphInferencer>> graphs_;
};

}  // namespace octet
