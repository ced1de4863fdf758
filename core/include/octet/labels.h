// How often a model is right, where a folder of samples says what is: its labels.json.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "octet/tensor.h"

namespace octet {

// Share of rows (all axes but the last) whose largest element stands where the label says, for both models over the
// same rows.
struct Accuracy {
  std::string output;
  std::uint64_t rows = 0;
  double reference = 0, candidate = 0;
};

// Two forms of labels.json: {"output": NAME, "labels": {"0000.npz": LABELS, …}} by the sample's file name, or a list
// with one LABELS per sample in file-name order. LABELS is a whole number or nested lists of them, one per row; null
// and negative numbers are not judged. Without an output's name the only one they fit is meant.
//
// Labels are an extra: those that are missing or do not fit give no accuracy and a reason, never an error.
class AccuracyMeter {
 public:
  AccuracyMeter() = default;  // without labels
  explicit AccuracyMeter(std::string_view labels);
  static AccuracyMeter unreadable(std::string why_not);

  // `sample` is its place in file-name order, from 0; `name` the name of its file.
  void add(std::size_t sample, const std::string& name, const Sample& reference, const Sample& candidate);

  std::optional<Accuracy> result() const;
  const std::string& why_not() const { return why_not_; }  // empty too where there are no labels at all

 private:
  using Rows = std::vector<std::int64_t>;

  const Rows* rows_of(std::size_t sample, const std::string& name) const;
  void find_output(const Rows& labels, const Sample& reference);

  std::map<std::string, Rows> by_name_;
  std::vector<Rows> in_order_;
  std::string output_, why_not_;
  std::uint64_t rows_ = 0, reference_ = 0, candidate_ = 0;
};

}  // namespace octet
