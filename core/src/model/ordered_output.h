// Writing bytes and tensors in a given order while several threads make the tensors.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "octet/byte_io.h"
#include "octet/model.h"

namespace octet {

// What comes next: `text`, then the tensor if there is one.
struct OutputStep {
  ByteSink* sink = nullptr;
  std::span<const std::uint8_t> text;
  bool has_tensor = false;
  TensorStore::Id tensor = 0;
};

// The bytes do not depend on `threads`. At most kAhead bytes of computed tensors wait to be written, or a single
// tensor of any size.
void write_in_order(const TensorStore& store, const std::vector<OutputStep>& steps, unsigned threads);

// Small, because a tensor in the making also holds what it is made from: four times as much when floats become bytes.
inline constexpr std::uint64_t kAhead = std::uint64_t{32} << 20;

}  // namespace octet
