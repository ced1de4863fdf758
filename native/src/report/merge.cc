#include "report/merge.h"

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "engine/measure_json.h"

namespace octet {
namespace {

using nlohmann::json;

// Sizes that some report has under several names: there the name decides.
std::set<std::uint64_t> ambiguous_sizes(const std::vector<Place>& places) {
  std::set<std::uint64_t> result;
  for (const Place& place : places) {
    std::map<std::uint64_t, std::string> names;
    for (const PlaceRow& row : place.rows) {
      const auto [known, added] = names.emplace(row.bytes, row.name);
      if (!added && known->second != row.name) result.insert(row.bytes);
    }
  }
  result.insert(0);  // not known
  return result;
}

json cell_json(const PlaceRow& row, std::size_t report) {
  json cell = {{"report", report}};
  if (!row.error.empty()) cell["error"] = row.error;
  if (row.latency) cell["median_ms"] = row.latency->median_ms;
  if (row.speedup) cell["speedup"] = speedup_json(*row.speedup);
  if (row.sqnr_db) cell["worst_sqnr_db"] = number_json(*row.sqnr_db);
  if (row.memory_bytes) cell["peak_memory_bytes"] = *row.memory_bytes;
  if (row.load_ms) cell["load_ms"] = *row.load_ms;
  if (!row.sentence.empty()) cell["verdict"] = {{"judgement", row.judgement}, {"sentence", row.sentence}};
  return cell;
}

}  // namespace

std::vector<MergedRow> merged_rows(const std::vector<Place>& places) {
  const std::set<std::uint64_t> ambiguous = ambiguous_sizes(places);
  using Key = std::pair<std::uint64_t, std::string>;
  const auto key_of = [&](const PlaceRow& row) {
    return Key{row.bytes, ambiguous.contains(row.bytes) ? row.name : std::string()};
  };
  std::vector<Key> order;
  std::map<Key, std::vector<std::string>> names;
  std::map<Key, std::map<unsigned, MergedRow>> found;
  for (std::size_t i = 0; i < places.size(); ++i) {
    for (const PlaceRow& row : places[i].rows) {
      const Key key = key_of(row);
      if (!names.contains(key)) order.push_back(key);
      auto& known = names[key];
      if (std::find(known.begin(), known.end(), row.name) == known.end()) known.push_back(row.name);
      MergedRow& merged = found[key][row.threads];
      merged.cells.resize(places.size());
      if (merged.cells[i] == nullptr) merged.cells[i] = &row;  // named twice on one command line: the first
    }
  }
  std::vector<MergedRow> rows;
  for (const Key& key : order) {
    std::string name = names[key].front();
    for (std::size_t i = 1; i < names[key].size(); ++i) name += (i == 1 ? ", also " : ", ") + names[key][i];
    for (auto& [threads, row] : found[key]) {
      row.name = name;
      row.bytes = key.first;
      row.threads = threads;
      rows.push_back(std::move(row));
    }
  }
  return rows;
}

std::vector<AcrossRatio> across_ratios(const std::vector<MergedRow>& rows) {
  std::vector<AcrossRatio> ratios;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    std::size_t first = rows[i].cells.size();
    for (std::size_t place = 0; place < rows[i].cells.size(); ++place) {
      const PlaceRow* cell = rows[i].cells[place];
      if (cell == nullptr || !cell->latency || !(cell->latency->median_ms > 0)) continue;
      if (first == rows[i].cells.size())
        first = place;
      else
        ratios.push_back({i, place, first, rows[i].cells[first]->latency->median_ms / cell->latency->median_ms});
    }
  }
  return ratios;
}

std::string what_differs(const Place& place, const Place& against) {
  const bool runtime = place.runtime != against.runtime;
  if (place.browser != against.browser)
    return "a browser against a native run: another runtime, and whether the machine is the same is not known";
  if (place.browser) {
    if (place.machine != against.machine) return "another browser or machine";
    return runtime ? "another runtime, and whether the machine is the same is not known"
                   : "another run, and whether the machine is the same is not known";
  }
  // The load is of a moment, the rest of the machine.
  const auto machine = [](const Place& of) { return of.machine.substr(0, of.machine.find(", load")); };
  if (machine(place) != machine(against)) return runtime ? "another machine and another runtime" : "another machine";
  return runtime ? "another runtime on such a machine" : "such a machine and the same runtime, in another run";
}

std::string place_title(const Place& place) { return place.machine + "; " + place.runtime; }

json comparison_json(const std::vector<Place>& places) {
  json reports = json::array(), models = json::array(), across = json::array();
  for (const Place& place : places) {
    reports.push_back({{"file", place.file},
                       {"machine", place.machine},
                       {"runtime", place.runtime},
                       {"browser", place.browser},
                       {"octet", place.octet},
                       {"created", place.created},
                       {"setup", place.setup},
                       {"notes", place.notes}});
  }
  const std::vector<MergedRow> rows = merged_rows(places);
  for (const MergedRow& row : rows) {
    json cells = json::array();
    for (std::size_t i = 0; i < row.cells.size(); ++i) {
      if (row.cells[i] != nullptr) cells.push_back(cell_json(*row.cells[i], i));
    }
    models.push_back({{"name", row.name}, {"bytes", row.bytes}, {"threads", row.threads}, {"cells", std::move(cells)}});
  }
  for (const AcrossRatio& entry : across_ratios(rows)) {
    across.push_back({{"model", entry.row},
                      {"report", entry.place},
                      {"against", entry.against},
                      {"ratio", entry.ratio},
                      {"differs", what_differs(places[entry.place], places[entry.against])}});
  }
  return {{"octet_report", "comparison"},
          {"octet", OCTET_VERSION},
          {"reports", std::move(reports)},
          {"models", std::move(models)},
          {"across", std::move(across)}};
}

}  // namespace octet
