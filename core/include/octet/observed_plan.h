// What a quantized model shows of the plan it was made by, whoever made it: for telling why it is as fast as it is
// where no plan was kept.
#pragma once

#include <optional>

#include "octet/plan.h"

namespace octet {

// As much as explain() asks for: the mode; of each node its operator, action and form; of each stored weight its type
// and axis; of each rounded activation its type. Its range and how that was chosen are not to be seen: methods are
// RangeMethod::kBest, ranges absent. Nothing where the model is not quantized.
// Throws what GraphView throws for a graph that is none.
std::optional<Plan> observed_plan(Model& model);

}  // namespace octet
