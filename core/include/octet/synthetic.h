// Inputs made up from what a model says of them, where nobody gives real ones.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "octet/model.h"
#include "octet/tensor.h"

namespace octet {

struct SyntheticOptions {
  std::map<std::string, std::int64_t> dims = {};  // --dim NAME=N: symbolic dimension (or "input:axis")
  std::map<std::string, std::string> fixed = {};  // --fix NAME=VALUE: a whole input set to one value
  std::map<std::string, std::int64_t> bounds = {};  // integer inputs that index a table of this length (octet/facts.h)
  std::uint64_t seed = 1;
  std::size_t count = 2;
};

// Inputs that whoever runs the model has to give, as the model declares them.
std::vector<ValueInfo> inputs_of(const Model& model);

// Samples made from types, shapes and names: floats standard normal; integers named like token ids (ids, tokens, idx …)
// small non-negative; masks (mask) all ones; lengths fit the shapes; unknown dims 1 for batch, small otherwise. Same
// seed, same samples on every platform.
class SyntheticInputs {
 public:
  // `free_size`, where given, replaces the guess for every unknown dim that is neither a batch nor a channel. Throws
  // Error(kUsage) for options that name nothing, Error(kUnsupported) for inputs that are no tensors of numbers.
  SyntheticInputs(std::vector<ValueInfo> inputs, SyntheticOptions options, std::optional<std::int64_t> free_size);

  Sample sample(std::size_t index) const;
  std::size_t count() const { return options_.count; }
  std::string description() const;

 private:
  std::uint64_t elements(std::size_t input) const;
  std::vector<double> values(std::size_t input, std::size_t sample) const;

  std::vector<ValueInfo> inputs_;
  SyntheticOptions options_;
  std::vector<std::vector<std::int64_t>> shapes_;
};

// Values of `free_size` worth trying in turn, since many models run with few: first the guess by name, then sizes that
// real models are fixed to inside, common ones first. One entry where no dimension is open.
std::vector<std::optional<std::int64_t>> sizes_to_try(const std::vector<ValueInfo>& inputs,
                                                      const SyntheticOptions& options);

}  // namespace octet
