// Reports of several machines, browsers or runs side by side: the same models in each, speedups only within one of
// them. A ratio across two of them says what else differs.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "report/place.h"

namespace octet {

// One model with one number of threads, and what each report has of it; null: nothing.
struct MergedRow {
  std::string name;  // with other names it goes by
  std::uint64_t bytes = 0;
  unsigned threads = 1;
  std::vector<const PlaceRow*> cells;  // by report
};

// Models are the same when their files have as many bytes and the same name, or as many bytes where no report has two
// such. Rows in the order of their first appearance, the fewest threads first. Point into `places`.
std::vector<MergedRow> merged_rows(const std::vector<Place>& places);

// How many times as fast one report has a model as another has the same.
struct AcrossRatio {
  std::size_t row = 0, place = 0, against = 0;
  double ratio = 1;
};
// Of every model that several have timed, against the first that has.
std::vector<AcrossRatio> across_ratios(const std::vector<MergedRow>& rows);

// What differs between two reports besides the model, in words that stand behind a ratio.
std::string what_differs(const Place& place, const Place& against);

// "octet_report": "comparison".
nlohmann::json comparison_json(const std::vector<Place>& places);

// What a place is called in a table: "Chrome 126 on Android, 8 cores; onnxruntime-web 1.30.0".
std::string place_title(const Place& place);

}  // namespace octet
