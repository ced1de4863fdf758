// Names for stored tensors that are unique within a model: sibling subgraphs may each have a "weight".
#pragma once

#include <map>
#include <string>
#include <unordered_map>

#include "model/graph_view.h"

namespace octet {

class TensorIds {
 public:
  explicit TensorIds(const GraphView& view);
  const std::string& of(const Value& value) const { return ids_.at(&value); }
  Value* find(const std::string& id) const;
  // All stored tensors, in file order.
  const std::vector<Value*>& tensors() const { return tensors_; }

 private:
  std::vector<Value*> tensors_;
  std::unordered_map<const Value*, std::string> ids_;
  std::unordered_map<std::string, Value*> values_;
};

}  // namespace octet
