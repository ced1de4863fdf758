// opset_import: "", "ai.onnx.ml", "com.vendor"   →   "" and what the nodes are of
// Exporters list every domain they know. Runtimes that know fewer refuse the model for it.
#include <algorithm>

#include "prepare/analysis.h"
#include "prepare/pass.h"

namespace octet {

void run_drop_unused_imports(Model& model, PassReport& report) {
  auto& proto = model.proto();
  if (proto.functions_size() > 0) return;  // they have imports of their own, which must agree with these
  std::unordered_set<std::string> used = {"", "ai.onnx"};
  const auto analysis = analyze(model);
  for (const NodeAt& at : analysis->view.nodes()) used.insert(at.node->domain());
  auto& imports = *proto.mutable_opset_import();
  const auto last = std::remove_if(imports.begin(), imports.end(),
                                   [&](const auto& import) { return !used.contains(import.domain()); });
  report.changes += static_cast<int>(imports.end() - last);
  imports.erase(last, imports.end());
}

}  // namespace octet
