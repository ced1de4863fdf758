// Functions of one element.
#include "prepare/evaluate_elements.h"

namespace octet::kernels {
namespace {

template <class F>
Results of_numbers(const Call& call, F f) {
  const Operand* in = call.input(0);
  if (!in) return std::nullopt;
  return with_number(in->type, [&]<class T>() { return unary<T, T>(call, *in, in->type, f); });
}

template <class F>
Results of_floats(const Call& call, int out_type, F f) {
  const Operand* in = call.input(0);
  if (in && in->type == kFloat) return f.template operator()<float>(*in, out_type);
  if (in && in->type == kDouble) return f.template operator()<double>(*in, out_type);
  return std::nullopt;
}

template <class F>
Results floats(const Call& call, F f) {
  return of_floats(call, call.input(0) ? call.input(0)->type : 0,
                   [&]<class T>(const Operand& in, int type) { return unary<T, T>(call, in, type, f); });
}

template <class F>
Results float_tests(const Call& call, F f) {
  return of_floats(call, kBool,
                   [&]<class T>(const Operand& in, int type) { return unary<T, std::uint8_t>(call, in, type, f); });
}

}  // namespace

Results neg(const Call& call) {
  return of_numbers(call, []<class T>(T x, T& out) {
    if constexpr (std::is_floating_point_v<T>)
      return out = -x, true;
    else
      return std::is_signed_v<T> && !__builtin_sub_overflow(T{0}, x, &out);
  });
}

Results abs(const Call& call) {
  return of_numbers(call, []<class T>(T x, T& out) {
    if constexpr (std::is_floating_point_v<T>)
      return out = std::fabs(x), true;
    else if (std::is_signed_v<T> && x < 0)
      return !__builtin_sub_overflow(T{0}, x, &out);
    else
      return out = x, true;
  });
}

Results sign(const Call& call) {
  return of_numbers(call, []<class T>(T x, T& out) {
    out = static_cast<T>(static_cast<int>(x > 0) - static_cast<int>(x < 0));
    return !no_number(x);
  });
}

Results floor(const Call& call) {
  return floats(call, []<class T>(T x, T& out) { return out = std::floor(x), true; });
}
Results ceil(const Call& call) {
  return floats(call, []<class T>(T x, T& out) { return out = std::ceil(x), true; });
}

// Ties go to the even neighbour, whatever rounding mode the process is in.
Results round(const Call& call) {
  return floats(call, []<class T>(T x, T& out) {
    const T low = std::floor(x), fraction = x - low;
    T result = low;
    if (fraction > T{0.5} || (fraction == T{0.5} && std::fmod(low, T{2}) != 0)) result = low + 1;
    return out = std::copysign(result, x), true;
  });
}

Results sqrt(const Call& call) {
  return floats(call, []<class T>(T x, T& out) { return out = std::sqrt(x), true; });
}
Results reciprocal(const Call& call) {
  return floats(call, []<class T>(T x, T& out) { return out = 1 / x, true; });
}

Results is_nan(const Call& call) {
  return float_tests(call, []<class T>(T x, std::uint8_t& out) { return out = no_number(x), true; });
}

Results is_inf(const Call& call) {
  const bool positive = call.attribute("detect_positive", 1) != 0, negative = call.attribute("detect_negative", 1) != 0;
  return float_tests(call, [&]<class T>(T x, std::uint8_t& out) {
    constexpr T kInfinity = std::numeric_limits<T>::infinity();
    return out = (positive && x == kInfinity) || (negative && x == -kInfinity), true;
  });
}

Results logical_not(const Call& call) {
  const Operand* in = call.input(0);
  if (!in || in->type != kBool) return std::nullopt;
  return unary<std::uint8_t, std::uint8_t>(call, *in, kBool, [](auto x, auto& out) { return out = x == 0, true; });
}

Results bitwise_not(const Call& call) {
  const Operand* in = call.input(0);
  if (!in) return std::nullopt;
  return with_integer(in->type, [&]<class T>() {
    return unary<T, T>(call, *in, in->type, [](T x, T& out) { return out = static_cast<T>(~x), true; });
  });
}

}  // namespace octet::kernels
