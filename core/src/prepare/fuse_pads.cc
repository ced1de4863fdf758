// y = Conv(Pad(x, pads), w)   →   y = Conv<pads = both>(x, w)
// y = AveragePool(Pad(x, pads))   →   y = AveragePool<pads = both, count_include_pad = 1>(x)
//   Only zeros, on spatial axes, none taken away, and nobody else reads what is padded. The pads of a pool are smaller
//   than its kernel, as runtimes ask; it must count its own pads or have none, and leave no half windows at the end.
#include <algorithm>

#include "model/graph_match.h"
#include "prepare/analysis.h"
#include "prepare/pass.h"

namespace octet {
namespace {

using Ints = std::vector<std::int64_t>;

constexpr std::int64_t kMaxPad = 1 << 30;  // sums of two stay in 32 bits, which runtimes compute sizes with

Ints ints_of(const onnx::NodeProto& node, std::string_view name) {
  const auto* found = find_attribute(node, name);
  return found ? Ints(found->ints().begin(), found->ints().end()) : Ints();
}

bool pads_zeros(const Model& model, const GraphView& view, const NodeAt& pad) {
  const auto* mode = find_attribute(*pad.node, "mode");
  if (mode && mode->s() != "constant") return false;
  if (float_attribute(*pad.node, "value", 0) != 0) return false;
  if (pad.node->input_size() < 3 || pad.node->input(2).empty()) return true;
  const auto value = scalar_of(model, view.input(pad, 2));
  return value && *value == 0;
}

// Before and behind every spatial axis; nothing when the Pad touches others, takes away, or cannot be told.
std::optional<Ints> spatial_pads(const Model& model, const GraphView& view, const NodeAt& pad, std::size_t rank) {
  auto pads = constant_ints(model, view, pad, 1, "pads");
  if (!pads || pads->size() % 2 != 0) return std::nullopt;
  Ints axes;
  if (pad.node->input_size() > 3 && !pad.node->input(3).empty()) {
    const auto given = constant_ints(model, view, pad, 3);
    if (!given) return std::nullopt;
    axes = *given;
  } else {
    for (std::size_t i = 0; i < rank; ++i) axes.push_back(static_cast<std::int64_t>(i));
  }
  if (pads->size() != 2 * axes.size()) return std::nullopt;
  Ints result(2 * (rank - 2), 0);
  const auto signed_rank = static_cast<std::int64_t>(rank);
  for (std::size_t i = 0; i < axes.size(); ++i) {
    const std::int64_t before = (*pads)[i], behind = (*pads)[i + axes.size()];
    const std::int64_t axis = axes[i] < 0 ? axes[i] + signed_rank : axes[i];
    if (before < 0 || behind < 0 || before > kMaxPad || behind > kMaxPad || axis < 0 || axis >= signed_rank)
      return std::nullopt;
    if (axis < 2) {
      if (before != 0 || behind != 0) return std::nullopt;
      continue;
    }
    const auto at = static_cast<std::size_t>(axis - 2);
    if (result[at] != 0 || result[at + rank - 2] != 0) return std::nullopt;  // an axis named twice
    result[at] = before;
    result[at + rank - 2] = behind;
  }
  return result;
}

// Of the values that a Conv or pool reads; 0 when it does not tell.
std::size_t rank_of(const GraphView& view, const NodeAt& at) {
  const auto kernel = ints_of(*at.node, "kernel_shape");
  if (!kernel.empty()) return kernel.size() + 2;
  const Value* weight = is_op(*at.node, "Conv") ? view.input(at, 1) : nullptr;
  return weight && weight->constant() ? static_cast<std::size_t>(weight->initializer->dims_size()) : 0;
}

std::string take_pads(onnx::NodeProto& node, Ints pads) {
  if (const auto* automatic = find_attribute(node, "auto_pad")) {
    if (automatic->s() == "SAME_UPPER" || automatic->s() == "SAME_LOWER") return "it chooses its own pads";
  }
  Ints own = ints_of(node, "pads");
  own.resize(pads.size(), 0);
  const bool pool = is_op(node, "AveragePool");
  const bool pads_itself = std::any_of(own.begin(), own.end(), [](std::int64_t pad) { return pad != 0; });
  if (pool && (find_attribute(node, "dilations") || int_attribute(node, "ceil_mode", 0) != 0 ||
               (pads_itself && int_attribute(node, "count_include_pad", 0) == 0)))
    return "it does not count its own pads";
  const auto kernel = ints_of(node, "kernel_shape");
  for (std::size_t i = 0; i < pads.size(); ++i) {
    if (own[i] < 0 || own[i] > kMaxPad) return "its own pads are negative";
    pads[i] += own[i];
    if (pool && pads[i] >= kernel[i % kernel.size()]) return "its kernel is smaller than the pads";
  }
  drop_attribute(node, "auto_pad");
  set_attribute(node, "pads", pads);
  if (pool) set_attribute(node, "count_include_pad", 1);
  return {};
}

}  // namespace

void run_fuse_pads(Model& model, PassReport& report) {
  if (opset_of(model.proto()) < 7) return;  // AveragePool could not count its pads
  const auto analysis = analyze(model);
  GraphView& view = analysis->view;
  std::unordered_set<const onnx::NodeProto*> dead;
  for (const NodeAt& at : view.nodes()) {
    if (!is_op(*at.node, "Conv") && !is_op(*at.node, "AveragePool")) continue;
    const auto pad = producer_of(view, at, 0, "Pad");
    if (!pad || !only_use(*view.input(at, 0)) || !view.input(*pad, 0)) continue;
    const std::size_t rank = rank_of(view, at);
    if (rank < 3 || !pads_zeros(model, view, *pad)) continue;
    const auto pads = spatial_pads(model, view, *pad, rank);
    if (!pads) continue;
    if (const std::string why = take_pads(*at.node, *pads); !why.empty()) {
      if (report.notes.empty())
        report.notes.push_back("Pad '" + pad->node->name() + "' stays before " + at.node->op_type() + " '" +
                               at.node->name() + "': " + why);
      continue;
    }
    at.node->set_input(0, pad->node->input(0));
    inherit_marks(*pad->node, *at.node);
    dead.insert(pad->node);
    ++report.changes;
  }
  remove_nodes(view, dead);
}

}  // namespace octet
