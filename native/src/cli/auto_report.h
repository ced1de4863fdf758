// What auto tells: the same facts as a table for people and as JSON for programs.
#pragma once

#include <optional>
#include <string>

#include "engine/verify.h"
#include "octet/auto_search.h"

namespace octet {

struct AutoReport {
  std::string input, output, samples;
  std::uint64_t input_bytes = 0, output_bytes = 0;
  AutoBudget budget;
  VerifyResult verify;          // of what was written
  bool on_calibration = false;  // outputs were judged on the samples of calibration
  unsigned threads = 1;
};

std::string auto_report_text(const AutoReport& report, const AutoSearch& search);
std::string auto_report_json(const AutoReport& report, const AutoSearch& search);

}  // namespace octet
