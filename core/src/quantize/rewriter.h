// Tools that all rewrites share: quantized tensors made once, nodes put before others or in their place, fresh names.
#pragma once

#include <initializer_list>
#include <map>
#include <memory>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "octet/plan.h"
#include "quantize/params_cache.h"
#include "quantize/rules.h"
#include "quantize/tensor_ids.h"

namespace octet {

// A planned tensor while the model is rewritten.
struct Quantized {
  const TensorPlan* plan = nullptr;
  Value* value = nullptr;
  onnx::TensorProto source;  // the float tensor: a marker, or small
  std::shared_ptr<const WeightParams> params;
  // Names of initializers already made, "" until asked for.
  std::string data, flat_scale, column_scale, zero_point, column_zero_point;
  std::string folded;  // Cast → Mul, stored layout
};

class Rewriter {
 public:
  Rewriter(Model& model, const Plan& plan);

  const GraphView& view() const { return view_; }
  const NodeIds& node_ids() const { return node_ids_; }
  Model& model() { return model_; }
  std::int64_t opset() const { return opset_; }

  // The planned tensor behind a node input, directly or through a Transpose; null when it is not planned.
  Quantized* quantized(const NodeAt& at, int input, bool* through_transpose = nullptr);

  // Initializers of a planned tensor, made on first use.
  const std::string& data(Quantized& tensor);
  const std::string& flat_scale(Quantized& tensor);         // [] or [channels]
  const std::string& column_scale(Quantized& tensor);       // [] or shaped to broadcast against the stored layout
  const std::string& zero_point(Quantized& tensor);         // like flat_scale, the tensor's integer type
  const std::string& column_zero_point(Quantized& tensor);  // like column_scale, the tensor's float type
  bool has_zero_point(const Quantized& tensor) const;

  // The tensor in float again: Cast → (Sub) → Mul, in the scope that stores it, in the stored layout.
  const std::string& folded(Quantized& tensor);

  std::string fresh(const std::string& wish) { return names_.fresh(wish); }
  std::string add_tensor(Scope& scope, const std::string& wish, int type, const std::vector<std::int64_t>& dims,
                         std::vector<std::uint8_t> bytes);
  std::string add_stored(Scope& scope, const std::string& wish, int type, const std::vector<std::int64_t>& dims,
                         TensorStore::Id id);
  // Floats in any float type; dims {} for a scalar.
  std::string add_floats(Scope& scope, const std::string& wish, int type, const std::vector<std::int64_t>& dims,
                         const std::vector<float>& values);

  // A node right before `at`. One output, whose name is returned.
  std::string before(const NodeAt& at, const char* op, std::initializer_list<std::string> inputs,
                     const std::string& wish);
  onnx::NodeProto& node_before(const NodeAt& at, const char* op, const std::vector<std::string>& inputs,
                               const std::vector<std::string>& outputs);
  // A node right after `producer`, before whoever reads it; null: at the head of the main graph.
  onnx::NodeProto& node_after(const onnx::NodeProto* producer, const char* op, const std::vector<std::string>& inputs,
                              const std::vector<std::string>& outputs);
  std::string cast_before(const NodeAt& at, const std::string& input, int type, const std::string& wish);
  // The last node put before `at` takes over `name` as its output.
  void rename_last(const NodeAt& at, const std::string& name) { before_.at(at.node).back()->set_output(0, name); }
  // The node reads `name` there from finish() on: until then all rewrites see the graph as it was planned.
  void reroute(onnx::NodeProto& node, int input, const std::string& name) { reroutes_.push_back({&node, input, name}); }
  // As reroute, for what it writes.
  void rename_output(onnx::NodeProto& node, int output, const std::string& name) {
    renamed_.push_back({&node, output, name});
  }
  void remove(const NodeAt& at) { removed_.insert(at.node); }

  // DynamicQuantizeLinear of a value, once per scope: {data, scale, zero point}.
  struct Activation {
    std::string data, scale, zero_point;
  };
  const Activation& activation(const NodeAt& at, const std::string& name, int type);

  // Puts everything in place. The view is void afterwards.
  void finish();

 private:
  onnx::NodeProto& new_node(std::vector<onnx::NodeProto*>& list, const char* op);
  std::string add_params(Quantized& tensor, const char* suffix, bool scale, bool column);

  Model& model_;
  GraphView view_;
  TensorIds ids_;
  NodeIds node_ids_;
  NameSet names_;
  std::int64_t opset_;
  std::unordered_map<const Value*, std::unique_ptr<Quantized>> tensors_;
  std::vector<std::unique_ptr<onnx::NodeProto>> nodes_;
  std::unordered_map<const onnx::NodeProto*, std::vector<onnx::NodeProto*>> before_, after_;
  std::unordered_map<const Scope*, std::vector<onnx::NodeProto*>> head_;
  std::unordered_map<const Scope*, std::vector<onnx::TensorProto>> added_;
  std::unordered_set<const onnx::NodeProto*> removed_;
  struct Reroute {
    onnx::NodeProto* node;
    int index;
    std::string name;
  };
  std::vector<Reroute> reroutes_, renamed_;
  std::map<std::pair<const Scope*, std::string>, Activation> activations_;
};

// One per action and operator; each replaces `at.node` or gives it new inputs.
void rewrite_weights(Rewriter& rewriter, const NodeAt& at, Form form);
void rewrite_blocks(Rewriter& rewriter, const NodeAt& at);
void rewrite_matmul_dynamic(Rewriter& rewriter, const NodeAt& at);
void rewrite_conv_dynamic(Rewriter& rewriter, const NodeAt& at);
void rewrite_lstm_dynamic(Rewriter& rewriter, const NodeAt& at);
void rewrite_attention_dynamic(Rewriter& rewriter, const NodeAt& at);

}  // namespace octet
