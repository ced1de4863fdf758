// Types, ranks and shapes of every value: how many are known, which are not, and their descriptions for the file.
// Stored tensors take part with their type and dims only.
#include <algorithm>

#include "octet/error.h"
#include "octet/prepare.h"
#include "prepare/shape_node.h"

namespace octet {
namespace {

constexpr std::size_t kMaxListed = 20;

std::string describe(const NodeAt& at, const std::string& output, const char* what) {
  const auto& node = *at.node;
  return std::string(what) + " of '" + output + "' (" + node.op_type() +
         (node.name().empty() ? "" : " '" + node.name() + "'") + ")";
}

void count(const Shapes& shapes, const GraphView& view, const NodeAt& at, ShapeCoverage& coverage) {
  for (const auto& output : at.node->output()) {
    if (output.empty()) continue;
    ++coverage.values;
    const Value* value = view.find(*at.scope, output);
    const ShapeFacts& facts = shapes.of(value);
    const auto& type = shapes.type_of(value);
    const bool other = type.value_case() != onnx::TypeProto::VALUE_NOT_SET && !type.has_tensor_type();
    const bool typed = facts.type != 0 || other, ranked = facts.dims.has_value() || other;
    coverage.typed += typed;
    coverage.ranked += ranked;
    coverage.shaped +=
        other || (facts.dims && std::none_of(facts.dims->begin(), facts.dims->end(), DimTexts::is_fresh));
    if ((!typed || !ranked) && coverage.missing.size() < kMaxListed)
      coverage.missing.push_back(describe(at, output, typed ? "rank" : "type"));
    if ((!typed || !ranked) && at.scope->depth == 0) coverage.to_probe.push_back(output);
  }
}

}  // namespace

ShapeCoverage cover_shapes(Model& model, const ProbedValues& probed) {
  const GraphView view(model.proto());
  const Shapes shapes(model, view, probed);
  ShapeCoverage coverage;
  for (const NodeAt& at : view.nodes()) count(shapes, view, at, coverage);
  if (!shapes.notes().empty()) coverage.note = shapes.notes().front();
  return coverage;
}

void add_outputs(Model& model, const std::vector<std::string>& values) {
  const GraphView view(model.proto());
  const Shapes shapes(model, view);
  for (const auto& name : values) {
    const auto found = view.main().values.find(name);
    if (found == view.main().values.end())
      throw Error(ErrorCode::kUsage, "value '" + name + "'", "the main graph has none of this name",
                  "octet inspect --nodes lists them");
    if (found->second.graph_outputs > 0) continue;
    auto& output = *model.proto().mutable_graph()->add_output();
    output.set_name(name);
    *output.mutable_type() = shapes.type_of(&found->second);
  }
}

void describe_values(Model& model) {
  const GraphView view(model.proto());
  const Shapes shapes(model, view);
  for (const auto& scope : view.scopes()) {
    auto& infos = *scope->graph->mutable_value_info();
    infos.Clear();
    std::unordered_set<std::string> outputs;
    for (const auto& output : scope->graph->output()) outputs.insert(output.name());
    for (const auto& node : scope->graph->node()) {
      for (const auto& output : node.output()) {
        const auto found = scope->values.find(output);
        if (output.empty() || outputs.contains(output) || found == scope->values.end()) continue;
        const auto& type = shapes.type_of(&found->second);
        if (type.value_case() == onnx::TypeProto::VALUE_NOT_SET) continue;
        auto& info = *infos.Add();
        info.set_name(output);
        *info.mutable_type() = type;
        if (!type.has_tensor_type() || !type.tensor_type().has_shape()) continue;
        for (auto& dim : *info.mutable_type()->mutable_tensor_type()->mutable_shape()->mutable_dim()) {
          if (dim.dim_param().find('?') != std::string::npos) dim.clear_dim_param();
        }
      }
    }
  }
}

}  // namespace octet
