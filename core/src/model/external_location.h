// Rules for the names that a model gives to its external data files.
#pragma once

#include <string>

namespace octet {

// What is wrong with `location` as a path that must stay inside the model's folder, on any system; empty when nothing.
std::string location_problem(const std::string& location);

}  // namespace octet
