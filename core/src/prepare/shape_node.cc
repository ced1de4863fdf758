#include "prepare/shape_node.h"

namespace octet {
namespace {

constexpr std::uint64_t kMaxFloats = 64;

}  // namespace

void FoundOutput::set(int element_type, const Dims& sizes) {
  type = element_type;
  dims.emplace(sizes.begin(), sizes.end());
}

void FoundOutput::refine(const OpenSizes& sizes) {
  if (!dims) dims.emplace(sizes.size());
  if (dims->size() != sizes.size()) return;
  for (std::size_t i = 0; i < sizes.size(); ++i) {
    if (!(*dims)[i]) (*dims)[i] = sizes[i];
  }
}

ShapeNode::ShapeNode(const Model& model, const Shapes& shapes, const GraphView& view, const NodeAt& at)
    : outputs(static_cast<std::size_t>(at.node->output_size())),
      model_(model),
      shapes_(shapes),
      view_(view),
      at_(at),
      opset_(opset_of(model.proto())) {}

std::optional<Dims> ShapeNode::values(int input, std::string_view attribute) const {
  if (!attribute.empty()) {
    if (const auto* listed = find_attribute(node(), attribute)) {
      if (listed->type() == onnx::AttributeProto::INT) return Dims{Dim(listed->i())};
      return Dims(listed->ints().begin(), listed->ints().end());
    }
  }
  return has(input) ? in(input).data : std::nullopt;
}

std::optional<std::vector<std::int64_t>> ShapeNode::numbers(int input, std::string_view attribute) const {
  const auto found = values(input, attribute);
  return found ? octet::numbers(*found) : std::nullopt;
}

std::optional<std::vector<float>> ShapeNode::floats(int input, std::string_view attribute) const {
  if (!attribute.empty()) {
    if (const auto* listed = find_attribute(node(), attribute))
      return std::vector<float>(listed->floats().begin(), listed->floats().end());
  }
  const Value* value = view_.input(at_, input);
  if (!value || !value->constant() || !is_float_type(value->initializer->data_type()) ||
      element_count(*value->initializer) > kMaxFloats)
    return std::nullopt;
  return tensor_as_float(model_, *value->initializer);
}

void DimTexts::write(const Dim& dim, onnx::TensorShapeProto::Dimension& out) {
  if (const auto number = dim.number()) {
    out.set_dim_value(*number);
    return;
  }
  const std::string text = dim.text();
  known_.try_emplace(text, dim);
  out.set_dim_param(text);
}

std::optional<Dim> DimTexts::read(const onnx::TensorShapeProto::Dimension& dim) const {
  if (dim.has_dim_value()) return dim.dim_value() >= 0 ? std::optional<Dim>(dim.dim_value()) : std::nullopt;
  const auto found = known_.find(dim.dim_param());
  return found == known_.end() ? std::nullopt : std::optional<Dim>(found->second);
}

Dim DimTexts::fresh() { return Dim::symbol("?" + std::to_string(count_++)); }

}  // namespace octet
