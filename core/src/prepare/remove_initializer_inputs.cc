// input w, initializer w   →   initializer w
// Before IR 4 every weight had to be listed as an input. From IR 4 such an input is a default the caller may replace:
// small ones stay replaceable, a large one is a weight that an exporter listed out of habit.
#include <unordered_map>

#include "model/graph_view.h"
#include "model/tensor_access.h"
#include "prepare/pass.h"

namespace octet {

void run_remove_initializer_inputs(Model& model, PassReport& report) {
  auto& proto = model.proto();
  auto& graph = *proto.mutable_graph();
  std::unordered_map<std::string, const onnx::TensorProto*> stored;
  for (const auto& tensor : graph.initializer()) stored.emplace(tensor.name(), &tensor);
  const bool must_be_listed = proto.ir_version() < 4;
  int large = 0;
  auto& inputs = *graph.mutable_input();
  for (auto at = inputs.begin(); at != inputs.end();) {
    const auto found = stored.find(at->name());
    const bool is_weight = found != stored.end() && (must_be_listed || tensor_byte_size(*found->second) > kInlineBytes);
    if (!is_weight) {
      ++at;
      continue;
    }
    large += !must_be_listed;
    ++report.changes;
    at = inputs.erase(at);
  }
  if (large > 0)
    report.notes.push_back(std::to_string(large) + " weights that the model let its caller replace are fixed now");
}

}  // namespace octet
