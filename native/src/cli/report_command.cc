// octet report: reports of several machines and browsers as one page.
#include <fmt/format.h>

#include <iostream>

#include "cli/commands.h"
#include "cli/model_options.h"
#include "cli/terminal.h"
#include "cli/text_file.h"
#include "engine/json_text.h"
#include "octet/error.h"
#include "report/merge.h"
#include "report/report_page.h"

namespace octet {
namespace {

struct ReportOptions {
  std::vector<std::string> reports;
  std::string output, json;
  bool force = false;
};

std::string cell_text(const PlaceRow* cell) {
  if (cell == nullptr) return "-";
  if (!cell->latency) return cell->error.empty() ? "not timed" : "does not run";
  std::string text = format_ms(cell->latency->median_ms);
  if (cell->speedup)
    text += fmt::format(" {} [{}, {}]", format_times(cell->speedup->ratio), format_times(cell->speedup->low),
                        format_times(cell->speedup->high));
  return text;
}

std::string summary(const std::vector<Place>& places) {
  std::string text;
  for (const Place& place : places) text += fmt::format("{}: {}\n", place.file, place_title(place));
  std::vector<std::vector<std::string>> table = {{"model", "size", "threads"}};
  for (const Place& place : places) table.front().push_back(place.file);
  for (const MergedRow& row : merged_rows(places)) {
    table.push_back({row.name, format_bytes(row.bytes), std::to_string(row.threads)});
    for (const PlaceRow* cell : row.cells) table.back().push_back(cell_text(cell));
  }
  text += format_table(table);
  for (const Place& place : places) {
    for (const PlaceRow& row : place.rows) {
      if (!row.sentence.empty())
        text += fmt::format("{}, {}, {} thread{}: {}\n", place.file, row.name, row.threads, row.threads == 1 ? "" : "s",
                            row.sentence);
    }
  }
  return text;
}

void run(const ReportOptions& options) {
  for (const std::string& report : options.reports) {
    refuse_clash(report, options.output, options.force);
    if (!options.json.empty()) refuse_clash(report, options.json, options.force);
  }
  if (options.json == options.output)
    throw Error(ErrorCode::kUsage, options.json, "is named for the page and for the JSON", "give them two names");
  std::vector<Place> places;
  for (const std::string& report : options.reports) places.push_back(place_from_json(read_report_file(report), report));
  OutputFile page(options.output, options.force);
  append_text(page, report_page(places));
  if (!options.json.empty()) write_text_file(options.json, json_text(comparison_json(places), 1) + "\n", options.force);
  page.commit();
  std::cout << fmt::format("{} report{} → {}\n", places.size(), places.size() == 1 ? "" : "s", options.output)
            << summary(places);
}

}  // namespace

void add_report_command(CLI::App& app) {
  auto options = std::make_shared<ReportOptions>();
  auto* command = app.add_subcommand("report", "Reports of several machines and browsers as one HTML page");
  command
      ->add_option("REPORTS", options->reports,
                   "what octet bench --json or octet quantize --json wrote, and JSON reports of the page")
      ->required()
      ->expected(1, -1);
  command->add_option("-o,--output", options->output, "the page: one file that needs no network")->required();
  command->add_option("--json", options->json, "also writes the comparison as JSON")->type_name("FILE");
  command->add_flag("--force", options->force, "replace existing outputs");
  command->callback([options] { run(*options); });
}

}  // namespace octet
