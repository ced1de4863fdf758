// The options of a quantization as JSON: what a page or a program passes where the command line has flags.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "octet/plan.h"
#include "octet/prepare.h"

namespace octet {

struct GivenOptions {
  PlanOptions plan_options;
  std::optional<Plan> plan;        // use this instead of making one
  bool external_data = false;      // weights in a file of their own
  std::optional<double> min_sqnr;  // dB of the worst output; needs a search

  // The key of an option that only a search can grant (octet/search.h); "" where there is none.
  std::string search_key() const;
};

// An object whose keys are the command line's options in snake_case: mode, target, weight_type, per_channel,
// reduce_range, format, activation_type, symmetric_activations, round_outputs, method, percentile, block_size,
// nodes_to_quantize, nodes_to_exclude, op_types, equalize, smooth_quant, bias_correction, min_sqnr, plan (an object, as
// plan_to_json writes it), external_data. What is absent or null takes its default. Throws Error(kUsage) naming the key
// for one that is unknown or holds what it cannot, and what plan_from_json throws.
GivenOptions options_from_json(std::string_view json, Target default_target);

// { "fixed": {NAME: "VALUE"}, "dims": {NAME: N}, "opset": N, "to_float32": true, "passes": [NAME] }, all of them
// optional. Throws Error(kUsage) naming the key.
PrepareOptions prepare_options_from_json(std::string_view json);

}  // namespace octet
