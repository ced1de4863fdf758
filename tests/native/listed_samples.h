// Samples that a test lists itself.
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "octet/samples.h"

namespace octet {

// The i-th is named i.npz.
class ListedSamples final : public SampleReader {
 public:
  explicit ListedSamples(std::vector<Sample> samples) : samples_(std::move(samples)) {}
  std::optional<Sample> next() override {
    return at_ == samples_.size() ? std::nullopt : std::optional<Sample>(samples_[at_++]);
  }
  void rewind() override { at_ = 0; }
  std::size_t size() const override { return samples_.size(); }
  std::string name() const override { return std::to_string(at_ - 1) + ".npz"; }
  std::string description() const override { return "the list"; }

 private:
  std::vector<Sample> samples_;
  std::size_t at_ = 0;
};

}  // namespace octet
