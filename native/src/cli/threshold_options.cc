#include "cli/threshold_options.h"

#include <cmath>

#include "octet/error.h"

namespace octet {
namespace {

void hold(const char* option, bool holds, const char* wanted) {
  if (!holds) throw Error(ErrorCode::kUsage, option, std::string("the value must be ") + wanted);
}

}  // namespace

void ThresholdOptions::add_to(CLI::App& command, const char* min_sqnr_help) {
  command.add_option("--min-sqnr", min_sqnr, min_sqnr_help)->type_name("DB");
  command
      .add_option("--min-smaller", min_smaller,
                  "verdict: shrunk less than this, it must be faster to pay (default 1.1)")
      ->type_name("TIMES");
  command.add_option("--slower", slower, "verdict: a loss when the speedup's whole interval lies below (default 0.95)")
      ->type_name("TIMES");
  command.add_option("--faster", faster, "verdict: a gain when the speedup's whole interval lies above (default 1.05)")
      ->type_name("TIMES");
}

Thresholds ThresholdOptions::thresholds() const {
  Thresholds limits;
  limits.min_sqnr_db = min_sqnr.value_or(limits.min_sqnr_db);
  limits.min_smaller = min_smaller.value_or(limits.min_smaller);
  limits.slower = slower.value_or(limits.slower);
  limits.faster = faster.value_or(limits.faster);
  // Comparisons that NaN fails.
  hold("--min-sqnr", std::isfinite(limits.min_sqnr_db), "a number of decibels");
  hold("--min-smaller", limits.min_smaller > 0 && std::isfinite(limits.min_smaller), "a ratio above 0");
  hold("--slower", limits.slower > 0 && limits.slower <= 1, "a ratio above 0, at most 1");
  hold("--faster", limits.faster >= 1 && std::isfinite(limits.faster), "a ratio of at least 1");
  return limits;
}

}  // namespace octet
