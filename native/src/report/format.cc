#include "report/format.h"

#include <fmt/format.h>

#include "octet/measure.h"

namespace octet {

std::string format_bytes(std::uint64_t bytes) {
  if (bytes < 100'000) return fmt::format("{:.1f} kB", static_cast<double>(bytes) / 1e3);
  return fmt::format("{:.2f} MB", static_cast<double>(bytes) / 1e6);
}

std::string format_db(double db) {
  if (db >= kSqnrEqual) return "equal";
  if (!(db > -kSqnrEqual)) return "not comparable";
  return fmt::format("{:.1f} dB", db);
}

std::string format_times(double ratio) { return fmt::format("{:.2f}×", ratio); }

std::string format_ms(double ms) { return ms < 10 ? fmt::format("{:.3f} ms", ms) : fmt::format("{:.1f} ms", ms); }

}  // namespace octet
