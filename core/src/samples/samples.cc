#include "octet/samples.h"

#include <algorithm>
#include <numeric>
#include <utility>

#include "octet/dtype.h"
#include "octet/error.h"
#include "samples/random.h"

namespace octet {
namespace {

// Below this a calibrated range is an accident of the samples chosen.
constexpr std::size_t kFewSamples = 100;
// What to calibrate on where accuracy suffers.
constexpr std::size_t kEnoughSamples = 500;

template <class Range, class Name>
std::string quoted_list(const Range& range, Name&& name) {
  std::string list;
  for (const auto& item : range) list += (list.empty() ? "'" : ", '") + name(item) + "'";
  return list.empty() ? "nothing" : list;
}

bool shape_fits(const std::vector<std::int64_t>& found, const ValueInfo& wanted) {
  if (wanted.dims.empty()) return true;  // a scalar and "any shape" look the same
  return std::equal(found.begin(), found.end(), wanted.dims.begin(), wanted.dims.end(),
                    [](std::int64_t have, std::int64_t want) { return want < 0 || have == want; });
}

std::string count_of(std::size_t samples) { return std::to_string(samples) + (samples == 1 ? " sample" : " samples"); }

}  // namespace

Sample conform_sample(Sample sample, const std::vector<ValueInfo>& inputs, const std::string& where) {
  if (inputs.size() == 1 && sample.size() == 1 && sample.begin()->first != inputs[0].name) {
    Tensor tensor = std::move(sample.begin()->second);
    sample.clear();
    sample.emplace(inputs[0].name, std::move(tensor));
  }
  Sample result;
  for (const ValueInfo& input : inputs) {
    const auto found = sample.find(input.name);
    if (found == sample.end()) {
      throw Error(ErrorCode::kData, where,
                  "lacks input '" + input.name + "': it holds " +
                      quoted_list(sample, [](const auto& entry) { return entry.first; }) + ", the model wants " +
                      quoted_list(inputs, [](const ValueInfo& info) { return info.name; }));
    }
    Tensor tensor = std::move(found->second);
    const std::string wants = input.is_tensor ? describe(input.type, input.dims) : "no tensor";
    const std::string mismatch =
        "input '" + input.name + "' is " + describe(tensor.type, tensor.dims) + ", the model wants " + wants;
    if (!shape_fits(tensor.dims, input)) throw Error(ErrorCode::kData, where, mismatch);
    if (!input.is_tensor || !convert_tensor(tensor, input.type)) {
      throw Error(ErrorCode::kData, where, mismatch + " and not every value survives the conversion");
    }
    result.emplace(input.name, std::move(tensor));
  }
  return result;
}

std::vector<std::size_t> sample_order(std::size_t count, std::size_t limit, std::optional<std::uint64_t> shuffle) {
  std::vector<std::size_t> order(count);
  std::iota(order.begin(), order.end(), std::size_t{0});
  const std::size_t wanted = limit == 0 ? count : std::min(limit, count);
  if (shuffle) {
    // Fisher and Yates, from the front: the first `wanted` places are final after as many steps.
    SplitMix random(*shuffle);
    for (std::size_t i = 0; i < wanted; ++i) std::swap(order[i], order[i + random.below(count - i)]);
  }
  order.resize(wanted);
  return order;
}

std::string few_samples_hint(std::size_t samples) {
  if (samples >= kFewSamples) return {};
  return "calibrated on " + count_of(samples) +
         "; 100 to 1000 that look like what the model will meet give ranges "
         "that hold";
}

std::string more_samples_advice(std::size_t samples) {
  if (samples >= kEnoughSamples) return {};
  return "calibrate on at least 500 representative samples (there were " + std::to_string(samples) +
         "); then train with quantization in the loop, distil from the float model, or leave the worst nodes in float "
         "(octet compare --layers, --nodes-to-exclude)";
}

}  // namespace octet
