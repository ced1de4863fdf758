// Element types as samples name them: numpy's names, sizes, and conversions that lose nothing a model would notice.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "octet/tensor.h"

namespace octet {

std::string dtype_name(int type);  // "float32", "int64" …; "type 17" for what samples cannot hold

int dtype_from(std::string_view name);  // the type of that name; kUndefined when there is none

bool is_float_type(int type);  // float32, float16, bfloat16, float64

// Bytes of one element; 0 for strings, 4-bit and unknown types.
std::size_t dtype_size(int type);

// Bytes of a whole tensor, 4-bit types packed; throws Error(kData) when dims are negative, the product overflows, or
// the type has no size.
std::uint64_t tensor_size(int type, const std::vector<std::int64_t>& dims);

// "float32 [1,3,-1,-1]", the way messages show a tensor.
std::string describe(int type, const std::vector<std::int64_t>& dims);

// The tensor as `type`, when every value survives: integers must fit exactly, floats may round but not overflow, floats
// never become integers. False, with `tensor` unchanged, when that cannot be done.
bool convert_tensor(Tensor& tensor, int type);

// Bytes of `values` as float16, bfloat16, float32, double, integers or bool: how synthetic samples and --fix are
// stored.
Tensor tensor_from_doubles(int type, std::vector<std::int64_t> dims, const std::vector<double>& values);

}  // namespace octet
