#include "report/place_section.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "report/chart.h"
#include "report/format.h"
#include "report/html.h"

namespace octet {
namespace {

std::string or_dash(const std::optional<double>& value, std::string (*format)(double)) {
  return value ? format(*value) : "-";
}

std::vector<unsigned> thread_counts(const Place& place) {
  std::vector<unsigned> counts;
  for (const PlaceRow& row : place.rows) {
    if (std::find(counts.begin(), counts.end(), row.threads) == counts.end()) counts.push_back(row.threads);
  }
  return counts;
}

std::string size_chart(const Place& place) {
  std::vector<ChartBar> bars;
  std::set<std::string> seen;
  for (const PlaceRow& row : place.rows) {
    if (row.bytes > 0 && seen.insert(row.name).second)
      bars.push_back({row.name, format_bytes(row.bytes), static_cast<double>(row.bytes), row.base});
  }
  return bars.empty() ? "" : bar_chart("Size", bars);
}

std::string latency_charts(const Place& place) {
  std::string text;
  for (const unsigned threads : thread_counts(place)) {
    std::vector<ChartTimes> times;
    std::vector<ChartRatio> ratios;
    bool single = false;
    for (const PlaceRow& row : place.rows) {
      if (row.threads != threads || !row.latency) continue;
      times.push_back({row.name, row.milliseconds, row.latency->median_ms, row.base});
      single = single || !row.milliseconds.empty();
      if (row.speedup) ratios.push_back({row.name, row.speedup->ratio, row.speedup->low, row.speedup->high});
    }
    const char* what = single ? "Each dot is a run, the band the middle half, the stroke the median."
                              : "The stroke is the median; the report has no single runs.";
    if (!times.empty()) text += times_chart("Latency, " + threads_text(threads), times, what);
    if (!ratios.empty()) {
      text += ratio_chart("Speedup, " + threads_text(threads), ratios,
                          "Median of paired runs, with the interval that holds 9 of 10 resampled medians.");
    }
  }
  return text;
}

std::string drift_chart(const Place& place) {
  std::vector<ChartBar> bars;
  std::set<std::string> seen;
  for (const PlaceRow& row : place.rows) {
    if (row.sqnr_db && seen.insert(row.name).second)
      bars.push_back({row.name, format_db(*row.sqnr_db), std::min(*row.sqnr_db, 100.0), row.base});
  }
  if (bars.empty()) return "";
  return bar_chart("Drift of the worst output", bars, "SQNR in dB: more is nearer to the float model.",
                   place.min_sqnr_db, fmt::format("floor {:.0f} dB", place.min_sqnr_db));
}

std::string figures_table(const Place& place) {
  std::vector<std::vector<std::string>> rows;
  for (const PlaceRow& row : place.rows) {
    std::vector<std::string> cells = {row.name, std::to_string(row.threads), format_bytes(row.bytes)};
    if (!row.error.empty()) {
      cells.push_back(row.error);
      rows.push_back(std::move(cells));
      continue;
    }
    cells.push_back(row.memory_bytes ? format_bytes(*row.memory_bytes) : "-");
    cells.push_back(row.latency ? format_ms(row.latency->median_ms) : "-");
    cells.push_back(row.latency ? "±" + format_ms(row.latency->mad_ms) : "-");
    cells.push_back(row.latency ? format_ms(row.latency->p90_ms) : "-");
    cells.push_back(!row.latency   ? "-"
                    : row.outliers ? fmt::format("{} of {}", *row.outliers, row.latency->runs)
                                   : fmt::format("- of {}", row.latency->runs));
    cells.push_back(row.tokens_per_second    ? fmt::format("{:.0f} tokens", *row.tokens_per_second)
                    : row.samples_per_second ? fmt::format("{:.1f} samples", *row.samples_per_second)
                                             : "-");
    cells.push_back(or_dash(row.load_ms, format_ms));
    cells.push_back(row.speedup ? fmt::format("{} [{}, {}]", format_times(row.speedup->ratio),
                                              format_times(row.speedup->low), format_times(row.speedup->high))
                                : "-");
    cells.push_back(or_dash(row.sqnr_db, format_db));
    rows.push_back(std::move(cells));
  }
  return html_table({"model", "threads", "size", "memory", "median", "spread", "9 of 10 below", "outliers",
                     "per second", "load", "speedup", "drift"},
                    rows);
}

std::string outputs_table(const Place& place) {
  std::vector<std::vector<std::string>> rows;
  std::set<std::string> seen;
  for (const PlaceRow& row : place.rows) {
    if (row.drift.empty() || !seen.insert(row.name).second) continue;
    for (const OutputDrift& output : row.drift) {
      if (!output.comparable) {
        rows.push_back({row.name, output.name, output.why_not});
        continue;
      }
      rows.push_back({row.name, output.name, format_db(output.sqnr_db), fmt::format("{:.5f}", output.cosine),
                      fmt::format("{:.3g} of {:.3g}", output.max_abs_error, output.max_abs),
                      output.top1_agreement ? fmt::format("{:.1f} %", 100 * *output.top1_agreement) : "-"});
    }
  }
  if (rows.empty()) return "";
  return "<details><summary>Drift of every output</summary>\n" +
         html_table({"model", "output", "SQNR", "cosine", "largest error", "top-1 agreement"}, rows) + "</details>\n";
}

std::string profile_html(const PlaceRow& row) {
  const Profile& profile = *row.profile;
  const std::string title = row.name + ", " + threads_text(row.threads);
  std::string text = "<details><summary>" + escaped("Where the time goes: " + title) + "</summary>\n";
  if (!profile.why_not.empty()) return text + "<p>" + escaped(profile.why_not) + "</p></details>\n";
  text += "<p class=\"setup\">" +
          escaped(fmt::format("{:.0f} % of the time in integers; {} runs watched by the runtime's profiler, the "
                              "faster half, took {} each; watching slows.",
                              100 * profile.integer_share, profile.runs, format_ms(profile.run_ms))) +
          "</p>\n";
  std::vector<std::vector<std::string>> operators, nodes;
  for (const Profile::Operator& entry : profile.operators)
    operators.push_back({entry.op, fmt::format("{:.4g}", entry.count), format_ms(entry.ms),
                         fmt::format("{:.1f} %", 100 * entry.share), entry.integers ? "yes" : "-"});
  for (const Profile::Node& node : profile.nodes) nodes.push_back({node.name, node.op, format_ms(node.ms)});
  return text + html_table({"operator", "per run", "time", "share", "in integers"}, operators) +
         html_table({"longest nodes", "operator", "time"}, nodes) + "</details>\n";
}

// The sentence with whose it is, unless it was said; why; what to try.
std::string verdict_html(const PlaceRow& row, bool said) {
  const bool known = row.judgement == "ship" || row.judgement == "dont";
  std::string inside;
  if (!said)
    inside = "<p><strong>" + escaped(row.name + ", " + threads_text(row.threads)) +
             "</strong>: " + escaped(row.sentence) + "</p>\n";
  if (row.judgement != "ship" && !row.why.empty()) inside += "<p class=\"why\">" + escaped(row.why) + "</p>\n";
  if (row.judgement != "ship" && !row.next.empty()) {
    inside += "<ul>";
    for (const Advice& advice : row.next) inside += "<li>" + escaped(advice.text) + "</li>";
    inside += "</ul>\n";
  }
  if (inside.empty()) return inside;
  return "<div class=\"verdict" + (known ? " " + row.judgement : std::string()) + "\">\n" + inside + "</div>\n";
}

}  // namespace

std::string threads_text(unsigned threads) { return fmt::format("{} thread{}", threads, threads == 1 ? "" : "s"); }

std::string place_section(const Place& place, bool verdict_said) {
  std::string text = "<p class=\"setup\">" + escaped(place.setup) + "</p>\n";
  for (const std::string& note : place.notes) text += "<p>" + escaped(note) + "</p>\n";
  for (const PlaceRow& row : place.rows) {
    if (!row.sentence.empty()) text += verdict_html(row, verdict_said);
  }
  text += "<div class=\"charts\">\n" + size_chart(place) + latency_charts(place) + drift_chart(place) + "</div>\n";
  text += figures_table(place) + outputs_table(place);
  for (const PlaceRow& row : place.rows) {
    if (row.profile) text += profile_html(row);
  }
  return text;
}

}  // namespace octet
