#include "report/chart.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "report/format.h"
#include "report/html.h"

namespace octet {
namespace {

constexpr double kWidth = 340, kRight = kWidth - 4;
constexpr double kName = 17, kBar = 14, kGap = 11, kAxis = 36;  // heights
constexpr std::size_t kNameLength = 30, kMostDots = 300;

// In characters, not bytes.
std::string shortened(const std::string& name) {
  std::size_t characters = 0;
  for (std::size_t i = 0; i < name.size(); ++i) {
    if ((static_cast<unsigned char>(name[i]) & 0xC0) == 0x80) continue;
    if (++characters > kNameLength) return name.substr(0, i) + "…";
  }
  return name;
}

double at(const std::vector<double>& sorted, double share) {
  const double place = share * static_cast<double>(sorted.size() - 1);
  const auto below = static_cast<std::size_t>(place);
  const std::size_t above = std::min(below + 1, sorted.size() - 1);
  return sorted[below] + (place - static_cast<double>(below)) * (sorted[above] - sorted[below]);
}

// Zero to `most` on the width of the chart.
class Scale {
 public:
  explicit Scale(double most) : most_(std::isfinite(most) && most > 0 ? most : 1) {}
  double operator()(double value) const {
    return std::isfinite(value) ? std::clamp(value / most_, 0.0, 1.0) * kRight : 0;
  }
  double most() const { return most_; }

  // Lines at round numbers, and below them what they are.
  std::string axis(double height, const std::string& unit) const {
    const double rough = most_ / 4, power = std::pow(10, std::floor(std::log10(rough)));
    double step = 10 * power;
    for (const double factor : {5.0, 2.0, 1.0}) {
      if (factor * power >= rough) step = factor * power;
    }
    std::string text;
    for (int i = 0; i < 6 && i * step <= most_ * 1.0001; ++i) {
      const double x = (*this)(i * step);
      text += fmt::format(R"(<line class="{}" x1="{:.1f}" x2="{:.1f}" y1="0" y2="{:.1f}"/>)", i == 0 ? "axis" : "grid",
                          x, x, height);
      text += fmt::format(R"(<text class="tick" x="{:.1f}" y="{:.1f}" text-anchor="{}">{:g}</text>)", x, height + 15,
                          i == 0            ? "start"
                          : x > kRight - 12 ? "end"
                                            : "middle",
                          i * step);
    }
    return text + fmt::format(R"(<text class="tick" x="{:.1f}" y="{:.1f}" text-anchor="end">{}</text>)", kRight,
                              height + 31, escaped(unit));
  }

 private:
  double most_;
};

// The name on the left and the number on the right, above what is drawn.
std::string row_words(double top, const std::string& name, const std::string& number) {
  return fmt::format(
      R"(<text x="0" y="{:.1f}">{}</text><text class="number" x="{:.1f}" y="{:.1f}" text-anchor="end">{}</text>)",
      top + 12, escaped(shortened(name)), kRight, top + 12, escaped(number));
}

std::string group(bool base, const std::string& content) {
  return fmt::format("<g class=\"{}\">{}</g>\n", base ? "of-base" : "of-model", content);
}

std::string figure(const std::string& title, const std::string& said, double height, const std::string& drawn,
                   const std::string& table, const std::string& note) {
  std::string text = "<figure>\n<figcaption>" + escaped(title) + "</figcaption>\n";
  text += fmt::format("<svg viewBox=\"0 0 {} {:.0f}\" role=\"img\" aria-label=\"{}\">\n{}</svg>\n", kWidth, height,
                      escaped(title + ": " + said), drawn);
  if (!note.empty()) text += "<p class=\"setup\">" + escaped(note) + "</p>\n";
  return text + "<details><summary>As a table</summary>\n" + table + "</details>\n</figure>\n";
}

std::string joined(const std::vector<std::string>& parts) {
  std::string text;
  for (const std::string& part : parts) text += (text.empty() ? "" : ", ") + part;
  return text;
}

std::string dots(const std::vector<double>& values, const Scale& x, double top) {
  std::string text;
  const std::size_t step = (values.size() + kMostDots - 1) / kMostDots;
  for (std::size_t i = 0; i < values.size(); i += std::max<std::size_t>(step, 1)) {
    // Spread over the height so that equal times do not hide each other, the same at every drawing.
    const double y = top + 2 + static_cast<double>(i * 7 % 11);
    text += fmt::format(R"(<circle class="dot" cx="{:.1f}" cy="{:.1f}" r="2.2"/>)", x(values[i]), y);
  }
  return text;
}

}  // namespace

std::string bar_chart(const std::string& title, const std::vector<ChartBar>& bars, const std::string& note,
                      std::optional<double> limit, const std::string& limit_name) {
  double most = limit.value_or(0);
  for (const ChartBar& bar : bars) most = std::max(most, bar.value);
  const Scale x(most);
  std::string drawn;
  std::vector<std::string> said;
  std::vector<std::vector<std::string>> rows;
  double top = 0;
  for (const ChartBar& bar : bars) {
    drawn +=
        group(bar.base, row_words(top, bar.name, bar.text) +
                            fmt::format(R"(<rect class="mark" x="0" y="{:.1f}" width="{:.1f}" height="{}" rx="2"/>)",
                                        top + kName, std::max(1.5, x(bar.value)), kBar));
    said.push_back(bar.name + " " + bar.text);
    rows.push_back({bar.name, bar.text});
    top += kName + kBar + kGap;
  }
  drawn += fmt::format(R"(<line class="axis" x1="0" x2="0" y1="0" y2="{:.1f}"/>)", top - kGap);
  if (limit) {
    drawn += fmt::format(R"(<line class="limit" x1="{:.1f}" x2="{:.1f}" y1="0" y2="{:.1f}"/>)", x(*limit), x(*limit),
                         top - 4);
    drawn += fmt::format(R"(<text class="tick" x="{:.1f}" y="{:.1f}" text-anchor="{}">{}</text>)", x(*limit), top + 9,
                         x(*limit) < kRight / 2 ? "start" : "end", escaped(limit_name));
    top += 14;
  }
  return figure(title, joined(said), top, drawn, html_table({"model", title}, rows), note);
}

std::string times_chart(const std::string& title, const std::vector<ChartTimes>& rows, const std::string& note) {
  double most = 0;
  std::vector<std::vector<double>> sorted;
  for (const ChartTimes& row : rows) {
    sorted.push_back(row.milliseconds);
    std::erase_if(sorted.back(), [](double ms) { return !std::isfinite(ms); });
    std::sort(sorted.back().begin(), sorted.back().end());
    // One run that was disturbed must not press all the others to the left: it is counted at the edge.
    const double far =
        sorted.back().empty()
            ? row.median_ms
            : std::min(sorted.back().back(), std::max(at(sorted.back(), 0.95), 1.4 * at(sorted.back(), 0.5)));
    most = std::max({most, far, row.median_ms});
  }
  const Scale x(most * 1.04);
  std::string drawn;
  std::vector<std::string> said;
  std::vector<std::vector<std::string>> table;
  const double height = static_cast<double>(rows.size()) * (kName + kBar + kGap);
  drawn += x.axis(height - kGap + 4, "milliseconds per run");
  double top = 0;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const ChartTimes& row = rows[i];
    const std::vector<double>& times = sorted[i];
    const double band = top + kName;
    const auto beyond = std::count_if(times.begin(), times.end(), [&](double ms) { return ms > x.most(); });
    std::string marks =
        row_words(top, row.name, format_ms(row.median_ms) + (beyond > 0 ? fmt::format(", {} beyond →", beyond) : ""));
    if (!times.empty()) {
      const double left = x(at(times, 0.25)), right = x(at(times, 0.75));
      marks += fmt::format(R"(<rect class="band" x="{:.1f}" y="{:.1f}" width="{:.1f}" height="{}"/>)", left, band,
                           std::max(1.0, right - left), kBar);
      std::vector<double> shown = row.milliseconds;
      std::erase_if(shown, [&](double ms) { return !(ms <= x.most()); });
      marks += dots(shown, x, band);
      table.push_back({row.name, format_ms(row.median_ms), format_ms(at(times, 0.25)), format_ms(at(times, 0.75)),
                       format_ms(times.front()), format_ms(times.back()), std::to_string(times.size())});
    } else {
      table.push_back({row.name, format_ms(row.median_ms), "-", "-", "-", "-", "-"});
    }
    const double median = x(row.median_ms);
    marks += fmt::format(R"(<line class="stroke" x1="{:.1f}" x2="{:.1f}" y1="{:.1f}" y2="{:.1f}"/>)", median, median,
                         band - 2, band + kBar + 2);
    drawn += group(row.base, marks);
    said.push_back(row.name + " " + format_ms(row.median_ms));
    top += kName + kBar + kGap;
  }
  return figure(title, "medians " + joined(said), height - kGap + kAxis, drawn,
                html_table({"model", "median", "quarter below", "quarter above", "fastest", "slowest", "timed"}, table),
                note);
}

std::string ratio_chart(const std::string& title, const std::vector<ChartRatio>& rows, const std::string& note) {
  double most = 1;
  for (const ChartRatio& row : rows) most = std::max({most, row.ratio, row.high});
  const Scale x(most * 1.1);
  const double height = static_cast<double>(rows.size()) * (kName + kBar + kGap);
  std::string drawn = x.axis(height - kGap + 4, "times as fast");
  drawn += fmt::format(R"(<line class="limit" x1="{:.1f}" x2="{:.1f}" y1="0" y2="{:.1f}"/>)", x(1), x(1), height - 4);
  std::vector<std::string> said;
  std::vector<std::vector<std::string>> table;
  double top = 0;
  for (const ChartRatio& row : rows) {
    const double middle = top + kName + kBar / 2;
    std::string marks = row_words(top, row.name, format_times(row.ratio));
    marks += fmt::format(R"(<line class="whisker" x1="{:.1f}" x2="{:.1f}" y1="{:.1f}" y2="{:.1f}"/>)", x(row.low),
                         x(row.high), middle, middle);
    for (const double end : {row.low, row.high}) {
      marks += fmt::format(R"(<line class="whisker" x1="{:.1f}" x2="{:.1f}" y1="{:.1f}" y2="{:.1f}"/>)", x(end), x(end),
                           middle - 5, middle + 5);
    }
    marks += fmt::format(R"(<circle class="mark" cx="{:.1f}" cy="{:.1f}" r="4"/>)", x(row.ratio), middle);
    drawn += group(false, marks);
    said.push_back(row.name + " " + format_times(row.ratio));
    table.push_back({row.name, format_times(row.ratio), format_times(row.low), format_times(row.high)});
    top += kName + kBar + kGap;
  }
  return figure(title, joined(said), height - kGap + kAxis, drawn,
                html_table({"model", "speedup", "interval from", "to"}, table), note);
}

}  // namespace octet
