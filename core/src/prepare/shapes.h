// Type, shape and, for small integer tensors, contents of every value of a model, as expressions of the names that the
// inputs' dimensions have: what passes ask before they change a graph.
#pragma once

#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "model/graph_view.h"
#include "octet/prepare.h"
#include "prepare/dim.h"

namespace octet {

struct ShapeFacts {
  int type = 0;              // element type (onnx::TensorProto), 0 when unknown or no tensor
  std::optional<Dims> dims;  // nothing while the rank is unknown; sizes that are unknown have names of their own
  std::optional<Dims> data;  // the elements of a small integer or bool tensor of rank 0 or 1, where they are known

  bool has_rank(std::size_t rank) const { return dims && dims->size() == rank; }
  std::optional<std::vector<std::int64_t>> shape() const { return dims ? numbers(*dims) : std::nullopt; }
};

class Shapes {
 public:
  // `view` must be of `model` and outlive this. Changes nothing of the model. What cannot be told stays unknown.
  // Names are trusted to mean one size wherever they stand among the inputs, as ONNX says; "?" and the like are not
  // names. What the file says of values between nodes is used where nothing else is known, and then only its type and
  // rank: such descriptions are often stale.
  Shapes(const Model& model, const GraphView& view, const ProbedValues& probed = {});

  // Of a value of the view: facts with nothing in them where nothing is known.
  const ShapeFacts& of(const Value* value) const;
  const ShapeFacts& input(const NodeAt& at, int index) const { return of(view_.input(at, index)); }
  const ShapeFacts& output(const NodeAt& at, int index) const;
  // The type as ONNX writes it, of sequences and the like too; unset when nothing is known.
  const onnx::TypeProto& type_of(const Value* value) const;

  // Why onnx's inference gave up on a node, first come first; for reports.
  const std::vector<std::string>& notes() const { return notes_; }

 private:
  friend class ShapeWalk;
  struct Entry {
    ShapeFacts facts;
    onnx::TypeProto type;
  };
  const GraphView& view_;
  std::unordered_map<const Value*, Entry> entries_;
  std::vector<std::string> notes_;
};

}  // namespace octet
