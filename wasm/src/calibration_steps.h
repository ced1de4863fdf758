// Calibration in steps, as octet.d.ts describes it: also what a search hands out when it asks for ranges or channels.
#pragma once

#include <emscripten/val.h>

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "octet/channels.h"
#include "octet/observe.h"
#include "octet/ranges.h"
#include "octet/segments.h"
#include "octet/tensor.h"

namespace octet {

class CalibrationSteps {
 public:
  // `fingerprint`: of the model. Values of `channels` are observed by channels, those of `names` as a whole.
  CalibrationSteps(const Model& prepared, const std::string& fingerprint, const std::vector<std::string>& names,
                   const std::vector<ChannelTap>& channels = {});

  const std::vector<std::string>& taps() const { return names_; }  // each once
  const Ranges& ranges() const { return ranges_; }
  const ChannelObservations& channels() const { return channels_; }
  std::vector<std::string> notes() const { return non_finite_.notes(ranges_); }
  // Throws Error(kData) where not one sample was taken to its end.
  void expect_samples() const;

  // What JavaScript calls.
  emscripten::val begin_sample(emscripten::val request);
  emscripten::val plan_segments(emscripten::val request);
  emscripten::val segment_model(emscripten::val index);
  emscripten::val observe(emscripten::val name, emscripten::val tensor);
  emscripten::val end_sample();
  emscripten::val forget();
  emscripten::val learned();

 private:
  // What is done with one value.
  struct Tap {
    bool whole = false, by_channels = false;
    int axis = 0;
  };
  bool add(const std::string& name, const Tensor& tensor);

  std::vector<ValueInfo> inputs_;
  std::vector<std::string> names_;  // of all taps
  std::map<std::string, Tap> taps_;
  SegmentedModel segmented_;
  Ranges ranges_;
  ChannelObservations channels_;
  NonFinite non_finite_;
  std::map<std::string, std::vector<std::int64_t>> dims_;  // of this sample's inputs
};

}  // namespace octet
