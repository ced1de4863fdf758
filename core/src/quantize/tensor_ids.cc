#include "quantize/tensor_ids.h"

namespace octet {

TensorIds::TensorIds(const GraphView& view) {
  std::unordered_map<std::string, int> count;
  for (const auto& scope : view.scopes()) {
    for (const auto& tensor : scope->graph->initializer()) ++count[tensor.name()];
  }
  const NodeIds nodes(view);
  for (const auto& scope : view.scopes()) {
    for (const auto& tensor : scope->graph->initializer()) {
      Value* value = &scope->values.at(tensor.name());
      std::string id = tensor.name();
      if (count[id] > 1) {
        id = (scope->owner ? nodes.of(*scope->owner) : std::string()) + "/" + id;
        for (int i = 2; values_.contains(id); ++i)
          id = nodes.of(*scope->owner) + "#" + std::to_string(i) + "/" + tensor.name();
      }
      tensors_.push_back(value);
      ids_.emplace(value, id);
      values_.emplace(std::move(id), value);
    }
  }
}

Value* TensorIds::find(const std::string& id) const {
  const auto found = values_.find(id);
  return found == values_.end() ? nullptr : found->second;
}

}  // namespace octet
