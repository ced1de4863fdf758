// octet inspect: what a model is, where its bytes are, what can be quantized and what blocks it.
#include <fmt/format.h>

#include <iostream>
#include <map>
#include <nlohmann/json.hpp>

#include "cli/commands.h"
#include "cli/model_options.h"
#include "cli/prepare_report.h"
#include "cli/terminal.h"
#include "engine/json_text.h"
#include "octet/error.h"
#include "octet/quantizer.h"
#include "octet/report.h"

namespace octet {
namespace {

struct InspectOptions {
  std::string model;
  QuantizationOptions quantization;
  bool nodes = false, json = false;
};

std::string values_text(const char* title, const std::vector<ValueFacts>& values) {
  std::vector<std::vector<std::string>> rows;
  for (const auto& value : values) rows.push_back({std::string("  ") + value.name, value.type, value.shape});
  return std::string(title) + "\n" + format_table(rows, 3);
}

std::string facts_text(const ModelFacts& facts) {
  std::string opsets;
  for (const auto& [domain, version] : facts.opsets)
    opsets += fmt::format("{}{} {}", opsets.empty() ? "" : ", ", domain, version);
  std::string text = fmt::format("{}: {}, opset {}, IR {}{}\n", facts.name, format_bytes(facts.file_bytes), opsets,
                                 facts.ir_version, facts.producer.empty() ? "" : ", by " + facts.producer);
  text += fmt::format("{} float parameters ({}), {} nodes{}{}\n", facts.parameters, format_bytes(facts.float_bytes),
                      facts.nodes, facts.subgraphs ? fmt::format(", {} subgraphs", facts.subgraphs) : "",
                      facts.functions ? fmt::format(", {} functions", facts.functions) : "");
  if (facts.quantized_already) text += "holds integer operators: it is quantized already, at least in part\n";
  text += values_text("inputs", facts.inputs) + values_text("outputs", facts.outputs);
  std::string operators;
  for (const auto& [op, count] : facts.operators)
    operators += fmt::format("{}{} {}", operators.empty() ? "" : ", ", count, op);
  text += "operators\n  " + operators + "\nlargest tensors\n";
  std::vector<std::vector<std::string>> rows;
  for (std::size_t i = 0; i < facts.largest.size() && i < 10; ++i)
    rows.push_back({"  " + facts.largest[i].name, facts.largest[i].type, facts.largest[i].shape,
                    format_bytes(facts.largest[i].bytes)});
  return text + format_table(rows, 3);
}

std::string blocks_text(const Quantizer& quantizer) {
  std::map<std::string, int> counts;
  for (const BlockInfo& block : quantizer.blocks()) ++counts[block.kind];
  std::string text;
  for (const auto& [kind, count] : counts) text += fmt::format("{}{} {}", text.empty() ? "" : ", ", count, kind);
  return text.empty() ? text : "written out as several nodes: " + text + "\n";
}

void run(const InspectOptions& options) {
  Quantizer quantizer(open_model(options.model), options.quantization.plan_options());
  const Plan& plan = quantizer.plan();
  const PlanSizes sizes = quantizer.sizes();
  if (options.json) {
    using Json = nlohmann::ordered_json;
    Json json{{"octet", OCTET_VERSION}};
    json.update(Json::parse(quantizer_report_json(quantizer)));
    const ShapeCoverage shapes = quantizer.shapes();
    json["shapes"] = {{"values", shapes.values}, {"typed", shapes.typed},     {"ranked", shapes.ranked},
                      {"shaped", shapes.shaped}, {"missing", shapes.missing}, {"note", shapes.note}};
    json["blocks"] = Json::array();
    for (const BlockInfo& block : quantizer.blocks())
      json["blocks"].push_back({{"kind", block.kind}, {"nodes", block.nodes}, {"output", block.output}});
    std::cout << json_text(json, 1) << "\n";
    return;
  }
  std::cout << facts_text(quantizer.facts()) << coverage_text(quantizer.shapes()) << blocks_text(quantizer);
  std::cout << fmt::format("{} for {}: {} of {} float weights would take {}\n", name_of(plan.mode),
                           name_of(plan.target), format_bytes(sizes.planned_bytes), format_bytes(sizes.float_bytes),
                           format_bytes(sizes.stored_bytes));
  for (const KeptTensor& tensor : plan.kept) {
    if (tensor.bytes >= 4096)
      std::cout << fmt::format("  stays in float: {} ({}): {}\n", tensor.tensor, format_bytes(tensor.bytes),
                               tensor.why);
  }
  if (!options.nodes) return;
  std::vector<std::vector<std::string>> rows = {{"node", "operator", "action", "why"}};
  for (const NodePlan& node : plan.nodes)
    rows.push_back({node.node, node.op, std::string(name_of(node.action)), node.why});
  std::cout << format_table(rows, 4);
}

}  // namespace

void add_inspect_command(CLI::App& app) {
  auto options = std::make_shared<InspectOptions>();
  auto* command = app.add_subcommand("inspect", "Show what a model is, what can be quantized and what blocks it");
  command->add_option("MODEL", options->model, "a model (.onnx)")->required();
  options->quantization.add_to(*command);
  command->add_flag("--nodes", options->nodes, "list every node with what would become of it");
  command->add_flag("--json", options->json, "report as JSON");
  command->callback([options] { run(*options); });
}

}  // namespace octet
