#include "cli/speed_reason.h"

#include <fmt/format.h>

#include <vector>

#include "cli/terminal.h"
#include "octet/verdict.h"

namespace octet {
namespace {

// From here on there is nothing to explain but what made it so.
constexpr double kFast = 1.5;

std::string listed(const std::map<std::string, int>& counts) {
  std::string text;
  for (const auto& [op, count] : counts) text += fmt::format("{}{} {}", text.empty() ? "" : ", ", count, op);
  return text;
}

}  // namespace

std::string integer_line(const IntegerShare& share) {
  const int integer = share.integer_products(), all = integer + share.float_products();
  const std::string floating = share.floating.empty() ? "" : "; in float " + listed(share.floating);
  return fmt::format("the runtime computes {} of {} products in integers: {}{}; {} conversions between\n", integer, all,
                     share.integer.empty() ? "none" : listed(share.integer), floating, share.conversions);
}

std::string speed_reason(const VerifyResult& verify) {
  if (!verify.latency || !verify.integers) return {};
  const IntegerShare& share = *verify.integers;
  const int integer = share.integer_products(), floating = share.float_products(), all = integer + floating;
  const double ratio = verify.latency->speedup.ratio;
  std::vector<std::string> reasons;
  if (all == 0 || integer == 0) {
    reasons.push_back("nothing in it computes in integers");
  } else if (ratio >= kFast) {
    reasons.push_back(floating == 0 ? fmt::format("all {} products run in integers", all)
                                    : fmt::format("{} of {} products run in integers", integer, all));
  } else {
    if (floating > 0)
      reasons.push_back(fmt::format("{} of {} products stay in float ({})", floating, all, listed(share.floating)));
    if (share.conversions > integer / 2)
      reasons.push_back(fmt::format("{} conversions lie between integers and float", share.conversions));
    if (verify.latency->baseline.median_ms < kShortRunMs) {
      reasons.push_back(fmt::format("a float run takes only {}, and the work around each operator does not shrink",
                                    format_ms(verify.latency->baseline.median_ms)));
    }
    if (reasons.empty()) reasons.push_back("what is no product, or has no faster integer kernel, takes the time");
  }
  std::string text = fmt::format("speed {}: {}", format_times(ratio), reasons.front());
  for (std::size_t i = 1; i < reasons.size(); ++i) text += "; " + reasons[i];
  return text + "\n";
}

}  // namespace octet
