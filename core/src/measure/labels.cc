#include "octet/labels.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <utility>

#include "octet/dtype.h"

namespace octet {
namespace {

using nlohmann::json;

constexpr int kMaxDepth = 8;  // axes of an output but the last

// False when something else than whole numbers and null stands there.
bool flatten(const json& value, std::vector<std::int64_t>& rows, int depth = 0) {
  if (value.is_number_integer()) {
    rows.push_back(value.get<std::int64_t>());
    return true;
  }
  if (value.is_null() && depth > 0) {
    rows.push_back(-1);
    return true;
  }
  return value.is_array() && depth < kMaxDepth &&
         std::all_of(value.begin(), value.end(), [&](const json& item) { return flatten(item, rows, depth + 1); });
}

std::uint64_t width_of(const Tensor& output) {
  return output.dims.empty() || output.dims.back() < 0 ? 0 : static_cast<std::uint64_t>(output.dims.back());
}

// Why labels are not about this output; empty when they are.
std::string obstacle(const std::vector<std::int64_t>& labels, const Tensor& output) {
  const std::uint64_t width = width_of(output), elements = element_count(output.dims);
  if (!is_float_type(output.type) || width < 2) return "has no scores to choose from along its last axis";
  if (elements != labels.size() * width) {
    return "has " + std::to_string(elements / width) + " rows, the labels " + std::to_string(labels.size());
  }
  const std::int64_t largest = *std::max_element(labels.begin(), labels.end());
  if (largest >= output.dims.back())
    return "chooses among " + std::to_string(width) + ", a label is " + std::to_string(largest);
  return {};
}

// Rows whose first largest element, passing over NaN, stands at the label.
std::uint64_t count_right(const Tensor& output, const std::vector<std::int64_t>& labels) {
  const std::vector<float> scores = to_float(output);
  const std::size_t width = width_of(output);
  std::uint64_t right = 0;
  for (std::size_t i = 0; i < labels.size(); ++i) {
    if (labels[i] < 0) continue;
    const auto row = scores.begin() + static_cast<std::ptrdiff_t>(i * width);
    const auto best = std::max_element(row, row + static_cast<std::ptrdiff_t>(width),
                                       [](float a, float b) { return a < b || (a != a && b == b); });
    right += static_cast<std::size_t>(best - row) == static_cast<std::size_t>(labels[i]);
  }
  return right;
}

std::string in_quotes(const std::string& name) { return "'" + name + "'"; }

}  // namespace

AccuracyMeter::AccuracyMeter(std::string_view labels) {
  constexpr const char* kNoNumbers = "labels.json holds something else than whole numbers";
  const json document = json::parse(labels, nullptr, false);
  if (document.is_array()) {
    for (const json& one : document) {
      if (!flatten(one, in_order_.emplace_back()) && !one.is_null()) why_not_ = kNoNumbers;
    }
  } else if (document.is_object() && document.contains("labels") && document["labels"].is_object()) {
    if (document.contains("output") && document["output"].is_string()) output_ = document["output"];
    for (const auto& [name, one] : document["labels"].items()) {
      if (!flatten(one, by_name_[name]) && !one.is_null()) why_not_ = kNoNumbers;
    }
  } else {
    why_not_ = "labels.json is neither a list nor {\"output\": NAME, \"labels\": {FILE: …}}";
  }
}

AccuracyMeter AccuracyMeter::unreadable(std::string why_not) {
  AccuracyMeter meter;
  meter.why_not_ = std::move(why_not);
  return meter;
}

const AccuracyMeter::Rows* AccuracyMeter::rows_of(std::size_t sample, const std::string& name) const {
  if (sample < in_order_.size()) return &in_order_[sample];
  const auto found = by_name_.find(name);
  return found == by_name_.end() ? nullptr : &found->second;
}

void AccuracyMeter::find_output(const Rows& labels, const Sample& reference) {
  std::string obstacles;
  for (const auto& [name, value] : reference) {
    const std::string why = obstacle(labels, value);
    if (!why.empty()) {
      obstacles += (obstacles.empty() ? "output " : ", output ") + in_quotes(name) + " " + why;
    } else if (output_.empty()) {
      output_ = name;
    } else {
      why_not_ = "labels.json does not say which output it means: " + in_quotes(output_) + " and " + in_quotes(name) +
                 " both fit";
      return;
    }
  }
  if (output_.empty()) why_not_ = "labels.json fits no output: " + obstacles;
}

void AccuracyMeter::add(std::size_t sample, const std::string& name, const Sample& reference, const Sample& candidate) {
  if (!why_not_.empty()) return;
  const Rows* labels = rows_of(sample, name);
  if (labels == nullptr || labels->empty()) return;
  if (output_.empty()) find_output(*labels, reference);
  if (!why_not_.empty()) return;
  const auto right = reference.find(output_), other = candidate.find(output_);
  if (right == reference.end() || other == candidate.end()) {
    why_not_ = "labels.json is about output " + in_quotes(output_) + ", which " +
               (right == reference.end() ? "the reference" : "the candidate") + " has not";
    return;
  }
  for (const Tensor* output : {&right->second, &other->second}) {
    const std::string why = obstacle(*labels, *output);
    if (!why.empty()) {
      why_not_ = "labels.json does not fit sample " + in_quotes(name) + ": output " + in_quotes(output_) + " " + why;
      return;
    }
  }
  rows_ +=
      static_cast<std::uint64_t>(std::count_if(labels->begin(), labels->end(), [](auto label) { return label >= 0; }));
  reference_ += count_right(right->second, *labels);
  candidate_ += count_right(other->second, *labels);
}

std::optional<Accuracy> AccuracyMeter::result() const {
  if (!why_not_.empty() || rows_ == 0) return std::nullopt;
  const auto all = static_cast<double>(rows_);
  return Accuracy{output_, rows_, static_cast<double>(reference_) / all, static_cast<double>(candidate_) / all};
}

}  // namespace octet
