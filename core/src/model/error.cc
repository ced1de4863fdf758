#include "octet/error.h"

#include <array>
#include <utility>

namespace octet {
namespace {

struct CodeRow {
  ErrorCode code;
  int status;
  std::string_view name;
};

// Numbers are part of the command line's contract: never renumber, only add. kInternal follows sysexits' EX_SOFTWARE,
// kInterrupted the shell's 128 + SIGINT.
constexpr std::array kCodes = {
    CodeRow{ErrorCode::kInternal, 70, "internal"},
    CodeRow{ErrorCode::kUsage, 2, "usage"},
    CodeRow{ErrorCode::kRead, 3, "read"},
    CodeRow{ErrorCode::kMalformed, 4, "malformed"},
    CodeRow{ErrorCode::kUnsupported, 5, "unsupported"},
    CodeRow{ErrorCode::kWrite, 6, "write"},
    CodeRow{ErrorCode::kData, 7, "data"},
    CodeRow{ErrorCode::kNonFinite, 8, "non_finite"},
    CodeRow{ErrorCode::kRun, 9, "run"},
    CodeRow{ErrorCode::kQuality, 10, "quality"},
    CodeRow{ErrorCode::kInterrupted, 130, "interrupted"},
};

const CodeRow& row_of(ErrorCode code) {
  for (const CodeRow& row : kCodes) {
    if (row.code == code) return row;
  }
  return kCodes[0];
}

// Names come from hostile files: one line, and no escape sequences for the terminal.
void append_line(std::string& line, std::string_view text) {
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    line.push_back(byte < 0x20 || byte == 0x7f ? ' ' : c);
  }
}

std::string one_line(std::string_view where, std::string_view what, std::string_view next) {
  std::string line;
  append_line(line, where);
  if (!line.empty() && !what.empty()) line += ": ";
  append_line(line, what);
  if (!line.empty() && !next.empty()) line += "; ";
  append_line(line, next);
  return line;
}

}  // namespace

int exit_status(ErrorCode code) { return row_of(code).status; }

std::string_view code_name(ErrorCode code) { return row_of(code).name; }

Error::Error(ErrorCode code, std::string where, std::string what, std::string next)
    : std::runtime_error(one_line(where, what, next)),
      code_(code),
      where_(std::move(where)),
      problem_(std::move(what)),
      next_(std::move(next)) {}

}  // namespace octet
