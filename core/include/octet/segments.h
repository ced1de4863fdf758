// Cuts a model into segments that run one after another, each a model of its own, so that values that a run is to show
// need not all be in memory at once and nothing is computed twice.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "octet/model.h"
#include "octet/tensor.h"

namespace octet {

// Inputs of the model and what nodes of its main graph make, as far as they are float tensors or nothing is known of
// their type, in order.
std::vector<std::string> float_values(const Model& model);

// One segment; all names are of values of the main graph.
struct Segment {
  std::vector<std::string> inputs;    // inputs of the model, and outputs of earlier segments
  std::vector<std::string> outputs;   // what is wanted of what it makes, and what later segments read
  std::vector<std::string> observed;  // those of the outputs that are wanted
  std::vector<std::string> dropped;   // values of this and earlier segments that nobody reads after this one
};

class SegmentedModel {
 public:
  // `wanted`: values that nodes of the main graph make. Nodes that lead to none of them are left out, and so
  // are inputs with a default. Throws
  // Error(kUsage) for a name that no node of the main graph makes. One segment until cut() is called, none where
  // nothing is wanted.
  SegmentedModel(const Model& model, const std::vector<std::string>& wanted);
  ~SegmentedModel();
  SegmentedModel(SegmentedModel&&) noexcept;
  SegmentedModel& operator=(SegmentedModel&&) noexcept;

  // Bytes of values for inputs of these dims, by shape inference; a guess by what it is made from where that says
  // nothing.
  std::map<std::string, std::uint64_t> estimate(const std::map<std::string, std::vector<std::int64_t>>& inputs) const;

  // Cuts anew: as few segments as keep what is alive at the end of each within `budget` bytes, though never less than
  // a node. Cuts only where every value that crosses is a tensor of a known type. `bytes`: of values, by name.
  void cut(const std::map<std::string, std::uint64_t>& bytes, std::uint64_t budget);

  const std::vector<Segment>& segments() const;
  // A segment as a model; shares the stored tensors of the one it is cut from.
  Model model_of(std::size_t segment) const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace octet
