// Comparisons, logic and choice.
#include <cstring>
#include <functional>

#include "prepare/evaluate_elements.h"

namespace octet::kernels {
namespace {

template <class Compare>
Results compared(const Call& call, Compare compare, bool takes_bool = false) {
  const Operand *a = call.input(0), *b = call.input(1);
  if (!a || !b || a->type != b->type) return std::nullopt;
  const auto run = [&]<class T>() {
    return binary<T, std::uint8_t>(call, *a, *b, kBool,
                                   [&](T x, T y, std::uint8_t& out) { return out = compare(x, y), true; });
  };
  if (a->type == kBool) return takes_bool ? run.template operator()<std::uint8_t>() : std::nullopt;
  return with_number(a->type, run);
}

template <class F>
Results of_bools(const Call& call, F f) {
  const Operand *a = call.input(0), *b = call.input(1);
  if (!a || !b || a->type != kBool || b->type != kBool) return std::nullopt;
  return binary<std::uint8_t, std::uint8_t>(call, *a, *b, kBool,
                                            [&](bool x, bool y, std::uint8_t& out) { return out = f(x, y), true; });
}

template <class F>
Results of_bits(const Call& call, F f) {
  const Operand *a = call.input(0), *b = call.input(1);
  if (!a || !b || a->type != b->type) return std::nullopt;
  return with_integer(a->type, [&]<class T>() {
    return binary<T, T>(call, *a, *b, a->type, [&](T x, T y, T& out) { return out = static_cast<T>(f(x, y)), true; });
  });
}

}  // namespace

Results equal(const Call& call) { return compared(call, std::equal_to<>(), true); }
Results less(const Call& call) { return compared(call, std::less<>()); }
Results greater(const Call& call) { return compared(call, std::greater<>()); }
Results less_or_equal(const Call& call) { return compared(call, std::less_equal<>()); }
Results greater_or_equal(const Call& call) { return compared(call, std::greater_equal<>()); }

Results logical_and(const Call& call) { return of_bools(call, std::logical_and<>()); }
Results logical_or(const Call& call) { return of_bools(call, std::logical_or<>()); }
Results logical_xor(const Call& call) { return of_bools(call, std::not_equal_to<>()); }

Results bitwise_and(const Call& call) { return of_bits(call, std::bit_and<>()); }
Results bitwise_or(const Call& call) { return of_bits(call, std::bit_or<>()); }
Results bitwise_xor(const Call& call) { return of_bits(call, std::bit_xor<>()); }

Results where(const Call& call) {
  const Operand *choice = call.input(0), *a = call.input(1), *b = call.input(2);
  if (!choice || !a || !b || choice->type != kBool || a->type != b->type) return std::nullopt;
  const auto pair = broadcast(a->dims, b->dims);
  const auto dims = pair ? broadcast(choice->dims, *pair) : std::nullopt;
  if (!dims) return std::nullopt;
  auto out = blank(call, a->type, *dims);
  if (!out) return std::nullopt;
  const std::size_t width = element_width(a->type);
  walk<3>(
      *dims,
      {broadcast_strides(choice->dims, *dims), broadcast_strides(a->dims, *dims), broadcast_strides(b->dims, *dims)},
      [&](std::size_t i, const auto& at) {
        const bool first = choice->bytes[static_cast<std::size_t>(at[0])] != 0;
        const auto from = static_cast<std::size_t>(first ? at[1] : at[2]) * width;
        std::memcpy(out->bytes.data() + i * width, (first ? a : b)->bytes.data() + from, width);
      });
  return only(std::move(out));
}

}  // namespace octet::kernels
