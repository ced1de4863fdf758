// What prepare tells: the same facts as a table for people and as JSON for programs.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "engine/verify.h"
#include "octet/facts.h"
#include "octet/prepare.h"

namespace octet {

struct PrepareReport {
  std::string input, output;
  std::uint64_t input_bytes = 0, output_bytes = 0;
  ModelFacts before, after;
  std::vector<PassReport> passes;
  std::size_t probed = 0;              // values whose type and rank a run told
  ShapeCoverage shapes;                // of the prepared model
  std::optional<VerifyResult> verify;  // none: --no-verify
};

// Outputs of the prepared model may differ by rounding: max |a - b| / max |a|. Those of integers are equal.
inline constexpr double kPrepareTolerance = 1e-4;

// Why the prepared model does not do what the original does: it does not load or run, or an output differs by more.
// Empty when it does, and when nothing could be verified.
std::string failure(const PrepareReport& report);

std::string prepare_report_text(const PrepareReport& report);
std::string prepare_report_json(const PrepareReport& report);

// "of 120 values between nodes: type known of 120, …", shared with inspect.
std::string coverage_text(const ShapeCoverage& shapes);

}  // namespace octet
