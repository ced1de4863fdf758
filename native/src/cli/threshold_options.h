// --min-sqnr, --min-smaller, --slower, --faster: what a verdict goes by.
#pragma once

#include <CLI/CLI.hpp>

#include <optional>

#include "octet/verdict.h"

namespace octet {

struct ThresholdOptions {
  std::optional<double> min_sqnr, min_smaller, slower, faster;

  void add_to(CLI::App& command, const char* min_sqnr_help);
  // Octet's own where an option is absent. Throws Error(kUsage) for what no verdict can go by.
  Thresholds thresholds() const;
};

}  // namespace octet
