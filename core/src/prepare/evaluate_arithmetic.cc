// Arithmetic of two or more tensors. Integers that leave their type decline: the runtime's result is an accident then.
#include "prepare/evaluate_elements.h"

namespace octet::kernels {
namespace {

template <class F>
Results arithmetic(const Call& call, const Operand* a, const Operand* b, F f) {
  if (!a || !b || a->type != b->type) return std::nullopt;
  return with_number(a->type, [&]<class T>() { return binary<T, T>(call, *a, *b, a->type, f); });
}

constexpr auto kAdd = []<class T>(T a, T b, T& out) {
  if constexpr (std::is_integral_v<T>)
    return !__builtin_add_overflow(a, b, &out);
  else
    return out = a + b, true;
};
constexpr auto kSub = []<class T>(T a, T b, T& out) {
  if constexpr (std::is_integral_v<T>)
    return !__builtin_sub_overflow(a, b, &out);
  else
    return out = a - b, true;
};
constexpr auto kMul = []<class T>(T a, T b, T& out) {
  if constexpr (std::is_integral_v<T>)
    return !__builtin_mul_overflow(a, b, &out);
  else
    return out = a * b, true;
};
// Integers are truncated, as in C++.
constexpr auto kDiv = []<class T>(T a, T b, T& out) {
  if constexpr (std::is_integral_v<T>) {
    if (b == 0 || (std::is_signed_v<T> && a == std::numeric_limits<T>::min() && b == static_cast<T>(-1))) return false;
    out = static_cast<T>(a / b);
    return true;
  }
  return out = a / b, true;
};
// Which of two zeros, or what becomes of a NaN, differs between versions of the runtime.
template <class T>
bool ordered(T a, T b) {
  if constexpr (std::is_floating_point_v<T>)
    return !no_number(a) && !no_number(b) && (a != b || std::signbit(a) == std::signbit(b));
  else
    return true;
}
constexpr auto kMin = []<class T>(T a, T b, T& out) { return out = b < a ? b : a, ordered(a, b); };
constexpr auto kMax = []<class T>(T a, T b, T& out) { return out = a < b ? b : a, ordered(a, b); };

// The sign of the divisor (fmod = 0, integers alone) or of the dividend (fmod = 1).
template <bool kFmod>
constexpr auto kMod = []<class T>(T a, T b, T& out) {
  if constexpr (std::is_floating_point_v<T>) {
    out = std::fmod(a, b);
    return kFmod && !no_number(out);
  } else {
    if (b == 0 || (std::is_signed_v<T> && b == static_cast<T>(-1) && a == std::numeric_limits<T>::min())) return false;
    out = static_cast<T>(a % b);
    if (!kFmod && out != 0 && (out < 0) != (b < 0)) out = static_cast<T>(out + b);
    // With fmod the runtime goes through double.
    constexpr std::int64_t kExact = std::int64_t{1} << 53;
    return !kFmod || sizeof(T) < 8 ||
           (std::is_signed_v<T> ? a <= static_cast<T>(kExact) && a >= static_cast<T>(-kExact) &&
                                      b <= static_cast<T>(kExact) && b >= static_cast<T>(-kExact)
                                : a <= static_cast<T>(kExact) && b <= static_cast<T>(kExact));
  }
};

// One tensor after the other, from the first on.
template <class F>
Results accumulated(const Call& call, F f) {
  if (!call.input(0)) return std::nullopt;
  Results result = only(
      Tensor{call.inputs[0].type, call.inputs[0].dims, {call.inputs[0].bytes.begin(), call.inputs[0].bytes.end()}});
  for (std::size_t i = 1; i < call.inputs.size(); ++i) {
    const Tensor& left = result->front();
    const Operand operand{left.type, left.dims, left.bytes};
    result = arithmetic(call, &operand, call.input(i), f);
    if (!result) return std::nullopt;
  }
  return result;
}

// A power is taken where a product or root gives the last bit too; others round differently in every library.
template <class T>
bool power(T base, double exponent, T& out) {
  if constexpr (std::is_floating_point_v<T>) {
    if (exponent == 0) return out = 1, true;
    if (exponent == 1) return out = base, !no_number(base);
    if (exponent == 2) return out = base * base, true;
    if (exponent == 3) return out = base * base * base, true;
    if (exponent == -1) return out = 1 / base, true;
    if (exponent == 0.5) return out = std::sqrt(base), base > 0;  // a power turns -0 and -infinity positive
    return false;
  } else {
    if (exponent < 0 || exponent > 62 || std::trunc(exponent) != exponent) return false;
    T result = 1;
    for (int i = 0; i < static_cast<int>(exponent); ++i) {
      if (__builtin_mul_overflow(result, base, &result)) return false;
    }
    out = result;
    // The runtime goes through double.
    return sizeof(T) < 8 || std::abs(static_cast<double>(result)) < 9007199254740992.0;
  }
}

}  // namespace

Results add(const Call& call) { return arithmetic(call, call.input(0), call.input(1), kAdd); }
Results sub(const Call& call) { return arithmetic(call, call.input(0), call.input(1), kSub); }
Results mul(const Call& call) { return arithmetic(call, call.input(0), call.input(1), kMul); }
Results div(const Call& call) { return arithmetic(call, call.input(0), call.input(1), kDiv); }

Results mod(const Call& call) {
  return call.attribute("fmod", 0) != 0 ? arithmetic(call, call.input(0), call.input(1), kMod<true>)
                                        : arithmetic(call, call.input(0), call.input(1), kMod<false>);
}

Results minimum(const Call& call) { return accumulated(call, kMin); }
Results maximum(const Call& call) { return accumulated(call, kMax); }
Results sum(const Call& call) { return accumulated(call, kAdd); }

Results pow(const Call& call) {
  const Operand *base = call.input(0), *exponent = call.input(1);
  if (!base || !exponent) return std::nullopt;
  // Both as one type: exponents that matter are exact in double, which the base's type then takes along.
  std::vector<double> exponents;
  const auto read = with_number(exponent->type, [&]<class T>() -> Results {
    for (const T value : elements<T>(*exponent)) exponents.push_back(static_cast<double>(value));
    return std::vector<Tensor>();
  });
  const auto dims = broadcast(base->dims, exponent->dims);
  if (!read || !dims || !may_broadcast(call)) return std::nullopt;
  auto out = blank(call, base->type, *dims);
  if (!out) return std::nullopt;
  return with_number(base->type, [&]<class T>() -> Results {
    const auto bases = elements<T>(*base);
    bool good = true;
    walk<2>(*dims, {broadcast_strides(base->dims, *dims), broadcast_strides(exponent->dims, *dims)},
            [&](std::size_t i, const auto& at) {
              T result{};
              good = good &&
                     power(bases[static_cast<std::size_t>(at[0])], exponents[static_cast<std::size_t>(at[1])], result);
              elements<T>(*out)[i] = settled(result);
            });
    return good ? only(std::move(out)) : std::nullopt;
  });
}

}  // namespace octet::kernels
