// Some exporters write nodes in any order; the format and everything after this wants producers first.
#include "model/graph_view.h"
#include "prepare/pass.h"

namespace octet {

void run_sort_nodes(Model& model, PassReport&) { sort_nodes(model.proto()); }

}  // namespace octet
