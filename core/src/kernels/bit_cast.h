// std::bit_cast, which the C++ library of Emscripten 3.1.6 lacks though its compiler has the means.
#pragma once

namespace octet {

template <class To, class From>
constexpr To bit_cast(const From& from) noexcept {
  static_assert(sizeof(To) == sizeof(From));
  return __builtin_bit_cast(To, from);
}

}  // namespace octet
