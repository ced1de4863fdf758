// m = ReduceMax(x)  d = Sub(x, m)  e = Exp(d)  s = ReduceSum(e)  y = Div(e, s)   →   y = Softmax<axis>(x)
// Where both reductions keep one and the same axis, x is float32 and no value between is read elsewhere. Before opset
// 13, Softmax takes all axes from `axis` on as one: there it must be the last.
#include "prepare/analysis.h"
#include "prepare/blocks.h"
#include "prepare/fuse_block.h"
#include "prepare/pass.h"
#include "prepare/shapes.h"

namespace octet {

void run_fuse_softmax(Model& model, PassReport& report) {
  const auto analysis = analyze(model);
  GraphView& view = analysis->view;
  const auto blocks = find_blocks(model, view, BlockKind::kSoftmax);
  if (blocks.empty()) return;
  const Shapes& shapes = analysis->shapes();
  std::unordered_set<const onnx::NodeProto*> dead;
  for (const Block& block : blocks) {
    const ShapeFacts& x = shapes.of(block.inputs[0]);
    if (!is_plain_float(block, x)) {
      decline(report, "Softmax stays as it is written: it is not in float32, or its rank is not known");
      continue;
    }
    const auto rank = static_cast<std::int64_t>(x.dims->size());
    const auto axis = block.axes[0] < 0 ? block.axes[0] + rank : block.axes[0];
    if (axis < 0 || axis >= rank) continue;
    if (opset_of(model.proto()) < 13 && axis != rank - 1) {
      decline(report, "Softmax stays as it is written: before opset 13 there is none for an axis in the middle");
      continue;
    }
    onnx::NodeProto& node = replace_block(block, "Softmax", {block.inputs[0]->name}, dead);
    set_attribute(node, "axis", axis);
    ++report.changes;
  }
  remove_nodes(view, dead);
}

}  // namespace octet
