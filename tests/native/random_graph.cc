#include "random_graph.h"

#include <algorithm>
#include <limits>
#include <numeric>

namespace octet::random_graphs {
namespace {

constexpr std::int64_t kMostElements = 20000;
constexpr double kConstantNodes = 0.3;  // share of stored values that are Constant nodes
constexpr double kWeightExpressions = 0.15;

// "To the end" does not fit a double.
std::int64_t whole(double value) {
  constexpr std::int64_t kEnd = std::numeric_limits<std::int64_t>::max();
  return value >= 9.2e18 ? kEnd : value <= -9.2e18 ? -kEnd : static_cast<std::int64_t>(value);
}

onnx::TensorProto tensor_of(int type, const std::vector<std::int64_t>& dims, const std::vector<double>& values) {
  onnx::TensorProto tensor;
  tensor.set_data_type(type);
  for (const auto dim : dims) tensor.add_dims(dim);
  for (const double value : values) {
    if (type == kFloat)
      tensor.add_float_data(static_cast<float>(value));
    else if (type == kDouble)
      tensor.add_double_data(value);
    else if (type == kInt64)
      tensor.add_int64_data(whole(value));
    else
      tensor.add_int32_data(static_cast<std::int32_t>(value));
  }
  return tensor;
}

}  // namespace

Size same(std::int64_t value) {
  Size size;
  size.fill(value);
  return size;
}

Sizes same(const std::vector<std::int64_t>& values) {
  Sizes sizes;
  for (const auto value : values) sizes.push_back(same(value));
  return sizes;
}

bool fixed(const Size& size) {
  return std::all_of(size.begin(), size.end(), [&](auto value) { return value == size[0]; });
}

bool fixed(const Sizes& sizes) {
  return std::all_of(sizes.begin(), sizes.end(), [](const Size& size) { return fixed(size); });
}

std::vector<std::int64_t> numbers_of(const Sizes& fixed_sizes) {
  std::vector<std::int64_t> numbers;
  for (const Size& size : fixed_sizes) numbers.push_back(size[0]);
  return numbers;
}

Size zip(const Size& a, const Size& b, const std::function<std::int64_t(std::int64_t, std::int64_t)>& op) {
  Size result;
  for (std::size_t i = 0; i < kBindings; ++i) result[i] = op(a[i], b[i]);
  return result;
}

std::optional<Sizes> broadcast(const Sizes& a, const Sizes& b) {
  Sizes result(std::max(a.size(), b.size()), same(1));
  for (const Sizes* side : {&a, &b}) {
    const auto shift = result.size() - side->size();
    for (std::size_t axis = 0; axis < side->size(); ++axis) {
      Size& into = result[shift + axis];
      for (std::size_t i = 0; i < kBindings; ++i) {
        const auto dim = (*side)[axis][i];
        if (dim != 1 && into[i] != 1 && dim != into[i]) return std::nullopt;
        if (dim != 1) into[i] = dim;
      }
    }
  }
  return result;
}

Size elements(const Sizes& dims) {
  Size count = same(1);
  for (const Size& dim : dims) count = zip(count, dim, [](auto x, auto y) { return x * y; });
  return count;
}

bool small_enough(const Sizes& dims) {
  const Size count = elements(dims);
  return std::all_of(count.begin(), count.end(), [](auto n) { return n > 0 && n <= kMostElements; });
}

std::uint64_t Random::next() {  // splitmix64
  state_ += 0x9E3779B97F4A7C15u;
  std::uint64_t z = state_;
  z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
  z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
  return z ^ (z >> 31);
}

// Bodies of one depth take the same names again and again, as exporters do.
std::string Builder::new_name(const char* kind) {
  return (depth() ? "body" + std::to_string(depth()) + "_" : "") + kind + std::to_string(made_++);
}

// The runtime lets tensors of a body hide outer ones, but not what nodes make; and where another body of the same node
// reads the outer one, it gives both bodies that one. So only what no body can pick is hidden.
std::string Builder::stored_name() {
  const std::string name = "c" + std::to_string(made_);
  bool free = shadows_ && random.chance(0.5);
  for (const Builder* scope = outer; scope && free; scope = scope->outer)
    free = std::none_of(scope->values.begin(), scope->values.end(),
                        [&](const Value& value) { return value.name == name; });
  if (!free) return new_name("c");
  ++made_;
  return name;
}

Value Builder::input(const std::string& name, int type, Sizes dims) {
  values.push_back({name, type, std::move(dims), {}, false});
  return values.back();
}

Value Builder::constant(int type, const std::vector<std::int64_t>& dims, const std::vector<double>& numbers) {
  const bool as_node = random.chance(kConstantNodes);
  Value value{as_node ? new_name("c") : stored_name(), type, same(dims), {}, true};
  if (type == kInt64 && dims.size() <= 1) {
    value.content.emplace();
    for (const double number : numbers) value.content->push_back(same(whole(number)));
  }
  auto tensor = tensor_of(type, dims, numbers);
  if (as_node) {
    auto* node = graph.add_node();
    node->set_op_type("Constant");
    node->add_output(value.name);
    const bool short_form = opset >= 12 && random.chance(0.5);
    const std::vector<std::int64_t> integers(tensor.int64_data().begin(), tensor.int64_data().end());
    const std::vector<float> floats(tensor.float_data().begin(), tensor.float_data().end());
    if (short_form && type == kInt64 && dims.size() == 1)
      *node->add_attribute() = attribute("value_ints", integers);
    else if (short_form && type == kInt64 && dims.empty())
      *node->add_attribute() = attribute("value_int", integers[0]);
    else if (short_form && type == kFloat && dims.size() == 1)
      *node->add_attribute() = attribute("value_floats", floats);
    else if (short_form && type == kFloat && dims.empty())
      *node->add_attribute() = attribute("value_float", floats[0]);
    else
      *node->add_attribute() = attribute("value", tensor);
  } else {
    tensor.set_name(value.name);
    *graph.add_initializer() = tensor;
  }
  if (random.chance(0.1)) values.push_back(value);  // others may read it too
  return value;
}

Value Builder::ints(const std::vector<std::int64_t>& numbers) {
  return constant(kInt64, {static_cast<std::int64_t>(numbers.size())}, {numbers.begin(), numbers.end()});
}

Value Builder::scalar(int type, double value) { return constant(type, {}, {value}); }

Value Builder::weight(const std::vector<std::int64_t>& dims, double low, double high) {
  const auto count = std::accumulate(dims.begin(), dims.end(), std::int64_t{1}, std::multiplies<>());
  std::vector<double> numbers;
  for (std::int64_t i = 0; i < count; ++i) numbers.push_back(random.uniform(low, high));
  if (!random.chance(kWeightExpressions)) return constant(kFloat, dims, numbers);
  switch (random.below(dims.size() >= 2 ? 6 : 4)) {
    case 0:
      return add("Identity", {constant(kFloat, dims, numbers).name}, kFloat, same(dims));
    case 1:
      return add("Cast", {constant(kDouble, dims, numbers).name}, kFloat, same(dims), {attribute("to", int{kFloat})});
    case 2:
      return reshape(constant(kFloat, {count}, numbers), dims, same(dims));
    case 3: {
      const Value stored = constant(kFloat, dims, numbers), factor = scalar(kFloat, random.uniform(0.5, 1));
      return add("Mul", {stored.name, factor.name}, kFloat, same(dims));
    }
    case 4: {
      const auto halves = add("Neg", {constant(kFloat, dims, numbers).name}, kFloat, same(dims));
      return add("Neg", {halves.name}, kFloat, same(dims));
    }
    default: {
      std::vector<std::int64_t> turned(dims.rbegin(), dims.rend()), perm(dims.size());
      std::iota(perm.rbegin(), perm.rend(), 0);
      return transpose(constant(kFloat, turned, numbers), perm);
    }
  }
}

Value Builder::add(const std::string& op, const std::vector<std::string>& inputs, int type, Sizes dims,
                   Attributes attributes) {
  return add_all(op, inputs, {{type, std::move(dims)}}, std::move(attributes))[0];
}

std::vector<Value> Builder::add_all(const std::string& op, const std::vector<std::string>& inputs,
                                    const std::vector<std::pair<int, Sizes>>& outputs, Attributes attributes) {
  auto* node = graph.add_node();
  node->set_op_type(op);
  if (random.chance(0.8)) node->set_name(new_name("n"));
  for (const auto& input : inputs) node->add_input(input);
  for (auto& given : attributes) *node->add_attribute() = std::move(given);
  std::vector<Value> made;
  for (const auto& [type, dims] : outputs) {
    made.push_back({new_name("v"), type, dims, {}, false});
    node->add_output(made.back().name);
    values.push_back(made.back());
  }
  return made;
}

std::optional<Value> Builder::pick(const Wanted& wanted) {
  std::vector<const Value*> found;
  for (const Builder* scope = this; scope; scope = scope->outer) {
    if (scope != this && !found.empty() && random.chance(0.5)) break;
    for (auto value = scope->values.rbegin(); value != scope->values.rend(); ++value) {
      if (wanted(*value)) found.push_back(&*value);
    }
  }
  if (found.empty()) return std::nullopt;
  const int limit = static_cast<int>(found.size());
  return *found[static_cast<std::size_t>(std::min(random.below(limit), random.below(limit)))];
}

std::optional<Value> Builder::pick_float(std::size_t least_rank, std::size_t most_rank) {
  return pick(
      [&](const Value& v) { return v.is_float() && !v.stored && v.rank() >= least_rank && v.rank() <= most_rank; });
}

Value Builder::reshape(const Value& x, const std::vector<std::int64_t>& shape, Sizes dims) {
  return add("Reshape", {x.name, ints(shape).name}, x.type, std::move(dims));
}

Value Builder::transpose(const Value& x, const std::vector<std::int64_t>& perm) {
  Sizes dims;
  for (const auto axis : perm) dims.push_back(x.dims[static_cast<std::size_t>(axis)]);
  return add("Transpose", {x.name}, x.type, dims, {attribute("perm", perm)});
}

onnx::ValueInfoProto value_info(const Value& value, bool with_shape) {
  onnx::ValueInfoProto info;
  info.set_name(value.name);
  auto* type = info.mutable_type()->mutable_tensor_type();
  type->set_elem_type(value.type);
  if (!with_shape && value.rank() > 0) return info;
  auto* shape = type->mutable_shape();
  for (const Size& size : value.dims) {
    auto* dim = shape->add_dim();
    if (fixed(size))
      dim->set_dim_value(size[0]);
    else if (size == kSymbolN || size == kSymbolM)
      dim->set_dim_param(size == kSymbolN ? "n" : "m");
  }
  return info;
}

bool add_random(Builder& builder) {
  static const std::vector<Maker> makers = [] {
    std::vector<Maker> all;
    for (const auto* group :
         {&layer_makers(), &arithmetic_makers(), &block_makers(), &shape_makers(), &view_makers(), &control_makers()})
      all.insert(all.end(), group->begin(), group->end());
    return all;
  }();
  static const int total =
      std::accumulate(makers.begin(), makers.end(), 0, [](int sum, const Maker& maker) { return sum + maker.weight; });
  int at = builder.random.below(total);
  for (const Maker& maker : makers) {
    if ((at -= maker.weight) < 0) return maker.make(builder);
  }
  return false;
}

}  // namespace octet::random_graphs
