// A model's view and shapes, kept from one pass to the next: most passes find nothing to change, and finding that out
// must not cost the inference of all shapes each time.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "model/graph_view.h"
#include "prepare/shapes.h"

namespace octet {

class Analysis {
 public:
  explicit Analysis(Model& model) : view(model.proto()), model_(model) {}

  GraphView view;
  bool has_shapes() const { return shapes_.has_value(); }
  // Worked out when first asked for, of the graph as it is then: to be asked before the first change.
  const Shapes& shapes() {
    if (!shapes_) shapes_.emplace(model_, view);
    return *shapes_;
  }
  // All names of the graph as it was when first asked for, and those made since.
  NameSet& names() {
    if (!names_) names_.emplace(model_.proto());
    return *names_;
  }
  // Stores integers beside a node, in its graph, under a name made of its first output and `suffix`; gives the name.
  std::string add_ints(const NodeAt& at, const char* suffix, const std::vector<std::int64_t>& values);

 private:
  Model& model_;
  std::optional<Shapes> shapes_;
  std::optional<NameSet> names_;
};

// Of the model as it is now. While an AnalysisMemo lives on this thread, the last one is given again as long as the
// graph is the same to the last name and attribute; whoever changes the graph asks again before looking again.
std::shared_ptr<Analysis> analyze(Model& model);

class AnalysisMemo {
 public:
  AnalysisMemo();
  ~AnalysisMemo();
  AnalysisMemo(const AnalysisMemo&) = delete;
  AnalysisMemo& operator=(const AnalysisMemo&) = delete;

 private:
  friend std::shared_ptr<Analysis> analyze(Model& model);
  AnalysisMemo* outer_;
  const Model* model_ = nullptr;
  std::uint64_t fingerprint_ = 0;
  std::shared_ptr<Analysis> last_;
};

}  // namespace octet
