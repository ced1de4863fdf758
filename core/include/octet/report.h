// What a quantization tells, the part that needs no engine: the same document natively and in the browser.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "octet/layer_steps.h"
#include "octet/measure.h"
#include "octet/quantizer.h"
#include "octet/verdict.h"

namespace octet {

// JSON with `model` (facts as loaded), `passes`, `plan` and `sizes`: bytes of the input and of the output, of what is in
// memory at least once the output is loaded (folded weights are then there as floats too), of the float weights, of
// those that became 8 bits or fewer, of what is stored, and every float tensor left with its reason.
// Without `output_bytes` the size is what save_model would write for the plan, to the byte.
std::string quantizer_report_json(Quantizer& quantizer, std::optional<std::uint64_t> output_bytes = std::nullopt);

// JSON with `nodes` and `bytes` before and after, `operators` after, `passes` and `shapes`.
std::string preparation_json(const ModelFacts& before, const ModelFacts& after, std::uint64_t output_bytes,
                             const std::vector<PassReport>& passes, const ShapeCoverage& shapes);

// Measured figures; numbers that are not finite become null.
std::string drift_to_json(const std::vector<OutputDrift>& outputs);
std::string latency_to_json(const LatencyStats& stats);
std::string speedup_to_json(const Speedup& speedup);
std::string verdict_to_json(const Verdict& verdict, const Explanation& explanation = {});
// Every value and weight; the keys are those of LayerComparison in wasm/layers.d.ts.
std::string layers_to_json(const LayersResult& layers);

}  // namespace octet
