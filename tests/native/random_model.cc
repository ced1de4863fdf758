// Whole random models: inputs, patterns, outputs.
#include <algorithm>
#include <set>

#include "random_graph.h"

namespace octet::random_graphs {
namespace {

constexpr int kTriesPerPattern = 8;

Size random_size(Random& random) {
  switch (random.below(6)) {
    case 0:
      return kSymbolN;
    case 1:
      return kSymbolM;
    default:
      return same(std::array{1, 2, 3, 4, 6, 8}[static_cast<std::size_t>(random.below(6))]);
  }
}

void add_inputs(Builder& builder) {
  Random& random = builder.random;
  const int count = random.between(1, 3);
  for (int i = 0; i < count; ++i) {
    const std::string name = "x" + std::to_string(i);
    switch (random.below(5)) {
      case 0: {  // an image or a signal: batch, channels, space
        Sizes dims = {random.chance(0.5) ? kSymbolN : same(random.between(1, 2)), same(2 * random.between(1, 4))};
        const bool plane = random.chance(0.6);
        for (int axis = 0; axis < (plane ? 2 : 1); ++axis)
          dims.push_back(random.chance(0.3) ? kSymbolM : same(random.between(5, 9)));
        builder.input(name, kFloat, dims);
        break;
      }
      case 1:  // a sequence: batch, length, width
        builder.input(name, kFloat,
                      {random.chance(0.5) ? kSymbolN : same(1), random.chance(0.7) ? kSymbolM : same(4),
                       same(4 * random.between(1, 3))});
        break;
      case 2:
        builder.input(name, kInt64, {kSymbolN, random.chance(0.5) ? kSymbolM : same(3)});
        break;
      default: {
        Sizes dims;
        for (int rank = random.between(1, 4); rank > 0; --rank) dims.push_back(random_size(random));
        builder.input(name, kFloat, dims);
      }
    }
  }
  if (random.chance(0.3)) builder.input("flag", kBool, {});
}

// An equal node beside one that is there, as exporters leave them.
void repeat_a_node(Builder& builder) {
  const int count = builder.graph.node_size();
  if (count == 0) return;
  const onnx::NodeProto node = builder.graph.node(builder.random.below(count));
  std::vector<std::pair<int, Sizes>> outputs;
  std::optional<Sizes> content;
  for (const auto& name : node.output()) {
    for (const Value& value : builder.values) {
      if (value.name == name) outputs.emplace_back(value.type, value.dims), content = value.content;
    }
  }
  if (static_cast<int>(outputs.size()) != node.output_size()) return;
  builder.add_all(node.op_type(), {node.input().begin(), node.input().end()}, outputs,
                  {node.attribute().begin(), node.attribute().end()});
  if (outputs.size() == 1) builder.values.back().content = content;
}

std::vector<Value> choose_outputs(Builder& builder) {
  std::set<std::string> made, read;
  for (const auto& node : builder.graph.node()) {
    made.insert(node.output().begin(), node.output().end());
    read.insert(node.input().begin(), node.input().end());
  }
  std::vector<Value> ends, others, outputs;
  for (const Value& value : builder.values) {
    if (made.contains(value.name) && !value.stored) (read.contains(value.name) ? others : ends).push_back(value);
  }
  const auto take = [&](std::vector<Value>& from, int most) {
    for (; most > 0 && !from.empty(); --most) {
      // The last one first: a smaller budget then ends where the larger one went on.
      const auto at = outputs.empty() ? from.size() - 1 : builder.random.next() % from.size();
      outputs.push_back(from[at]);
      from.erase(from.begin() + static_cast<std::ptrdiff_t>(at));
    }
  };
  take(ends, 4);
  take(others, builder.random.below(3));
  if (outputs.empty())
    outputs.push_back(
        builder.add("Identity", {builder.values[0].name}, builder.values[0].type, builder.values[0].dims));
  return outputs;
}

}  // namespace

int random_budget(std::uint64_t seed) { return Random(seed ^ 0x5DEECE66D).between(3, 16); }

RandomModel random_model(std::uint64_t seed, int budget) {
  Random random(seed);
  const int opset = random.between(random.chance(0.4) ? 17 : 9, 21);  // fusions begin late
  Builder builder(random, opset);
  add_inputs(builder);
  const auto inputs = builder.values;
  for (int made = 0, tries = 0; made < budget && tries < budget * kTriesPerPattern; ++tries) {
    if (random.chance(0.05)) repeat_a_node(builder);
    made += add_random(builder) ? 1 : 0;
  }
  RandomModel result;
  result.outputs = choose_outputs(builder);
  onnx::ModelProto& proto = result.proto;
  proto.set_ir_version(std::clamp(opset - 9, 4, 10));
  auto* import = proto.add_opset_import();
  import->set_domain("");
  import->set_version(opset);
  auto& graph = builder.graph;
  graph.set_name("random");
  for (const Value& value : inputs) *graph.add_input() = value_info(value, true);
  if (random.chance(0.1)) {  // as IR 3 demanded
    for (const auto& tensor : graph.initializer())
      *graph.add_input() = value_info(
          {tensor.name(), tensor.data_type(), same({tensor.dims().begin(), tensor.dims().end()}), {}, true}, true);
  }
  for (const Value& value : result.outputs) *graph.add_output() = value_info(value, random.chance(0.8));
  if (random.chance(0.3)) {  // an exporter's shapes of what is inside
    std::set<std::string> outer;
    for (const auto& info : graph.input()) outer.insert(info.name());
    for (const auto& info : graph.output()) outer.insert(info.name());
    for (const Value& value : builder.values) {
      if (!value.stored && !outer.contains(value.name)) *graph.add_value_info() = value_info(value, random.chance(0.8));
    }
  }
  *proto.mutable_graph() = std::move(graph);
  return result;
}

}  // namespace octet::random_graphs
