// initializers a, b with the same bytes: readers of b read a   →   b has no reader and goes
// Inlining a function twice, or lifting one constant twice, leaves such copies. Small tensors that other passes have
// made are compared by their bytes, as they will stand in the file; large ones are the same when the file holds them in
// the same place: their bytes are not compared.
#include <algorithm>

#include "model/graph_view.h"
#include "model/tensor_access.h"
#include "prepare/analysis.h"
#include "prepare/pass.h"
#include "prepare/widened.h"

namespace octet {
namespace {

// Equal keys mean equal tensors.
std::string key_of(const Model& model, const onnx::TensorProto& tensor) {
  onnx::TensorProto nameless = tensor;
  nameless.clear_name();
  nameless.clear_doc_string();
  const bool made = stored_id(tensor) && !narrow_form(tensor);
  if (made && tensor.data_type() != onnx::TensorProto::STRING && tensor_byte_size(tensor) <= kInlineBytes) {
    const TensorBytes bytes = tensor_bytes(model, tensor);
    nameless.Clear();
    nameless.set_data_type(tensor.data_type());
    *nameless.mutable_dims() = tensor.dims();
    nameless.set_raw_data(bytes.bytes().data(), bytes.bytes().size());
  }
  return nameless.SerializeAsString();
}

}  // namespace

void run_share_equal_tensors(Model& model, PassReport& report) {
  const auto analysis = analyze(model);
  GraphView& view = analysis->view;
  for (const auto& scope : view.scopes()) {
    std::unordered_map<std::string, Value*> first;
    for (const auto& tensor : scope->graph->initializer()) {
      Value& value = scope->values.at(tensor.name());
      if (!value.constant() || value.graph_outputs > 0) continue;
      const auto [entry, added] = first.emplace(key_of(model, tensor), &value);
      if (added) continue;
      const Value& kept = *entry->second;
      const bool visible = std::all_of(value.uses.begin(), value.uses.end(),
                                       [&](const Use& use) { return view.find(*use.scope, kept.name) == &kept; });
      if (!visible) continue;
      for (const Use& use : value.uses) use.node->set_input(use.input, kept.name);
      ++report.changes;
    }
  }
}

}  // namespace octet
