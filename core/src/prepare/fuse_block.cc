#include "prepare/fuse_block.h"

#include <algorithm>

#include "model/graph_match.h"

namespace octet {
namespace {

// Constants of formulas are rounded to float32, some of them more than once.
constexpr double kFloatRounding = 1e-6;

}  // namespace

bool is_plain_float(const Block& block, const ShapeFacts& x) {
  if (x.type != onnx::TensorProto::FLOAT || !x.dims || !(block.deviation <= kFloatRounding)) return false;
  const std::size_t rank = x.dims->size();
  if (static_cast<std::size_t>(block.constant_rank) > rank || (block.rank > 0 && block.rank != rank)) return false;
  return std::all_of(block.nodes.begin(), block.nodes.end(), [](const onnx::NodeProto* node) {
    return !is_op(*node, "Cast") || int_attribute(*node, "to", 0) == onnx::TensorProto::FLOAT;
  });
}

onnx::NodeProto& replace_block(const Block& block, std::string_view op, const std::vector<std::string>& inputs,
                               std::unordered_set<const onnx::NodeProto*>& dead) {
  onnx::NodeProto& last = *block.output->producer;
  for (const auto* node : block.nodes) {
    if (node == &last) continue;
    inherit_marks(*node, last);
    dead.insert(node);
  }
  become(last, op, inputs);
  return last;
}

void decline(PassReport& report, const std::string& note) {
  if (std::find(report.notes.begin(), report.notes.end(), note) == report.notes.end()) report.notes.push_back(note);
}

}  // namespace octet
