// Changes that searches make to copies of a plan.
#pragma once

#include <cstddef>
#include <set>
#include <string>
#include <vector>

#include "octet/plan.h"
#include "octet/ranges.h"

namespace octet {

// Nodes that could go towards float, in graph order. What only lies between static products follows them.
std::vector<std::string> active_nodes(const Plan& plan);

const NodePlan* find_node(const Plan& plan, const std::string& name);

// So many steps towards float at most. Returns the nodes that the last one changed.
std::vector<std::string> retreat_node(Plan& plan, const std::string& node, int steps, const std::string& why);

// Everything in float but these nodes, and those they share a stored tensor with: they cannot be told apart.
Plan only(const Plan& plan, const std::set<std::string>& nodes);

void to_float(Plan& plan, const std::string& node, const std::string& why);
// Out of integers, with its weights still in few bits; folded when the session starts, or as the target likes best.
void to_weights(Plan& plan, const std::string& node, bool folded, const std::string& why);
// A matrix with its weight in 8 bits computes in integers whose ranges are found while the model runs. False where it
// cannot.
bool to_dynamic(Plan& plan, const std::string& node, const std::string& why);
// Nodes that are not in integers become dynamic where another plan of the same model has them so. Returns which; none
// that shares a stored tensor with a node that stays.
std::vector<std::string> take_dynamic(Plan& plan, const Plan& dynamic, const std::vector<std::string>& but);
// Products in integers with ranges from samples.
std::size_t static_products(const Plan& plan);

// Nothing of the model in few bits.
Plan all_float(Plan plan);

// Values that are rounded to integers or taken back to float between static nodes and others.
int conversions(const Plan& plan);
// Static products that read and write nothing but float around them: each pays for both conversions alone.
std::vector<std::string> lone_products(const Plan& plan);

// Ranges read anew by one method, where they came from samples; of one value, or of all with "".
Plan with_method(Plan plan, const Ranges& ranges, RangeMethod method, const std::string& value = {});

// One scale for a whole weight instead of one per channel, wherever integers allow either, and for tables that rows are
// gathered from, which a node more gathers the scales for. Returns how many.
std::size_t share_scales(Plan& plan);

}  // namespace octet
