#include "prepare/analysis.h"

#include <functional>
#include <string_view>

#include "model/tensor_access.h"

namespace octet {
namespace {

thread_local AnalysisMemo* memo = nullptr;

// Of everything a view or inference looks at, and of where it stands: both hold pointers into the skeleton.
class Fingerprint {
 public:
  explicit Fingerprint(const onnx::ModelProto& model) {
    add_graph(model.graph());
    for (const auto& opset : model.opset_import()) add(static_cast<std::uint64_t>(opset.version()));
  }
  std::uint64_t value() const { return state_; }

 private:
  void add(std::uint64_t part) {
    state_ = (state_ ^ part) * 0x9e3779b97f4a7c15u;
    state_ ^= state_ >> 29;
  }
  void add(const void* address) { add(static_cast<std::uint64_t>(reinterpret_cast<std::uintptr_t>(address))); }
  void add(const std::string& text) { add(static_cast<std::uint64_t>(std::hash<std::string_view>{}(text))); }

  void add_tensor(const onnx::TensorProto& tensor) {
    add(&tensor);
    add(tensor.name());
    add(static_cast<std::uint64_t>(tensor.data_type()));
    for (const auto dim : tensor.dims()) add(static_cast<std::uint64_t>(dim));
    add(tensor.raw_data());  // small ones; the others are markers in external_data
    for (const auto& entry : tensor.external_data()) add(entry.value());
  }

  void add_graph(const onnx::GraphProto& graph) {
    add(&graph);
    for (const auto& input : graph.input()) add(input.name());
    for (const auto& tensor : graph.initializer()) add_tensor(tensor);
    for (const auto& node : graph.node()) {
      add(&node);
      add(node.op_type());
      for (const auto& input : node.input()) add(input);
      for (const auto& output : node.output()) add(output);
      for (const auto& attribute : node.attribute()) {
        add(attribute.name());
        add(static_cast<std::uint64_t>(attribute.i()));
        for (const auto value : attribute.ints()) add(static_cast<std::uint64_t>(value));
        if (attribute.has_t()) add_tensor(attribute.t());
        if (attribute.has_g()) add_graph(attribute.g());
        for (const auto& inner : attribute.graphs()) add_graph(inner);
      }
    }
    for (const auto& output : graph.output()) add(output.name());
    for (const auto& info : graph.value_info()) add(info.name());
  }

  std::uint64_t state_ = 0x2545f4914f6cdd1d;
};

}  // namespace

std::string Analysis::add_ints(const NodeAt& at, const char* suffix, const std::vector<std::int64_t>& values) {
  const std::string name = names().fresh(at.node->output(0) + suffix);
  *at.scope->graph->add_initializer() = int_tensor(model_, name, values);
  return name;
}

AnalysisMemo::AnalysisMemo() : outer_(memo) { memo = this; }
AnalysisMemo::~AnalysisMemo() { memo = outer_; }

std::shared_ptr<Analysis> analyze(Model& model) {
  if (!memo) return std::make_shared<Analysis>(model);
  const std::uint64_t fingerprint = Fingerprint(model.proto()).value();
  if (!memo->last_ || memo->model_ != &model || memo->fingerprint_ != fingerprint) {
    memo->last_.reset();  // before the next is built: two at a time are memory for nothing
    memo->last_ = std::make_shared<Analysis>(model);
    memo->model_ = &model;
    memo->fingerprint_ = fingerprint;
  }
  return memo->last_;
}

}  // namespace octet
