// What observing activations costs per value, and choosing a range per tensor. Values like those behind a Relu, a
// normalization, and a constant: the more values share a bin, the more its counter is waited for.
#include <benchmark/benchmark.h>

#include <vector>

#include "kernels/quantize_kernels.h"
#include "octet/ranges.h"

namespace octet {
namespace {

enum Kind { kBell, kRelu, kConstant };

std::vector<float> values(std::size_t count, int kind) {
  std::vector<float> result(count);
  std::uint32_t state = 12345;
  const auto uniform = [&] {
    state = state * 1664525u + 1013904223u;
    return static_cast<float>(state >> 8) / 16777216.0f - 0.5f;
  };
  for (float& v : result) {
    v = kind == kConstant ? 0.25f : uniform() + uniform() + uniform() + uniform();
    if (kind == kRelu && v < 0) v = 0;
  }
  return result;
}

void count_items(benchmark::State& state, std::size_t per_iteration) {
  state.SetItemsProcessed(static_cast<std::int64_t>(state.iterations()) * static_cast<std::int64_t>(per_iteration));
}

void observe(benchmark::State& state) {
  const auto x = values(static_cast<std::size_t>(state.range(0)), static_cast<int>(state.range(1)));
  Observation observed;
  for (auto _ : state) observed.add(x);
  benchmark::DoNotOptimize(observed);
  count_items(state, x.size());
}
BENCHMARK(observe)
    ->Args({100, kBell})
    ->Args({1000, kBell})
    ->Args({4000, kBell})
    ->Args({5000, kBell})
    ->Args({20000, kBell})
    ->Args({1 << 18, kBell})
    ->Args({1 << 18, kRelu})
    ->Args({1 << 18, kConstant})
    ->Args({1 << 22, kBell})
    ->Args({1 << 22, kRelu});

// The least that any observer costs.
void minimum_and_maximum(benchmark::State& state) {
  const auto x = values(static_cast<std::size_t>(state.range(0)), kBell);
  for (auto _ : state) benchmark::DoNotOptimize(find_range(x));
  count_items(state, x.size());
}
BENCHMARK(minimum_and_maximum)->Arg(1 << 18)->Arg(1 << 22);

void choose(benchmark::State& state) {
  Observation observed;
  observed.add(values(1 << 20, kBell));
  RangeRule rule;
  rule.method = static_cast<RangeMethod>(state.range(0));
  for (auto _ : state) benchmark::DoNotOptimize(choose_range(observed, rule));
}
BENCHMARK(choose)->DenseRange(0, static_cast<int>(RangeMethod::kBest));

}  // namespace
}  // namespace octet
