#include "report/report_page.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "report/format.h"
#include "report/html.h"
#include "report/merge.h"
#include "report/place_section.h"

namespace octet {
namespace {

// "A", "B" … so that columns stay narrow; what they are stands above.
std::string letter(std::size_t place) {
  return place < 26 ? std::string(1, static_cast<char>('A' + place)) : std::to_string(place + 1);
}

// The one verdict there is; null where there are none or several.
const PlaceRow* only_verdict(const Place& place) {
  const PlaceRow* only = nullptr;
  for (const PlaceRow& row : place.rows) {
    if (row.sentence.empty()) continue;
    if (only != nullptr) return nullptr;
    only = &row;
  }
  return only;
}

std::string heading(const Place& place) {
  if (const PlaceRow* only = only_verdict(place)) {
    const bool known = only->judgement == "ship" || only->judgement == "dont";
    return fmt::format("<h1{}>{}</h1>\n", known ? " class=\"" + only->judgement + "\"" : "", escaped(only->sentence));
  }
  std::set<std::pair<std::uint64_t, std::string>> models;
  for (const PlaceRow& row : place.rows) models.emplace(row.bytes, row.name);
  return fmt::format("<h1>{} model{} measured</h1>\n", models.size(), models.size() == 1 ? "" : "s");
}

std::string cell_text(const PlaceRow* row) {
  if (row == nullptr) return "-";
  if (!row->error.empty()) return "does not run";
  std::string text = row->latency ? format_ms(row->latency->median_ms) : "not timed";
  if (row->speedup)
    text += fmt::format(", {} [{}, {}]", format_times(row->speedup->ratio), format_times(row->speedup->low),
                        format_times(row->speedup->high));
  if (row->sqnr_db) text += ", " + format_db(*row->sqnr_db);
  return text;
}

std::string compared(const std::vector<Place>& places) {
  const std::vector<MergedRow> rows = merged_rows(places);
  std::string text = "<h2>Side by side</h2>\n<ul>\n";
  for (std::size_t i = 0; i < places.size(); ++i)
    text += "<li><strong>" + letter(i) + "</strong>: " + escaped(place_title(places[i]) + " (" + places[i].file + ")") +
            "</li>\n";
  text +=
      "</ul>\n<p class=\"setup\">The median of a run; how many times as fast as the float model beside it, in the "
      "same report, with its interval; drift of the worst output. Models are the same when their files have as "
      "many bytes and, where that is not enough, the same name.</p>\n";
  std::vector<std::string> head = {"model", "size", "threads"};
  for (std::size_t i = 0; i < places.size(); ++i) head.push_back(letter(i));
  std::vector<std::vector<std::string>> cells;
  for (const MergedRow& row : rows) {
    cells.push_back({row.name, format_bytes(row.bytes), std::to_string(row.threads)});
    for (const PlaceRow* cell : row.cells) cells.back().push_back(cell_text(cell));
  }
  text += html_table(head, cells);
  std::vector<std::vector<std::string>> across;
  for (const AcrossRatio& entry : across_ratios(rows)) {
    across.push_back({rows[entry.row].name, std::to_string(rows[entry.row].threads),
                      letter(entry.place) + " against " + letter(entry.against), format_times(entry.ratio),
                      what_differs(places[entry.place], places[entry.against])});
  }
  if (across.empty()) return text;
  return text +
         "<h3>Across reports</h3>\n<p class=\"setup\">These ratios compare machines, runtimes or moments, not models: "
         "the runs were not made in turns.</p>\n" +
         html_table({"model", "threads", "reports", "times as fast", "what differs besides"}, across);
}

std::string written_by(const Place& place) {
  std::string text = place.octet.empty() ? "Octet" : "Octet " + place.octet;
  return place.created.empty() ? text : text + ", " + place.created;
}

}  // namespace

std::string report_page(const std::vector<Place>& places) {
  if (places.size() == 1) {
    const Place& place = places.front();
    return html_page("Octet: " + place.file, "<p class=\"kicker\">" +
                                                 escaped(written_by(place) + ": " + place_title(place)) + "</p>\n" +
                                                 heading(place) + place_section(place, only_verdict(place) != nullptr));
  }
  const std::string title = fmt::format("{} reports compared", places.size());
  std::string body = "<p class=\"kicker\">Octet " OCTET_VERSION "</p>\n<h1>" + title + "</h1>\n" + compared(places);
  for (std::size_t i = 0; i < places.size(); ++i) {
    body += "<section>\n<h2>" + letter(i) + ": " + escaped(place_title(places[i])) + "</h2>\n<p class=\"kicker\">" +
            escaped(places[i].file + ", " + written_by(places[i])) + "</p>\n" + place_section(places[i], false) +
            "</section>\n";
  }
  return html_page("Octet: " + title, body);
}

}  // namespace octet
