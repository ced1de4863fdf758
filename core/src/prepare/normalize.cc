#include "octet/prepare.h"

#include "model/graph_view.h"
#include "octet/error.h"
#include "prepare/pass.h"

namespace octet {

const std::vector<Pass>& normalizing_passes() {
  static const std::vector<Pass> passes = {
      {"inline_functions", "local functions become ordinary nodes", run_inline_functions},
      {"sort_nodes", "producers come before consumers", run_sort_nodes},
      {"remove_initializer_inputs", "weights are no longer listed as inputs", run_remove_initializer_inputs},
      {"lift_constants", "Constant nodes become initializers", run_lift_constants},
      {"remove_identities", "Identity and inference-time Dropout vanish", run_remove_identities},
      {"fold_constant_casts", "Casts of stored tensors are applied", run_fold_constant_casts},
      {"fold_constant_views", "Reshape, Squeeze, Unsqueeze, Flatten and Transpose of a stored tensor are applied",
       run_fold_constant_views},
      {"share_equal_tensors", "copies of a stored tensor become one", run_share_equal_tensors},
      {"drop_unused", "nodes and tensors that reach no output go", run_drop_unused},
  };
  return passes;
}

std::vector<PassReport> normalize(Model& model) {
  std::vector<PassReport> reports;
  for (const Pass& pass : normalizing_passes()) {
    reports.push_back({std::string(pass.name), 0, {}});
    pass.run(model, reports.back());
  }
  // Last, since the converter knows neither functions nor graphs that are out of order.
  if (opset_of(model.proto()) > kMaxOpset) convert_opset(model, kMaxOpset);
  // IR 4 is the first in which initializers need not be inputs; nothing written here uses what is newer than 13.
  auto& proto = model.proto();
  if (proto.ir_version() < 4) proto.set_ir_version(4);
  if (proto.ir_version() > kMaxIrVersion) proto.set_ir_version(kMaxIrVersion);
  GraphView check(proto);
  return reports;
}

}  // namespace octet
