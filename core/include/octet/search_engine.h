// What searches ask of whoever has a runtime. A search is straight code: it asks and gets its answer. Where nobody can
// answer while it waits (a page's runtime is asynchronous), the engine breaks off by throwing, is answered, and has the
// search run again; octet/replay_engine.h is that engine.
//
// What a search must keep to for it: its functions do the same every time for the same answers; whatever it keeps of an
// answer, it keeps before it asks for the next, tells so with settle(), and does not ask for again.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "octet/channels.h"
#include "octet/quantizer.h"
#include "octet/ranges.h"

namespace octet {

struct LearnedRanges {
  Ranges ranges;
  std::vector<std::string> notes;  // what the user should know
  std::string source;              // what errors about the ranges name; "" for nothing special
};

class SearchEngine {
 public:
  virtual ~SearchEngine() = default;

  // Ranges of the quantizer's taps, by running its model over samples; nothing where it needs none.
  virtual std::optional<LearnedRanges> calibrate(const Quantizer& quantizer) = 0;
  // Values of a model channel by channel, by running it over the same samples.
  virtual ChannelObservations observe(const Model& model, const std::vector<ChannelTap>& taps) = 0;

  // Whether check() can be asked at all.
  virtual bool checks() const { return true; }
  // SQNR in dB of the worst output of what the plan makes of the quantizer's model, against the model as it was given;
  // -kSqnrEqual where it does not load, does not run or gives NaN, nothing where that cannot be told.
  virtual std::optional<double> check(const Quantizer& quantizer, const Plan& plan) = 0;

  // From now on there are so many seconds, after which out_of_time() is true.
  virtual void start_clock(double seconds) = 0;
  virtual bool out_of_time() = 0;

  // What questions are for from now on, in words, and how far that is.
  virtual void tell(const std::string& stage, std::size_t done, std::size_t total) = 0;
  // All answers so far are taken into account.
  virtual void settle() {}
};

}  // namespace octet
