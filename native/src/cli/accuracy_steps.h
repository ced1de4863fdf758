// --equalize, --smooth-quant, --bias-correction: one after another, each kept only where measuring says that it helps.
#pragma once

#include <functional>
#include <optional>

#include "cli/range_source.h"
#include "octet/quantizer.h"

namespace octet {

// SQNR of the worst output that the quantizer's plan gives, in dB; nothing when it cannot be told.
using Measure = std::function<std::optional<double>(const Quantizer&)>;

struct Calibrated {
  Quantizer quantizer;
  std::size_t samples = 0;  // that its ranges were learned from
};

// The quantizer with its ranges filled, and whatever of the steps `options` ask for has been taken. What was measured
// stands in the notes of its plan. Without `measure` every step is taken as asked.
Calibrated take_accuracy_steps(Quantizer quantizer, const PlanOptions& options, const RangeSource& ranges,
                               const SampleOptions& samples, const Measure& measure);

}  // namespace octet
