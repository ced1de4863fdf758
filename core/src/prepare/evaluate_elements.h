// Element by element, for the kernels of evaluate() that compute: f(a, b, out) or f(a, out) says whether it could.
#pragma once

#include <cmath>
#include <utility>

#include "prepare/evaluate_call.h"

namespace octet::kernels {

// A NaN that arithmetic makes has another sign on each platform; ours is always this one.
template <class T>
T settled(T value) {
  if constexpr (std::is_floating_point_v<T>) {
    if (no_number(value)) return std::numeric_limits<T>::quiet_NaN();
  }
  return value;
}

// Operators took their inputs' shapes as they are, or by attributes, before they learned to broadcast.
inline bool may_broadcast(const Call& call) { return call.opset >= 7; }

template <class In, class Out, class F>
Results binary(const Call& call, const Operand& a, const Operand& b, int out_type, F f) {
  const auto dims = broadcast(a.dims, b.dims);
  if (!dims || (!may_broadcast(call) && a.dims != b.dims)) return std::nullopt;
  auto out = blank(call, out_type, *dims);
  if (!out) return std::nullopt;
  const auto x = elements<In>(a), y = elements<In>(b);
  Out* to = elements<Out>(*out);
  bool good = true;
  walk<2>(*dims, {broadcast_strides(a.dims, *dims), broadcast_strides(b.dims, *dims)},
          [&](std::size_t i, const auto& at) {
            Out result{};
            good = good && f(x[static_cast<std::size_t>(at[0])], y[static_cast<std::size_t>(at[1])], result);
            to[i] = settled(result);
          });
  return good ? only(std::move(out)) : std::nullopt;
}

template <class In, class Out, class F>
Results unary(const Call& call, const Operand& in, int out_type, F f) {
  auto out = blank(call, out_type, in.dims);
  if (!out) return std::nullopt;
  const auto x = elements<In>(in);
  bool good = true;
  for (std::size_t i = 0; i < x.size() && good; ++i) {
    Out result{};
    good = f(x[i], result);
    elements<Out>(*out)[i] = settled(result);
  }
  return good ? only(std::move(out)) : std::nullopt;
}

}  // namespace octet::kernels
