// --fix: input sr   →   initializer sr = 16000
// --dim: input x [batch, 512]   →   input x [1, 512]
// What depends on them alone is folded by the passes that follow.
#include <nlohmann/json.hpp>

#include <algorithm>
#include <charconv>

#include "model/graph_match.h"
#include "octet/dtype.h"
#include "octet/error.h"
#include "prepare/pass.h"

namespace octet {
namespace {

[[noreturn]] void refuse(const std::string& where, const std::string& what, const std::string& next) {
  throw Error(ErrorCode::kUsage, where, what, next);
}

onnx::ValueInfoProto* find_input(onnx::GraphProto& graph, const std::string& name) {
  for (auto& input : *graph.mutable_input()) {
    if (input.name() == name) return &input;
  }
  return nullptr;
}

// "1,2.5,true": through JSON, since not every standard library reads floats with from_chars yet.
std::vector<double> parse_values(const std::string& where, const std::string& text) {
  const auto json = nlohmann::json::parse("[" + text + "]", nullptr, false);
  std::vector<double> values;
  for (const auto& item : json.is_array() ? json : nlohmann::json::array()) {
    if (item.is_boolean())
      values.push_back(item.get<bool>() ? 1 : 0);
    else if (item.is_number())
      values.push_back(item.get<double>());
    else
      values.clear();
    if (values.empty()) break;
  }
  if (values.empty() || values.size() != json.size())
    refuse(where, "'" + text + "' is no number nor a list of them", "write --fix NAME=16000 or --fix NAME=1,2,3");
  return values;
}

constexpr std::uint64_t kMaxElements = 1 << 20;

// The shape that the values fill: as declared, with one open size taken from a list.
std::vector<std::int64_t> shape_for(const std::string& where, const onnx::TypeProto::Tensor& type, std::size_t count) {
  std::vector<std::int64_t> dims;
  std::optional<std::size_t> open;
  std::uint64_t product = 1;
  for (const auto& dim : type.shape().dim()) {
    if (!dim.has_dim_value() || dim.dim_value() < 0) {
      if (open) refuse(where, "more than one of its dimensions is open", "fix them with --dim first");
      open = dims.size();
      dims.push_back(0);
      continue;
    }
    dims.push_back(dim.dim_value());
    if (dim.dim_value() > 0 && product > kMaxElements)
      refuse(where, "it is too large to be fixed", "leave it an input");
    product *= static_cast<std::uint64_t>(dim.dim_value());
  }
  if (product > kMaxElements) refuse(where, "it is too large to be fixed", "leave it an input");
  if (open) {
    if (product == 0 || count % product != 0) refuse(where, "the list does not fill its rows", "give whole rows");
    dims[*open] = static_cast<std::int64_t>(count / product);
    return dims;
  }
  if (count != 1 && count != product)
    refuse(where, std::to_string(count) + " values are given, it holds " + std::to_string(product),
           "give one value for all elements, or as many as it holds");
  return dims;
}

void set_size(onnx::TypeProto& type, const std::string& symbol, std::int64_t size, int& changes) {
  if (!type.has_tensor_type() || !type.tensor_type().has_shape()) return;
  for (auto& dim : *type.mutable_tensor_type()->mutable_shape()->mutable_dim()) {
    if (dim.has_dim_value() || dim.dim_param() != symbol) continue;
    dim.set_dim_value(size);
    ++changes;
  }
}

// INPUT:AXIS. A size that a name stands for goes wherever the name does.
bool set_axis(onnx::GraphProto& graph, const std::string& name, std::int64_t size, std::string& symbol, int& changes) {
  const auto colon = name.rfind(':');
  auto* input = colon == std::string::npos ? nullptr : find_input(graph, name.substr(0, colon));
  if (!input) return false;
  const std::string where = "--dim " + name + "=" + std::to_string(size);
  int axis = -1;
  const char* end = name.data() + name.size();
  if (std::from_chars(name.data() + colon + 1, end, axis).ptr != end || axis < 0)
    refuse(where, "the axis must be a whole number from 0", "write --dim INPUT:AXIS=N");
  if (!input->type().has_tensor_type() || axis >= input->type().tensor_type().shape().dim_size())
    refuse(where, "the input has no such axis", "octet inspect shows the shapes");
  auto& dim = *input->mutable_type()->mutable_tensor_type()->mutable_shape()->mutable_dim(axis);
  if (dim.has_dim_value() && dim.dim_value() >= 0 && dim.dim_value() != size)
    refuse(where, "the model fixes this size to " + std::to_string(dim.dim_value()), "leave it out");
  symbol = dim.dim_param();
  dim.set_dim_value(size);
  ++changes;
  return true;
}

}  // namespace

void fix_inputs(Model& model, const std::map<std::string, std::string>& values, PassReport& report) {
  auto& graph = *model.proto().mutable_graph();
  for (const auto& [name, text] : values) {
    const std::string where = "--fix " + name + "=" + text;
    auto* input = find_input(graph, name);
    if (!input) refuse(where, "the model has no such input", "octet inspect lists them");
    const auto& type = input->type();
    if (!type.has_tensor_type() || dtype_size(type.tensor_type().elem_type()) == 0)
      refuse(where, "only inputs of numbers can be fixed", "leave it an input");
    auto numbers = parse_values(where, text);
    const auto dims = shape_for(where, type.tensor_type(), numbers.size());
    const auto count = element_count(dims);
    if (numbers.size() == 1) numbers.resize(count, numbers.front());
    const int element = type.tensor_type().elem_type();
    Tensor tensor = tensor_from_doubles(element, dims, numbers);
    // An input may bring a default of its own.
    auto& stored = *graph.mutable_initializer();
    stored.erase(std::remove_if(stored.begin(), stored.end(),
                                [&name = name](const auto& other) { return other.name() == name; }),
                 stored.end());
    *graph.add_initializer() = make_tensor(model, name, element, dims, std::move(tensor.bytes));
    auto& inputs = *graph.mutable_input();
    inputs.erase(std::remove_if(inputs.begin(), inputs.end(),
                                [&name = name](const auto& other) { return other.name() == name; }),
                 inputs.end());
    ++report.changes;
  }
}

void fix_dims(Model& model, const std::map<std::string, std::int64_t>& sizes, PassReport& report) {
  auto& graph = *model.proto().mutable_graph();
  for (const auto& [name, size] : sizes) {
    const std::string where = "--dim " + name + "=" + std::to_string(size);
    if (size < 0) refuse(where, "the size must be a whole number from 0", {});
    std::string symbol = name;
    int changes = 0;
    const bool by_axis = set_axis(graph, name, size, symbol, changes);
    if (!symbol.empty()) {
      for (auto& input : *graph.mutable_input()) set_size(*input.mutable_type(), symbol, size, changes);
      if (changes == 0 && !by_axis)
        refuse(where, "no input has a dimension of this name", "octet inspect lists them; INPUT:AXIS works too");
      for (auto& output : *graph.mutable_output()) set_size(*output.mutable_type(), symbol, size, changes);
    }
    report.changes += changes;
  }
  // What the file said of values between nodes was said for any size.
  if (!sizes.empty()) graph.clear_value_info();
}

}  // namespace octet
