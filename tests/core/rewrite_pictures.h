// A model of rewrite_models.h by name, rewritten, against the pictures that a test draws of it.
#pragma once

#include <string>

#include "graph_pictures.h"
#include "rewrite_models.h"

namespace octet::pictures {

inline PlanOptions dynamic_on(Target target, QuantType type = QuantType::kInt8) {
  PlanOptions options = pictures::dynamic_options();
  options.target = target;
  options.weight_type = type;
  return options;
}

inline PlanOptions convolutions() {
  PlanOptions options = pictures::dynamic_options();
  options.op_types = {"Conv"};
  return options;
}

// `tensors` empty: not looked at.
inline void expect(const std::string& name, const PlanOptions& options, const std::string& graph,
                   const std::string& tensors) {
  for (const RewriteModel& model : rewrite_models()) {
    if (model.name != name) continue;
    const Model result = quantized(model.text, options, model.opset);
    EXPECT_EQ(picture(result), lines(graph));
    EXPECT_TRUE(tensors.empty() || stored(result) == lines(tensors)) << stored(result);
    return;
  }
  ADD_FAILURE() << "no model is named " << name;
}

}  // namespace octet::pictures
