#include "prepare/blocks.h"

#include <algorithm>
#include <unordered_map>

#include "octet/prepare.h"
#include "prepare/block_draft.h"

namespace octet {
namespace {

class Finder {
 public:
  Finder(const Model& model, const GraphView& view, std::optional<BlockKind> only)
      : model_(model), view_(view), only_(only) {}

  // What holds other blocks comes first.
  std::vector<Block> find() {
    for (std::size_t i = 0; i < view_.nodes().size(); ++i) {
      const NodeAt& at = view_.nodes()[i];
      if (is_standard(*at.node)) order_.emplace(at.node, i), nodes_[at.node->op_type()].push_back(at);
    }
    std::vector<Block> softmaxes;
    for (const NodeAt& at : of("Exp")) {
      if (auto block = match_softmax(model_, view_, at)) softmaxes.push_back(std::move(*block));
    }
    for (const NodeAt& at : of("Softmax")) add(match_attention(model_, view_, at, nullptr));
    for (const Block& block : softmaxes)
      add(match_attention(model_, view_, {block.output->producer, block.scope}, &block));
    for (Block& block : softmaxes) add(std::move(block));
    for (const char* op : {"Sqrt", "Pow"}) {
      for (const NodeAt& at : of(op)) add(match_norm(model_, view_, at));
    }
    for (const char* op : {"ReduceL2", "Sqrt", "Pow"}) {
      for (const NodeAt& at : of(op)) add(match_l2_norm(model_, view_, at));
    }
    for (const char* op : {"Erf", "Tanh", "Sigmoid", "Clip", "HardSigmoid"}) {
      for (const NodeAt& at : of(op)) add(match_activation(model_, view_, at));
    }
    std::sort(found_.begin(), found_.end(),
              [this](const Block& a, const Block& b) { return order_.at(a.nodes.back()) < order_.at(b.nodes.back()); });
    return std::move(found_);
  }

 private:
  const std::vector<NodeAt>& of(const char* op) { return nodes_[op]; }

  void add(std::optional<Block> block) {
    if (!block || (only_ && block->kind != *only_)) return;
    for (const auto* node : block->nodes) {
      if (taken_.contains(node)) return;
    }
    taken_.insert(block->nodes.begin(), block->nodes.end());
    std::sort(block->nodes.begin(), block->nodes.end(),
              [this](const auto* a, const auto* b) { return order_.at(a) < order_.at(b); });
    found_.push_back(std::move(*block));
  }

  const Model& model_;
  const GraphView& view_;
  std::optional<BlockKind> only_;
  std::unordered_map<std::string, std::vector<NodeAt>> nodes_;
  std::unordered_map<const onnx::NodeProto*, std::size_t> order_;
  std::unordered_set<const onnx::NodeProto*> taken_;
  std::vector<Block> found_;
};

}  // namespace

std::string_view name_of(BlockKind kind) {
  switch (kind) {
    case BlockKind::kLayerNormalization:
      return "LayerNormalization";
    case BlockKind::kRmsNormalization:
      return "RMSNormalization";
    case BlockKind::kL2Normalization:
      return "L2Normalization";
    case BlockKind::kGeluErf:
      return "GELU (erf)";
    case BlockKind::kGeluTanh:
      return "GELU (tanh)";
    case BlockKind::kQuickGelu:
      return "GELU (sigmoid)";
    case BlockKind::kSilu:
      return "SiLU";
    case BlockKind::kHardSwish:
      return "HardSwish";
    case BlockKind::kSoftmax:
      return "Softmax";
    case BlockKind::kAttention:
      return "attention";
  }
  return "";
}

std::vector<Block> find_blocks(const Model& model, const GraphView& view, std::optional<BlockKind> only) {
  return Finder(model, view, only).find();
}

std::vector<BlockInfo> list_blocks(Model& model) {
  const GraphView view(model.proto());
  const NodeIds ids(view);
  std::vector<BlockInfo> infos;
  for (const Block& block : find_blocks(model, view)) {
    BlockInfo info{std::string(name_of(block.kind)), {}, block.output->name};
    for (const auto* node : block.nodes) info.nodes.push_back(ids.of(*node));
    infos.push_back(std::move(info));
  }
  return infos;
}

}  // namespace octet
