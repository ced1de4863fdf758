// Which operators really compute in integers: read from the graph that the runtime's optimizations leave.
#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <string_view>

namespace octet {

// Operators that multiply and sum (products, recurrent layers, attention) and those between them, by type.
struct IntegerShare {
  std::map<std::string, int> integer;   // in integers
  std::map<std::string, int> floating;  // products in float
  int conversions = 0;                  // QuantizeLinear, DequantizeLinear and DynamicQuantizeLinear that are left

  int integer_products() const;
  int float_products() const;
};

// By its type, without the domain: multiplies and sums, or works between such operators, in integers; changes between
// integers and float.
bool computes_in_integers(std::string_view op);
bool converts(std::string_view op);

// `optimized`: a model that the runtime wrote. Throws what load_model throws.
IntegerShare integer_share(const std::filesystem::path& optimized);

}  // namespace octet
