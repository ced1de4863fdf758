// Values for the tests of calibration: the same on every platform.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "kernel_inputs.h"
#include "octet/ranges.h"

namespace octet::test {

// A bell of width 1 around 0: twelve uniform values added.
inline std::vector<float> bell(std::uint64_t seed, std::size_t count, float scale = 1, float middle = 0) {
  SplitMix random(seed);
  std::vector<float> values(count);
  for (float& v : values) {
    float sum = 0;
    for (int i = 0; i < 12; ++i) sum += random.unit();
    v = middle + scale * 0.5f * sum;
  }
  return values;
}

// Mostly small, now and then a hundred times larger and more.
inline std::vector<float> heavy_tail(std::uint64_t seed, std::size_t count) {
  SplitMix random(seed);
  std::vector<float> values(count);
  for (float& v : values) {
    const float x = random.unit(), rare = random.unit();
    const float square = rare * rare, fourth = square * square;
    v = x * (1 + 100 * fourth * fourth * fourth * fourth * fourth * fourth);
  }
  return values;
}

inline std::vector<float> relu(std::vector<float> values) {
  for (float& v : values) v = v > 0 ? v : 0;
  return values;
}

inline Observation observed(const std::vector<float>& values) {
  Observation result;
  result.add(values);
  return result;
}

}  // namespace octet::test
