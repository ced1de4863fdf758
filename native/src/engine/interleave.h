// Timing several sessions fairly: one run each per round, the order rotated every round, so that neither a warm cache
// nor a busy moment favors one of them.
#pragma once

#include <cstddef>
#include <functional>
#include <vector>

#include "engine/engine.h"

namespace octet {

struct InterleaveOptions {
  std::size_t warmup = 5;  // runs of each session that are not counted
  std::size_t runs = 50;   // counted runs of each
  double seconds = 0;      // stop after a round that ends later than this, counted from the first warm-up; 0: never
  std::function<void(std::size_t rounds)> progress = {};  // called between counted rounds
};

struct InterleaveResult {
  std::vector<std::vector<double>> milliseconds;  // per session, all of equal length, in the order of rounds
  bool cut_short = false;                         // `seconds` ended it
};

// `samples` are cycled over rounds; every session of a round gets the same one. At least one round is made. Throws
// Error(kUsage) in an emulator: everything that is timed is timed here.
InterleaveResult time_interleaved(const std::vector<const Session*>& sessions, const std::vector<Sample>& samples,
                                  const InterleaveOptions& options);

}  // namespace octet
