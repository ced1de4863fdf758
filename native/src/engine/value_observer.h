// Looks at the values of samples that run one after another. Samples that run side by side have an observer each; what
// they saw adds up to what one would have seen.
#pragma once

#include <map>
#include <set>
#include <string>
#include <vector>

#include "engine/engine.h"
#include "engine/worker_crew.h"
#include "octet/channels.h"
#include "octet/observe.h"
#include "octet/ranges.h"

namespace octet {

struct ObservedValues {
  std::set<std::string> taps;       // as a whole
  std::map<std::string, int> axes;  // channel by channel: where these are
};

class ValueObserver {
 public:
  explicit ValueObserver(const ObservedValues& wanted) : wanted_(wanted) {}  // which must stay

  void begin_sample(std::uint64_t number, const std::string& name) { non_finite_.begin_sample(number, name); }
  // Those of `names` that are wanted and are float tensors, shared out among the threads of `crew`.
  void observe(const LiveValues& values, const std::vector<std::string>& names, WorkerCrew& crew);
  void forget();

  // Adds what was seen; both are then as if one had seen it all.
  void add_to(Ranges& ranges, ChannelObservations& channels, NonFinite& non_finite) const;

 private:
  const ObservedValues& wanted_;
  std::map<std::string, Observation> tensors_;
  ChannelObservations channels_;
  NonFinite non_finite_;
};

}  // namespace octet
