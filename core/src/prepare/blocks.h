// Groups of nodes that are one operation, written out: what an exporter makes of LayerNormalization, GELU, attention
// and the like where the opset has no operator for it. Passes fuse some of them; what plans integer arithmetic must not
// cut through any.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "model/graph_view.h"
#include "octet/model.h"

namespace octet {

enum class BlockKind {
  kLayerNormalization,
  kRmsNormalization,
  kL2Normalization,
  kGeluErf,
  kGeluTanh,
  kQuickGelu,
  kSilu,
  kHardSwish,
  kSoftmax,
  kAttention,
};

std::string_view name_of(BlockKind kind);

// Its nodes stand in one graph, and nothing outside reads a value between them.
struct Block {
  BlockKind kind = BlockKind::kSoftmax;
  Scope* scope = nullptr;
  std::vector<onnx::NodeProto*> nodes;  // in order; the last makes the output
  std::vector<const Value*> inputs;     // x; of attention: query, key, value, then masks
  const Value* output = nullptr;
  std::vector<std::int64_t> axes;  // of norms and Softmax, as written: negative ones count from the end
  double epsilon = 0;              // of norms
  const Value* scale = nullptr;    // gamma, a stored tensor of more than one element, or null
  const Value* bias = nullptr;     // beta; only where there is a gamma
  double deviation = 0;            // the largest relative distance of its constants from those of the formula
  std::size_t rank = 0;            // of x, where the nodes make sense for one rank alone; else 0
  int constant_rank = 0;           // of its one-element constants the highest rank: they may add axes to the output
};

// Every block of a model, in the order of their last nodes. No node is in two: attention takes in its Softmax. With a
// kind, the blocks of this kind alone, wherever they are.
std::vector<Block> find_blocks(const Model& model, const GraphView& view, std::optional<BlockKind> only = {});

}  // namespace octet
