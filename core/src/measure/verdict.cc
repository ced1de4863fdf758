#include "octet/verdict.h"

#include <cmath>
#include <cstdio>

namespace octet {
namespace {

// Below this a saving is no reason to change a model that works.
constexpr double kWorthSize = 1.1;

// An interval wider than this says that the machine was busy, not that the speed is the same.
constexpr double kWideInterval = 0.3;

std::string number(double value, const char* unit) {
  char text[32];
  std::snprintf(text, sizeof text, std::abs(value) < 10 ? "%.2g%s" : "%.0f%s", value, unit);
  return text;
}

}  // namespace

Verdict judge(const VerdictInput& input) {
  const bool sized = input.float_bytes > 0 && input.output_bytes > 0;
  const double smaller = sized ? static_cast<double>(input.float_bytes) / static_cast<double>(input.output_bytes) : 0;
  Verdict verdict;
  std::string facts = !sized         ? "size not measured"
                      : smaller >= 1 ? number(smaller, "× smaller")
                                     : number(1 / smaller, "× larger");
  bool slower = false, faster = false, unsettled = false;
  if (input.speedup) {
    // Only an interval that leaves out 1 is a difference; the rest is noise.
    slower = input.speedup->high < 0.95;
    faster = input.speedup->low > 1.05;
    unsettled = !slower && !faster && input.speedup->high - input.speedup->low > kWideInterval;
    facts += unsettled
                 ? ", speed lost in noise (" + number(input.speedup->low, "× to ") + number(input.speedup->high, "×)")
             : slower ? ", " + number(1 / input.speedup->ratio, "× slower here")
             : faster ? ", " + number(input.speedup->ratio, "× faster here")
                      : ", as fast as before here";
  } else {
    facts += ", speed not measured";
  }
  // The lowest SQNR there is stands for outputs that are not finite, or not zero where they must be. No number is none.
  const bool broken = input.sqnr_db && !(*input.sqnr_db > -kSqnrEqual);
  const bool low = input.sqnr_db && !(*input.sqnr_db >= input.min_sqnr_db);
  if (broken) {
    facts += ", outputs not finite or nothing like before";
  } else if (input.sqnr_db && *input.sqnr_db >= kSqnrEqual) {
    facts += ", outputs equal";
  } else if (input.sqnr_db) {
    facts += ", " + number(*input.sqnr_db, " dB") + (input.synthetic ? " on synthetic inputs" : "");
  }
  if (broken) {
    verdict = {Judgement::kDont, "Don't ship it: " + facts + "."};
  } else if (low && !input.synthetic) {
    verdict = {Judgement::kDont,
               "Don't ship it: " + facts + ". Outputs drifted below " + number(input.min_sqnr_db, " dB") + "."};
  } else if (sized && smaller < kWorthSize && !faster) {
    verdict = {Judgement::kDont, "Don't bother: " + facts + "."};
  } else if (slower) {
    verdict = {Judgement::kDont, "Smaller but slower: " + facts + ". Ship it only where size matters more than time."};
  } else if (!sized || !input.sqnr_db || !input.speedup) {
    verdict = {Judgement::kCannotTell, "Not verified: " + facts + "."};
  } else if (unsettled) {
    verdict = {Judgement::kCannotTell,
               "Smaller, but time it again: " + facts + ". octet bench on a quiet machine tells."};
  } else if (input.synthetic) {
    verdict = {Judgement::kCannotTell, (low ? "Far off on made-up inputs: " : "Promising: ") + facts +
                                           ". Check it on real samples with --data."};
  } else {
    verdict = {Judgement::kShip, "Ship it: " + facts + "."};
  }
  return verdict;
}

}  // namespace octet
