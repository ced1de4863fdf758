// What quantize tells: the same facts as a table for people and as JSON for programs.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "engine/verify.h"
#include "octet/quantizer.h"
#include "octet/verdict.h"

namespace octet {

struct QuantizeReport {
  std::string input, output;
  std::uint64_t input_bytes = 0, output_bytes = 0;
  std::optional<VerifyResult> verify;   // none: --no-verify
  std::optional<double> first_sqnr_db;  // before the floor moved nodes back
  std::vector<std::string> changed;     // those nodes
  Thresholds thresholds;                // the verdict goes by
  std::size_t calibrated_on = 0;        // samples; 0: not at all, or not known
};

// "accuracy of …" where there are labels, why not where they are of no use, else empty.
std::string accuracy_line(const VerifyResult& verify);

std::string quantize_report_text(const QuantizeReport& report, Quantizer& quantizer);
std::string quantize_report_json(const QuantizeReport& report, Quantizer& quantizer);

}  // namespace octet
