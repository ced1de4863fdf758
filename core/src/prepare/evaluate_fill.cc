// Operators that make elements from sizes and bounds.
#include <cmath>
#include <cstring>

#include "octet/error.h"
#include "prepare/evaluate_call.h"

namespace octet::kernels {
namespace {

// Sums of whole numbers below this are exact in any order; ranges of floats are taken where that holds.
template <class T>
constexpr double kExact = std::is_same_v<T, float> ? 16777216.0 : 4503599627370496.0;

template <class T>
Results range_of(const Call& call) {
  const T start = elements<T>(call.inputs[0])[0], limit = elements<T>(call.inputs[1])[0],
          delta = elements<T>(call.inputs[2])[0];
  if (delta == 0) return std::nullopt;
  for (const T bound : {start, limit, delta}) {
    const auto value = static_cast<double>(bound);
    if (!(std::abs(value) < kExact<T>)) return std::nullopt;
    if (std::is_floating_point_v<T> && std::trunc(value) != value) return std::nullopt;
  }
  const double steps =
      std::ceil((static_cast<double>(limit) - static_cast<double>(start)) / static_cast<double>(delta));
  if (steps > static_cast<double>(call.max_bytes)) return std::nullopt;
  const auto count = steps > 0 ? static_cast<std::int64_t>(steps) : 0;
  auto out = blank(call, call.inputs[0].type, {count});
  if (!out) return std::nullopt;
  // Whole numbers this small are exact in double; the last one is no further than one step beyond the limit.
  for (std::int64_t i = 0; i < count; ++i) {
    elements<T>(*out)[i] =
        static_cast<T>(static_cast<double>(start) + static_cast<double>(i) * static_cast<double>(delta));
  }
  return only(std::move(out));
}

}  // namespace

Results range(const Call& call) {
  for (std::size_t i = 0; i < 3; ++i) {
    const Operand* in = call.input(i);
    if (!in || in->type != call.inputs[0].type || product_of(in->dims) != 1) return std::nullopt;
  }
  return with_number(call.inputs[0].type, [&]<class T>() { return range_of<T>(call); });
}

Results constant_of_shape(const Call& call) {
  const auto dims = small_ints(call.input(0));
  if (!dims || call.inputs[0].dims.size() != 1) return std::nullopt;
  const auto* attribute = find_attribute(call.node, "value");
  if (!attribute) return only(blank(call, kFloat, *dims));
  if (!attribute->has_t() || attribute->t().data_location() == onnx::TensorProto::EXTERNAL) return std::nullopt;
  const std::string bytes = attribute->t().SerializeAsString();
  Tensor value;
  try {
    value = parse_tensor_proto({reinterpret_cast<const std::uint8_t*>(bytes.data()), bytes.size()});
  } catch (const Error&) {
    return std::nullopt;
  }
  const std::size_t width = element_width(value.type);
  if (width == 0 || value.bytes.size() != width) return std::nullopt;
  auto out = blank(call, value.type, *dims);
  if (!out) return std::nullopt;
  for (std::size_t i = 0; i < out->bytes.size(); i += width)
    std::memcpy(out->bytes.data() + i, value.bytes.data(), width);
  return only(std::move(out));
}

Results eye_like(const Call& call) {
  const Operand* in = call.input(0);
  if (!in || in->dims.size() != 2) return std::nullopt;
  const auto type = static_cast<int>(call.attribute("dtype", in->type));
  auto out = blank(call, type, in->dims);
  if (!out) return std::nullopt;
  const std::int64_t rows = in->dims[0], cols = in->dims[1],
                     k = std::clamp(call.attribute("k", 0), -rows - 1, cols + 1);
  return with_number(type, [&]<class T>() -> Results {
    for (std::int64_t row = 0; row < rows; ++row) {
      if (row + k >= 0 && row + k < cols) elements<T>(*out)[row * cols + row + k] = T{1};
    }
    return only(std::move(out));
  });
}

}  // namespace octet::kernels
