// The passes of preparation, one file each, in the order they run.
#pragma once

#include <string_view>
#include <vector>

#include "octet/prepare.h"

namespace octet {

struct Pass {
  std::string_view name;     // verb_object
  std::string_view summary;  // one line for --list-passes
  void (*run)(Model&, PassReport&);
  bool normalizes = false;  // part of the form that every plan works on, not only of preparation
};

// A pass changes the model and counts in its report; where a pattern is nearly there, it declines with a note. It
// leaves a graph that GraphView takes, with its nodes in order. Names of inputs and outputs never change.
const std::vector<Pass>& all_passes();

// Inputs that become stored tensors, and dimensions that become numbers. Throws Error(kUsage) for names that the model
// does not have and values that do not fit.
void fix_inputs(Model& model, const std::map<std::string, std::string>& values, PassReport& report);
void fix_dims(Model& model, const std::map<std::string, std::int64_t>& sizes, PassReport& report);
// Computes in float32 what the model computes in float16 or bfloat16; its inputs and outputs keep their types.
void convert_to_float32(Model& model, PassReport& report);

// Throws Error when local functions call themselves, or each other so deep or so often that inlining them would take
// more than a model can: what follows calls, in whatever way, asks this first.
void check_function_calls(const onnx::ModelProto& model);

void run_inline_functions(Model& model, PassReport& report);
void run_sort_nodes(Model& model, PassReport& report);
void run_convert_upsample(Model& model, PassReport& report);
void run_remove_initializer_inputs(Model& model, PassReport& report);
void run_lift_constants(Model& model, PassReport& report);
void run_share_equal_nodes(Model& model, PassReport& report);
void run_merge_views(Model& model, PassReport& report);
void run_merge_chains(Model& model, PassReport& report);
void run_cancel_transposes(Model& model, PassReport& report);
void run_simplify_picks(Model& model, PassReport& report);
void run_drop_zero_states(Model& model, PassReport& report);
void run_remove_no_ops(Model& model, PassReport& report);
void run_remove_identities(Model& model, PassReport& report);
void run_fold_constant_casts(Model& model, PassReport& report);
void run_fold_constant_views(Model& model, PassReport& report);
void run_fold_known_shapes(Model& model, PassReport& report);
void run_fold_constants(Model& model, PassReport& report);
void run_sink_expands(Model& model, PassReport& report);
void run_fuse_softmax(Model& model, PassReport& report);
void run_fuse_layer_normalization(Model& model, PassReport& report);
void run_fuse_gelu(Model& model, PassReport& report);
void run_fuse_activations(Model& model, PassReport& report);
void run_fuse_pads(Model& model, PassReport& report);
void run_fuse_batch_normalization(Model& model, PassReport& report);
void run_fuse_channel_constants(Model& model, PassReport& report);
void run_share_equal_tensors(Model& model, PassReport& report);
void run_inline_known_branches(Model& model, PassReport& report);
void run_drop_unused_outputs(Model& model, PassReport& report);
void run_drop_unused_imports(Model& model, PassReport& report);
void run_drop_unused(Model& model, PassReport& report);
void run_correct_declarations(Model& model, PassReport& report);

}  // namespace octet
