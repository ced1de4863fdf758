#include "octet/dtype.h"

#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <type_traits>
#include <utility>

#include "kernels/bit_cast.h"
#include "octet/error.h"

namespace octet {
namespace {

// Storage-only types: their values are computed in float.
struct Half {
  std::uint16_t bits;
};
struct Brain {
  std::uint16_t bits;
};

float widen(Brain value) { return bit_cast<float>(static_cast<std::uint32_t>(value.bits) << 16); }

float widen(Half value) {
  const std::uint32_t sign = static_cast<std::uint32_t>(value.bits & 0x8000u) << 16;
  const std::uint32_t exponent = (value.bits >> 10) & 0x1fu;
  const std::uint32_t mantissa = value.bits & 0x3ffu;
  if (exponent == 0x1f) return bit_cast<float>(sign | 0x7f800000u | (mantissa << 13));
  if (exponent != 0) return bit_cast<float>(sign | ((exponent + 112) << 23) | (mantissa << 13));
  const float magnitude = static_cast<float>(mantissa) * 0x1p-24f;  // zero and subnormals, exact
  return bit_cast<float>(sign | bit_cast<std::uint32_t>(magnitude));
}

// Drops `shift` low bits, to nearest, ties to even.
std::uint32_t round_shift(std::uint32_t value, unsigned shift) {
  const std::uint32_t kept = value >> shift, dropped = value & ((1u << shift) - 1), half = 1u << (shift - 1);
  return kept + ((dropped > half || (dropped == half && (kept & 1u))) ? 1u : 0u);
}

void narrow(float value, Brain& out) {
  const std::uint32_t bits = bit_cast<std::uint32_t>(value);
  out.bits = static_cast<std::uint16_t>(std::isnan(value) ? (bits >> 16) | 0x40u : round_shift(bits, 16));
}

void narrow(float value, Half& out) {
  const std::uint32_t bits = bit_cast<std::uint32_t>(value);
  const std::uint32_t sign = (bits >> 16) & 0x8000u, magnitude = bits & 0x7fffffffu;
  std::uint32_t half;
  if (magnitude >= 0x7f800000u) {
    half = magnitude > 0x7f800000u ? 0x7e00u : 0x7c00u;
  } else if (magnitude >= 0x47800000u) {  // 65536 and above
    half = 0x7c00u;
  } else if (magnitude >= 0x38800000u) {  // normal: rebias the exponent, then round; a carry moves into it by itself
    half = round_shift(magnitude - 0x38000000u, 13);
  } else if (magnitude >= 0x33000000u) {  // subnormal
    const unsigned shift = 126 - (magnitude >> 23);
    half = round_shift((magnitude & 0x7fffffu) | 0x800000u, shift);
  } else {
    half = 0;
  }
  out.bits = static_cast<std::uint16_t>(sign | half);
}

template <class T>
inline constexpr bool is_small_float = std::is_same_v<T, Half> || std::is_same_v<T, Brain>;
template <class T>
inline constexpr bool is_floating = std::is_floating_point_v<T> || is_small_float<T>;

// Calls `visit` with a value of the C++ type behind `type`; false when there is none.
template <class Visit>
bool with_type(int type, Visit&& visit) {
  switch (type) {
    case kFloat:
      visit(float{});
      return true;
    case kDouble:
      visit(double{});
      return true;
    case kFloat16:
      visit(Half{});
      return true;
    case kBfloat16:
      visit(Brain{});
      return true;
    case kUint8:
      visit(std::uint8_t{});
      return true;
    case kInt8:
      visit(std::int8_t{});
      return true;
    case kUint16:
      visit(std::uint16_t{});
      return true;
    case kInt16:
      visit(std::int16_t{});
      return true;
    case kUint32:
      visit(std::uint32_t{});
      return true;
    case kInt32:
      visit(std::int32_t{});
      return true;
    case kUint64:
      visit(std::uint64_t{});
      return true;
    case kInt64:
      visit(std::int64_t{});
      return true;
    case kBool:
      visit(bool{});
      return true;
    default:
      return false;
  }
}

// One value from Source to Target; false when it would not survive.
template <class Source, class Target>
bool convert_value(Source from, Target& to) {
  if constexpr (is_small_float<Source>) {
    return convert_value(widen(from), to);
  } else if constexpr (std::is_same_v<Target, bool>) {
    if constexpr (is_floating<Source>) return false;
    to = from != Source{};
    return static_cast<Source>(to) == from;
  } else if constexpr (is_floating<Target> && is_floating<Source>) {
    const float single = static_cast<float>(from);
    if constexpr (std::is_same_v<Target, double>) {
      to = from;
      return true;
    } else if constexpr (std::is_same_v<Target, float>) {
      to = single;
    } else {
      narrow(single, to);
      return !std::isfinite(from) || std::isfinite(widen(to));
    }
    return !std::isfinite(from) || std::isfinite(single);
  } else if constexpr (is_floating<Target>) {
    // An integer survives in a float when its significant bits fit the mantissa.
    constexpr int kDigits = std::is_same_v<Target, double>  ? 53
                            : std::is_same_v<Target, float> ? 24
                            : std::is_same_v<Target, Half>  ? 11
                                                            : 8;
    std::uint64_t magnitude = static_cast<std::uint64_t>(from);
    if constexpr (std::is_signed_v<Source>) {
      if (from < 0) magnitude = std::uint64_t{0} - magnitude;
    }
    if (magnitude != 0 && std::bit_width(magnitude) - std::countr_zero(magnitude) > kDigits) return false;
    if constexpr (is_small_float<Target>) {
      narrow(static_cast<float>(from), to);
      return std::isfinite(widen(to));
    } else {
      to = static_cast<Target>(from);
      return true;
    }
  } else if constexpr (is_floating<Source>) {
    return false;
  } else if constexpr (std::is_same_v<Source, bool>) {
    to = static_cast<Target>(from ? 1 : 0);
    return true;
  } else {
    if (!std::in_range<Target>(from)) return false;
    to = static_cast<Target>(from);
    return true;
  }
}

}  // namespace

std::string dtype_name(int type) {
  switch (type) {
    case kFloat:
      return "float32";
    case kDouble:
      return "float64";
    case kFloat16:
      return "float16";
    case kBfloat16:
      return "bfloat16";
    case kUint8:
      return "uint8";
    case kInt8:
      return "int8";
    case kUint16:
      return "uint16";
    case kInt16:
      return "int16";
    case kUint32:
      return "uint32";
    case kInt32:
      return "int32";
    case kUint64:
      return "uint64";
    case kInt64:
      return "int64";
    case kBool:
      return "bool";
    case kString:
      return "string";
    case kUint4:
      return "uint4";
    case kInt4:
      return "int4";
    default:
      return "type " + std::to_string(type);
  }
}

int dtype_from(std::string_view name) {
  for (int type = kFloat; type <= kInt4; ++type) {
    if (dtype_name(type) == name) return type;
  }
  return kUndefined;
}

bool is_float_type(int type) { return type == kFloat || type == kFloat16 || type == kBfloat16 || type == kDouble; }

std::size_t dtype_size(int type) {
  std::size_t size = 0;
  with_type(type, [&](auto value) { size = sizeof(value); });
  return size;
}

std::uint64_t tensor_size(int type, const std::vector<std::int64_t>& dims) {
  std::uint64_t count = 1;
  for (const std::int64_t dim : dims) {
    if (dim < 0 || __builtin_mul_overflow(count, static_cast<std::uint64_t>(dim), &count)) {
      throw Error(ErrorCode::kData, "", describe(type, dims) + " has no valid size");
    }
  }
  if (type == kUint4 || type == kInt4) return count / 2 + count % 2;
  const std::size_t size = dtype_size(type);
  if (size == 0) throw Error(ErrorCode::kData, "", "tensors of " + dtype_name(type) + " cannot be held in a sample");
  if (__builtin_mul_overflow(count, static_cast<std::uint64_t>(size), &count)) {
    throw Error(ErrorCode::kData, "", describe(type, dims) + " has no valid size");
  }
  return count;
}

std::string describe(int type, const std::vector<std::int64_t>& dims) {
  std::string text = dtype_name(type) + " [";
  for (const std::int64_t dim : dims) text += (text.back() == '[' ? "" : ",") + std::to_string(dim);
  return text + "]";
}

bool convert_tensor(Tensor& tensor, int type) {
  if (tensor.type == type) return true;
  bool survives = false;
  with_type(tensor.type, [&](auto source_tag) {
    using Source = decltype(source_tag);
    with_type(type, [&](auto target_tag) {
      using Target = decltype(target_tag);
      const std::size_t count = tensor.bytes.size() / sizeof(Source);
      std::vector<std::uint8_t> bytes(count * sizeof(Target));
      for (std::size_t i = 0; i < count; ++i) {
        Source from;
        if constexpr (std::is_same_v<Source, bool>) {
          from = tensor.bytes[i] != 0;  // any other pattern in a bool object would be undefined
        } else {
          std::memcpy(&from, tensor.bytes.data() + i * sizeof(Source), sizeof(Source));
        }
        Target to{};
        if (!convert_value(from, to)) return;
        std::memcpy(bytes.data() + i * sizeof(Target), &to, sizeof(Target));
      }
      tensor.bytes = std::move(bytes);
      tensor.type = type;
      survives = true;
    });
  });
  return survives;
}

Tensor tensor_from_doubles(int type, std::vector<std::int64_t> dims, const std::vector<double>& values) {
  Tensor tensor{type, std::move(dims), std::vector<std::uint8_t>(values.size() * dtype_size(type))};
  with_type(type, [&](auto tag) {
    using Target = decltype(tag);
    for (std::size_t i = 0; i < values.size(); ++i) {
      Target to{};
      if constexpr (is_small_float<Target>) {
        narrow(static_cast<float>(values[i]), to);
      } else if constexpr (std::is_same_v<Target, bool>) {
        to = values[i] != 0;
      } else if constexpr (std::is_floating_point_v<Target>) {
        to = static_cast<Target>(values[i]);
      } else {
        // Saturates; NaN is no integer either and becomes 0.
        const double low = static_cast<double>(std::numeric_limits<Target>::min());
        const double high = static_cast<double>(std::numeric_limits<Target>::max());
        if (values[i] <= low) {
          to = std::numeric_limits<Target>::min();
        } else if (values[i] >= high) {
          to = std::numeric_limits<Target>::max();
        } else if (values[i] == values[i]) {
          to = static_cast<Target>(values[i]);
        }
      }
      std::memcpy(tensor.bytes.data() + i * sizeof(Target), &to, sizeof(Target));
    }
  });
  return tensor;
}

}  // namespace octet
