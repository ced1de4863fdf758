// What a model says of a value, as the tests of samples give it.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "octet/tensor.h"

namespace octet::fixtures {

inline ValueInfo value_info(const std::string& name, int type, std::vector<std::int64_t> dims) {
  ValueInfo info;
  info.name = name;
  info.type = type;
  info.symbols.resize(dims.size());
  info.dims = std::move(dims);
  return info;
}

// Where there is but one and its name is of no matter.
inline ValueInfo value_info(int type, std::vector<std::int64_t> dims) { return value_info("x", type, std::move(dims)); }

}  // namespace octet::fixtures
