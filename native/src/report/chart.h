// Charts as SVG inside a page, each with its numbers as a table below. Every axis begins at zero. Names are text; what
// is too long for its place is cut there and whole in the table.
#pragma once

#include <optional>
#include <string>
#include <vector>

namespace octet {

struct ChartBar {
  std::string name, text;  // the number in words
  double value = 0;        // below zero is drawn as zero, in words it stays
  bool base = false;       // what the others are measured against
};
// `limit` is drawn across the bars, named by `limit_name`.
std::string bar_chart(const std::string& title, const std::vector<ChartBar>& bars, const std::string& note = {},
                      std::optional<double> limit = {}, const std::string& limit_name = {});

// All timed runs of one model as dots, their middle half as a band, their median as a stroke. Without single runs only
// the median is drawn.
struct ChartTimes {
  std::string name;
  std::vector<double> milliseconds;
  double median_ms = 0;
  bool base = false;
};
std::string times_chart(const std::string& title, const std::vector<ChartTimes>& rows, const std::string& note = {});

// A ratio as a stroke, its interval as a line; 1 is marked.
struct ChartRatio {
  std::string name;
  double ratio = 1, low = 1, high = 1;
};
std::string ratio_chart(const std::string& title, const std::vector<ChartRatio>& rows, const std::string& note = {});

}  // namespace octet
