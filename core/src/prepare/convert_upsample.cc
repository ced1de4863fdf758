// y = Upsample(x, scales)   →   y = Resize<coordinate_transformation_mode = asymmetric, nearest_mode = floor>(x, ,
// scales)
//   In a model of opset 10 or more, where Upsample is no longer defined and no runtime takes it: exporters that raise
//   the opset's number alone leave it behind.
#include "prepare/analysis.h"
#include "prepare/pass.h"
#include "prepare/resize_forms.h"

namespace octet {

void run_convert_upsample(Model& model, PassReport& report) {
  const auto opset = opset_of(model.proto());
  if (opset < 10) return;
  const auto analysis = analyze(model);
  for (const NodeAt& at : analysis->view.nodes()) {
    if (is_op(*at.node, "Upsample") && upsample_to_resize(model, *at.scope->graph, *at.node, opset, analysis->names()))
      ++report.changes;
  }
}

}  // namespace octet
