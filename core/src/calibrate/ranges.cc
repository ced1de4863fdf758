// What is known of one tensor, and of all.
#include <algorithm>

#include "calibrate/histogram.h"
#include "octet/error.h"
#include "octet/ranges.h"

namespace octet {

void Observation::add(std::span<const float> values) {
  const Range range = count_values(histogram_, values);
  non_finite_ += range.non_finite;
  const std::uint64_t finite = values.size() - range.non_finite;
  if (finite == 0) return;
  min_ = seen() ? std::min(min_, range.min) : range.min;
  max_ = seen() ? std::max(max_, range.max) : range.max;
  sum_of_mins_.add(range.min);
  sum_of_maxs_.add(range.max);
  values_ += finite;
  ++runs_;
}

void Observation::merge(const Observation& other) {
  non_finite_ += other.non_finite_;
  if (!other.seen()) return;
  min_ = seen() ? std::min(min_, other.min_) : other.min_;
  max_ = seen() ? std::max(max_, other.max_) : other.max_;
  sum_of_mins_.merge(other.sum_of_mins_);
  sum_of_maxs_.merge(other.sum_of_maxs_);
  values_ += other.values_;
  runs_ += other.runs_;
  histogram_.merge(other.histogram_);
}

Interval Observation::average() const {
  if (!seen()) return {};
  const auto mean = [this](const ExactSum& sum) {
    const auto value = static_cast<float>(sum.value() / static_cast<double>(runs_));
    return std::clamp(value, min_, max_);
  };
  return {mean(sum_of_mins_), mean(sum_of_maxs_)};
}

void Ranges::merge(const Ranges& other) {
  const std::string next = "calibrate both parts with the same model and options";
  if (model.empty() && samples == 0 && tensors.empty())
    model = other.model, tensors = other.tensors;
  else {
    if (model != other.model)
      throw Error(ErrorCode::kUsage, "ranges", "they are of another model (" + other.model + ", not " + model + ")",
                  next);
    for (const auto& [name, observed] : other.tensors) {
      if (!tensors.contains(name))
        throw Error(ErrorCode::kUsage, "ranges", "only one part knows tensor '" + name + "'", next);
    }
    for (const auto& [name, observed] : tensors) {
      if (!other.tensors.contains(name))
        throw Error(ErrorCode::kUsage, "ranges", "only one part knows tensor '" + name + "'", next);
    }
    for (auto& [name, observed] : tensors) observed.merge(other.tensors.at(name));
  }
  samples += other.samples;
}

}  // namespace octet
