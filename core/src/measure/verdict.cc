#include "octet/verdict.h"

#include <cstdio>

namespace octet {
namespace {

// Below this a saving is no reason to change a model that works.
constexpr double kWorthSize = 1.1;

// An interval wider than this says that the machine was busy, not that the speed is the same.
constexpr double kWideInterval = 0.3;

std::string number(double value, const char* unit) {
  char text[32];
  std::snprintf(text, sizeof text, value < 10 ? "%.2g%s" : "%.0f%s", value, unit);
  return text;
}

}  // namespace

Verdict judge(const VerdictInput& input) {
  const double smaller =
      input.output_bytes > 0 ? static_cast<double>(input.float_bytes) / static_cast<double>(input.output_bytes) : 0;
  Verdict verdict;
  std::string facts = smaller >= 1 ? number(smaller, "× smaller") : number(smaller > 0 ? 1 / smaller : 0, "× larger");
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
  if (input.sqnr_db)
    facts += *input.sqnr_db >= kSqnrEqual
                 ? ", outputs equal"
                 : ", " + number(*input.sqnr_db, " dB") + (input.synthetic ? " on synthetic inputs" : "");
  const bool drifted = input.sqnr_db && !input.synthetic && *input.sqnr_db < input.min_sqnr_db;
  if (drifted) {
    verdict = {Judgement::kDont,
               "Don't ship it: " + facts + ". Outputs drifted below " + number(input.min_sqnr_db, " dB") + "."};
  } else if (smaller < kWorthSize && !faster) {
    verdict = {Judgement::kDont, "Don't bother: " + facts + "."};
  } else if (slower) {
    verdict = {Judgement::kDont, "Smaller but slower: " + facts + ". Ship it only where size matters more than time."};
  } else if (!input.sqnr_db || !input.speedup) {
    verdict = {Judgement::kCannotTell, "Not verified: " + facts + "."};
  } else if (unsettled) {
    verdict = {Judgement::kCannotTell,
               "Smaller, but time it again: " + facts + ". octet bench on a quiet machine tells."};
  } else if (input.synthetic) {
    verdict = {Judgement::kCannotTell, "Promising: " + facts + ". Check it on real samples with --data."};
  } else {
    verdict = {Judgement::kShip, "Ship it: " + facts + "."};
  }
  return verdict;
}

}  // namespace octet
