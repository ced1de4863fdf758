#include "prepare/shapes.h"

#include "prepare/shape_walk.h"

namespace octet {

Shapes::Shapes(const Model& model, const GraphView& view, const ProbedValues& probed) : view_(view) {
  ShapeWalk(model, view, probed, *this).run();
}

const ShapeFacts& Shapes::of(const Value* value) const {
  static const ShapeFacts kNothing;
  const auto found = value ? entries_.find(value) : entries_.end();
  return found == entries_.end() ? kNothing : found->second.facts;
}

const ShapeFacts& Shapes::output(const NodeAt& at, int index) const {
  return of(index < at.node->output_size() ? view_.find(*at.scope, at.node->output(index)) : nullptr);
}

const onnx::TypeProto& Shapes::type_of(const Value* value) const {
  const auto found = value ? entries_.find(value) : entries_.end();
  return found == entries_.end() ? onnx::TypeProto::default_instance() : found->second.type;
}

}  // namespace octet
