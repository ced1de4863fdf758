// y = F(c1, c2, …), all of them stored   →   initializer y
// For what evaluate() knows, when no caller can replace an input and no output is one of a graph. A fold must not make
// the file grow: its result is small, or stored tensors that nothing else reads vanish with it. So an Expand stays, a
// tied table is never stored a second time in another form, and weights kept in 8 bits that the graph turns to float
// (Cast, Mul) stay what they are; a DequantizeLinear is not among what evaluate() knows.
#include <cstring>
#include <memory>

#include "model/graph_match.h"
#include "model/tensor_access.h"
#include "octet/error.h"
#include "prepare/analysis.h"
#include "prepare/evaluate.h"
#include "prepare/pass.h"
#include "prepare/widened.h"

namespace octet {
namespace {

constexpr std::uint64_t kSmallBytes = 1024;         // a result that may be larger than what it is made of
constexpr std::uint64_t kComputedBytes = 64 << 10;  // from here on made when it is read, so that nothing is held twice
constexpr std::uint64_t kHeldBytes = 32 << 20;      // of results that would be made from computed ones over and over
constexpr std::int64_t kGrowthPart = 200;           // all folds together: half a percent of the file

// Of a tensor in the file that will be written: a widened one gets its narrow form back.
std::uint64_t stored_bytes(const onnx::TensorProto& tensor) {
  const auto narrow = narrow_form(tensor);
  return tensor_byte_size(narrow ? *narrow : tensor);
}

// What a stored tensor takes beside its elements.
std::int64_t frame_bytes(const std::string& name, std::size_t rank) {
  return static_cast<std::int64_t>(name.size() + 2 * rank + 12);
}

bool has_subgraph(onnx::NodeProto& node) { return !subgraphs(node).empty(); }

// Reads inputs and evaluates; the bytes live as long as `held`.
std::optional<std::vector<Tensor>> run(const TensorStore& store, const onnx::NodeProto& node, std::int64_t opset,
                                       const std::vector<const onnx::TensorProto*>& inputs, std::uint64_t max_bytes) {
  std::vector<TensorBytes> held;
  std::vector<Operand> operands;
  for (const auto* tensor : inputs) {
    Operand operand;
    if (tensor) {
      operand.type = tensor->data_type();
      operand.dims.assign(tensor->dims().begin(), tensor->dims().end());
      if (!reads_dims_only(node)) {
        held.push_back(tensor_bytes(store, *tensor));
        operand.bytes = held.back().bytes();
      }
    }
    operands.push_back(std::move(operand));
  }
  return evaluate(node, opset, operands, max_bytes);
}

class Folding {
 public:
  Folding(Model& model, const GraphView& view) : model_(model), view_(view), opset_(opset_of(model.proto())) {
    const SaveResult now = measure_model(model);
    auto bytes = static_cast<std::int64_t>(now.model_bytes + now.external_bytes);
    for (const auto& scope : view.scopes()) {
      for (const auto& tensor : scope->graph->initializer()) {
        if (narrow_form(tensor)) bytes -= static_cast<std::int64_t>(tensor_byte_size(tensor) - stored_bytes(tensor));
      }
    }
    const auto before = model.file_bytes > 0 ? static_cast<std::int64_t>(model.file_bytes) : bytes;
    growth_ = before + before / kGrowthPart - bytes;
    // Enough for whatever an exporter wrote, and an end to what nobody would: elements looked at, all nodes together.
    work_ = (std::uint64_t{64} << 20) + 16 * static_cast<std::uint64_t>(std::max(before, bytes));
  }

  bool fold(const NodeAt& at) {
    if (!can_evaluate(*at.node, opset_) || has_subgraph(*at.node) || !take_inputs(at) || !take_outputs(at))
      return false;
    const std::uint64_t freed = freed_bytes(at);
    const auto results = evaluated(*at.node, freed + kSmallBytes);
    if (!results) return false;
    std::uint64_t made = 0;
    std::int64_t growth = -static_cast<std::int64_t>(at.node->ByteSizeLong());
    for (std::size_t i = 0; i < outputs_.size(); ++i) {
      if (!outputs_[i]) continue;
      made += (*results)[i].bytes.size();
      growth += frame_bytes(outputs_[i]->name, (*results)[i].dims.size());
    }
    growth += static_cast<std::int64_t>(made) - static_cast<std::int64_t>(freed);
    if (made > freed + kSmallBytes || (growth > 0 && growth > growth_)) return false;
    if (!store_all(at, *results)) return false;
    growth_ -= growth;
    for (const Value* input : inputs_) {
      if (input) ++gone_[input];
    }
    return true;
  }

 private:
  bool take_inputs(const NodeAt& at) {
    inputs_.clear();
    for (int i = 0; i < at.node->input_size(); ++i) {
      const Value* value = at.node->input(i).empty() ? nullptr : view_.input(at, i);
      if (!at.node->input(i).empty() && (!value || !value->constant())) return false;
      if (value && value->initializer->data_type() == onnx::TensorProto::STRING && !reads_dims_only(*at.node))
        return false;
      inputs_.push_back(value);
    }
    return !inputs_.empty() && inputs_.front();
  }

  // Null for outputs that nothing reads: those are not stored.
  bool take_outputs(const NodeAt& at) {
    outputs_.clear();
    for (const auto& name : at.node->output()) {
      Value* value = name.empty() ? nullptr : view_.find(*at.scope, name);
      if (!name.empty() && (!value || value->producer != at.node || value->graph_outputs > 0)) return false;
      outputs_.push_back(value && !value->uses.empty() ? value : nullptr);
    }
    return true;
  }

  // Stored bytes that nothing will read any more, each tensor once however often the node reads it.
  std::uint64_t freed_bytes(const NodeAt& at) const {
    std::uint64_t bytes = 0;
    for (std::size_t i = 0; i < inputs_.size(); ++i) {
      const Value* value = inputs_[i];
      const auto first = std::find(inputs_.begin(), inputs_.end(), value) - inputs_.begin();
      if (!value || static_cast<std::size_t>(first) != i || value->graph_outputs > 0) continue;
      std::size_t left = 0;
      for (const Use& use : value->uses) left += use.node != at.node;
      const auto found = gone_.find(value);
      if (found == gone_.end() ? left == 0 : left <= found->second) bytes += stored_bytes(*value->initializer);
    }
    return bytes;
  }

  bool is_computed(const Value* value) const {
    const auto id = value ? stored_id(*value->initializer) : std::nullopt;
    return id && model_.store().computed(*id);
  }

  std::optional<std::vector<Tensor>> evaluated(const onnx::NodeProto& node, std::uint64_t max_bytes) {
    std::vector<const onnx::TensorProto*> tensors;
    std::uint64_t work = 0;
    // These look at what they take alone, unless their input has to be made first.
    const bool picks = is_op(node, "Gather") || is_op(node, "GatherND") || is_op(node, "Slice");
    for (const Value* value : inputs_) {
      tensors.push_back(value ? value->initializer : nullptr);
      if (value && !reads_dims_only(node) && (!picks || is_computed(value)))
        work += tensor_byte_size(*value->initializer);
    }
    if (work > work_) return std::nullopt;
    work_ -= work;
    return run(model_.store(), node, opset_, tensors, max_bytes);
  }

  // Large results are not kept but made again when they are read.
  bool store_all(const NodeAt& at, const std::vector<Tensor>& results) {
    std::uint64_t large = 0;
    for (std::size_t i = 0; i < results.size(); ++i) {
      if (outputs_[i] && results[i].bytes.size() > kComputedBytes) large += results[i].bytes.size();
    }
    bool hold = false;  // from computed inputs the work would be done for each of a chain again
    for (const Value* value : inputs_) hold = hold || is_computed(value);
    if (large > 0 && hold) {
      if (held_ + large > kHeldBytes) return false;
      held_ += large;
    }
    for (std::size_t i = 0; i < results.size(); ++i) {
      if (!outputs_[i]) continue;
      onnx::TensorProto tensor =
          results[i].bytes.size() > kComputedBytes && !hold
              ? computed(*at.node, i, results[i])
              : make_tensor(model_, outputs_[i]->name, results[i].type, results[i].dims, results[i].bytes);
      auto* stored = at.scope->graph->add_initializer();
      stored->Swap(&tensor);
      outputs_[i]->initializer = stored;
      outputs_[i]->producer = nullptr;
    }
    return true;
  }

  onnx::TensorProto computed(const onnx::NodeProto& node, std::size_t output, const Tensor& result) {
    onnx::TensorProto tensor;
    tensor.set_name(outputs_[output]->name);
    tensor.set_data_type(result.type);
    for (const std::int64_t dim : result.dims) tensor.add_dims(dim);
    std::vector<std::optional<onnx::TensorProto>> inputs;
    for (const Value* value : inputs_) inputs.push_back(value ? std::optional(*value->initializer) : std::nullopt);
    const std::uint64_t size = result.bytes.size();
    const auto produce = [&store = model_.store(), node, opset = opset_, inputs, output](std::span<std::uint8_t> out) {
      std::vector<const onnx::TensorProto*> tensors;
      for (const auto& input : inputs) tensors.push_back(input ? &*input : nullptr);
      const auto made = run(store, node, opset, tensors, std::numeric_limits<std::uint64_t>::max());
      if (!made || (*made)[output].bytes.size() != out.size())
        throw Error(ErrorCode::kInternal, node.op_type() + " '" + node.name() + "'",
                    "a folded result cannot be made again");
      std::memcpy(out.data(), (*made)[output].bytes.data(), out.size());
    };
    set_stored_id(tensor, model_.store().add_computed(size, produce));
    return tensor;
  }

  Model& model_;
  const GraphView& view_;
  const std::int64_t opset_;
  std::int64_t growth_ = 0;  // that the file may still take
  std::uint64_t work_ = 0, held_ = 0;
  std::unordered_map<const Value*, std::size_t> gone_;  // readings by nodes that were folded
  std::vector<Value*> outputs_;
  std::vector<const Value*> inputs_;
};

}  // namespace

void run_fold_constants(Model& model, PassReport& report) {
  const auto analysis = analyze(model);
  GraphView& view = analysis->view;
  Folding folding(model, view);
  std::unordered_set<const onnx::NodeProto*> dead;
  for (const NodeAt& at : view.nodes()) {
    if (!folding.fold(at)) continue;
    dead.insert(at.node);
    ++report.changes;
  }
  remove_nodes(view, dead);
}

}  // namespace octet
