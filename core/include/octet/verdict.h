// One sentence that says what was gained and lost, from measured figures only.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "octet/measure.h"

namespace octet {

struct VerdictInput {
  std::uint64_t float_bytes = 0, output_bytes = 0;
  std::optional<Speedup> speedup;  // none: not measured
  std::optional<double> sqnr_db;   // worst output; none: not measured
  bool synthetic = false;          // drift on made-up inputs says little
  double min_sqnr_db = 10;
};

enum class Judgement { kShip, kDont, kCannotTell };

struct Verdict {
  Judgement judgement = Judgement::kCannotTell;
  std::string sentence;
};

Verdict judge(const VerdictInput& input);

}  // namespace octet
