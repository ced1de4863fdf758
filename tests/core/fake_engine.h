// Answers a search without a runtime: what a model is worth is read off its stored tensors.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "octet/measure.h"
#include "octet/search_engine.h"

namespace octet::fakes {

// What samples show: 32 channels, of which every fifth is much larger, other ones for every value.
inline std::vector<float> values_of(const std::string& name) {
  std::uint32_t state = 2166136261u;
  for (const char letter : name) state = (state ^ static_cast<std::uint8_t>(letter)) * 16777619u;
  std::vector<float> values;
  for (int i = 0; i < 64; ++i) {
    state = state * 1664525u + 1013904223u;
    const float uniform = static_cast<float>(state >> 8) / 8388608.0f - 1;
    values.push_back(uniform * (i % 5 == 0 ? 50.0f : 0.5f));
  }
  return values;
}

inline Ranges ranges_of(const Model& model, const std::vector<std::string>& taps) {
  Ranges ranges;
  ranges.model = fingerprint_of(model);
  ranges.samples = 2;
  for (const std::string& tap : taps) ranges.tensors[tap].add(values_of(tap));
  return ranges;
}

inline ChannelObservations channels_of(const std::vector<ChannelTap>& taps) {
  ChannelObservations seen;
  for (const ChannelTap& tap : taps) seen[tap.value].add(values_of(tap.value), {2, 32}, tap.axis);
  return seen;
}

// SQNR of a quantized model.
using Worth = std::function<std::optional<double>(const Model&)>;

class StraightEngine : public SearchEngine {
 public:
  explicit StraightEngine(Worth worth, int questions_in_time = 1 << 20)
      : worth_(std::move(worth)), in_time_(questions_in_time) {}

  std::optional<LearnedRanges> calibrate(const Quantizer& quantizer) override {
    if (quantizer.taps().empty()) return std::nullopt;
    ++questions;
    return LearnedRanges{ranges_of(quantizer.model(), quantizer.taps()), {"a note"}, {}};
  }
  ChannelObservations observe(const Model&, const std::vector<ChannelTap>& taps) override {
    ++questions;
    return channels_of(taps);
  }
  bool checks() const override { return static_cast<bool>(worth_); }
  std::optional<double> check(const Quantizer& quantizer, const Plan& plan) override {
    ++questions;
    return worth_(quantizer.apply(plan));
  }
  void start_clock(double) override { begun_ = questions; }
  bool out_of_time() override { return questions - begun_ > in_time_; }
  void tell(const std::string& stage, std::size_t, std::size_t) override {
    if (stages.empty() || stages.back() != stage) stages.push_back(stage);
  }

  int questions = 0;
  std::vector<std::string> stages;

 private:
  Worth worth_;
  int in_time_ = 0, begun_ = 0;
};

}  // namespace octet::fakes
