// Static plans as text, with ranges that nobody had to calibrate.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "graph_pictures.h"
#include "octet/ranges.h"

namespace octet::pictures {

inline PlanOptions static_options(Format format = Format::kQdq) {
  PlanOptions options;
  options.mode = Mode::kStatic;
  options.target = Target::kX64;
  options.prepare = false;
  options.format = format;
  return options;
}

inline PlanOptions symmetric(Format format = Format::kQdq) {
  PlanOptions options = static_options(format);
  options.symmetric_activations = true;
  return options;
}

// Two convolutions with a Relu between.
inline const char* const kPair =
    "g (float[1,4,9,9] x) => (float[a,b,c,d] y) <float[8,4,3,3] w, float[8] b, float[4,8,3,3] v> { [first] p = Conv(x, "
    "w, b) [act] q = Relu(p) [second] y = Conv(q, v) }";

// Between two convolutions.
inline std::string between(const std::string& nodes, const std::string& more = "") {
  return "g (float[1,4,8,8] x) => (float[a,b,c,d] y) <float[4,4,1,1] u, float[4,4,1,1] v" + more +
         "> { [first] p = Conv(x, u) " + nodes + " [last] y = Conv(q, v) }";
}

// "NODE: what it reads → what it writes, absorbs CLAMP" per static node, then all values with ranges.
inline std::string static_picture(const Plan& plan) {
  std::string out = "\n";
  const auto list = [](const std::vector<std::string>& names) {
    std::string text;
    for (const auto& name : names) text += " " + name;
    return text;
  };
  for (const NodePlan& node : plan.nodes) {
    if (node.action != Action::kStatic) continue;
    out += node.node + ":" + list(node.reads) + " →" + list(node.writes);
    if (!node.absorbs.empty()) out += ", absorbs " + node.absorbs;
    out += "\n";
  }
  for (const ActivationPlan& activation : plan.activations)
    out += (&activation == &plan.activations.front() ? "" : " ") + activation.tensor;
  return out + "\n";
}

inline ActivationPlan activation(const Plan& plan, const std::string& name) {
  for (const ActivationPlan& entry : plan.activations) {
    if (entry.tensor == name) return entry;
  }
  ADD_FAILURE() << "'" << name << "' is not in the plan";
  return {};
}

// Every value that needs a range gets this one.
inline Plan with_ranges(Plan plan, float low, float high) {
  for (ActivationPlan& entry : plan.activations) {
    if (entry.same_as.empty() && !entry.range) entry.range = Interval{low, high};
  }
  return plan;
}

// As calibration would have seen them: these values each, in one sample.
inline Ranges seen(const Model& model, const std::map<std::string, std::vector<float>>& values) {
  Ranges ranges;
  ranges.model = fingerprint_of(model);
  ranges.samples = 1;
  for (const auto& [name, list] : values) ranges.tensors[name].add(list);
  return ranges;
}

// Plans, gives every value the same range, and applies; the result was checked to be sound.
inline Model statically(const std::string& text, const PlanOptions& options, float low = -2, float high = 2,
                        int opset = 17) {
  const Quantizer quantizer(model_of(text, opset), options);
  Model result = quantizer.apply(with_ranges(quantizer.plan(), low, high));
  expect_sound(result);
  return result;
}

// Values of a stored tensor as numbers, as they stand in the file that is written.
inline std::vector<double> values_of(const Model& model, const std::string& name) {
  const onnx::ModelProto written = fixtures::parse(fixtures::save(model));
  for (const auto& tensor : written.graph().initializer()) {
    if (tensor.name() != name) continue;
    const std::string& bytes = tensor.raw_data();
    std::vector<double> values;
    const auto read = [&](auto zero) {
      for (std::size_t i = 0; i + sizeof zero <= bytes.size(); i += sizeof zero) {
        std::memcpy(&zero, bytes.data() + i, sizeof zero);
        values.push_back(static_cast<double>(zero));
      }
    };
    switch (tensor.data_type()) {
      case onnx::TensorProto::FLOAT:
        read(float{});
        break;
      case onnx::TensorProto::INT8:
        read(std::int8_t{});
        break;
      case onnx::TensorProto::UINT8:
        read(std::uint8_t{});
        break;
      case onnx::TensorProto::INT16:
        read(std::int16_t{});
        break;
      case onnx::TensorProto::UINT16:
        read(std::uint16_t{});
        break;
      case onnx::TensorProto::INT32:
        read(std::int32_t{});
        break;
      default:
        ADD_FAILURE() << name << " has type " << tensor.data_type();
    }
    return values;
  }
  ADD_FAILURE() << "no tensor is named " << name;
  return {};
}

}  // namespace octet::pictures
