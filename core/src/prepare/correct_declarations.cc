// output y: FLOAT[1, n], computed with rank 3   →   output y: FLOAT[1, n, 8]
// What a file says of its outputs can be wrong. Runtimes find out once shapes follow from constants: natively that is a
// warning, in the browser the model no longer loads. Only what the graph contradicts is replaced: another rank, or
// another number.
#include "prepare/analysis.h"
#include "prepare/pass.h"

namespace octet {
namespace {

bool contradicts(const Dims& found, const onnx::TensorShapeProto& declared) {
  if (static_cast<std::size_t>(declared.dim_size()) != found.size()) return true;
  for (int i = 0; i < declared.dim_size(); ++i) {
    const auto number = found[static_cast<std::size_t>(i)].number();
    if (number && declared.dim(i).has_dim_value() && declared.dim(i).dim_value() != *number) return true;
  }
  return false;
}

}  // namespace

void run_correct_declarations(Model& model, PassReport& report) {
  const auto analysis = analyze(model);
  const Shapes& shapes = analysis->shapes();
  for (const auto& scope : analysis->view.scopes()) {
    // Before opset 11 the branches of an If must agree: where one that is never taken does not, its word hides it.
    if (scope->owner && is_op(*scope->owner, "If") && opset_of(model.proto()) < 11) continue;
    for (auto& output : *scope->graph->mutable_output()) {
      const Value* value = analysis->view.find(*scope, output.name());
      auto& declared = *output.mutable_type();
      if (!value || !declared.has_tensor_type() || !declared.tensor_type().has_shape()) continue;
      const auto& dims = shapes.of(value).dims;
      if (!dims || !contradicts(*dims, declared.tensor_type().shape())) continue;
      *declared.mutable_tensor_type()->mutable_shape() = shapes.type_of(value).tensor_type().shape();
      for (auto& dim : *declared.mutable_tensor_type()->mutable_shape()->mutable_dim()) {
        if (dim.dim_param().find('?') != std::string::npos) dim.clear_dim_param();
      }
      ++report.changes;
      report.notes.push_back("output '" + output.name() + "' was declared with another shape than it has");
    }
  }
}

}  // namespace octet
