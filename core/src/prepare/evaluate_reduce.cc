// Reductions and sums along an axis. Sums and products of floats depend on their order, so they are declined wherever
// there is anything to add.
#include "prepare/evaluate_elements.h"

namespace octet::kernels {
namespace {

// The tensor as it is walked: kept axes outside, reduced ones inside.
struct Reduction {
  Sizes out_dims, kept, kept_strides, inner, inner_strides;
  std::int64_t count = 1;  // elements that become one
};

std::optional<Reduction> reduction_of(const Call& call, const Operand& in, const Sizes& axes) {
  const std::size_t rank = in.dims.size();
  std::vector<bool> reduced(rank);
  for (const std::int64_t axis : axes) {
    const auto at = axis_of(axis, rank);
    if (!at) return std::nullopt;
    reduced[*at] = true;
  }
  const bool keep = call.attribute("keepdims", 1) != 0;
  const Sizes strides = strides_of(in.dims);
  Reduction result;
  for (std::size_t i = 0; i < rank; ++i) {
    (reduced[i] ? result.inner : result.kept).push_back(in.dims[i]);
    (reduced[i] ? result.inner_strides : result.kept_strides).push_back(strides[i]);
    if (!reduced[i])
      result.out_dims.push_back(in.dims[i]);
    else if (keep)
      result.out_dims.push_back(1);
  }
  result.count = product_of(result.inner).value_or(0);
  // What stands for nothing at all differs by operator and version.
  if (result.count == 0) return std::nullopt;
  return result;
}

// Axes that a Reduce node names; nothing when it cannot be told.
std::optional<Sizes> axes_of(const Call& call, const Operand& in, std::int64_t input_since, bool& reduces) {
  const IntList listed = int_list(call, "axes", 1, input_since);
  if (listed.given && !listed.values) return std::nullopt;
  if (listed.given && !listed.values->empty()) return listed.values;
  reduces = !(call.opset >= input_since && call.attribute("noop_with_empty_axes", 0) != 0);
  Sizes all(in.dims.size());
  for (std::size_t i = 0; i < all.size(); ++i) all[i] = static_cast<std::int64_t>(i);
  return all;
}

// f(sum so far, element) → whether that was possible; then finish(sum, count).
template <class Step, class Finish>
Results reduced(const Call& call, std::int64_t input_since, bool floats, Step step, Finish finish) {
  const Operand* in = call.input(0);
  if (!in) return std::nullopt;
  bool reduces = true;
  const auto axes = axes_of(call, *in, input_since, reduces);
  if (!axes || !reduces) return std::nullopt;
  const auto plan = reduction_of(call, *in, *axes);
  if (!plan) return std::nullopt;
  if ((in->type == kFloat || in->type == kDouble) && !floats && plan->count > 1) return std::nullopt;
  auto out = blank(call, in->type, plan->out_dims);
  if (!out) return std::nullopt;
  return with_number(in->type, [&]<class T>() -> Results {
    const auto values = elements<T>(*in);
    bool good = true;
    walk<1>(plan->kept, {plan->kept_strides}, [&](std::size_t i, const auto& outer) {
      T total = values[static_cast<std::size_t>(outer[0])];
      good = good && !no_number(total);
      walk<1>(plan->inner, {plan->inner_strides}, [&](std::size_t k, const auto& inner) {
        if (k > 0) good = good && step(total, values[static_cast<std::size_t>(outer[0] + inner[0])], total);
      });
      elements<T>(*out)[i] = finish(total, plan->count);
    });
    return good ? only(std::move(out)) : std::nullopt;
  });
}

constexpr auto kAsIs = []<class T>(T total, std::int64_t) { return total; };
constexpr auto kAdd = []<class T>(T a, T b, T& out) {
  if constexpr (std::is_integral_v<T>)
    return !__builtin_add_overflow(a, b, &out);
  else
    return false;
};
constexpr auto kMul = []<class T>(T a, T b, T& out) {
  if constexpr (std::is_integral_v<T>)
    return !__builtin_mul_overflow(a, b, &out);
  else
    return false;
};
template <bool kLargest>
constexpr auto kPick = []<class T>(T a, T b, T& out) {
  out = (kLargest ? a < b : b < a) ? b : a;
  if constexpr (std::is_floating_point_v<T>)
    return !no_number(b) && (a != b || std::signbit(a) == std::signbit(b));
  else
    return true;
};

template <bool kLargest>
Results arg_pick(const Call& call) {
  const Operand* in = call.input(0);
  if (!in) return std::nullopt;
  const auto axis = axis_of(call.attribute("axis", 0), in->dims.size());
  const auto plan = axis ? reduction_of(call, *in, {static_cast<std::int64_t>(*axis)}) : std::nullopt;
  if (!plan) return std::nullopt;
  const bool last = call.opset >= 12 && call.attribute("select_last_index", 0) != 0;
  auto out = blank(call, kInt64, plan->out_dims);
  if (!out) return std::nullopt;
  return with_number(in->type, [&]<class T>() -> Results {
    const auto values = elements<T>(*in);
    bool good = true;
    walk<1>(plan->kept, {plan->kept_strides}, [&](std::size_t i, const auto& outer) {
      std::size_t best = 0;
      T found = values[static_cast<std::size_t>(outer[0])];
      walk<1>(plan->inner, {plan->inner_strides}, [&](std::size_t k, const auto& inner) {
        const T value = values[static_cast<std::size_t>(outer[0] + inner[0])];
        good = good && !no_number(value);
        if ((kLargest ? found < value : value < found) || (last && value == found)) best = k, found = value;
      });
      elements<std::int64_t>(*out)[i] = static_cast<std::int64_t>(best);
    });
    return good ? only(std::move(out)) : std::nullopt;
  });
}

}  // namespace

Results reduce_sum(const Call& call) { return reduced(call, 13, false, kAdd, kAsIs); }
Results reduce_prod(const Call& call) { return reduced(call, 18, false, kMul, kAsIs); }
Results reduce_max(const Call& call) { return reduced(call, 18, true, kPick<true>, kAsIs); }
Results reduce_min(const Call& call) { return reduced(call, 18, true, kPick<false>, kAsIs); }
Results reduce_mean(const Call& call) {
  return reduced(call, 18, false, kAdd,
                 []<class T>(T total, std::int64_t count) { return static_cast<T>(total / static_cast<T>(count)); });
}

Results arg_max(const Call& call) { return arg_pick<true>(call); }
Results arg_min(const Call& call) { return arg_pick<false>(call); }

Results cum_sum(const Call& call) {
  const Operand* in = call.input(0);
  const auto listed = single_int(call.input(1));
  const auto axis = in && listed ? axis_of(*listed, in->dims.size()) : std::nullopt;
  if (!axis) return std::nullopt;
  const bool exclusive = call.attribute("exclusive", 0) != 0, reverse = call.attribute("reverse", 0) != 0;
  auto out = blank(call, in->type, in->dims);
  if (!out) return std::nullopt;
  Sizes others = in->dims;
  const std::int64_t dim = in->dims[*axis], along = strides_of(in->dims)[*axis];
  others[*axis] = 1;
  return with_integer(in->type, [&]<class T>() -> Results {
    const auto values = elements<T>(*in);
    bool good = true;
    if (dim == 0) return only(std::move(out));
    walk<1>(others, {strides_of(in->dims)}, [&](std::size_t, const auto& at) {
      T total = 0;
      for (std::int64_t i = 0; i < dim; ++i) {
        const std::int64_t place = at[0] + (reverse ? dim - 1 - i : i) * along;
        T& to = elements<T>(*out)[place];
        if (exclusive) to = total;
        good = good && !__builtin_add_overflow(total, values[static_cast<std::size_t>(place)], &total);
        if (!exclusive) to = total;
      }
    });
    return good ? only(std::move(out)) : std::nullopt;
  });
}

}  // namespace octet::kernels
