#include "prepare/shape_walk.h"

#include <algorithm>
#include <cctype>
#include <cstring>

#include "onnx/defs/schema.h"
#include "onnx/shape_inference/implementation.h"
#include "prepare/shape_context.h"
#include "prepare/shape_guard.h"

namespace octet {
namespace {

constexpr std::size_t kMaxElements = 64;
constexpr std::size_t kMaxNotes = 8;

bool holds_small_integers(int type) {
  using onnx::TensorProto;
  return type == TensorProto::INT64 || type == TensorProto::INT32 || type == TensorProto::BOOL;
}

// "?" and "None" are what exporters write when they know no name.
bool is_name(std::string text) {
  for (char& c : text) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  if (text.find('?') != std::string::npos || text == "none" || text == "unknown" || text == "dynamic") return false;
  return std::any_of(text.begin(), text.end(), [](unsigned char c) { return std::isalpha(c) != 0; });
}

}  // namespace

ShapeWalk::ShapeWalk(const Model& model, const GraphView& view, const ProbedValues& probed, Shapes& shapes)
    : model_(model), view_(view), probed_(probed), shapes_(shapes) {
  for (const auto& scope : view.scopes()) {
    scopes_[scope->graph] = scope.get();
    auto& described = described_[scope.get()];
    for (const auto& info : scope->graph->value_info()) described[info.name()] = &info.type();
    for (const auto& info : scope->graph->output()) described[info.name()] = &info.type();
  }
}

void ShapeWalk::run() {
  describe_inputs();
  walk(view_.main());
}

void ShapeWalk::set(const Value& value, const onnx::TypeProto& type) {
  Shapes::Entry entry;
  entry.type = type;
  if (type.has_tensor_type()) {
    auto& tensor = *entry.type.mutable_tensor_type();
    entry.facts.type = tensor.elem_type();
    if (tensor.has_shape()) {
      entry.facts.dims.emplace();
      for (auto& dim : *tensor.mutable_shape()->mutable_dim()) {
        auto size = texts_.read(dim);
        if (!size) {
          size = texts_.fresh();
          dim.Clear();
          texts_.write(*size, dim);
        }
        entry.facts.dims->push_back(*size);
      }
    }
  }
  shapes_.entries_[&value] = std::move(entry);
}

void ShapeWalk::describe_inputs() {
  Scope& main = view_.main();
  for (const auto& input : main.graph->input()) {
    onnx::TypeProto type = input.type();
    if (type.has_tensor_type() && type.tensor_type().has_shape()) {
      for (auto& dim : *type.mutable_tensor_type()->mutable_shape()->mutable_dim()) {
        if (dim.has_dim_value() && dim.dim_value() >= 0) continue;
        const std::string name = dim.dim_param();
        dim.Clear();
        texts_.write(is_name(name) ? Dim::symbol(name) : texts_.fresh(), dim);
      }
    }
    set(main.values.at(input.name()), type);
  }
}

void ShapeWalk::describe_stored(Scope& scope) {
  for (const auto& tensor : scope.graph->initializer()) {
    const Value& value = scope.values.at(tensor.name());
    onnx::TypeProto type;
    auto& described = *type.mutable_tensor_type();
    described.set_elem_type(tensor.data_type());
    auto& shape = *described.mutable_shape();
    for (const auto dim : tensor.dims()) shape.add_dim()->set_dim_value(dim);
    set(value, type);
    if (!value.constant() || tensor.dims_size() > 1 || !holds_small_integers(tensor.data_type()) ||
        element_count(tensor) > kMaxElements)
      continue;
    auto& data = shapes_.entries_.at(&value).facts.data.emplace();
    for (const auto element : tensor_as_int64(model_, tensor)) data.emplace_back(element);
  }
}

void ShapeWalk::walk(Scope& scope) {
  walked_.insert(&scope);
  describe_stored(scope);
  for (auto& node : *scope.graph->mutable_node()) infer({&node, &scope});
}

Scope* ShapeWalk::scope_of(const onnx::GraphProto* graph) const {
  const auto found = scopes_.find(graph);
  return found == scopes_.end() ? nullptr : found->second;
}

std::vector<const onnx::TypeProto*> ShapeWalk::walk_subgraph(const onnx::NodeProto& owner, std::string_view attribute,
                                                             const std::vector<const onnx::TypeProto*>& inputs) {
  const auto* held = find_attribute(owner, attribute);
  Scope* scope = held && held->has_g() ? scope_of(&held->g()) : nullptr;
  if (!scope) return {};
  const auto& graph = *scope->graph;
  for (int i = 0; i < graph.input_size(); ++i) {
    const auto index = static_cast<std::size_t>(i);
    onnx::TypeProto type = index < inputs.size() && inputs[index] ? *inputs[index] : graph.input(i).type();
    // A rank that the body itself declares holds where nothing better is known; its sizes need not.
    const auto& declared = graph.input(i).type();
    if (type.has_tensor_type() && !type.tensor_type().has_shape() && declared.tensor_type().has_shape()) {
      auto& shape = *type.mutable_tensor_type()->mutable_shape();
      for (int axis = 0; axis < declared.tensor_type().shape().dim_size(); ++axis) shape.add_dim();
    }
    set(scope->values.at(graph.input(i).name()), type);
  }
  walk(*scope);
  std::vector<const onnx::TypeProto*> types;
  for (const auto& output : graph.output()) types.push_back(&shapes_.type_of(view_.find(*scope, output.name())));
  return types;
}

void ShapeWalk::infer(const NodeAt& at) {
  ShapeNode node(model_, shapes_, view_, at);
  if (!infer_plain(node) && !infer_contributed(node) && !infer_if(node) && !infer_loop(node)) infer_with_onnx(node);
  // Bodies that inference did not enter, for want of a type or because the operator is unknown.
  for (const auto& attribute : at.node->attribute()) {
    if (attribute.has_g()) {
      Scope* scope = scope_of(&attribute.g());
      if (scope && !walked_.contains(scope)) walk_subgraph(*at.node, attribute.name(), {});
    }
    for (const auto& graph : attribute.graphs()) {
      Scope* scope = scope_of(&graph);
      if (scope && !walked_.contains(scope)) walk(*scope);
    }
  }
  if (!node.outputs.empty()) refine_sizes(node);
  if (!node.outputs.empty()) follow_values(node);
  for (int i = 0; i < at.node->output_size(); ++i) {
    const Value* value = view_.find(*at.scope, at.node->output(i));
    if (!value || value->producer != at.node) continue;
    FoundOutput& found = node.outputs[static_cast<std::size_t>(i)];
    fall_back(*at.scope, *value, found);
    take(*value, std::move(found));
  }
}

void ShapeWalk::take(const Value& value, FoundOutput found) {
  onnx::TypeProto type = found.other;
  if (found.type != 0) {
    auto& tensor = *type.mutable_tensor_type();
    tensor.set_elem_type(found.type);
    if (found.dims) {
      auto& shape = *tensor.mutable_shape();
      for (auto& dim : *found.dims) texts_.write(dim ? *dim : texts_.fresh(), *shape.add_dim());
    }
  }
  set(value, type);
  const bool small = found.data && found.data->size() <= kMaxElements && holds_small_integers(found.type) &&
                     (!found.dims || found.dims->size() <= 1);
  if (!small) return;
  auto& entry = shapes_.entries_.at(&value);
  entry.facts.data = std::move(found.data);
  // Elements known means length known.
  if (entry.facts.has_rank(1)) {
    entry.facts.dims->front() = static_cast<std::int64_t>(entry.facts.data->size());
    texts_.write(entry.facts.dims->front(), *entry.type.mutable_tensor_type()->mutable_shape()->mutable_dim(0));
  }
}

// What a run, or the file, says of a value whose type or rank nothing else tells.
void ShapeWalk::fall_back(const Scope& scope, const Value& value, FoundOutput& found) const {
  if (found.other.value_case() != onnx::TypeProto::VALUE_NOT_SET) return;
  if (const auto probed = probed_.find(value.name); probed != probed_.end() && scope.depth == 0) {
    if (found.type == 0) found.type = probed->second.type;
    if (found.type == probed->second.type && !found.dims) found.dims.emplace(probed->second.rank);
  }
  const auto& described = described_.at(&scope);
  const auto at = described.find(value.name);
  if (at == described.end()) return;
  const onnx::TypeProto& type = *at->second;
  if (!type.has_tensor_type()) {
    if (found.type == 0) found.other = type;
    return;
  }
  if (found.type == 0) found.type = type.tensor_type().elem_type();
  if (found.type == type.tensor_type().elem_type() && !found.dims && type.tensor_type().has_shape())
    found.dims.emplace(static_cast<std::size_t>(type.tensor_type().shape().dim_size()));
}

void ShapeWalk::infer_with_onnx(ShapeNode& node) {
  const auto& proto = node.node();
  const auto version = opset_of(model_.proto(), proto.domain());
  const std::string domain = is_standard(proto) ? "" : proto.domain();
  const auto* schema = onnx::OpSchemaRegistry::Schema(proto.op_type(), static_cast<int>(version), domain);
  if (!schema || !fits_schema(*schema, node.at(), view_, shapes_)) return;
  // Bodies are entered only when everything that goes in has a type: onnx's functions take that for granted.
  const bool has_body = std::any_of(proto.attribute().begin(), proto.attribute().end(),
                                    [](const auto& attribute) { return attribute.has_g(); });
  if (has_body) {
    for (int i = 0; i < proto.input_size(); ++i) {
      const Value* value = view_.input(node.at(), i);
      if (value && shapes_.type_of(value).value_case() == onnx::TypeProto::VALUE_NOT_SET) return;
    }
  }
  ShapeContext context(*this, view_, node.at());
  try {
    if (schema->has_type_and_shape_inference_function()) {
      schema->GetTypeAndShapeInferenceFunction()(context);
    } else if (const auto* body = schema->GetFunction(static_cast<int>(version))) {
      onnx::shape_inference::InferShapeForFunctionNode(*body, onnx::OpSchemaRegistry::Instance(), context);
    }
  } catch (const std::exception& fault) {
    if (shapes_.notes_.size() < kMaxNotes) {
      std::string what = fault.what();
      what = what.substr(0, what.find('\n'));
      shapes_.notes_.push_back(proto.op_type() + " '" +
                               (proto.name().empty() && proto.output_size() > 0 ? proto.output(0) : proto.name()) +
                               "': " + what);
    }
  }
  for (std::size_t i = 0; i < node.outputs.size(); ++i) {
    const onnx::TypeProto& type = context.outputs()[i];
    FoundOutput& found = node.outputs[i];
    if (!type.has_tensor_type()) {
      found.other = type;
      continue;
    }
    found.type = type.tensor_type().elem_type();
    if (!type.tensor_type().has_shape()) continue;
    found.dims.emplace();
    for (const auto& dim : type.tensor_type().shape().dim()) found.dims->push_back(texts_.read(dim));
  }
}

// What both branches give. onnx's own rule of old opsets takes the first branch's word for both.
bool ShapeWalk::infer_if(ShapeNode& node) {
  if (!is_op(node.node(), "If")) return false;
  const auto first = walk_subgraph(node.node(), "then_branch", {}),
             second = walk_subgraph(node.node(), "else_branch", {});
  for (std::size_t i = 0; i < std::min({node.outputs.size(), first.size(), second.size()}); ++i) {
    FoundOutput& found = node.outputs[i];
    if (!first[i]->has_tensor_type() || !second[i]->has_tensor_type()) {
      if (first[i]->value_case() == second[i]->value_case()) found.other = *first[i];
      continue;
    }
    const auto &one = first[i]->tensor_type(), &other = second[i]->tensor_type();
    if (one.elem_type() != other.elem_type()) continue;
    found.type = one.elem_type();
    if (!one.has_shape() || !other.has_shape() || one.shape().dim_size() != other.shape().dim_size()) continue;
    found.dims.emplace();
    for (int axis = 0; axis < one.shape().dim_size(); ++axis) {
      const auto size = texts_.read(one.shape().dim(axis));
      found.dims->push_back(size == texts_.read(other.shape().dim(axis)) ? size : std::nullopt);
    }
  }
  return true;
}

// What a Loop carries may change its shape each time round: what the first round shows is assumed, then checked.
bool ShapeWalk::infer_loop(ShapeNode& node) {
  const auto& proto = node.node();
  const auto* body = find_attribute(proto, "body");
  if (!is_op(proto, "Loop") || !body || !body->has_g() || proto.input_size() < 2) return false;
  Scope* scope = scope_of(&body->g());
  const auto carried = static_cast<std::size_t>(proto.input_size() - 2);
  const auto& graph = body->g();
  if (!scope || static_cast<std::size_t>(graph.input_size()) != carried + 2 ||
      static_cast<std::size_t>(graph.output_size()) < carried + 1 ||
      node.outputs.size() + 1 > static_cast<std::size_t>(graph.output_size()))
    return false;
  std::vector<onnx::TypeProto> types(carried + 2);
  types[0].mutable_tensor_type()->set_elem_type(onnx::TensorProto::INT64);
  types[1].mutable_tensor_type()->set_elem_type(onnx::TensorProto::BOOL);
  for (std::size_t i = 0; i < carried; ++i)
    types[i + 2] = shapes_.type_of(view_.input(node.at(), static_cast<int>(i) + 2));
  std::vector<const onnx::TypeProto*> bound;
  for (const auto& type : types) bound.push_back(type.value_case() == onnx::TypeProto::VALUE_NOT_SET ? nullptr : &type);
  std::vector<const onnx::TypeProto*> results;
  // Each try takes away what did not hold; deep nests start without shapes, so that tries do not multiply.
  for (int attempt = scope->depth > 3 ? 2 : 0; attempt < 3; ++attempt) {
    bool holds = true;
    if (attempt == 2) {
      for (std::size_t i = 0; i < carried; ++i) {
        if (types[i + 2].has_tensor_type()) types[i + 2].mutable_tensor_type()->clear_shape();
      }
    }
    results = walk_subgraph(proto, "body", bound);
    for (std::size_t i = 0; i < carried; ++i) {
      if (!types[i + 2].has_tensor_type() || !types[i + 2].tensor_type().has_shape()) continue;
      auto& shape = *types[i + 2].mutable_tensor_type()->mutable_shape();
      const auto& after = results[i + 1]->tensor_type();
      if (!after.has_shape() || after.shape().dim_size() != shape.dim_size()) {
        types[i + 2].mutable_tensor_type()->clear_shape();
        holds = false;
        continue;
      }
      for (int axis = 0; axis < shape.dim_size(); ++axis) {
        auto& dim = *shape.mutable_dim(axis);
        const auto before = texts_.read(dim);
        if (before && before == texts_.read(after.shape().dim(axis))) continue;
        // A name of its own may come back as another one: only the rank is what was assumed of it.
        if (before && DimTexts::is_fresh(*before) && attempt > 0) continue;
        dim.Clear();
        texts_.write(texts_.fresh(), dim);
        holds = false;
      }
    }
    if (holds) break;
  }
  for (std::size_t i = 0; i < node.outputs.size(); ++i) {
    FoundOutput& found = node.outputs[i];
    const onnx::TypeProto& type = *results[i + 1];
    if (!type.has_tensor_type()) {
      found.other = i < carried ? types[i + 2] : type;
      continue;
    }
    found.type = type.tensor_type().elem_type();
    const auto& shape = i < carried ? types[i + 2].tensor_type() : type.tensor_type();
    if (!shape.has_shape()) continue;
    found.dims.emplace();
    if (i >= carried) found.dims->push_back(std::nullopt);
    for (const auto& dim : shape.shape().dim()) {
      const auto size = texts_.read(dim);
      // Inside, a name of its own stands for this round; outside it stands for nothing.
      found.dims->push_back(size && !DimTexts::is_fresh(*size) ? size : std::nullopt);
    }
  }
  return true;
}

const onnx::TensorProto* ShapeWalk::tensor_of(const Value* value) {
  if (!value) return nullptr;
  if (value->constant()) return stored_id(*value->initializer) ? nullptr : value->initializer;
  const ShapeFacts& facts = shapes_.of(value);
  const auto elements = facts.data ? numbers(*facts.data) : std::nullopt;
  if (!elements || !facts.dims) return nullptr;
  auto tensor = std::make_unique<onnx::TensorProto>();
  tensor->set_data_type(facts.type);
  if (facts.dims->size() == 1) tensor->add_dims(static_cast<std::int64_t>(elements->size()));
  for (const auto element : *elements) {
    if (facts.type == onnx::TensorProto::INT64)
      tensor->add_int64_data(element);
    else
      tensor->add_int32_data(static_cast<std::int32_t>(element));
  }
  tensors_.push_back(std::move(tensor));
  return tensors_.back().get();
}

const onnx::TensorShapeProto* ShapeWalk::symbolic_of(const Value* value) {
  const ShapeFacts& facts = shapes_.of(value);
  if (!facts.data || numbers(*facts.data)) return nullptr;
  auto sizes = std::make_unique<onnx::TensorShapeProto>();
  for (const Dim& dim : *facts.data) texts_.write(dim, *sizes->add_dim());
  sizes_.push_back(std::move(sizes));
  return sizes_.back().get();
}

}  // namespace octet
