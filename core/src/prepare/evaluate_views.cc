// Operators that leave the elements as they are, in number and order.
#include <cmath>
#include <cstring>

#include "kernels/quantize_kernels.h"
#include "prepare/evaluate_call.h"

namespace octet::kernels {
namespace {

std::optional<Tensor> int64_tensor(const Call& call, Sizes dims, const Sizes& values) {
  auto tensor = blank(call, kInt64, std::move(dims));
  if (tensor && !values.empty()) std::memcpy(tensor->bytes.data(), values.data(), tensor->bytes.size());
  return tensor;
}

// Input 0 with other dims.
Results viewed(const Call& call, std::optional<Sizes> dims) {
  const Operand* in = call.input(0);
  if (!dims || in->bytes.size() > call.max_bytes) return std::nullopt;
  return only(Tensor{in->type, std::move(*dims), {in->bytes.begin(), in->bytes.end()}});
}

// Truncated as the runtime does; nothing where C++ leaves open what comes out.
template <class T, class From>
std::optional<T> converted(From value) {
  if constexpr (std::is_floating_point_v<From> && std::is_integral_v<T>) {
    // Both bounds are powers of two, so exact: the upper one is the first value that does not fit.
    const From above = std::ldexp(From{1}, std::numeric_limits<T>::digits);
    const From below = std::is_signed_v<T> ? -above : From{0};
    const From whole = std::trunc(value);
    if (!(whole >= below && whole < above)) return std::nullopt;
    return static_cast<T>(whole);
  } else {
    return static_cast<T>(value);
  }
}

template <class From, class Get>
Results cast_from(const Call& call, std::size_t count, Get get) {
  const auto to = static_cast<int>(call.attribute("to", 0));
  auto out = blank(call, to, call.input(0)->dims);
  if (!out) return std::nullopt;
  if (to == kBool || to == kFloat16 || to == kBfloat16) {
    for (std::size_t i = 0; i < count; ++i) {
      const From value = get(i);
      if (to == kBool) {
        if (no_number(value)) return std::nullopt;
        out->bytes[i] = value != From{0};
        continue;
      }
      if constexpr (std::is_same_v<From, double>) return std::nullopt;  // rounding twice or once: runtimes differ
      const auto single = static_cast<float>(value);
      elements<std::uint16_t>(*out)[i] = to == kFloat16 ? float_to_half(single) : float_to_bfloat16(single);
    }
    return only(std::move(out));
  }
  return with_number(to, [&]<class T>() -> Results {
    T* values = elements<T>(*out);
    for (std::size_t i = 0; i < count; ++i) {
      const From value = get(i);
      const auto result = converted<T>(value);
      if (!result) return std::nullopt;
      values[i] = no_number(value) ? static_cast<T>(std::numeric_limits<float>::quiet_NaN()) : *result;
    }
    return only(std::move(out));
  });
}

}  // namespace

Results shape(const Call& call) {
  const Operand* in = call.input(0);
  if (!in) return std::nullopt;
  const auto rank = static_cast<std::int64_t>(in->dims.size());
  std::int64_t start = 0, end = rank;
  if (call.opset >= 15) {
    const auto bound = [&](std::int64_t at) { return std::clamp<std::int64_t>(at < 0 ? at + rank : at, 0, rank); };
    start = bound(call.attribute("start", 0));
    end = std::max(start, bound(call.attribute("end", rank)));
  }
  return only(int64_tensor(call, {end - start}, Sizes(in->dims.begin() + start, in->dims.begin() + end)));
}

Results size(const Call& call) {
  const Operand* in = call.input(0);
  return in ? only(int64_tensor(call, {}, {*product_of(in->dims)})) : std::nullopt;
}

Results identity(const Call& call) {
  const Operand* in = call.input(0);
  return in ? viewed(call, in->dims) : std::nullopt;
}

Results reshape(const Call& call) {
  const Operand* in = call.input(0);
  const auto target = int_list(call, "shape", 1, 5).values;
  if (!in || !target) return std::nullopt;
  return viewed(call, reshaped(in->dims, *target, call.attribute("allowzero", 0) != 0));
}

Results flatten(const Call& call) {
  const Operand* in = call.input(0);
  return in ? viewed(call, flattened(in->dims, call.attribute("axis", 1))) : std::nullopt;
}

Results squeeze(const Call& call) {
  const Operand* in = call.input(0);
  if (!in) return std::nullopt;
  const IntList axes = int_list(call, "axes", 1, 13);
  if (axes.given) return axes.values ? viewed(call, squeezed(in->dims, *axes.values)) : std::nullopt;
  Sizes dims;
  std::copy_if(in->dims.begin(), in->dims.end(), std::back_inserter(dims), [](auto dim) { return dim != 1; });
  return viewed(call, dims);
}

Results unsqueeze(const Call& call) {
  const Operand* in = call.input(0);
  const auto axes = int_list(call, "axes", 1, 13).values;
  return in && axes ? viewed(call, unsqueezed(in->dims, *axes)) : std::nullopt;
}

Results cast(const Call& call) {
  const Operand* in = call.input(0);
  if (!in) return std::nullopt;
  if (in->type == call.attribute("to", 0)) return viewed(call, in->dims);
  if (in->type == kFloat16 || in->type == kBfloat16) {
    const auto halves = elements<std::uint16_t>(*in);
    std::vector<float> wide(halves.size());
    in->type == kFloat16 ? half_to_float(halves, wide) : bfloat16_to_float(halves, wide);
    return cast_from<float>(call, wide.size(), [&](std::size_t i) { return wide[i]; });
  }
  if (in->type == kBool)
    return cast_from<std::uint8_t>(call, in->bytes.size(),
                                   [&](std::size_t i) { return static_cast<std::uint8_t>(in->bytes[i] != 0); });
  return with_number(in->type, [&]<class From>() -> Results {
    const auto values = elements<From>(*in);
    return cast_from<From>(call, values.size(), [&](std::size_t i) { return values[i]; });
  });
}

}  // namespace octet::kernels
