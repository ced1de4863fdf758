#include "cli/terminal.h"

#include <fmt/format.h>
#include <unistd.h>

#include <chrono>
#include <cstdio>

namespace octet {
namespace {

using Clock = std::chrono::steady_clock;

bool shown = false;

// Width in columns: bytes that continue a UTF-8 character take none.
std::size_t width(const std::string& text) {
  std::size_t columns = 0;
  for (const char c : text) columns += (static_cast<unsigned char>(c) & 0xC0) != 0x80;
  return columns;
}

// ", 40 s left", once there is something to judge by and it is worth saying.
std::string time_left(double seconds, double fraction) {
  if (seconds < 2 || fraction < 0.01) return {};
  const double left = seconds / fraction * (1 - fraction);
  if (left < 2) return {};
  return left < 100 ? fmt::format(", {:.0f} s left", left) : fmt::format(", {:.0f} min left", left / 60);
}

}  // namespace

void Terminal::progress(const std::string& stage, double fraction) {
  static const bool terminal = isatty(STDERR_FILENO) != 0;
  static const auto first = Clock::now();
  static auto last = first, start = first;
  static std::string current;
  if (!terminal) return;
  const auto now = Clock::now();
  if (stage != current) {
    current = stage;
    start = now;
  }
  if (now - first < std::chrono::seconds(1) || now - last < std::chrono::milliseconds(100)) return;
  last = now;
  shown = true;
  fmt::print(stderr, "\r\033[K{} {:.0f} %{}", stage, 100 * fraction,
             time_left(std::chrono::duration<double>(now - start).count(), fraction));
  std::fflush(stderr);
}

void Terminal::clear_progress() {
  if (shown) std::fputs("\r\033[K", stderr);
  shown = false;
}

std::string format_table(const std::vector<std::vector<std::string>>& rows, std::size_t left_columns) {
  std::vector<std::size_t> widths;
  for (const auto& row : rows) {
    widths.resize(std::max(widths.size(), row.size()));
    for (std::size_t i = 0; i < row.size(); ++i) widths[i] = std::max(widths[i], width(row[i]));
  }
  std::string text;
  for (const auto& row : rows) {
    std::string line;
    for (std::size_t i = 0; i < row.size(); ++i) {
      const std::string pad(widths[i] - width(row[i]), ' ');
      line += (i > 0 ? "  " : "") + (i < left_columns ? row[i] + pad : pad + row[i]);
    }
    line.erase(line.find_last_not_of(' ') + 1);
    text += line + "\n";
  }
  return text;
}

}  // namespace octet
