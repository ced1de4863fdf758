// Inputs and comparison for the kernel tests: every value that is awkward to round, clamp or compare, the same
// numbers on every platform, and each set of instructions this machine has.
#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include "kernels/bit_cast.h"

#if !defined(HWY_COMPILE_ONLY_STATIC)
#include "kernels/highway_targets.h"  // before Highway, as in the kernels: the list of targets is a macro

#include <hwy/targets.h>
#endif

namespace octet::test {

class SplitMix {
 public:
  explicit SplitMix(std::uint64_t seed) : state_(seed) {}
  std::uint64_t next() {
    std::uint64_t z = (state_ += 0x9E3779B97F4A7C15u);
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
    return z ^ (z >> 31);
  }
  // In [-1, 1), a multiple of 2^-23: exact on every platform.
  float unit() { return static_cast<float>(static_cast<std::int32_t>(next() >> 40) - (1 << 23)) * 0x1p-23f; }
  float any_bits() { return bit_cast<float>(static_cast<std::uint32_t>(next() >> 32)); }

 private:
  std::uint64_t state_;
};

inline std::vector<float> unit_floats(std::uint64_t seed, std::size_t count, float scale = 1.0f) {
  SplitMix random(seed);
  std::vector<float> values(count);
  for (float& v : values) v = random.unit() * scale;
  return values;
}

inline const std::vector<float>& awkward_floats() {
  using Limits = std::numeric_limits<float>;
  static const std::vector<float> values = {
      0.0f,
      -0.0f,
      0.5f,
      -0.5f,
      1.5f,
      -1.5f,
      2.5f,
      -2.5f,
      0.49999997f,
      -0.49999997f,
      126.5f,
      127.5f,
      -127.5f,
      -128.5f,
      127.49999f,
      254.5f,
      255.5f,
      32766.5f,
      65534.5f,
      65535.5f,
      8388607.5f,
      8388609.0f,
      16777216.0f,
      2147483520.0f,
      2147483648.0f,
      -2147483648.0f,
      4294967296.0f,
      1e20f,
      -1e20f,
      1e-20f,
      Limits::min(),
      Limits::denorm_min(),
      -Limits::denorm_min(),
      Limits::max(),
      Limits::lowest(),
      Limits::infinity(),
      -Limits::infinity(),
      Limits::quiet_NaN(),
      -Limits::quiet_NaN(),
      Limits::signaling_NaN(),
  };
  return values;
}

// Awkward, ordinary and arbitrary values mixed, in an order that puts each at many positions of a vector.
inline std::vector<float> mixed_floats(std::uint64_t seed, std::size_t count) {
  SplitMix random(seed);
  std::vector<float> values(count);
  for (float& v : values) {
    const std::uint64_t kind = random.next() % 8;
    if (kind < 3) {
      v = awkward_floats()[random.next() % awkward_floats().size()];
    } else if (kind < 7) {
      v = random.unit() * 300.0f;
    } else {
      v = random.any_bits();
    }
  }
  return values;
}

inline std::uint64_t fnv1a(std::span<const std::uint8_t> bytes, std::uint64_t hash = 0xCBF29CE484222325u) {
  for (const std::uint8_t byte : bytes) hash = (hash ^ byte) * 0x100000001B3u;
  return hash;
}
// All targets are little-endian, so memory is the byte order of the hash.
template <class T>
std::uint64_t hash_of(const std::vector<T>& values, std::uint64_t hash = 0xCBF29CE484222325u) {
  return fnv1a({reinterpret_cast<const std::uint8_t*>(values.data()), values.size() * sizeof(T)}, hash);
}

// The bits of values, so that NaN and the sign of zero count in a comparison.
inline std::vector<std::uint32_t> bits_of(const std::vector<float>& values) {
  std::vector<std::uint32_t> bits;
  bits.reserve(values.size());
  for (const float v : values) bits.push_back(bit_cast<std::uint32_t>(v));
  return bits;
}

// Runs `body` once for each set of instructions compiled in and present, not only for the best one.
template <class Body>
void for_each_target(const Body& body) {
#if defined(HWY_COMPILE_ONLY_STATIC)
  body();
#else
  for (const std::int64_t target : hwy::SupportedAndGeneratedTargets()) {
    SCOPED_TRACE(hwy::TargetName(target));
    hwy::SetSupportedTargetsForTest(target);
    hwy::GetChosenTarget().Update(hwy::SupportedTargets());
    body();
  }
  hwy::SetSupportedTargetsForTest(0);
  hwy::GetChosenTarget().Update(hwy::SupportedTargets());
#endif
}

}  // namespace octet::test
