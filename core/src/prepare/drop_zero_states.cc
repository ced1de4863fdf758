// y = LSTM(x, w, r, b, lengths, zeros, zeros)   →   y = LSTM(x, w, r, b, lengths)
// The state that a recurrent node begins with is zero where it is not given. Exporters give it all the same, made at
// run time of the batch's size: Shape, Gather, Concat, ConstantOfShape or Expand, of which nothing is left then. Zeros
// are recognized through operators that make zeros of zeros.
#include "model/graph_match.h"
#include "prepare/analysis.h"
#include "prepare/pass.h"

namespace octet {
namespace {

constexpr std::uint64_t kMaxElements = 1 << 16;
constexpr int kMaxSteps = 16;

class Zeros {
 public:
  Zeros(const Model& model, const GraphView& view) : model_(model), view_(view) {}

  bool is_zero(const Value* value, int steps = kMaxSteps) const {
    static const std::unordered_set<std::string_view> kKeeping = {"Cast",     "Expand",    "Flatten",  "Gather",
                                                                  "Identity", "Reshape",   "Slice",    "Squeeze",
                                                                  "Tile",     "Transpose", "Unsqueeze"};
    if (!value || steps == 0) return false;
    if (value->initializer) return value->constant() && is_stored_zero(*value->initializer);
    const auto producer = producer_of(value);
    if (!producer || !is_standard(*producer->node)) return false;
    const auto& node = *producer->node;
    if (node.op_type() == "ConstantOfShape") {
      const auto* filling = find_attribute(node, "value");
      return !filling || (filling->has_t() && is_stored_zero(filling->t()));
    }
    if (kKeeping.contains(node.op_type())) return is_zero(view_.input(*producer, 0), steps - 1);
    if (node.op_type() != "Concat" || node.input_size() == 0 || node.input_size() > 4) return false;
    for (int i = 0; i < node.input_size(); ++i) {
      const bool again = i > 0 && node.input(i) == node.input(i - 1);
      if (!again && !is_zero(view_.input(*producer, i), steps / 2)) return false;
    }
    return true;
  }

 private:
  bool is_stored_zero(const onnx::TensorProto& tensor) const {
    if (!is_float_type(tensor.data_type()) || element_count(tensor) > kMaxElements) return false;
    const auto bytes = tensor_bytes(model_, tensor);
    for (const auto byte : bytes.bytes()) {
      if (byte != 0) return false;
    }
    return true;
  }

  const Model& model_;
  const GraphView& view_;
};

}  // namespace

void run_drop_zero_states(Model& model, PassReport& report) {
  const auto analysis = analyze(model);
  const GraphView& view = analysis->view;
  const Zeros zeros(model, view);
  for (const NodeAt& at : view.nodes()) {
    auto& node = *at.node;
    const bool has_cell = is_op(node, "LSTM") || is_op(node, "DynamicQuantizeLSTM", "com.microsoft");
    if (!has_cell && !is_op(node, "GRU") && !is_op(node, "RNN")) continue;
    for (int state = 5; state < node.input_size() && state <= (has_cell ? 6 : 5); ++state) {
      if (node.input(state).empty() || !zeros.is_zero(view.input(at, state))) continue;
      node.set_input(state, "");
      ++report.changes;
    }
    while (node.input_size() > 0 && node.input(node.input_size() - 1).empty()) node.mutable_input()->RemoveLast();
  }
}

}  // namespace octet
