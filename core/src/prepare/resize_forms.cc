#include "prepare/resize_forms.h"

#include <algorithm>
#include <cstring>

#include "model/tensor_access.h"

namespace octet {
namespace {

using onnx::TensorProto;

constexpr std::uint64_t kMaxRank = 255;  // what the loader takes

std::string mode_of(const onnx::NodeProto& node) {
  const auto* mode = find_attribute(node, "mode");
  if (!mode || mode->s().empty()) return "nearest";
  return mode->s() == "bilinear" ? "linear" : mode->s();
}

// Resize since opset 11 with the coordinates of before: output index / scale.
void write_resize(Model& model, onnx::GraphProto& graph, onnx::NodeProto& node, std::int64_t opset,
                  const std::string& x, const std::string& scales, const std::string& nearest_mode, NameSet& names) {
  const std::string mode = mode_of(node);
  std::vector<std::string> inputs = {x, scales};
  if (opset >= 11) {
    std::string region;  // may be left out from 13 on
    if (opset < 13) {
      region = names.fresh(node.output(0) + "_region");
      *graph.add_initializer() = make_tensor(model, region, TensorProto::FLOAT, {0}, {});
    }
    inputs.insert(inputs.begin() + 1, region);
  }
  become(node, "Resize", inputs);
  set_attribute(node, "mode", mode);
  if (opset < 11) return;
  set_attribute(node, "coordinate_transformation_mode", "asymmetric");
  if (mode == "nearest") set_attribute(node, "nearest_mode", nearest_mode);
}

}  // namespace

std::optional<std::string> nearest_mode_of(const Model& model, const GraphView& view, const NodeAt& resize) {
  if (mode_of(*resize.node) != "nearest") return "floor";  // of no matter
  const Value* scales = view.input(resize, 1);
  if (!scales || !scales->constant() || scales->initializer->data_type() != TensorProto::FLOAT ||
      element_count(*scales->initializer) > kMaxRank)
    return std::nullopt;
  const auto values = tensor_as_float(model, *scales->initializer);
  if (std::all_of(values.begin(), values.end(), [](float scale) { return scale >= 1; })) return "floor";
  if (std::all_of(values.begin(), values.end(), [](float scale) { return scale <= 1; })) return "ceil";
  return std::nullopt;
}

bool upsample_to_resize(Model& model, onnx::GraphProto& graph, onnx::NodeProto& node, std::int64_t opset,
                        NameSet& names) {
  if (node.input_size() == 0 || node.output_size() != 1) return false;
  std::string scales;
  if (node.input_size() > 1) {
    scales = node.input(1);
  } else if (const auto* listed = find_attribute(node, "scales");
             listed && static_cast<std::uint64_t>(listed->floats_size()) <= kMaxRank) {
    const std::vector<float> values(listed->floats().begin(), listed->floats().end());
    std::vector<std::uint8_t> bytes(values.size() * sizeof(float));
    if (!values.empty()) std::memcpy(bytes.data(), values.data(), bytes.size());
    scales = names.fresh(node.output(0) + "_scales");
    *graph.add_initializer() =
        make_tensor(model, scales, TensorProto::FLOAT, {static_cast<std::int64_t>(values.size())}, std::move(bytes));
  }
  if (scales.empty()) return false;
  write_resize(model, graph, node, opset, std::string(node.input(0)), scales, "floor", names);
  return true;
}

void renew_resize(Model& model, onnx::GraphProto& graph, onnx::NodeProto& node, std::int64_t opset,
                  const std::string& nearest_mode, NameSet& names) {
  const std::string x = node.input(0), scales = node.input(1);
  write_resize(model, graph, node, opset, x, scales, nearest_mode, names);
}

}  // namespace octet
