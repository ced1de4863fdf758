#include "prepare/shapes.h"

#include "model/tensor_access.h"
#include "octet/prepare.h"

namespace octet {
namespace {

TensorFacts facts_of_type(const onnx::TypeProto& type, int& fresh) {
  TensorFacts facts;
  if (!type.has_tensor_type()) return facts;
  facts.type = type.tensor_type().elem_type();
  if (!type.tensor_type().has_shape()) return facts;
  facts.dims.emplace();
  for (const auto& dim : type.tensor_type().shape().dim()) {
    if (dim.has_dim_value())
      facts.dims->push_back(dim.dim_value());
    else
      facts.dims->push_back(Dim::symbol(dim.dim_param().empty() ? "unk" + std::to_string(fresh++) : dim.dim_param()));
  }
  return facts;
}

}  // namespace

Shapes::Shapes(const Model& model, const GraphView& view) : view_(view) {
  Model copy = model.clone();
  infer_shapes(copy);
  GraphView inferred(copy.proto());
  int fresh = 0;
  for (std::size_t i = 0; i < view.scopes().size(); ++i) {
    Scope& scope = *view.scopes()[i];
    std::unordered_map<std::string, const onnx::TypeProto*> types;
    const auto& graph = *inferred.scopes()[i]->graph;
    for (const auto& info : graph.value_info()) types[info.name()] = &info.type();
    for (const auto& info : graph.input()) types[info.name()] = &info.type();
    for (const auto& info : graph.output()) types[info.name()] = &info.type();
    for (auto& [name, value] : scope.values) {
      TensorFacts facts;
      if (value.initializer) {
        facts.type = value.initializer->data_type();
        facts.dims.emplace();
        for (const auto dim : value.initializer->dims()) facts.dims->push_back(dim);
        if (value.constant() && facts.dims->size() < 2 && facts.type == onnx::TensorProto::INT64 &&
            element_count(*value.initializer) <= 64) {
          facts.data.emplace();
          for (const auto element : tensor_as_int64(model, *value.initializer)) facts.data->push_back(element);
        }
      } else if (const auto found = types.find(name); found != types.end()) {
        facts = facts_of_type(*found->second, fresh);
      }
      facts_.emplace(&value, std::move(facts));
    }
  }
}

const TensorFacts& Shapes::of(const Value* value) const {
  static const TensorFacts kNothing;
  const auto found = facts_.find(value);
  return found == facts_.end() ? kNothing : found->second;
}

const TensorFacts& Shapes::output(const NodeAt& at, int index) const {
  return of(index < at.node->output_size() ? view_.find(*at.scope, at.node->output(index)) : nullptr);
}

}  // namespace octet
