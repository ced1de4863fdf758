#include "quantize/rewriter.h"

#include <algorithm>
#include <cstring>

#include "kernels/quantize_kernels.h"
#include "model/tensor_access.h"
#include "model/transpose.h"
#include "octet/error.h"
#include "quantize/check_plan.h"

namespace octet {
namespace {

using onnx::TensorProto;

template <class T>
void append(std::vector<std::uint8_t>& bytes, T value) {
  const auto at = bytes.size();
  bytes.resize(at + sizeof(T));
  std::memcpy(bytes.data() + at, &value, sizeof(T));
}

void append_as(std::vector<std::uint8_t>& bytes, float value, int type) {
  switch (type) {
    case TensorProto::FLOAT16:
      return append(bytes, float_to_half(value));
    case TensorProto::BFLOAT16:
      return append(bytes, float_to_bfloat16(value));
    case TensorProto::DOUBLE:
      return append(bytes, static_cast<double>(value));
    default:
      return append(bytes, value);
  }
}

std::vector<std::int64_t> stored_dims(const TensorProto& tensor, const TensorPlan& plan) {
  std::vector<std::int64_t> dims(tensor.dims().begin(), tensor.dims().end());
  if (plan.transposed) std::swap(dims[dims.size() - 1], dims[dims.size() - 2]);
  return dims;
}

// The weight in its stored layout. One buffer of integers; a second only where the axes are swapped.
void produce(const TensorStore& store, const TensorProto& source, const TensorPlan& plan, const WeightParams& params,
             std::span<std::uint8_t> out) {
  if (!plan.transposed) return quantize_weight(store, source, plan, params, out);
  std::vector<std::uint8_t> plain(out.size());
  quantize_weight(store, source, plan, params, plain);
  const int rank = source.dims_size();
  const auto rows = static_cast<std::uint64_t>(source.dims(rank - 2)),
             cols = static_cast<std::uint64_t>(source.dims(rank - 1));
  const std::size_t width = bit_width(plan.type) == 16 ? 2 : 1;
  const std::uint64_t matrix = rows * cols * width;
  for (std::uint64_t at = 0; matrix > 0 && at < out.size(); at += matrix) {
    transpose_elements(std::span<const std::uint8_t>(plain).subspan(at, matrix), rows, cols, width,
                       out.subspan(at, matrix));
  }
}

}  // namespace

Rewriter::Rewriter(Model& model, const Plan& plan)
    : model_(model),
      view_(model.proto()),
      ids_(view_),
      node_ids_(view_),
      names_(model.proto()),
      opset_(opset_of(model.proto())) {
  for (const TensorPlan& tensor : plan.tensors) {
    Value* value = ids_.find(tensor.tensor);
    if (!value || !is_float_type(value->initializer->data_type())) {
      throw Error(ErrorCode::kUsage, "plan: tensor '" + tensor.tensor + "'",
                  "the model stores no float tensor of this name", "plan the model again");
    }
    check_tensor_plan(tensor, *value->initializer);
    auto entry = std::make_unique<Quantized>();
    entry->plan = &tensor;
    entry->value = value;
    entry->source = *value->initializer;
    if (plan.cache) entry->params = plan.cache->find(tensor);
    if (!entry->params)
      entry->params = std::make_shared<WeightParams>(compute_params(model.store(), entry->source, tensor));
    tensors_.emplace(value, std::move(entry));
  }
}

Quantized* Rewriter::quantized(const NodeAt& at, int input, bool* through_transpose) {
  const StoredWeight weight = stored_weight(view_, at, input);
  if (through_transpose) *through_transpose = weight.transpose != nullptr;
  const auto found = weight.value ? tensors_.find(weight.value) : tensors_.end();
  return found == tensors_.end() ? nullptr : found->second.get();
}

std::string Rewriter::add_stored(Scope& scope, const std::string& wish, int type, const std::vector<std::int64_t>& dims,
                                 TensorStore::Id id) {
  TensorProto tensor;
  tensor.set_name(fresh(wish));
  tensor.set_data_type(type);
  for (auto dim : dims) tensor.add_dims(dim);
  set_stored_id(tensor, id);
  added_[&scope].push_back(tensor);
  return tensor.name();
}

std::string Rewriter::add_tensor(Scope& scope, const std::string& wish, int type, const std::vector<std::int64_t>& dims,
                                 std::vector<std::uint8_t> bytes) {
  const std::string name = fresh(wish);
  added_[&scope].push_back(make_tensor(model_, name, type, dims, std::move(bytes)));
  return name;
}

std::string Rewriter::add_floats(Scope& scope, const std::string& wish, int type, const std::vector<std::int64_t>& dims,
                                 const std::vector<float>& values) {
  std::vector<std::uint8_t> bytes;
  for (const float value : values) append_as(bytes, value, type);
  return add_tensor(scope, wish, type, dims, std::move(bytes));
}

const std::string& Rewriter::data(Quantized& tensor) {
  if (!tensor.data.empty()) return tensor.data;
  const std::uint64_t size = bytes_for(element_type(tensor.plan->type), element_count(tensor.source));
  const auto id = model_.store().add_computed(
      size, [&store = model_.store(), source = tensor.source, plan = *tensor.plan,
             params = tensor.params](std::span<std::uint8_t> out) { produce(store, source, plan, *params, out); });
  return tensor.data = add_stored(*tensor.value->scope, tensor.value->name + "_quantized",
                                  element_type(tensor.plan->type), stored_dims(tensor.source, *tensor.plan), id);
}

// Scales (or zero points) flat for operators that take an axis, or as a column that broadcasts against the stored
// layout.
std::string Rewriter::add_params(Quantized& tensor, const char* suffix, bool scale, bool column) {
  const TensorPlan& plan = *tensor.plan;
  const int float_type = tensor.source.data_type();
  const int type = scale || column ? float_type : element_type(plan.type);
  std::vector<std::uint8_t> bytes;
  for (std::size_t c = 0; c < tensor.params->scale.size(); ++c) {
    if (scale)
      append_as(bytes, tensor.params->scale[c], float_type);
    else if (column)
      append_as(bytes, static_cast<float>(tensor.params->zero_point[c]), float_type);
    else if (bit_width(plan.type) == 16)
      append(bytes, static_cast<std::uint16_t>(tensor.params->zero_point[c]));
    else
      append(bytes, static_cast<std::uint8_t>(tensor.params->zero_point[c]));
  }
  std::vector<std::int64_t> dims;
  if (plan.axis) {
    const int rank = tensor.source.dims_size();
    for (int i = 0; i < rank; ++i) {
      const bool channel = i >= *plan.axis && i < *plan.axis + plan.axes;
      if (channel)
        dims.push_back(tensor.source.dims(i));
      else if (column)
        dims.push_back(1);
    }
    if (column && plan.transposed) std::swap(dims[dims.size() - 1], dims[dims.size() - 2]);
    // Broadcasting pads on the left by itself.
    while (column && dims.size() > 1 && dims.front() == 1) dims.erase(dims.begin());
  }
  return add_tensor(*tensor.value->scope, tensor.value->name + suffix, type, dims, std::move(bytes));
}

const std::string& Rewriter::flat_scale(Quantized& tensor) {
  if (tensor.flat_scale.empty()) tensor.flat_scale = add_params(tensor, "_scale", true, false);
  return tensor.flat_scale;
}

const std::string& Rewriter::column_scale(Quantized& tensor) {
  const bool same = !tensor.plan->axis || *tensor.plan->axis + tensor.plan->axes == tensor.source.dims_size();
  if (same && !tensor.plan->transposed) return flat_scale(tensor);
  if (tensor.column_scale.empty()) tensor.column_scale = add_params(tensor, "_scale", true, true);
  return tensor.column_scale;
}

const std::string& Rewriter::zero_point(Quantized& tensor) {
  if (tensor.zero_point.empty()) tensor.zero_point = add_params(tensor, "_zero_point", false, false);
  return tensor.zero_point;
}

const std::string& Rewriter::column_zero_point(Quantized& tensor) {
  if (tensor.column_zero_point.empty()) tensor.column_zero_point = add_params(tensor, "_zero_point", false, true);
  return tensor.column_zero_point;
}

bool Rewriter::has_zero_point(const Quantized& tensor) const {
  const auto& zero = tensor.params->zero_point;
  return std::any_of(zero.begin(), zero.end(), [](std::int32_t value) { return value != 0; });
}

onnx::NodeProto& Rewriter::new_node(std::vector<onnx::NodeProto*>& list, const char* op) {
  nodes_.push_back(std::make_unique<onnx::NodeProto>());
  onnx::NodeProto& node = *nodes_.back();
  node.set_op_type(op);
  list.push_back(&node);
  return node;
}

onnx::NodeProto& Rewriter::node_after(const onnx::NodeProto* producer, const char* op,
                                      const std::vector<std::string>& inputs, const std::vector<std::string>& outputs) {
  onnx::NodeProto& node = new_node(producer ? after_[producer] : head_[&view_.main()], op);
  for (const auto& input : inputs) node.add_input(input);
  for (const auto& output : outputs) node.add_output(output);
  node.set_name(fresh(outputs.front() + "_" + op));
  return node;
}

onnx::NodeProto& Rewriter::node_before(const NodeAt& at, const char* op, const std::vector<std::string>& inputs,
                                       const std::vector<std::string>& outputs) {
  onnx::NodeProto& node = new_node(before_[at.node], op);
  for (const auto& input : inputs) node.add_input(input);
  for (const auto& output : outputs) node.add_output(output);
  node.set_name(fresh(outputs.front() + "_" + op));
  return node;
}

std::string Rewriter::before(const NodeAt& at, const char* op, std::initializer_list<std::string> inputs,
                             const std::string& wish) {
  const std::string output = fresh(wish);
  node_before(at, op, inputs, {output});
  return output;
}

std::string Rewriter::cast_before(const NodeAt& at, const std::string& input, int type, const std::string& wish) {
  const std::string output = fresh(wish);
  set_attribute(node_before(at, "Cast", {input}, {output}), "to", std::int64_t{type});
  return output;
}

const std::string& Rewriter::folded(Quantized& tensor) {
  if (!tensor.folded.empty()) return tensor.folded;
  auto& list = head_[tensor.value->scope];
  const auto add = [&](const char* op, std::initializer_list<std::string> inputs,
                       const std::string& wish) -> onnx::NodeProto& {
    onnx::NodeProto& node = new_node(list, op);
    for (const auto& input : inputs) node.add_input(input);
    node.add_output(fresh(wish));
    node.set_name(fresh(node.output(0) + "_" + op));
    return node;
  };
  const std::string& name = tensor.value->name;
  auto& cast = add("Cast", {data(tensor)}, name + "_cast");
  set_attribute(cast, "to", std::int64_t{tensor.source.data_type()});
  std::string integers = cast.output(0);
  if (has_zero_point(tensor))
    integers = add("Sub", {integers, column_zero_point(tensor)}, name + "_centered").output(0);
  return tensor.folded = add("Mul", {integers, column_scale(tensor)}, name + "_dequantized").output(0);
}

const Rewriter::Activation& Rewriter::activation(const NodeAt& at, const std::string& name, int type) {
  const auto [entry, added] = activations_.try_emplace({at.scope, name});
  Activation& activation = entry->second;
  if (!added) return activation;
  const std::string input =
      type == TensorProto::FLOAT ? name : cast_before(at, name, TensorProto::FLOAT, name + "_float");
  activation = {fresh(name + "_quantized"), fresh(name + "_scale"), fresh(name + "_zero_point")};
  node_before(at, "DynamicQuantizeLinear", {input}, {activation.data, activation.scale, activation.zero_point});
  return activation;
}

void Rewriter::finish() {
  for (const Reroute& reroute : reroutes_) reroute.node->set_input(reroute.index, reroute.name);
  for (const Reroute& renamed : renamed_) renamed.node->set_output(renamed.index, renamed.name);
  for (auto scope = view_.scopes().rbegin(); scope != view_.scopes().rend(); ++scope) {
    auto& graph = *(*scope)->graph;
    google::protobuf::RepeatedPtrField<onnx::NodeProto> nodes;
    for (auto* node : head_[scope->get()]) nodes.Add()->Swap(node);
    for (auto& node : *graph.mutable_node()) {
      const auto put = [&nodes](const auto& places, const onnx::NodeProto* at) {
        const auto found = places.find(at);
        if (found == places.end()) return;
        for (auto* added : found->second) nodes.Add()->Swap(added);
      };
      put(before_, &node);
      if (!removed_.contains(&node)) nodes.Add()->Swap(&node);
      put(after_, &node);
    }
    graph.mutable_node()->Swap(&nodes);
    for (auto& tensor : added_[scope->get()]) graph.add_initializer()->Swap(&tensor);
  }
}

}  // namespace octet
