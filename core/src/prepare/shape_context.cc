#include "prepare/shape_context.h"

namespace octet {
namespace {

class Subgraph final : public onnx::GraphInferencer {
 public:
  Subgraph(ShapeWalk& walk, const onnx::NodeProto& owner, std::string attribute)
      : walk_(walk), owner_(owner), attribute_(std::move(attribute)) {}

  std::vector<const onnx::TypeProto*> doInferencing(const std::vector<const onnx::TypeProto*>& types,
                                                    const std::vector<const onnx::TensorProto*>&) override {
    return walk_.walk_subgraph(owner_, attribute_, types);
  }

 private:
  ShapeWalk& walk_;
  const onnx::NodeProto& owner_;
  std::string attribute_;
};

[[noreturn]] void refuse(const char* what, size_t index) {
  throw onnx::InferenceError(std::string(what) + " " + std::to_string(index) + " is missing");
}

}  // namespace

ShapeContext::ShapeContext(ShapeWalk& walk, const GraphView& view, const NodeAt& at)
    : walk_(walk), view_(view), at_(at), outputs_(static_cast<std::size_t>(at.node->output_size())) {}

const onnx::AttributeProto* ShapeContext::getAttribute(const std::string& name) const {
  return find_attribute(*at_.node, name);
}

size_t ShapeContext::getNumInputs() const { return static_cast<size_t>(at_.node->input_size()); }

const Value* ShapeContext::value(size_t index) const {
  if (index >= getNumInputs()) refuse("input", index);
  return view_.input(at_, static_cast<int>(index));
}

const onnx::TypeProto* ShapeContext::getInputType(size_t index) const {
  // Of what nobody knows the type, one that says nothing: not all of onnx's functions expect none.
  const Value* input = value(index);
  return input ? &walk_.shapes().type_of(input) : nullptr;
}

bool ShapeContext::hasInput(size_t index) const { return index < getNumInputs() && getInputType(index); }

const onnx::TensorProto* ShapeContext::getInputData(size_t index) const { return walk_.tensor_of(value(index)); }

const onnx::TensorShapeProto* ShapeContext::getSymbolicInput(size_t index) const {
  return walk_.symbolic_of(value(index));
}

onnx::TypeProto* ShapeContext::getOutputType(size_t index) {
  if (index >= outputs_.size()) refuse("output", index);
  return &outputs_[index];
}

onnx::GraphInferencer* ShapeContext::getGraphAttributeInferencer(const std::string& attribute_name) {
  const auto* attribute = find_attribute(*at_.node, attribute_name);
  if (!attribute || !attribute->has_g()) throw onnx::InferenceError("attribute " + attribute_name + " holds no graph");
  auto& found = graphs_[attribute_name];
  if (!found) found = std::make_unique<Subgraph>(walk_, *at_.node, attribute_name);
  return found.get();
}

}  // namespace octet
