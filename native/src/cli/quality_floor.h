// Below the floor, the worst nodes go back towards float until it holds: integers → weights only → float.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "engine/verify.h"
#include "octet/quantizer.h"

namespace octet {

// Writes a plan's model somewhere and compares it with the float one, without timing.
using TryPlan = std::function<VerifyResult(const Plan&)>;

struct FloorResult {
  bool reached = false;
  std::vector<std::string> changed;  // nodes moved towards float, worst first
};

// Changes `plan`. Measures each node alone, then moves the fewest of the worst that make the floor hold. Stops after
// `seconds`.
FloorResult hold_floor(Plan& plan, double min_sqnr_db, double seconds, const TryPlan& attempt);

// The nearest plan that any runtime loads and runs: everything that computes in integers becomes weights only, folded.
std::vector<std::string> retreat_from_integers(Plan& plan, const std::string& why);

// Every matrix stored for the fused kernel is stored in the foldable form instead. Returns the nodes changed.
std::vector<std::string> fold_matrices(Plan& plan, const std::string& why);

}  // namespace octet
