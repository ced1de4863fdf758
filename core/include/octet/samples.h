// Real samples for calibration, verification and timing: what a program implements to hand in its own, and the rules
// that every source of samples keeps.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "octet/tensor.h"

namespace octet {

// Streams samples, one at a time; nothing holds more than one. Readers throw Error(kData) naming the file (or whatever
// the samples come from), the input, what was found and what is wanted.
class SampleReader {
 public:
  virtual ~SampleReader() = default;
  virtual std::optional<Sample> next() = 0;  // nothing at the end
  virtual void rewind() = 0;
  virtual std::size_t size() const = 0;            // how many next() gives from a rewind to the end
  virtual std::string name() const { return {}; }  // of the sample last given, where it has one: its file's
  // Place of the sample last given in the order of names, from 0: what a list of labels is about. Shuffling does not
  // change it.
  virtual std::size_t place() const { return 0; }
  virtual std::string description() const { return {}; }  // for reports: where the samples come from
};

// Keeps of a sample what the model takes, under its names and in its types: a single array goes to a single input
// whatever its name; types must be equal or lose nothing by conversion (int32 to int64, float64 to float32 …); ranks
// and fixed dims must match. Throws Error(kData) with `where`, the input, what was found and what is wanted.
Sample conform_sample(Sample sample, const std::vector<ValueInfo>& inputs, const std::string& where);

// Which of `count` samples to take, in order: all, or `limit` of them (0: all), shuffled first when there is a seed.
// The same seed gives the same order on every platform.
std::vector<std::size_t> sample_order(std::size_t count, std::size_t limit, std::optional<std::uint64_t> shuffle);

// What to know of calibrating on few samples: a sentence below 100 of them, empty from there on.
std::string few_samples_hint(std::size_t samples);
// What to do where calibrated outputs drift below the floor: a sentence below 500 samples, empty from there on.
std::string more_samples_advice(std::size_t samples);

}  // namespace octet
