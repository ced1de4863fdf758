#include "report/html.h"

#include "report/style.h"

namespace octet {
namespace {

// Styles are the only thing a report may load, from itself.
constexpr std::string_view kPolicy =
    "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'";

}  // namespace

std::string escaped(std::string_view text) {
  std::string result;
  result.reserve(text.size());
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (c == '&') {
      result += "&amp;";
    } else if (c == '<') {
      result += "&lt;";
    } else if (c == '>') {
      result += "&gt;";
    } else if (c == '"') {
      result += "&quot;";
    } else if (c == '\'') {
      result += "&#39;";
    } else if ((byte < 0x20 && c != '\n' && c != '\t') || byte == 0x7f) {
      result += "\uFFFD";
    } else {
      result += c;
    }
  }
  return result;
}

std::string html_table(const std::vector<std::string>& head, const std::vector<std::vector<std::string>>& rows) {
  std::string text = "<div class=\"scroll\" tabindex=\"0\"><table>\n<thead><tr>";
  for (const std::string& cell : head) text += "<th scope=\"col\">" + escaped(cell) + "</th>";
  text += "</tr></thead>\n<tbody>\n";
  for (const auto& row : rows) {
    text += "<tr>";
    for (std::size_t i = 0; i < row.size(); ++i) {
      const std::size_t left = i + 1 == row.size() && row.size() < head.size() ? head.size() - i : 1;
      const std::string open = i == 0     ? "<th scope=\"row\">"
                               : left > 1 ? "<td class=\"wide\" colspan=\"" + std::to_string(left) + "\">"
                                          : "<td>";
      text += open + escaped(row[i]) + (i == 0 ? "</th>" : "</td>");
    }
    text += "</tr>\n";
  }
  return text + "</tbody>\n</table></div>\n";
}

std::string html_page(std::string_view title, const std::string& body) {
  std::string text = "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n";
  text += "<meta http-equiv=\"Content-Security-Policy\" content=\"" + std::string(kPolicy) + "\">\n";
  text += "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n";
  text += "<meta name=\"color-scheme\" content=\"light dark\">\n";
  text +=
      "<title>" + escaped(title) + "</title>\n<style>\n" + std::string(kReportStyle) + "</style>\n</head>\n<body>\n";
  return text + "<main>\n" + body + "</main>\n</body>\n</html>\n";
}

}  // namespace octet
