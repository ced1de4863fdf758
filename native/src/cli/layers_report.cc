#include <fmt/format.h>

#include <algorithm>

#include "cli/compare_layers.h"
#include "cli/terminal.h"
#include "engine/measure_json.h"
#include "octet/report.h"

namespace octet {
namespace {

using nlohmann::json;
using Rows = std::vector<std::vector<std::string>>;

std::string table(Rows rows, std::size_t all) {
  std::string text = format_table(rows, 2);
  if (all + 1 > rows.size()) text += fmt::format("  and {} more: --rows and --json list them\n", all + 1 - rows.size());
  return text;
}

std::string short_list(const std::vector<std::string>& names) {
  if (names.empty()) return "-";
  return names.size() == 1 ? names.front() : fmt::format("{} and {} more", names.front(), names.size() - 1);
}

}  // namespace

json layers_json(const LayersResult& layers) { return json::parse(layers_to_json(layers)); }

json exclusions_json(const std::vector<Exclusion>& exclusions) {
  json list = json::array();
  for (const Exclusion& exclusion : exclusions) {
    json entry = {{"excluded", exclusion.excluded}, {"bytes", exclusion.bytes}};
    if (exclusion.error.empty())
      entry["worst_sqnr_db"] = number_json(exclusion.worst_sqnr_db);
    else
      entry["error"] = exclusion.error;
    list.push_back(std::move(entry));
  }
  return list;
}

std::string layers_text(const LayersResult& layers, std::size_t most) {
  std::string text = fmt::format(
      "values: {} of {} float values{} found again, {} of {} roundings\n", layers.layers.size(), layers.float_values,
      layers.prepared ? " of the prepared model" : "", layers.rounded_matched, layers.rounded);
  Rows rows = {{"value", "made by", "rounding alone", "against float", "largest error", "largest value"}};
  for (const LayerDrift& layer : layers.layers) {
    if (rows.size() > most) break;
    rows.push_back({layer.pair.name, layer.pair.op.empty() ? "input" : layer.pair.op,
                    layer.rounding ? format_db(layer.rounding->sqnr_db) : "-",
                    layer.model.comparable ? format_db(layer.model.sqnr_db) : layer.model.why_not,
                    fmt::format("{:.4g}", layer.model.max_abs_error), fmt::format("{:.4g}", layer.model.max_abs)});
  }
  if (rows.size() > 1) text += table(std::move(rows), layers.layers.size());
  text += fmt::format("weights: {} stored in integers{}\n", layers.weights.size(),
                      layers.weights_unmatched > 0
                          ? fmt::format(", {} more that no float tensor was found for", layers.weights_unmatched)
                          : "");
  rows = {{"weight", "read by", "type", "SQNR", "largest error", "largest value"}};
  for (const WeightDrift& weight : layers.weights) {
    if (rows.size() > most) break;
    rows.push_back({weight.name, short_list(weight.nodes), weight.type, format_db(weight.sqnr_db),
                    fmt::format("{:.4g}", weight.max_abs_error), fmt::format("{:.4g}", weight.max_abs)});
  }
  if (rows.size() > 1) text += table(std::move(rows), layers.weights.size());
  return text;
}

std::string exclusions_text(const std::vector<Exclusion>& exclusions, double sqnr_db) {
  std::string text = "with the worst nodes left in float, measured:\n";
  Rows rows = {{"nodes", "the last of them", "worst output", "gained", "size"}};
  rows.push_back({"0", "-", format_db(sqnr_db), "-", "-"});
  for (const Exclusion& exclusion : exclusions) {
    rows.push_back({std::to_string(exclusion.excluded.size()), exclusion.excluded.back(),
                    exclusion.error.empty() ? format_db(exclusion.worst_sqnr_db) : exclusion.error,
                    exclusion.error.empty() ? fmt::format("{:.1f} dB", exclusion.worst_sqnr_db - sqnr_db) : "-",
                    format_bytes(exclusion.bytes)});
  }
  return text + format_table(rows, 2);
}

}  // namespace octet
