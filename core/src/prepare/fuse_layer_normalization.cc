// m = ReduceMean(x)  d = Sub(x, m)  q = Pow(d, 2)  v = ReduceMean(q)  a = Add(v, epsilon)  r = Sqrt(a)  n = Div(d, r)
// s = Mul(n, gamma)  y = Add(s, beta)   →   y = LayerNormalization<axis, epsilon>(x, gamma, beta)
// In all the ways exporters write it (match_norms.cc), where
// - the opset is 17 at least, and everything is float32;
// - the axes are the last ones, and their sizes are known to be those of gamma and beta; without a gamma, one of ones
// is
//   made while it is small;
// - no value between is read elsewhere.
// x / Sqrt(mean of x² + epsilon) * gamma   →   RMSNormalization likewise, from opset 23.
#include <algorithm>

#include "model/tensor_access.h"
#include "prepare/analysis.h"
#include "prepare/blocks.h"
#include "prepare/fuse_block.h"
#include "prepare/pass.h"
#include "prepare/shapes.h"

namespace octet {
namespace {

constexpr std::int64_t kMaxOnes = 4096;
constexpr std::int64_t kFirstLayerNormalization = 17, kFirstRmsNormalization = 23;

using Sizes = std::vector<std::int64_t>;

// The sizes of the normalized axes, where these are the last of `x`.
std::optional<Sizes> normalized_sizes(const Block& block, const ShapeFacts& x) {
  if (!x.dims) return std::nullopt;
  const auto rank = static_cast<std::int64_t>(x.dims->size()), count = static_cast<std::int64_t>(block.axes.size());
  std::vector<bool> reduced(x.dims->size());
  for (auto axis : block.axes) {
    if (axis < 0) axis += rank;
    if (axis < rank - count || axis >= rank || reduced[static_cast<std::size_t>(axis)]) return std::nullopt;
    reduced[static_cast<std::size_t>(axis)] = true;
  }
  return numbers(Dims(x.dims->end() - count, x.dims->end()));
}

// Whether a stored tensor has these sizes, apart from leading ones, and adds no axis.
bool has_sizes(const Value* value, const Sizes& sizes, std::size_t rank) {
  const auto& tensor = *value->initializer;
  const auto own = static_cast<std::size_t>(tensor.dims_size());
  if (tensor.data_type() != onnx::TensorProto::FLOAT || own < sizes.size() || own > rank) return false;
  const auto lead = tensor.dims().begin() + static_cast<std::ptrdiff_t>(own - sizes.size());
  return std::all_of(tensor.dims().begin(), lead, [](auto dim) { return dim == 1; }) &&
         std::equal(lead, tensor.dims().end(), sizes.begin(), sizes.end());
}

class Fusion {
 public:
  Fusion(Model& model, BlockKind kind) : model_(model), kind_(kind) {}

  void run(PassReport& report) {
    const auto analysis = analyze(model_);
    GraphView& view = analysis->view;
    auto blocks = find_blocks(model_, view, kind_);
    if (blocks.empty()) return;
    const Shapes& shapes = analysis->shapes();
    NameSet names(model_.proto());
    std::unordered_set<const onnx::NodeProto*> dead;
    for (const Block& block : blocks) {
      const auto why_not = fuse(block, shapes.of(block.inputs[0]), names, dead);
      if (why_not.empty())
        ++report.changes;
      else
        decline(report, std::string(name_of(kind_)) + " stays as it is written: " + why_not);
    }
    remove_nodes(view, dead);
    for (auto& [graph, tensor] : made_) *graph->add_initializer() = std::move(tensor);
  }

 private:
  // Empty when it was done.
  std::string fuse(const Block& block, const ShapeFacts& x, NameSet& names,
                   std::unordered_set<const onnx::NodeProto*>& dead) {
    if (!is_plain_float(block, x)) return "it is not all in float32";
    const auto sizes = normalized_sizes(block, x);
    if (!sizes) return "its axes are not the last ones, or their sizes are not known";
    const std::size_t rank = x.dims->size();
    if (block.scale && !has_sizes(block.scale, *sizes, rank)) return "its factor has other sizes than the axes";
    if (block.bias && !has_sizes(block.bias, *sizes, rank)) return "its bias has other sizes than the axes";
    std::string scale;
    if (block.scale) {
      scale = without_leading_ones(block, block.scale, *sizes, names);
    } else {
      std::int64_t count = 1;
      for (const auto size : *sizes) {
        if (size < 1 || size > kMaxOnes || count > kMaxOnes / size) return "it has no factor, and one would be large";
        count *= size;
      }
      scale = ones(block, *sizes, count, names);
    }
    std::vector<std::string> inputs = {block.inputs[0]->name, scale};
    if (block.bias) inputs.push_back(without_leading_ones(block, block.bias, *sizes, names));
    onnx::NodeProto& node = replace_block(
        block, kind_ == BlockKind::kLayerNormalization ? "LayerNormalization" : "RMSNormalization", inputs, dead);
    set_attribute(node, "axis", -static_cast<std::int64_t>(sizes->size()));
    set_float_attribute(node, "epsilon", static_cast<float>(block.epsilon));
    return {};
  }

  std::string ones(const Block& block, const Sizes& sizes, std::int64_t count, NameSet& names) {
    std::vector<std::uint8_t> bytes;
    for (std::int64_t i = 0; i < count; ++i) bytes.insert(bytes.end(), {0x00, 0x00, 0x80, 0x3f});
    const auto name = names.fresh(block.output->name + "_ones");
    made_.emplace_back(block.scope->graph,
                       make_tensor(model_, name, onnx::TensorProto::FLOAT, sizes, std::move(bytes)));
    return name;
  }

  // The tensor's own name, or that of the same bytes with fewer dims.
  std::string without_leading_ones(const Block& block, const Value* value, const Sizes& sizes, NameSet& names) {
    const auto& tensor = *value->initializer;
    if (static_cast<std::size_t>(tensor.dims_size()) == sizes.size()) return value->name;
    onnx::TensorProto flat = tensor;
    flat.clear_dims();
    for (const auto size : sizes) flat.add_dims(size);
    flat.set_name(names.fresh(value->name + "_flat"));
    made_.emplace_back(block.scope->graph, flat);
    return flat.name();
  }

  Model& model_;
  BlockKind kind_;
  std::vector<std::pair<onnx::GraphProto*, onnx::TensorProto>> made_;  // added when the view is no longer needed
};

}  // namespace

void run_fuse_layer_normalization(Model& model, PassReport& report) {
  const auto opset = opset_of(model.proto());
  if (opset >= kFirstLayerNormalization) Fusion(model, BlockKind::kLayerNormalization).run(report);
  if (opset >= kFirstRmsNormalization) Fusion(model, BlockKind::kRmsNormalization).run(report);
}

}  // namespace octet
