// Operators that onnx's converter gets wrong, wraps without need or does not reach: hidden from it while it works,
// then converted here.
#pragma once

#include "model/graph_view.h"

namespace octet {

class OwnConversions {
 public:
  // Hides them. Throws Error(kUnsupported) naming an operator that has no equal in version `to`.
  OwnConversions(Model& model, std::int64_t from, std::int64_t to);
  // Shows them in their new form.
  void finish(Model& model) const;

 private:
  void show(Model& model, onnx::GraphProto& graph, NameSet& names) const;
  std::int64_t from_, to_;
};

}  // namespace octet
