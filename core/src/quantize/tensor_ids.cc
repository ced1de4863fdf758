#include "quantize/tensor_ids.h"

#include <optional>

namespace octet {

TensorIds::TensorIds(const GraphView& view) {
  std::unordered_map<std::string, int> count;
  for (const auto& scope : view.scopes()) {
    for (const auto& tensor : scope->graph->initializer()) ++count[tensor.name()];
  }
  // Tensors that have their name to themselves come first, so that none loses it to one made up for another.
  std::optional<NodeIds> nodes;
  for (const bool alone : {true, false}) {
    for (const auto& scope : view.scopes()) {
      for (const auto& tensor : scope->graph->initializer()) {
        if ((count[tensor.name()] == 1) != alone) continue;
        std::string id = tensor.name();
        if (!alone) {
          if (!nodes) nodes.emplace(view);
          const std::string owner = scope->owner ? nodes->of(*scope->owner) : std::string();
          id = owner + "/" + tensor.name();
          for (int i = 2; values_.contains(id); ++i) id = owner + "#" + std::to_string(i) + "/" + tensor.name();
        }
        Value* value = &scope->values.at(tensor.name());
        ids_.emplace(value, id);
        values_.emplace(std::move(id), value);
      }
    }
  }
  for (const auto& scope : view.scopes()) {
    for (const auto& tensor : scope->graph->initializer()) tensors_.push_back(&scope->values.at(tensor.name()));
  }
}

Value* TensorIds::find(const std::string& id) const {
  const auto found = values_.find(id);
  return found == values_.end() ? nullptr : found->second;
}

}  // namespace octet
