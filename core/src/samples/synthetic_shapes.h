// What an input is for, guessed from its name, type and shape, and sizes for its unknown dims.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "octet/synthetic.h"

namespace octet {

enum class InputKind {
  kFixed,       // the user gave the value
  kTrue,        // bool
  kMask,        // all ones: nothing is masked
  kTokens,      // indices into a small vocabulary
  kTokenTypes,  // zeros
  kPositions,   // 0, 1, 2 … along the last axis
  kLength,      // the size of another input's sequence
  kSampleRate,
  kSize,  // image sizes, shapes
  kOne,   // speeds, scales
  kThreshold,
  kPixels,  // 8-bit integers over their whole range
  kState,   // what a recurrent model carries on: small
  kNormal,  // floats, standard normal
};

InputKind guess_kind(const ValueInfo& input, const SyntheticOptions& options);

// One shape per input. The same symbol has the same size everywhere; sums of symbols ("past + sequence") add up.
// `free_size`, where given, replaces the guess for every unknown dim that is neither a batch nor a channel.
std::vector<std::vector<std::int64_t>> guess_shapes(const std::vector<ValueInfo>& inputs,
                                                    const SyntheticOptions& options,
                                                    std::optional<std::int64_t> free_size);

// Whether any dim depends on `free_size`.
bool has_free_dims(const std::vector<ValueInfo>& inputs, const SyntheticOptions& options);

// What a length input should say: the size of the sequence it most likely measures.
std::int64_t measured_length(const std::vector<ValueInfo>& inputs, const std::vector<std::vector<std::int64_t>>& shapes,
                             std::size_t length_input);

}  // namespace octet
