// Type, shape and, for small integer tensors, contents of every value of a model, as expressions of the names that the
// inputs' dimensions have: what passes ask before they change a graph.
#pragma once

#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "model/graph_view.h"
#include "prepare/dim.h"

namespace octet {

struct TensorFacts {
  int type = 0;              // element type (onnx::TensorProto), 0 when unknown or no tensor
  std::optional<Dims> dims;  // nothing while the rank is unknown; sizes that are unknown have names of their own
  std::optional<Dims> data;  // the elements of a small integer tensor of rank 0 or 1, where they are known

  bool has_rank(std::size_t rank) const { return dims && dims->size() == rank; }
  std::optional<std::vector<std::int64_t>> shape() const { return dims ? numbers(*dims) : std::nullopt; }
};

class Shapes {
 public:
  // `view` must be of `model` and outlive this. Changes nothing of the model. What cannot be told stays unknown.
  Shapes(const Model& model, const GraphView& view);

  // Of a value of the view: facts with nothing in them where nothing is known.
  const TensorFacts& of(const Value* value) const;
  const TensorFacts& input(const NodeAt& at, int index) const { return of(view_.input(at, index)); }
  const TensorFacts& output(const NodeAt& at, int index) const;

 private:
  const GraphView& view_;
  std::unordered_map<const Value*, TensorFacts> facts_;
};

}  // namespace octet
