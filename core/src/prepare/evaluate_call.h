// What the kernels of evaluate() share: access to a call's inputs, dispatch over element types, walks over elements.
#pragma once

#include <array>
#include <cmath>
#include <limits>
#include <type_traits>

#include "model/graph_view.h"
#include "prepare/evaluate.h"
#include "prepare/view_dims.h"

namespace octet {

using Results = std::optional<std::vector<Tensor>>;

struct Call {
  const onnx::NodeProto& node;
  std::int64_t opset;
  std::span<const Operand> inputs;
  std::uint64_t max_bytes;

  // Null when the node does not have it.
  const Operand* input(std::size_t index) const {
    return index < inputs.size() && inputs[index].type != 0 ? &inputs[index] : nullptr;
  }
  std::int64_t attribute(std::string_view name, std::int64_t otherwise) const {
    return int_attribute(node, name, otherwise);
  }
};

using Kernel = Results (*)(const Call&);

// Bytes of an element; 0 for strings and for what is narrower than a byte.
std::size_t element_width(int type);

template <class T>
std::span<const T> elements(const Operand& operand) {
  return {reinterpret_cast<const T*>(operand.bytes.data()), operand.bytes.size() / sizeof(T)};
}
template <class T>
T* elements(Tensor& tensor) {
  return reinterpret_cast<T*>(tensor.bytes.data());
}

template <class T>
bool no_number(T value) {
  if constexpr (std::is_floating_point_v<T>)
    return std::isnan(value);
  else
    return false;
}

// Filled with zeros; nothing when it would be too large or is of a type without whole bytes.
std::optional<Tensor> blank(const Call& call, int type, Sizes dims);

Results only(std::optional<Tensor> tensor);

// The elements of an integer tensor; nothing when it is absent, of another type, or longer than any shape.
std::optional<Sizes> small_ints(const Operand* operand);
std::optional<std::int64_t> single_int(const Operand* operand);

// A list that is an attribute before opset `since` and an input from then on. `given` tells a missing one from one that
// cannot be read.
struct IntList {
  bool given = false;
  std::optional<Sizes> values;
};
IntList int_list(const Call& call, std::string_view name, std::size_t input, std::int64_t since);

std::optional<Sizes> broadcast(const Sizes& a, const Sizes& b);
Sizes strides_of(const Sizes& dims);                             // in elements; the last is 1
Sizes broadcast_strides(const Sizes& dims, const Sizes& shape);  // of a tensor read as if it had `shape`

// visit(i, offsets) for each element i of `dims` in order, offsets[k] being the sum of index times strides[k].
template <std::size_t N, class Visit>
void walk(const Sizes& dims, const std::array<Sizes, N>& strides, Visit visit) {
  const auto total = product_of(dims);
  if (!total || *total == 0) return;
  std::array<std::int64_t, N> at{};
  Sizes index(dims.size(), 0);
  for (std::int64_t i = 0;;) {
    visit(static_cast<std::size_t>(i), at);
    if (++i == *total) return;
    for (std::size_t axis = dims.size(); axis-- > 0;) {
      for (std::size_t k = 0; k < N; ++k) at[k] += strides[k][axis];
      if (++index[axis] < dims[axis]) break;
      for (std::size_t k = 0; k < N; ++k) at[k] -= strides[k][axis] * dims[axis];
      index[axis] = 0;
    }
  }
}

// out[offset by to_strides] = in[from + offset by from_strides], for elements of any one width.
void copy_strided(std::size_t width, const Sizes& dims, const std::uint8_t* in, std::int64_t from,
                  const Sizes& from_strides, std::uint8_t* out, std::int64_t to, const Sizes& to_strides);

// f.operator()<T>() for the C++ type of an element type; nothing for others.
template <class F>
Results with_integer(int type, F f) {
  switch (type) {
    case kInt8:
      return f.template operator()<std::int8_t>();
    case kUint8:
      return f.template operator()<std::uint8_t>();
    case kInt16:
      return f.template operator()<std::int16_t>();
    case kUint16:
      return f.template operator()<std::uint16_t>();
    case kInt32:
      return f.template operator()<std::int32_t>();
    case kUint32:
      return f.template operator()<std::uint32_t>();
    case kInt64:
      return f.template operator()<std::int64_t>();
    case kUint64:
      return f.template operator()<std::uint64_t>();
    default:
      return std::nullopt;
  }
}
template <class F>
Results with_number(int type, F f) {
  if (type == kFloat) return f.template operator()<float>();
  if (type == kDouble) return f.template operator()<double>();
  return with_integer(type, f);
}

// Kernels, by the file that holds them.
namespace kernels {
// evaluate_views.cc
Results shape(const Call&), size(const Call&), identity(const Call&), reshape(const Call&), flatten(const Call&);
Results squeeze(const Call&), unsqueeze(const Call&), cast(const Call&);
// evaluate_moves.cc
Results transpose(const Call&), slice(const Call&), concat(const Call&), split(const Call&), expand(const Call&);
Results tile(const Call&), pad(const Call&), trilu(const Call&);
// evaluate_gather.cc
Results gather(const Call&), gather_elements(const Call&), gather_nd(const Call&), scatter_nd(const Call&);
Results scatter_elements(const Call&), one_hot(const Call&), non_zero(const Call&);
// evaluate_fill.cc
Results range(const Call&), constant_of_shape(const Call&), eye_like(const Call&);
// evaluate_arithmetic.cc
Results add(const Call&), sub(const Call&), mul(const Call&), div(const Call&), mod(const Call&), pow(const Call&);
Results minimum(const Call&), maximum(const Call&), sum(const Call&);
// evaluate_unary.cc
Results neg(const Call&), abs(const Call&), sign(const Call&), floor(const Call&), ceil(const Call&);
Results round(const Call&), sqrt(const Call&), reciprocal(const Call&), is_nan(const Call&), is_inf(const Call&);
Results logical_not(const Call&), bitwise_not(const Call&);
// evaluate_logic.cc
Results equal(const Call&), less(const Call&), greater(const Call&), less_or_equal(const Call&);
Results greater_or_equal(const Call&), logical_and(const Call&), logical_or(const Call&), logical_xor(const Call&);
Results bitwise_and(const Call&), bitwise_or(const Call&), bitwise_xor(const Call&), where(const Call&);
// evaluate_reduce.cc
Results reduce_sum(const Call&), reduce_prod(const Call&), reduce_max(const Call&), reduce_min(const Call&);
Results reduce_mean(const Call&), arg_max(const Call&), arg_min(const Call&), cum_sum(const Call&);
}  // namespace kernels

}  // namespace octet
