// What the matchers of blocks share: a block in the making, and questions about the nodes around it.
#pragma once

#include <initializer_list>
#include <optional>
#include <string_view>
#include <unordered_set>
#include <vector>

#include "model/graph_match.h"
#include "prepare/blocks.h"

namespace octet {

// Starts from one node that tells of the kind (its anchor) and takes in nodes above and below it, all in the anchor's
// graph and the standard domain.
class BlockDraft {
 public:
  BlockDraft(const Model& model, const GraphView& view, const NodeAt& anchor) : model_(model), view_(view) {
    block.scope = anchor.scope;
    take(anchor.node);
  }

  const Value* in(const onnx::NodeProto* node, int index) const;
  const Value* out(const onnx::NodeProto* node) const;

  // The node that makes `value` as its first output, if it is such an operator here; the only one that reads it, if
  // it is such an operator here and the value is no output of the graph.
  onnx::NodeProto* maker(const Value* value, std::string_view op) const;
  onnx::NodeProto* reader(const Value* value, std::string_view op) const;
  onnx::NodeProto* maker(const Value* value) const;
  onnx::NodeProto* reader(const Value* value) const;

  // Of a node with two inputs one of which is `value`: the other one (`value` itself when it is both).
  const Value* other(const onnx::NodeProto* node, const Value* value) const;

  // The one element of a stored tensor; its rank counts for the block.
  std::optional<double> scalar(const Value* value);
  bool is_about(const Value* value, double number);  // within the tolerance; the distance counts for the block

  // The small stored integer tensor at an input, or in the attribute.
  std::optional<std::vector<std::int64_t>> ints(const onnx::NodeProto* node, int input,
                                                std::string_view attribute = {}) const;

  // The axes of a reduction that keeps its dimensions; nothing where they cannot be told, or are none.
  std::optional<std::vector<std::int64_t>> kept_axes(const onnx::NodeProto* reduction) const;

  // What is multiplied with itself (or raised to 2) to make `value`; takes the node in.
  const Value* square_root_of(const Value* value);

  void take(onnx::NodeProto* node);
  bool has(const onnx::NodeProto* node) const { return taken_.contains(node); }
  void deviate(double relative);

  // Nothing when a value between the nodes is read outside, or the output is made by none of them.
  std::optional<Block> finish(BlockKind kind, std::vector<const Value*> inputs, const Value* output);

  Block block;

 private:
  const Model& model_;
  const GraphView& view_;
  std::unordered_set<const onnx::NodeProto*> taken_;
};

// How far a constant may be from the formula's: what is written 1.4142 is meant to be the root of 2.
inline constexpr double kConstantTolerance = 1e-4;
double relative_distance(double value, double wanted);

std::optional<Block> match_norm(const Model& model, const GraphView& view, const NodeAt& root);
std::optional<Block> match_l2_norm(const Model& model, const GraphView& view, const NodeAt& root);
std::optional<Block> match_activation(const Model& model, const GraphView& view, const NodeAt& function);
std::optional<Block> match_softmax(const Model& model, const GraphView& view, const NodeAt& exp);
// From a Softmax, or from the last node of one that is written out.
std::optional<Block> match_attention(const Model& model, const GraphView& view, const NodeAt& softmax,
                                     const Block* written_out);

}  // namespace octet
