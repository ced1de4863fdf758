// d = Div(x, sqrt 2)  e = Erf(d)  a = Add(e, 1)  p = Mul(x, a)  y = Mul(p, 0.5)   →   y = Gelu(x)
// and the approximation with Tanh   →   y = Gelu<approximate = "tanh">(x)
// In every order of the factors (match_activations.cc), where the opset is 20 at least, everything is float32 and no
// value between is read elsewhere. Below opset 20 the nodes stay: ONNX Runtime finds them itself.
#include "prepare/analysis.h"
#include "prepare/blocks.h"
#include "prepare/fuse_block.h"
#include "prepare/pass.h"
#include "prepare/shapes.h"

namespace octet {
namespace {

constexpr std::int64_t kFirstGelu = 20;

void fuse(Model& model, BlockKind kind, PassReport& report) {
  const auto analysis = analyze(model);
  GraphView& view = analysis->view;
  const auto blocks = find_blocks(model, view, kind);
  if (blocks.empty()) return;
  const Shapes& shapes = analysis->shapes();
  std::unordered_set<const onnx::NodeProto*> dead;
  for (const Block& block : blocks) {
    if (!is_plain_float(block, shapes.of(block.inputs[0]))) {
      decline(report, std::string(name_of(kind)) + " stays as it is written: it is not all in float32");
      continue;
    }
    onnx::NodeProto& node = replace_block(block, "Gelu", {block.inputs[0]->name}, dead);
    if (kind == BlockKind::kGeluTanh) set_attribute(node, "approximate", std::string("tanh"));
    ++report.changes;
  }
  remove_nodes(view, dead);
}

}  // namespace

void run_fuse_gelu(Model& model, PassReport& report) {
  if (opset_of(model.proto()) < kFirstGelu) return;
  fuse(model, BlockKind::kGeluErf, report);
  fuse(model, BlockKind::kGeluTanh, report);
}

}  // namespace octet
