#include "octet/synthetic.h"

#include <cmath>
#include <nlohmann/json.hpp>
#include <utility>

#include "octet/dtype.h"
#include "octet/error.h"
#include "samples/random.h"
#include "samples/synthetic_shapes.h"

namespace octet {
namespace {

using Shape = std::vector<std::int64_t>;

// Largest input made up: a size tried blindly must not take the machine's memory.
constexpr std::uint64_t kMaxElements = std::uint64_t{1} << 26;

class Random : public SplitMix {
 public:
  using SplitMix::SplitMix;

  // A sum of eight 16-bit uniforms: near enough to normal up to four deviations, and, unlike a logarithm and a cosine,
  // the same bits everywhere. Exact integers, one rounding.
  double normal() {
    std::int64_t sum = -(8 * 65535) / 2;
    for (int draw = 0; draw < 2; ++draw) {
      for (std::uint64_t bits = next(), i = 0; i < 4; ++i, bits >>= 16)
        sum += static_cast<std::int64_t>(bits & 0xffffu);
    }
    constexpr double kDeviation = 1.8688123650118534e-05;  // 1 / sqrt(8 (2^32 - 1) / 12)
    return static_cast<double>(sum) * kDeviation;
  }
};

double parse_value(const std::string& name, const std::string& text) {
  if (text == "true") return 1;
  if (text == "false") return 0;
  // Through JSON: not every standard library reads floats with from_chars yet.
  const auto value = nlohmann::json::parse(text, nullptr, false);
  if (!value.is_number()) throw Error(ErrorCode::kUsage, "--fix " + name + "=" + text, "is no number");
  return value.get<double>();
}

std::string kind_name(InputKind kind) {
  switch (kind) {
    case InputKind::kFixed:
      return "as given";
    case InputKind::kTrue:
      return "true";
    case InputKind::kMask:
      return "ones";
    case InputKind::kTokens:
      return "ids from 1 to 63";
    case InputKind::kTokenTypes:
      return "zeros";
    case InputKind::kPositions:
      return "positions";
    case InputKind::kLength:
      return "lengths";
    case InputKind::kSampleRate:
      return "16000";
    case InputKind::kSize:
      return "64";
    case InputKind::kOne:
      return "1";
    case InputKind::kThreshold:
      return "0.5";
    case InputKind::kPixels:
      return "uniform";
    case InputKind::kState:
      return "normal, deviation 0.1";
    case InputKind::kNormal:
      return "standard normal";
  }
  return {};
}

}  // namespace

SyntheticInputs::SyntheticInputs(std::vector<ValueInfo> inputs, SyntheticOptions options,
                                 std::optional<std::int64_t> free_size)
    : inputs_(std::move(inputs)), options_(std::move(options)) {
  for (const ValueInfo& input : inputs_) {
    if (!input.is_tensor || dtype_size(input.type) == 0) {
      throw Error(ErrorCode::kUnsupported, "input '" + input.name + "'",
                  input.is_tensor ? "takes " + dtype_name(input.type) + "; no value can be made up for it"
                                  : std::string("is no tensor; no value can be made up for it"));
    }
  }
  shapes_ = guess_shapes(inputs_, options_, free_size);
  for (std::size_t i = 0; i < inputs_.size(); ++i) {
    if (elements(i) > kMaxElements) {
      throw Error(ErrorCode::kUnsupported, "input '" + inputs_[i].name + "'",
                  "would be " + describe(inputs_[i].type, shapes_[i]) + ", too large to make up");
    }
    if (guess_kind(inputs_[i], options_) == InputKind::kFixed) values(i, 0);  // what is no number is refused now
  }
}

Sample SyntheticInputs::sample(std::size_t index) const {
  Sample sample;
  for (std::size_t i = 0; i < inputs_.size(); ++i) {
    sample.emplace(inputs_[i].name, tensor_from_doubles(inputs_[i].type, shapes_[i], values(i, index)));
  }
  return sample;
}

std::string SyntheticInputs::description() const {
  std::string text =
      std::to_string(options_.count) + (options_.count == 1 ? " synthetic sample" : " synthetic samples");
  text += ", seed " + std::to_string(options_.seed) + ":";
  for (std::size_t i = 0; i < inputs_.size(); ++i) {
    text += (i == 0 ? " " : "; ") + inputs_[i].name + " " + describe(inputs_[i].type, shapes_[i]) + ", " +
            kind_name(guess_kind(inputs_[i], options_));
  }
  return text;
}

std::uint64_t SyntheticInputs::elements(std::size_t i) const {
  return tensor_size(inputs_[i].type, shapes_[i]) / dtype_size(inputs_[i].type);
}

// Every input of every sample draws from a stream of its own: an input more or less changes no other.
std::vector<double> SyntheticInputs::values(std::size_t i, std::size_t sample) const {
  Random seeds(options_.seed);
  Random random(seeds.next() ^ Random(std::uint64_t{0x6f637465} * (sample + 1) + i).next());
  const InputKind kind = guess_kind(inputs_[i], options_);
  std::vector<double> drawn(elements(i));
  const auto all = [&](double value) { drawn.assign(drawn.size(), value); };
  switch (kind) {
    case InputKind::kFixed:
      all(parse_value(inputs_[i].name, options_.fixed.at(inputs_[i].name)));
      break;
    case InputKind::kTrue:
    case InputKind::kMask:
    case InputKind::kOne:
      all(1);
      break;
    case InputKind::kTokenTypes:
      all(0);
      break;
    case InputKind::kThreshold:
      all(0.5);
      break;
    case InputKind::kSampleRate:
      all(16000);
      break;
    case InputKind::kSize:
      all(64);
      break;
    case InputKind::kLength:
      all(static_cast<double>(measured_length(inputs_, shapes_, i)));
      break;
    case InputKind::kPositions: {
      const auto row = static_cast<std::size_t>(shapes_[i].empty() ? 1 : shapes_[i].back());
      for (std::size_t k = 0; k < drawn.size(); ++k) drawn[k] = static_cast<double>(k % row);
      break;
    }
    case InputKind::kTokens:
      for (double& value : drawn) value = static_cast<double>(1 + random.next() % 63);
      break;
    case InputKind::kPixels:
      for (double& value : drawn) {
        value = static_cast<double>(random.next() & 0xffu) - (inputs_[i].type == kInt8 ? 128 : 0);
      }
      break;
    case InputKind::kState:
      for (double& value : drawn) value = random.normal() * 0.1;
      break;
    case InputKind::kNormal:
      for (double& value : drawn) value = random.normal();
      break;
  }
  // An index past its table would stop the model.
  const auto bound = options_.bounds.find(inputs_[i].name);
  if (bound != options_.bounds.end() && bound->second > 0 && kind != InputKind::kFixed) {
    for (double& value : drawn) value = std::fmod(value, static_cast<double>(bound->second));
  }
  return drawn;
}

std::vector<std::optional<std::int64_t>> sizes_to_try(const std::vector<ValueInfo>& inputs,
                                                      const SyntheticOptions& options) {
  std::vector<std::optional<std::int64_t>> sizes{std::nullopt};
  if (has_free_dims(inputs, options)) {
    for (const std::int64_t size : {32, 64, 128, 224, 320, 640, 512, 256, 16, 16000, 1, 8}) sizes.emplace_back(size);
  }
  return sizes;
}

}  // namespace octet
