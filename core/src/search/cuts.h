// Where a model can be parted into integers and float.
#pragma once

#include <string>
#include <vector>

#include "octet/plan.h"
#include "octet/prepare.h"

namespace octet {

// For each of the nodes (of the plan, in its order), what parting right before it costs: values between static nodes
// that would be converted there, and operations of several nodes that would be torn.
std::vector<int> cut_costs(const Plan& plan, const std::vector<std::string>& nodes,
                           const std::vector<BlockInfo>& blocks);

}  // namespace octet
