#include <nlohmann/json.hpp>

#include "octet/report.h"
#include "report/json_text.h"

namespace octet {

std::string preparation_json(const ModelFacts& before, const ModelFacts& after, std::uint64_t output_bytes,
                             const std::vector<PassReport>& passes, const ShapeCoverage& shapes) {
  using Json = nlohmann::ordered_json;
  Json json{{"nodes", {{"before", before.nodes}, {"after", after.nodes}}},
            {"bytes", {{"before", before.file_bytes}, {"after", output_bytes}}},
            {"opsets", after.opsets},
            {"operators", after.operators},
            {"passes", Json::array()}};
  for (const PassReport& pass : passes)
    json["passes"].push_back({{"pass", pass.pass}, {"changes", pass.changes}, {"notes", pass.notes}});
  json["shapes"] = {{"values", shapes.values}, {"typed", shapes.typed},     {"ranked", shapes.ranked},
                    {"shaped", shapes.shaped}, {"missing", shapes.missing}, {"note", shapes.note}};
  return json_text(json, 1);
}

}  // namespace octet
