// One sentence that says what was gained and lost, from measured figures only; which figure decided, why it is as it
// is, and what to try next. The same natively and in the browser.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "octet/measure.h"
#include "octet/plan.h"

namespace octet {

struct Thresholds {
  double min_sqnr_db = 10;   // of the worst output; below it nothing is shipped
  double min_smaller = 1.1;  // input bytes over output bytes; below it a saving is no reason to change what works
  double slower = 0.95;      // a speedup whose whole interval lies below this is a loss
  double faster = 1.05;      // and one whose whole interval lies above this a gain; between the two it is the same
};

struct VerdictInput {
  std::uint64_t float_bytes = 0, output_bytes = 0;
  std::optional<Speedup> speedup;  // none: not measured
  std::optional<double> sqnr_db;   // worst output; none: not measured
  bool synthetic = false;          // drift on made-up inputs says little
  Thresholds thresholds;
};

enum class Judgement { kShip, kDont, kCannotTell };
// The figure that decided.
enum class Decider { kDrift, kSpeed, kSize, kNothing };

struct Verdict {
  Judgement judgement = Judgement::kCannotTell;
  Decider decided_by = Decider::kNothing;
  std::string sentence;
};

Verdict judge(const VerdictInput& input);
std::string_view name_of(Judgement judgement);  // "ship", "dont", "cannot_tell"
std::string_view name_of(Decider decider);      // "drift", "speed", "size", "nothing"

// In milliseconds: a run shorter than this is mostly the runtime's own work around its operators, which integers do
// not shrink.
inline constexpr double kShortRunMs = 0.5;

// What is known of a run besides its figures.
struct RunFacts {
  std::optional<int> integer_products, conversions;  // in the graph that the runtime made, where seen
  std::optional<double> float_ms;                    // median of the float model
  std::size_t calibrated_on = 0;                     // samples; 0: unknown or none
};

// One thing to try. The code is for programs: static, weights, dynamic, per_channel, method, keep_layers, more_samples,
// real_samples, activations16, activations8, unsigned_activations,
// fold, bits8, time_again, train.
struct Advice {
  std::string code, text;
};

struct Explanation {
  std::string why;           // of what decided, a sentence; empty where there is nothing to explain
  std::vector<Advice> next;  // most promising first; empty where nothing is wrong
};

Explanation explain(const Verdict& verdict, const VerdictInput& input, const Plan& plan, const RunFacts& facts);

}  // namespace octet
