// What tools call the values that they put beside a value of the float model.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace octet {

// The name itself, then what is left of it without a suffix of Octet's or the Python tool's, with and without a number
// that keeps names apart: "x_dequantized_1" is x_dequantized_1, x.
std::vector<std::string> original_names(std::string_view name);

}  // namespace octet
