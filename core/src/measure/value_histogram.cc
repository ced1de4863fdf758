#include "octet/value_histogram.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "model/graph_view.h"
#include "octet/error.h"
#include "quantize/float_chunks.h"
#include "quantize/tensor_ids.h"

namespace octet {
namespace {

constexpr float kInfinity = std::numeric_limits<float>::infinity();

void check_bins(std::size_t bins) {
  if (bins == 0 || bins > kMostBins)
    throw Error(ErrorCode::kUsage, "bins", "must be from 1 to " + std::to_string(kMostBins));
}

// Grows by the finite values it is shown.
struct Seen {
  float low = kInfinity, high = -kInfinity;

  void add(float value) {
    low = std::min(low, value);
    high = std::max(high, value);
  }
  Interval interval() const { return low <= high ? Interval{low, high} : Interval{}; }
};

// Which bin a value falls into; the largest value belongs to the last.
class Bins {
 public:
  Bins(Interval range, std::size_t count) : low_(range.low), count_(count) {
    const double width = static_cast<double>(range.high) - low_;
    per_unit_ = width > 0 ? static_cast<double>(count) / width : 0;
  }

  std::size_t of(double value) const {
    const double at = (value - low_) * per_unit_;
    return at <= 0 ? 0 : std::min(static_cast<std::size_t>(at), count_ - 1);
  }

 private:
  double low_, per_unit_ = 0;
  std::size_t count_;
};

}  // namespace

ValueHistogram weight_histogram(Model& model, const std::string& tensor, std::size_t bins, std::optional<int> axis) {
  check_bins(bins);
  GraphView view(model.proto());
  const Value* value = TensorIds(view).find(tensor);
  const auto refuse = [&](const std::string& problem) {
    throw Error(ErrorCode::kUsage, "tensor '" + tensor + "'", problem, "use a name that the plan of this model gives");
  };
  if (value == nullptr) refuse("is not stored in the model");
  const onnx::TensorProto& stored = *value->initializer;
  if (!is_float_type(stored.data_type())) refuse("holds no float values but " + type_name(stored.data_type()));

  ValueHistogram result;
  result.dims.assign(stored.dims().begin(), stored.dims().end());
  const auto rank = static_cast<int>(result.dims.size());
  if (axis && (*axis < -rank || *axis >= rank)) refuse("has no axis " + std::to_string(*axis));
  std::uint64_t inner = 1;
  std::size_t channels = 0;
  if (axis) {
    const int at = *axis < 0 ? *axis + rank : *axis;
    channels = static_cast<std::size_t>(result.dims[static_cast<std::size_t>(at)]);
    for (int i = at + 1; i < rank; ++i) inner *= static_cast<std::uint64_t>(result.dims[static_cast<std::size_t>(i)]);
  }

  FloatChunks chunks(model.store(), stored);
  const std::uint64_t elements = element_count(stored);
  Seen whole;
  std::vector<Seen> seen(std::min(channels, kMostChannels));
  chunks.for_each_row(1, elements, [&](std::uint64_t, std::uint64_t first, std::span<const float> values) {
    for (std::size_t i = 0; i < values.size(); ++i) {
      if (!std::isfinite(values[i])) {
        ++result.non_finite;
        continue;
      }
      ++result.values;
      result.zeros += values[i] == 0;
      whole.add(values[i]);
      if (seen.empty()) continue;
      const auto channel = static_cast<std::size_t>((first + i) / inner % channels);
      if (channel < seen.size()) seen[channel].add(values[i]);
    }
  });
  result.range = whole.interval();
  for (const Seen& channel : seen) result.channels.push_back(channel.interval());
  result.counts.resize(bins);
  const Bins places(result.range, bins);
  chunks.for_each_row(1, elements, [&](std::uint64_t, std::uint64_t, std::span<const float> values) {
    for (const float one : values) {
      if (std::isfinite(one)) ++result.counts[places.of(one)];
    }
  });
  return result;
}

ValueHistogram activation_histogram(const Observation& observed, std::size_t bins) {
  check_bins(bins);
  ValueHistogram result;
  result.values = observed.values();
  result.non_finite = observed.non_finite();
  result.range = observed.seen() ? observed.min_max() : Interval{};
  result.counts.resize(bins);
  const Bins places(result.range, bins);
  for (const Histogram::Bin& bin : observed.histogram().bins()) {
    if (bin.low == 0 && bin.high == 0) result.zeros = bin.count;
    // The ends of a bin may lie beyond any value that is in it.
    const double low = std::max(bin.low, result.range.low), high = std::min(bin.high, result.range.high);
    result.counts[places.of((low + high) / 2)] += bin.count;
  }
  return result;
}

}  // namespace octet
