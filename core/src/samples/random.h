// Numbers that look random and are the same everywhere.
#pragma once

#include <cstddef>
#include <cstdint>

namespace octet {

// splitmix64: integers only, so every platform draws the same; the standard library's distributions differ between
// implementations.
class SplitMix {
 public:
  explicit SplitMix(std::uint64_t seed) : state_(seed) {}

  std::uint64_t next() {
    state_ += 0x9e3779b97f4a7c15u;
    std::uint64_t z = state_;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
  }

  // Below `bound`, which is far under 2^32, so the unevenness is too.
  std::size_t below(std::size_t bound) {
    return static_cast<std::size_t>(((next() >> 32) * static_cast<std::uint64_t>(bound)) >> 32);
  }

 private:
  std::uint64_t state_;
};

}  // namespace octet
