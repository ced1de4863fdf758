// Speed of the kernels over 16 MB, more than the caches hold: what matters is how far from memory speed they are.
// The tests say that the results are right.
#include <benchmark/benchmark.h>

#include <cstring>
#include <vector>

#include "kernels/block_kernels.h"
#include "kernels/quantize_kernels.h"
#include "kernels/scalar_kernels.h"

namespace octet {
namespace {

constexpr std::size_t kCount = std::size_t{4} << 20;

const std::vector<float>& input() {
  static const std::vector<float> values = [] {
    std::vector<float> v(kCount);
    for (std::size_t i = 0; i < v.size(); ++i) v[i] = static_cast<float>(i * 2654435761u % 100003) / 50000.0f - 1.0f;
    return v;
  }();
  return values;
}

// Bytes read per second, whatever is written.
void read_bytes(benchmark::State& state, std::size_t bytes) {
  state.SetBytesProcessed(static_cast<std::int64_t>(state.iterations()) * static_cast<std::int64_t>(bytes));
}

void copy(benchmark::State& state) {
  std::vector<float> out(kCount);
  for (auto _ : state) {
    std::memcpy(out.data(), input().data(), kCount * sizeof(float));
    benchmark::ClobberMemory();
  }
  read_bytes(state, kCount * sizeof(float));
}
BENCHMARK(copy);

template <Range (*kFind)(std::span<const float>)>
void range(benchmark::State& state) {
  for (auto _ : state) benchmark::DoNotOptimize(kFind(input()));
  read_bytes(state, kCount * sizeof(float));
}
BENCHMARK(range<find_range>);
BENCHMARK(range<scalar::find_range>);

template <void (*kQuantize)(std::span<const float>, float, std::int32_t, std::int32_t, std::int32_t,
                            std::span<std::int8_t>)>
void quantize(benchmark::State& state) {
  std::vector<std::int8_t> out(kCount);
  for (auto _ : state) {
    kQuantize(input(), 1.0f / 127, 0, -127, 127, out);
    benchmark::ClobberMemory();
  }
  read_bytes(state, kCount * sizeof(float));
}
BENCHMARK(quantize<quantize_s8>);
BENCHMARK(quantize<scalar::quantize_s8>);

void widen_half(benchmark::State& state) {
  const std::vector<std::uint16_t> half(kCount, 0x3555);
  std::vector<float> out(kCount);
  for (auto _ : state) {
    half_to_float(half, out);
    benchmark::ClobberMemory();
  }
  read_bytes(state, kCount * sizeof(std::uint16_t));
}
BENCHMARK(widen_half);

void sum_errors(benchmark::State& state) {
  const std::vector<float> other(kCount, 0.5f);
  for (auto _ : state) benchmark::DoNotOptimize(error_sums(input(), other));
  read_bytes(state, 2 * kCount * sizeof(float));
}
BENCHMARK(sum_errors);

void transpose(benchmark::State& state) {
  const std::vector<std::uint8_t> in(kCount, 1);
  std::vector<std::uint8_t> out(kCount);
  const auto rows = static_cast<std::uint64_t>(state.range(0));
  for (auto _ : state) {
    transpose_bytes(in, rows, kCount / rows, out);
    benchmark::ClobberMemory();
  }
  read_bytes(state, kCount);
}
BENCHMARK(transpose)->Arg(768)->Arg(2048);

void blocks(benchmark::State& state) {
  const BlockLayout layout{2048, kCount / 2048, 32, static_cast<int>(state.range(0)), state.range(1) != 0};
  std::vector<std::uint8_t> packed(layout.packed_bytes()), zero_points(layout.zero_point_bytes());
  std::vector<float> scales(layout.scale_count());
  for (auto _ : state) {
    quantize_blocks_k(input(), layout, packed, scales, zero_points);
    benchmark::ClobberMemory();
  }
  read_bytes(state, kCount * sizeof(float));
}
BENCHMARK(blocks)->Args({4, 1})->Args({4, 0})->Args({8, 1});

}  // namespace
}  // namespace octet

BENCHMARK_MAIN();
