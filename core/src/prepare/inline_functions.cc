// y = F(x), F(a) = { b = MatMul(a, w); Relu(b) }   →   b__1 = MatMul(x, w); y = Relu(b__1)
// Quantizers that skip this never see the weights applied inside functions.
#include "model/graph_view.h"
#include "octet/error.h"
#include "onnx/inliner/inliner.h"
#include "prepare/pass.h"

namespace octet {

void run_inline_functions(Model& model, PassReport& report) {
  auto& proto = model.proto();
  report.changes = proto.functions_size();
  if (report.changes == 0) return;
  // Bodies may use domains that the model itself does not import.
  for (const auto& function : proto.functions()) {
    for (const auto& opset : function.opset_import()) {
      if (opset_of(proto, opset.domain()) == 0) require_domain(proto, opset.domain(), opset.version());
    }
  }
  try {
    onnx::inliner::InlineLocalFunctions(proto, /*convert_version=*/true);
  } catch (const std::exception& fault) {
    throw Error(ErrorCode::kUnsupported, model.name, std::string("a local function cannot be inlined: ") + fault.what(),
                "inline it before export");
  }
  if (proto.functions_size() > 0) {
    throw Error(
        ErrorCode::kUnsupported, model.name,
        "function '" + proto.functions(0).name() + "' cannot be inlined (it needs another opset, or calls itself)",
        "inline it before export");
  }
}

}  // namespace octet
