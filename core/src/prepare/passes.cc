// The registry of passes, and how they run.
#include <algorithm>

#include "model/graph_view.h"
#include "octet/error.h"
#include "octet/prepare.h"
#include "prepare/analysis.h"
#include "prepare/pass.h"
#include "prepare/widened.h"

namespace octet {
namespace {

// Each round gives the next one something to see; real models need two to four.
constexpr int kMaxRounds = 12;

std::vector<PassReport> empty_reports() {
  std::vector<PassReport> reports;
  for (const Pass& pass : all_passes()) reports.push_back({std::string(pass.name), 0, {}});
  return reports;
}

// What one round says again need not be said twice.
int run_into(const Pass& pass, Model& model, PassReport& report) {
  PassReport round{report.pass, 0, {}};
  pass.run(model, round);
  report.changes += round.changes;
  for (auto& note : round.notes) {
    if (std::find(report.notes.begin(), report.notes.end(), note) == report.notes.end())
      report.notes.push_back(std::move(note));
  }
  return round.changes;
}

void finish_normalizing(Model& model) {
  // Last, since the converter knows neither functions nor graphs that are out of order.
  if (opset_of(model.proto()) > kMaxOpset) convert_opset(model, kMaxOpset);
  // IR 4 is the first in which initializers need not be inputs; nothing written here uses what is newer than 13.
  auto& proto = model.proto();
  if (proto.ir_version() < 4) proto.set_ir_version(4);
  if (proto.ir_version() > kMaxIrVersion) proto.set_ir_version(kMaxIrVersion);
}

// What the caller asked to change, on the normalized model: functions are inlined then, and nodes in order.
void apply_options(Model& model, const PrepareOptions& options, std::vector<PassReport>& reports) {
  if (options.opset && (*options.opset < 1 || *options.opset > kMaxOpset))
    throw Error(ErrorCode::kUsage, "--opset " + std::to_string(*options.opset), "there is no such version to write",
                "use one from 1 to " + std::to_string(kMaxOpset));
  const auto step = [&](bool wanted, const char* name, auto&& run) {
    if (!wanted) return;
    reports.push_back({name, 0, {}});
    run(reports.back());
  };
  step(!options.fixed.empty(), "fix_inputs", [&](PassReport& report) { fix_inputs(model, options.fixed, report); });
  step(!options.dims.empty(), "fix_dims", [&](PassReport& report) { fix_dims(model, options.dims, report); });
  const auto normalized = normalize(model);
  reports.insert(reports.end(), normalized.begin(), normalized.end());
  step(options.to_float32, "convert_to_float32", [&](PassReport& report) { convert_to_float32(model, report); });
  step(options.opset.has_value(), "convert_opset", [&](PassReport& report) {
    const auto from = opset_of(model.proto());
    convert_opset(model, *options.opset);
    report.changes = opset_of(model.proto()) != from;
    if (report.changes > 0)
      report.notes.push_back("opset " + std::to_string(from) + " became " + std::to_string(*options.opset));
  });
}

const Pass& pass_named(const std::string& name) {
  for (const Pass& pass : all_passes()) {
    if (pass.name == name) return pass;
  }
  throw Error(ErrorCode::kUsage, "--passes " + name, "there is no pass of this name",
              "octet prepare --list-passes names them");
}

}  // namespace

const std::vector<Pass>& all_passes() {
  static const std::vector<Pass> passes = {
      {"inline_functions", "local functions become ordinary nodes", run_inline_functions, true},
      {"sort_nodes", "producers come before consumers", run_sort_nodes, true},
      {"convert_upsample", "Upsample becomes Resize where the opset has no Upsample", run_convert_upsample, true},
      {"remove_initializer_inputs", "weights are no longer listed as inputs", run_remove_initializer_inputs, true},
      {"lift_constants", "Constant nodes become initializers", run_lift_constants, true},
      {"share_equal_nodes", "nodes that compute the same become one", run_share_equal_nodes},
      {"merge_views", "Reshape, Squeeze, Unsqueeze and Flatten of one another become one", run_merge_views},
      {"merge_chains", "Transpose, Cast, Concat and Slice of their own kind become one", run_merge_chains},
      {"cancel_transposes", "Transposes that undo each other around elementwise operators go", run_cancel_transposes},
      {"simplify_picks", "a Slice of one with its Squeeze, a Gather of one with its Unsqueeze become one Gather",
       run_simplify_picks},
      {"drop_zero_states", "LSTM, GRU and RNN are not given the zeros that they begin with anyway",
       run_drop_zero_states},
      {"remove_no_ops", "nodes that change nothing become Identity", run_remove_no_ops},
      {"remove_identities", "Identity and inference-time Dropout vanish", run_remove_identities, true},
      {"inline_known_branches", "an If whose condition is known becomes the branch it takes",
       run_inline_known_branches},
      {"fold_constant_casts", "Casts of stored tensors are applied", run_fold_constant_casts, true},
      {"fold_constant_views", "Reshape, Squeeze, Unsqueeze, Flatten and Transpose of a stored tensor are applied",
       run_fold_constant_views, true},
      {"fold_known_shapes", "sizes that are the same for every input are stored", run_fold_known_shapes},
      {"fold_constants", "nodes of stored tensors alone are computed", run_fold_constants},
      {"sink_expands", "Expand goes behind arithmetic, and where the reader broadcasts it vanishes", run_sink_expands},
      {"fuse_softmax", "a Softmax written out becomes one", run_fuse_softmax},
      {"fuse_layer_normalization",
       "LayerNormalization (opset 17) and RMSNormalization (23) take the place of their parts",
       run_fuse_layer_normalization},
      {"fuse_gelu", "Gelu (opset 20) takes the place of its parts", run_fuse_gelu},
      {"fuse_activations", "parts of HardSigmoid, HardSwish, Relu and Clip become these", run_fuse_activations},
      {"fuse_pads", "Pad with zeros goes into the Conv or AveragePool behind it", run_fuse_pads},
      {"fuse_batch_normalization", "BatchNormalization goes into the weights beside it", run_fuse_batch_normalization},
      {"fuse_channel_constants", "Mul, Add, Sub and Div by a constant per channel go into the weights beside them",
       run_fuse_channel_constants},
      {"share_equal_tensors", "copies of a stored tensor become one", run_share_equal_tensors, true},
      {"drop_unused_outputs", "optional outputs that nobody reads lose their names", run_drop_unused_outputs},
      {"drop_unused_imports", "operator sets of which no node is are no longer imported", run_drop_unused_imports},
      {"drop_unused", "nodes and tensors that reach no output go", run_drop_unused, true},
      {"correct_declarations", "outputs declared with a shape that they do not have say the one they have",
       run_correct_declarations},
  };
  return passes;
}

std::vector<PassInfo> list_passes() {
  std::vector<PassInfo> infos;
  for (const Pass& pass : all_passes()) infos.push_back({pass.name, pass.summary, pass.normalizes});
  return infos;
}

std::vector<PassReport> normalize(Model& model) {
  std::vector<PassReport> reports;
  unmark_all(model.proto());
  for (const Pass& pass : all_passes()) {
    if (!pass.normalizes) continue;
    reports.push_back({std::string(pass.name), 0, {}});
    pass.run(model, reports.back());
  }
  finish_normalizing(model);
  GraphView check(model.proto());
  return reports;
}

std::vector<PassReport> prepare(Model& model, const PrepareOptions& options) {
  std::vector<PassReport> reports;
  if (!options.passes.empty()) {
    unmark_all(model.proto());
    for (const auto& name : options.passes) {
      const Pass& pass = pass_named(name);
      reports.push_back({name, 0, {}});
      run_into(pass, model, reports.back());
    }
    if (!options.keep_widened) restore_casts(model);
    GraphView check(model.proto());
    return reports;
  }
  apply_options(model, options, reports);
  const AnalysisMemo memo;
  std::vector<PassReport> passes = empty_reports();
  for (int round = 0, changes = 1; round < kMaxRounds && changes > 0; ++round) {
    changes = 0;
    for (std::size_t i = 0; i < passes.size(); ++i) changes += run_into(all_passes()[i], model, passes[i]);
  }
  if (!options.keep_widened) restore_casts(model);
  GraphView check(model.proto());
  for (auto& pass : passes) {
    const auto known = std::find_if(reports.begin(), reports.end(), [&](const auto& r) { return r.pass == pass.pass; });
    if (known == reports.end()) {
      reports.push_back(std::move(pass));
      continue;
    }
    known->changes += pass.changes;
    known->notes.insert(known->notes.end(), pass.notes.begin(), pass.notes.end());
  }
  return reports;
}

std::vector<PassReport> prepare_for_plan(Model& model, bool prepared) {
  if (!prepared) return normalize(model);
  PrepareOptions options;
  options.keep_widened = true;
  return prepare(model, options);
}

}  // namespace octet
