#include <algorithm>
#include <cmath>
#include <cstring>
#include <string>
#include <type_traits>

#include "model/tensor_access.h"
#include "octet/measure.h"

namespace octet {
namespace {

std::string shape_text(const std::vector<std::int64_t>& dims) {
  std::string text = "[";
  for (std::size_t i = 0; i < dims.size(); ++i) text += (i ? "," : "") + std::to_string(dims[i]);
  return text + "]";
}

// Why two values cannot be compared; empty when they can.
std::string obstacle(const Tensor& reference, const Tensor& candidate) {
  if (reference.type != candidate.type) {
    return "the reference is " + type_name(reference.type) + ", the candidate " + type_name(candidate.type);
  }
  if (reference.type == kString) return "strings are not numbers";
  if (reference.dims != candidate.dims) {
    return "the reference has shape " + shape_text(reference.dims) + ", the candidate " + shape_text(candidate.dims);
  }
  return {};
}

// The numbers of types that float32 cannot hold exactly.
template <class T>
std::vector<T> exact_values(const Tensor& tensor) {
  std::vector<T> values(tensor.bytes.size() / sizeof(T));
  if (!values.empty()) std::memcpy(values.data(), tensor.bytes.data(), values.size() * sizeof(T));
  return values;
}

// Place of the first largest element, passing over NaN.
template <class T>
std::size_t largest(const T* row, std::size_t width) {
  std::size_t best = 0;
  for (std::size_t i = 1; i < width; ++i) {
    if (row[i] > row[best] || (row[best] != row[best] && row[i] == row[i])) best = i;
  }
  return best;
}

}  // namespace

struct DriftMeter::Sums {
  std::string why_not;
  bool floating = false, finite = true;
  double signal = 0, candidate_signal = 0, product = 0, noise = 0;  // Σ r², Σ c², Σ r·c, Σ (r − c)²
  double max_abs_error = 0, max_abs = 0;
  std::uint64_t elements = 0;
  std::uint64_t compared = 0, agreed = 0;  // rows of floats, elements of integers

  template <class T>
  void add(const std::vector<T>& reference, const std::vector<T>& candidate, std::size_t row) {
    elements += reference.size();
    for (std::size_t i = 0; i < reference.size(); ++i) {
      const auto r = static_cast<double>(reference[i]), c = static_cast<double>(candidate[i]);
      if constexpr (std::is_floating_point_v<T>) {
        if (!std::isfinite(r)) continue;
        max_abs = std::max(max_abs, std::fabs(r));
        if (!std::isfinite(c)) {
          finite = false;
          continue;
        }
      } else {
        max_abs = std::max(max_abs, std::fabs(r));
      }
      signal += r * r;
      candidate_signal += c * c;
      product += r * c;
      noise += (r - c) * (r - c);
      max_abs_error = std::max(max_abs_error, std::fabs(r - c));
    }
    if (!floating) {
      compared += reference.size();
      for (std::size_t i = 0; i < reference.size(); ++i) agreed += reference[i] == candidate[i];
    } else if (row >= 2) {
      for (std::size_t i = 0; i < reference.size(); i += row) {
        ++compared;
        agreed += largest(reference.data() + i, row) == largest(candidate.data() + i, row);
      }
    }
  }

  void add(const Tensor& reference, const Tensor& candidate) {
    floating = is_float_type(reference.type);
    const auto row = reference.dims.empty() ? std::size_t{0} : static_cast<std::size_t>(reference.dims.back());
    // Also for types read below from their bytes: it refuses values whose size does not fit their shape.
    const auto r = to_float(reference), c = to_float(candidate);
    switch (reference.type) {
      case kDouble:
        return add(exact_values<double>(reference), exact_values<double>(candidate), row);
      case kInt32:
        return add(exact_values<std::int32_t>(reference), exact_values<std::int32_t>(candidate), row);
      case kUint32:
        return add(exact_values<std::uint32_t>(reference), exact_values<std::uint32_t>(candidate), row);
      case kInt64:
        return add(exact_values<std::int64_t>(reference), exact_values<std::int64_t>(candidate), row);
      case kUint64:
        return add(exact_values<std::uint64_t>(reference), exact_values<std::uint64_t>(candidate), row);
      default:
        return add(r, c, row);
    }
  }

  double sqnr_db() const {
    if (!finite) return -kSqnrEqual;
    if (noise == 0) return kSqnrEqual;
    if (signal == 0) return -kSqnrEqual;
    return std::clamp(10.0 * std::log10(signal / noise), -kSqnrEqual, kSqnrEqual);
  }

  double cosine() const {
    if (signal == 0 && candidate_signal == 0) return 1;
    // One root of the product, not two roots: √(x·x) is exactly x, so equal tensors have a cosine of exactly 1.
    const double norm = std::sqrt(signal * candidate_signal);
    return norm == 0 ? 0 : std::clamp(product / norm, -1.0, 1.0);
  }
};

DriftMeter::DriftMeter() = default;
DriftMeter::~DriftMeter() = default;
DriftMeter::DriftMeter(DriftMeter&&) noexcept = default;
DriftMeter& DriftMeter::operator=(DriftMeter&&) noexcept = default;

void DriftMeter::add(const Sample& reference, const Sample& candidate) {
  std::size_t expected = 0;  // outputs come in the same order each time, so the place is nearly always known
  for (const auto& entry : reference) {
    const std::string& name = entry.first;  // not a structured binding: Clang before 16 lets no lambda capture those
    const Tensor& value = entry.second;
    std::size_t at = expected;
    if (at >= outputs_.size() || outputs_[at].first != name) {
      const auto found = std::find_if(outputs_.begin(), outputs_.end(), [&](const auto& o) { return o.first == name; });
      at = static_cast<std::size_t>(found - outputs_.begin());
      if (found == outputs_.end()) outputs_.emplace_back(name, Sums());
    }
    expected = at + 1;

    Sums& sums = outputs_[at].second;
    if (!sums.why_not.empty()) continue;
    const auto other = candidate.find(name);
    sums.why_not = other == candidate.end() ? "the candidate has no such output" : obstacle(value, other->second);
    if (sums.why_not.empty()) sums.add(value, other->second);
  }
}

std::vector<OutputDrift> DriftMeter::result() const {
  std::vector<OutputDrift> drifts;
  for (const auto& [name, sums] : outputs_) {
    OutputDrift& drift = drifts.emplace_back();
    drift.name = name;
    drift.elements = sums.elements;
    if (!sums.why_not.empty()) {
      drift.comparable = false;
      drift.why_not = sums.why_not;
      continue;
    }
    drift.finite = sums.finite;
    drift.sqnr_db = sums.sqnr_db();
    drift.cosine = sums.cosine();
    drift.max_abs_error = sums.max_abs_error;
    drift.max_abs = sums.max_abs;
    if (sums.compared != 0) {
      drift.top1_agreement = static_cast<double>(sums.agreed) / static_cast<double>(sums.compared);
    }
  }
  return drifts;
}

double DriftMeter::worst_sqnr_db() const {
  double worst = kSqnrEqual;
  for (const auto& [name, sums] : outputs_) {
    if (sums.why_not.empty() && sums.floating) worst = std::min(worst, sums.sqnr_db());
  }
  return worst;
}

}  // namespace octet
