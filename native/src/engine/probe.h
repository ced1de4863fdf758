// Values between a model's nodes, seen by running it once.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "octet/prepare.h"
#include "octet/tensor.h"

namespace octet {

// Runs the model with these values of its main graph as further outputs. What does not load or run, or is too large to
// be held in memory once more, gives nothing.
ProbedValues probe_values(const std::filesystem::path& path, const std::vector<std::string>& values,
                          const Sample& sample);

}  // namespace octet
