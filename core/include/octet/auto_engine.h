// What the automatic search asks of whoever has a runtime, beside what every search does.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "octet/measure.h"
#include "octet/search_engine.h"

namespace octet {

// How closely to look: outputs on a few samples, on all of them, time too, or time for longer.
enum class Effort { kGlance, kDrift, kSpeed, kConfirm };
inline constexpr std::size_t kGlanceSamples = 4;

// A candidate against the float model as it was given.
struct Measurement {
  bool runs = false;  // loads, runs, and gives finite numbers where the float model does
  std::string error;  // why not
  std::size_t samples = 0;
  double sqnr_db = 0;                     // of the worst output
  double lowest_db = 0, highest_db = 0;   // the same of single samples
  std::optional<double> drop;             // right answers lost on labelled samples, in percent of all
  std::optional<Speedup> speedup;         // of interleaved runs, where asked for
  double float_ms = 0, candidate_ms = 0;  // their medians
  std::uint64_t bytes = 0;                // of the file
  double seconds = 0;                     // since the answer before

  // Of a candidate that does not load or run.
  static Measurement failed(std::string why) {
    Measurement measured;
    measured.error = std::move(why);
    measured.sqnr_db = measured.lowest_db = measured.highest_db = -kSqnrEqual;
    return measured;
  }
};

std::string measurement_to_json(const Measurement& measured);
Measurement measurement_from_json(std::string_view json);  // throws Error(kMalformed)

class AutoEngine : public SearchEngine {
 public:
  // What the plan makes of the quantizer's model. Nothing: no more answers are to be had, the search is to end with
  // what it has.
  virtual std::optional<Measurement> measure(const Quantizer& quantizer, const Plan& plan, Effort effort) = 0;
};

// Measurements by what was measured: a search that has them need not ask again.
class MeasurementLog {
 public:
  // `context`: what else answers depend on: samples, threads, machine.
  explicit MeasurementLog(std::string context = {}) : context_(std::move(context)) {}

  static std::string key(const Quantizer& quantizer, const Plan& plan, Effort effort);
  const Measurement* find(const std::string& key) const;
  void add(const std::string& key, Measurement measured);
  std::size_t size() const { return entries_.size(); }

  std::string to_json() const;
  // Throws Error(kMalformed), or Error(kUsage) where it was written in another context.
  void read_json(std::string_view json);

 private:
  std::string context_;
  std::map<std::string, Measurement> entries_;
};

}  // namespace octet
