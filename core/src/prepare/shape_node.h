// One node on the way through shape inference: what is known of its inputs, what has been found of its outputs.
#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "model/graph_match.h"
#include "prepare/shapes.h"
#include "prepare/view_dims.h"

namespace octet {

using OpenSizes = std::vector<std::optional<Dim>>;  // of which some may not be known yet

// What several steps find out one after the other.
struct FoundOutput {
  int type = 0;
  std::optional<OpenSizes> dims;
  std::optional<Dims> data;
  onnx::TypeProto other;  // of sequences, optionals and maps

  void set(int element_type, const Dims& sizes);
  // Known sizes that onnx did not find; never replaces what is there, nor changes the rank.
  void refine(const OpenSizes& sizes);
  std::optional<Dim>& dim(std::size_t axis) { return (*dims)[axis]; }
};

class ShapeNode {
 public:
  ShapeNode(const Model& model, const Shapes& shapes, const GraphView& view, const NodeAt& at);

  const onnx::NodeProto& node() const { return *at_.node; }
  const NodeAt& at() const { return at_; }
  std::int64_t opset() const { return opset_; }  // of the standard domain

  bool has(int input) const { return input < node().input_size() && !node().input(input).empty(); }
  const ShapeFacts& in(int input) const { return shapes_.input(at_, input); }
  // Its sizes, or nothing while the rank is unknown.
  const std::optional<Dims>& dims(int input) const { return in(input).dims; }
  // The elements of a small integer input (or of the attribute that older opsets have for it).
  std::optional<Dims> values(int input, std::string_view attribute = {}) const;
  std::optional<std::vector<std::int64_t>> numbers(int input, std::string_view attribute = {}) const;
  // The elements of a small stored float input or attribute.
  std::optional<std::vector<float>> floats(int input, std::string_view attribute = {}) const;

  std::vector<FoundOutput> outputs;
  FoundOutput& out() { return outputs.front(); }  // callers know that there is one

 private:
  const Model& model_;
  const Shapes& shapes_;
  const GraphView& view_;
  NodeAt at_;
  std::int64_t opset_;
};

// Sizes that follow from the inputs by arithmetic that onnx leaves out when a size has a name (Conv, Reshape, Concat
// …).
void refine_sizes(ShapeNode& node);
// The part of it for operators that broadcast; false when this is none.
bool refine_broadcast(ShapeNode& node);

// Common operators in their usual form, without onnx. False, and nothing found, for everything else.
bool infer_plain(ShapeNode& node);

// Operators that onnx's registry does not know: those of ONNX Runtime. False when it is none of them.
bool infer_contributed(ShapeNode& node);

// The elements of small integer outputs: shape arithmetic.
void follow_values(ShapeNode& node);

// Sizes as ONNX writes them, and back: what is no number is looked up by its text.
class DimTexts {
 public:
  void write(const Dim& dim, onnx::TensorShapeProto::Dimension& out);
  std::optional<Dim> read(const onnx::TensorShapeProto::Dimension& dim) const;
  // A size nobody knows; `?` and a number, which no model's own names look like.
  Dim fresh();
  static bool is_fresh(const Dim& dim) { return dim.text().find('?') != std::string::npos; }

 private:
  std::unordered_map<std::string, Dim> known_;
  int count_ = 0;
};

}  // namespace octet
