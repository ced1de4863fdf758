#include "samples/synthetic_shapes.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>
#include <initializer_list>
#include <string_view>

#include "octet/dtype.h"

namespace octet {
namespace {

using Shape = std::vector<std::int64_t>;

constexpr std::int64_t kSequenceSize = 16, kSideSize = 64, kAudioSize = 16000, kChannelSize = 3;

// Lower-case words of a name: "attentionMask", "attention_mask" and "attention.mask" read the same.
std::vector<std::string> words_of(std::string_view name) {
  std::vector<std::string> words(1);
  bool was_lower = false;
  for (const char c : name) {
    const auto byte = static_cast<unsigned char>(c);
    const bool upper = std::isupper(byte) != 0;
    if (std::isalnum(byte) == 0 || (upper && was_lower)) words.emplace_back();
    if (std::isalnum(byte) != 0) words.back().push_back(static_cast<char>(std::tolower(byte)));
    was_lower = std::islower(byte) != 0 || std::isdigit(byte) != 0;
  }
  std::erase_if(words, [](const std::string& word) { return word.empty(); });
  return words;
}

bool has_word(const std::vector<std::string>& words, std::initializer_list<std::string_view> wanted) {
  return std::any_of(words.begin(), words.end(), [&](const std::string& word) {
    return std::find(wanted.begin(), wanted.end(), std::string_view(word)) != wanted.end();
  });
}

bool has_part(const std::vector<std::string>& words, std::string_view part) {
  return std::any_of(words.begin(), words.end(),
                     [&](const std::string& word) { return word.find(part) != std::string::npos; });
}

bool is_state(const std::vector<std::string>& words) {
  return has_part(words, "state") || has_part(words, "hidden") || has_part(words, "cache") ||
         has_word(words, {"h", "c", "h0", "c0", "hn", "cn", "hx", "cx", "past", "mem", "mems", "memory", "carry", "key",
                          "value"});
}

enum class Role { kUnknown, kBatch, kChannel, kSide, kSequence, kAudio };

// "?" and the like stand for any size: two of them are not equal.
bool is_anonymous(const std::string& symbol) {
  return symbol.empty() || symbol == "?" || symbol == "None" || symbol == "-1" || symbol == "unk";
}

Role role_of_symbol(const std::string& symbol) {
  if (is_anonymous(symbol)) return Role::kUnknown;
  const auto words = words_of(symbol);
  if (has_part(words, "batch") || has_word(words, {"n", "b", "bs", "bsz"})) return Role::kBatch;
  if (has_part(words, "height") || has_part(words, "width") || has_word(words, {"h", "w"})) return Role::kSide;
  if (has_part(words, "channel") || has_word(words, {"c"})) return Role::kChannel;
  if (has_part(words, "seq") || has_part(words, "token") || has_part(words, "past") || has_part(words, "frame") ||
      has_part(words, "len") || has_part(words, "time") || has_word(words, {"t", "l", "s", "steps", "text"})) {
    return Role::kSequence;
  }
  if (has_part(words, "audio") || has_part(words, "sample")) return Role::kAudio;
  return Role::kUnknown;
}

bool few_channels(std::int64_t dim) { return dim == 1 || dim == 3 || dim == 4; }

Role role_of_axis(const ValueInfo& input, std::size_t axis) {
  const auto words = words_of(input.name);
  const Role named = role_of_symbol(input.symbols.size() > axis ? input.symbols[axis] : "");
  const std::size_t rank = input.dims.size();
  const bool plain = !is_state(words) && !has_part(words, "mask");
  // A float matrix of unknown width is most often a waveform, whatever its axis is called.
  const bool waveform = is_float_type(input.type) && plain && axis + 1 == rank &&
                        (rank == 2 || has_part(words, "audio") || has_part(words, "wav") || has_part(words, "speech"));
  if (waveform && (named == Role::kUnknown || named == Role::kSequence)) return Role::kAudio;
  if (named != Role::kUnknown) return named;
  if (axis == 0) {
    const bool per_item = has_part(words, "len") || has_part(words, "size") || has_word(words, {"sr", "rate"});
    return rank >= 2 || per_item ? Role::kBatch : Role::kSequence;
  }
  const bool pixels = plain && (is_float_type(input.type) || input.type == kUint8);
  if (rank == 4 && pixels) {
    const bool channels_last = few_channels(input.dims[3]) && !few_channels(input.dims[1]);
    return axis == (channels_last ? 3u : 1u) ? Role::kChannel : Role::kSide;
  }
  if (rank == 3 && pixels && few_channels(input.dims[2]) && input.dims[1] < 0) return Role::kSide;
  if (rank >= 5 && axis == 1) return Role::kChannel;
  return Role::kSequence;
}

std::int64_t size_of_role(Role role, std::optional<std::int64_t> free_size) {
  switch (role) {
    case Role::kBatch:
      return 1;
    case Role::kChannel:
      return kChannelSize;
    case Role::kSide:
      return free_size.value_or(kSideSize);
    case Role::kAudio:
      return free_size.value_or(kAudioSize);
    default:
      return free_size.value_or(kSequenceSize);
  }
}

std::vector<std::string> terms_of(const std::string& symbol) {
  std::vector<std::string> terms(1);
  for (const char c : symbol) {
    if (c == '+') {
      terms.emplace_back();
    } else if (c != ' ') {
      terms.back().push_back(c);
    }
  }
  return terms;
}

// Totals are the sum of what was and what comes: exporters name them without writing the sum.
bool is_total(const std::string& symbol) { return has_part(words_of(symbol), "total"); }

class Sizes {
 public:
  Sizes(const std::vector<ValueInfo>& inputs, const SyntheticOptions& options, std::optional<std::int64_t> free_size)
      : options_(options), free_size_(free_size) {
    for (const ValueInfo& input : inputs) {
      for (std::size_t axis = 0; axis < input.dims.size(); ++axis) {
        const std::string& symbol = input.symbols[axis];
        if (input.dims[axis] >= 0 || is_anonymous(symbol) || terms_of(symbol).size() > 1 || is_total(symbol)) continue;
        by_symbol_.try_emplace(symbol, given(symbol).value_or(size_of_role(role_of_axis(input, axis), free_size_)));
      }
    }
  }

  std::int64_t of(const ValueInfo& input, std::size_t axis) const {
    if (input.dims[axis] >= 0) return input.dims[axis];
    if (const auto size = given(input.name + ":" + std::to_string(axis))) return *size;
    const std::string& symbol = input.symbols[axis];
    if (const auto size = given(symbol)) return *size;
    if (const auto found = by_symbol_.find(symbol); found != by_symbol_.end()) return found->second;
    if (is_anonymous(symbol)) return size_of_role(role_of_axis(input, axis), free_size_);
    if (is_total(symbol)) return total();
    std::int64_t sum = 0;
    for (const std::string& term : terms_of(symbol)) sum += term_size(term);
    return sum;
  }

 private:
  std::optional<std::int64_t> given(const std::string& name) const {
    const auto found = options_.dims.find(name);
    return found == options_.dims.end() ? std::nullopt : std::optional(found->second);
  }

  std::int64_t term_size(const std::string& term) const {
    std::int64_t number = 0;
    if (std::from_chars(term.data(), term.data() + term.size(), number).ec == std::errc{}) return number;
    if (const auto size = given(term)) return *size;
    const auto found = by_symbol_.find(term);
    return found == by_symbol_.end() ? size_of_role(role_of_symbol(term), free_size_) : found->second;
  }

  std::int64_t total() const {
    std::int64_t past = 0, present = 0;
    for (const auto& [symbol, size] : by_symbol_) {
      if (role_of_symbol(symbol) != Role::kSequence) continue;
      (has_part(words_of(symbol), "past") ? past : present) = size;
    }
    return past + present == 0 ? size_of_role(Role::kSequence, free_size_) : past + present;
  }

  const SyntheticOptions& options_;
  std::optional<std::int64_t> free_size_;
  std::map<std::string, std::int64_t> by_symbol_;
};

}  // namespace

InputKind guess_kind(const ValueInfo& input, const SyntheticOptions& options) {
  if (options.fixed.contains(input.name)) return InputKind::kFixed;
  const auto words = words_of(input.name);
  const bool few = input.dims.size() <= 1;
  if (input.type == kBool) return InputKind::kTrue;
  if (has_part(words, "mask")) return InputKind::kMask;
  if (is_float_type(input.type)) {
    if (few && has_word(words, {"speed", "scale", "rate", "temperature", "ratio", "factor"})) return InputKind::kOne;
    if (few && (has_part(words, "threshold") || has_word(words, {"iou", "conf"}))) return InputKind::kThreshold;
    return is_state(words) ? InputKind::kState : InputKind::kNormal;
  }
  if (few && (has_word(words, {"sr"}) || (has_part(words, "sampl") && has_word(words, {"rate"})) ||
              has_part(words, "samplerate"))) {
    return InputKind::kSampleRate;
  }
  if (has_word(words, {"type", "segment", "segments"})) return InputKind::kTokenTypes;
  if (has_part(words, "position")) return InputKind::kPositions;
  if (has_part(words, "length") || has_word(words, {"len", "lens"})) return InputKind::kLength;
  if (has_word(words, {"size", "sizes", "shape", "height", "width"})) return InputKind::kSize;
  if (input.type == kUint8 || input.type == kInt8) return InputKind::kPixels;
  if (input.dims.empty()) return InputKind::kOne;
  return InputKind::kTokens;
}

std::vector<Shape> guess_shapes(const std::vector<ValueInfo>& inputs, const SyntheticOptions& options,
                                std::optional<std::int64_t> free_size) {
  const Sizes sizes(inputs, options, free_size);
  std::vector<Shape> shapes;
  for (const ValueInfo& input : inputs) {
    Shape& shape = shapes.emplace_back();
    for (std::size_t axis = 0; axis < input.dims.size(); ++axis) shape.push_back(sizes.of(input, axis));
  }
  return shapes;
}

bool has_free_dims(const std::vector<ValueInfo>& inputs, const SyntheticOptions& options) {
  return guess_shapes(inputs, options, 5) != guess_shapes(inputs, options, 7);
}

std::int64_t measured_length(const std::vector<ValueInfo>& inputs, const std::vector<Shape>& shapes,
                             std::size_t length_input) {
  const auto sequence_size = [&](std::size_t i) -> std::int64_t {
    for (std::size_t axis = 1; axis < shapes[i].size(); ++axis) {
      if (inputs[i].dims[axis] < 0) return shapes[i][axis];
    }
    return shapes[i].size() > 1 ? shapes[i][1] : 0;
  };
  // "text_lengths" measures "text" where there is one; else the first sequence there is.
  std::int64_t first = 0;
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    if (i == length_input || shapes[i].size() < 2) continue;
    const std::int64_t size = sequence_size(i);
    if (inputs[length_input].name.starts_with(inputs[i].name)) return size;
    if (first == 0) first = size;
  }
  return first == 0 ? 1 : first;
}

}  // namespace octet
