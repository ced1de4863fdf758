// Random small models that are valid by construction: every value is tracked with its type, its shape and, for integers
// that compute shapes, its content.
//
// Symbolic dimensions are tracked without algebra: a dimension is what it is under each of a few bindings of the
// symbols, and an operator applies when it applies under all of them.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "octet/tensor.h"
#include "onnx/defs/attr_proto_util.h"
#include "onnx/onnx_pb.h"

namespace octet::random_graphs {

inline constexpr int kBindings = 3;
using Size = std::array<std::int64_t, kBindings>;  // one dimension, or one integer, under each binding
using Sizes = std::vector<Size>;
inline constexpr Size kSymbolN = {1, 4, 3}, kSymbolM = {5, 2, 7};

Size same(std::int64_t value);
Sizes same(const std::vector<std::int64_t>& values);
bool fixed(const Size& size);
bool fixed(const Sizes& sizes);
std::vector<std::int64_t> numbers_of(const Sizes& fixed_sizes);
Size zip(const Size& a, const Size& b, const std::function<std::int64_t(std::int64_t, std::int64_t)>& op);
std::optional<Sizes> broadcast(const Sizes& a, const Sizes& b);
Size elements(const Sizes& dims);
bool small_enough(const Sizes& dims);

struct Value {
  std::string name;
  int type = kFloat;
  Sizes dims;
  std::optional<Sizes> content;  // of an int64 tensor with at most one axis, where it is known
  bool stored = false;

  std::size_t rank() const { return dims.size(); }
  bool is_float() const { return type == kFloat; }
};
using Wanted = std::function<bool(const Value&)>;

// The same numbers on every machine, unlike the standard library's distributions.
class Random {
 public:
  explicit Random(std::uint64_t seed) : state_(seed * 0x9E3779B97F4A7C15u + 0x632BE59BD9B4E019u) {}
  std::uint64_t next();
  int below(int limit) { return static_cast<int>(next() % static_cast<std::uint64_t>(limit)); }
  int between(int low, int high) { return low + below(high - low + 1); }
  bool chance(double share) { return uniform() < share; }
  double uniform() { return static_cast<double>(next() >> 11) / 9007199254740992.0; }
  double uniform(double low, double high) { return low + (high - low) * uniform(); }

 private:
  std::uint64_t state_;
};

using Attributes = std::vector<onnx::AttributeProto>;
template <class T>
onnx::AttributeProto attribute(const char* name, T value) {
  return onnx::MakeAttribute(std::string(name), std::move(value));
}

// One graph while it is made. Makers take values from it and add nodes.
class Builder {
 public:
  Builder(Random& source, int opset_version) : random(source), opset(opset_version) {}
  explicit Builder(Builder& around)
      : random(around.random), opset(around.opset), outer(&around), shadows_(around.random.chance(0.2)) {}

  std::string new_name(const char* kind);
  Value input(const std::string& name, int type, Sizes dims);

  // Stored as an initializer or a Constant node; `values` as many as the shape holds.
  Value constant(int type, const std::vector<std::int64_t>& dims, const std::vector<double>& values);
  Value ints(const std::vector<std::int64_t>& values);  // int64, one axis
  Value scalar(int type, double value);
  // Uniform numbers; now and then stored in another form, with nodes that make this one of it.
  Value weight(const std::vector<std::int64_t>& dims, double low, double high);

  Value add(const std::string& op, const std::vector<std::string>& inputs, int type, Sizes dims,
            Attributes attributes = {});
  std::vector<Value> add_all(const std::string& op, const std::vector<std::string>& inputs,
                             const std::vector<std::pair<int, Sizes>>& outputs, Attributes attributes = {});

  // A value that is visible here, recent ones rather than old ones.
  std::optional<Value> pick(const Wanted& wanted);
  std::optional<Value> pick_float(std::size_t least_rank = 0, std::size_t most_rank = 5);

  Value reshape(const Value& x, const std::vector<std::int64_t>& shape, Sizes dims);
  Value transpose(const Value& x, const std::vector<std::int64_t>& perm);

  Random& random;
  int opset;
  Builder* outer = nullptr;
  onnx::GraphProto graph;
  std::vector<Value> values;  // inputs and what nodes made
  int depth() const { return outer ? outer->depth() + 1 : 0; }

 private:
  std::string stored_name();

  int made_ = 0;
  bool shadows_ = false;  // tensors of this body take names that outer ones have too
};

onnx::ValueInfoProto value_info(const Value& value, bool with_shape);

// Adds one operator or a small pattern; false where nothing fits.
struct Maker {
  const char* name;
  int weight;
  bool (*make)(Builder&);
};
const std::vector<Maker>& layer_makers();
const std::vector<Maker>& arithmetic_makers();
const std::vector<Maker>& block_makers();
const std::vector<Maker>& shape_makers();
const std::vector<Maker>& view_makers();
const std::vector<Maker>& control_makers();
bool add_random(Builder& builder);

struct RandomModel {
  onnx::ModelProto proto;
  std::vector<Value> outputs;
};
// `budget` patterns: a smaller budget gives the beginning of the same model, with other outputs.
RandomModel random_model(std::uint64_t seed, int budget);
int random_budget(std::uint64_t seed);

}  // namespace octet::random_graphs
