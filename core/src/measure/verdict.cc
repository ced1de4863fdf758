#include "octet/verdict.h"

#include <cmath>
#include <cstdio>

namespace octet {
namespace {

// An interval wider than this says that the machine was busy, not that the speed is the same.
constexpr double kWideInterval = 0.3;

std::string number(double value, const char* unit) {
  char text[32];
  std::snprintf(text, sizeof text, std::abs(value) < 10 ? "%.2g%s" : "%.0f%s", value, unit);
  return text;
}

}  // namespace

std::string_view name_of(Judgement judgement) {
  return judgement == Judgement::kShip ? "ship" : judgement == Judgement::kDont ? "dont" : "cannot_tell";
}

std::string_view name_of(Decider decider) {
  switch (decider) {
    case Decider::kDrift:
      return "drift";
    case Decider::kSpeed:
      return "speed";
    case Decider::kSize:
      return "size";
    case Decider::kNothing:
      break;
  }
  return "nothing";
}

Verdict judge(const VerdictInput& input) {
  const Thresholds& limits = input.thresholds;
  const bool sized = input.float_bytes > 0 && input.output_bytes > 0;
  const double smaller = sized ? static_cast<double>(input.float_bytes) / static_cast<double>(input.output_bytes) : 0;
  Verdict verdict;
  std::string facts = !sized         ? "size not measured"
                      : smaller >= 1 ? number(smaller, "× smaller")
                                     : number(1 / smaller, "× larger");
  bool slower = false, faster = false, unsettled = false;
  if (input.speedup) {
    // Only an interval that leaves out 1 is a difference; the rest is noise.
    slower = input.speedup->high < limits.slower;
    faster = input.speedup->low > limits.faster;
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
  const bool low = input.sqnr_db && !(*input.sqnr_db >= limits.min_sqnr_db);
  if (broken) {
    facts += ", outputs not finite or nothing like before";
  } else if (input.sqnr_db && *input.sqnr_db >= kSqnrEqual) {
    facts += ", outputs equal";
  } else if (input.sqnr_db) {
    facts += ", " + number(*input.sqnr_db, " dB") + (input.synthetic ? " on synthetic inputs" : "");
  }
  const auto say = [&](Judgement judgement, Decider decider, const std::string& sentence) {
    verdict = {judgement, decider, sentence};
  };
  if (broken) {
    say(Judgement::kDont, Decider::kDrift, "Don't ship it: " + facts + ".");
  } else if (low && !input.synthetic) {
    say(Judgement::kDont, Decider::kDrift,
        "Don't ship it: " + facts + ". Outputs drifted below " + number(limits.min_sqnr_db, " dB") + ".");
  } else if (sized && smaller < limits.min_smaller && !faster) {
    say(Judgement::kDont, Decider::kSize, "Don't bother: " + facts + ".");
  } else if (slower) {
    say(Judgement::kDont, Decider::kSpeed,
        "Smaller but slower: " + facts + ". Ship it only where size matters more than time.");
  } else if (!sized || !input.sqnr_db || !input.speedup) {
    say(Judgement::kCannotTell, Decider::kNothing, "Not verified: " + facts + ".");
  } else if (unsettled) {
    say(Judgement::kCannotTell, Decider::kSpeed, "Smaller, but time it again: " + facts + ". A quiet machine tells.");
  } else if (input.synthetic) {
    say(Judgement::kCannotTell, Decider::kDrift,
        (low ? "Far off on made-up inputs: " : "Promising: ") + facts + ". Check it on real samples.");
  } else {
    say(Judgement::kShip, faster ? Decider::kSpeed : Decider::kSize, "Ship it: " + facts + ".");
  }
  return verdict;
}

}  // namespace octet
