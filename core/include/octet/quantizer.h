// The whole way from a loaded model to one ready to be written, the same natively and in the browser.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "octet/channels.h"
#include "octet/facts.h"
#include "octet/model.h"
#include "octet/plan.h"
#include "octet/prepare.h"
#include "octet/ranges.h"

namespace octet {

class Quantizer {
 public:
  // Marks what the lists name, prepares (or only normalizes), plans (or takes the plan given). Throws what those steps
  // throw.
  Quantizer(Model model, const PlanOptions& options, const Plan* given = nullptr, const Progress& progress = {});

  const ModelFacts& facts() const { return facts_; }  // of the model as loaded
  const std::vector<PassReport>& passes() const { return passes_; }
  const Plan& plan() const { return plan_; }
  Plan& plan() { return plan_; }
  // As prepared: what the plan is of, and what calibration runs.
  const Model& model() const { return normalized_; }
  // fingerprint_of(model()), found once.
  const std::string& fingerprint() const;
  // Values of which calibration is to learn the ranges: those of the plan, or, with `all`, every one that some static
  // plan of the model could ask for.
  std::vector<std::string> taps(bool all = false) const;
  // Reads the plan's missing ranges from what calibration saw. Nodes whose values were never seen leave integers.
  // Throws Error(kUsage) for ranges of another model.
  void set_ranges(const Ranges& ranges);

  // Cross-layer equalization: a quantizer of the model whose neighbouring products share their spread of weights, planned
  // anew and without ranges.
  struct Equalized equalized() const;

  // SmoothQuant: what to observe of the prepared model, and a quantizer of the model whose values are smoothed by what
  // was seen, planned anew and without ranges: calibrate that one. With `alpha` 1 all of the spread between channels
  // goes into the weights, with 0 all of theirs into the values. Throws Error(kUsage) unless 0 ≤ alpha ≤ 1.
  std::vector<ChannelTap> smoothing_taps() const;
  struct Smoothed smoothed(const ChannelObservations& observed, double alpha) const;

  PlanSizes sizes() { return plan_sizes(normalized_, plan_); }

  // What shape inference finds on the normalized model.
  ShapeCoverage shapes() const;
  // Operations of the normalized model that are written out as several nodes.
  std::vector<BlockInfo> blocks() const;

  // The model that a plan (this one's, or a changed copy of it) makes of the input.
  Model apply(const Plan& plan) const;

  // On the same stored tensors.
  Quantizer copy() const;
  // Of the same prepared model, planned anew. The lists of nodes are those of the first time.
  Quantizer planned_as(const PlanOptions& options) const;

 private:
  Quantizer() = default;
  void plan_again(const Plan& before);

  PlanOptions options_;
  ModelFacts facts_;
  Model normalized_;
  mutable std::string fingerprint_;  // of normalized_, once asked for
  std::vector<PassReport> passes_;
  Plan plan_;
};

struct Equalized {
  Quantizer quantizer;
  int pairs = 0;
};

struct Smoothed {
  Quantizer quantizer;
  std::size_t folded = 0, inserted = 0;  // values divided where they are made, and by a multiplication of their own
  std::size_t values() const { return folded + inserted; }
};

// Checks options against each other. Throws Error(kUsage).
void check_options(const PlanOptions& options);

// Moves a node one step towards float: integers → weights only → (folded weights) → float. A tensor that goes back to
// float takes all its readers along, so that it is never stored twice. Returns the nodes changed, empty when the node
// was in float already.
std::vector<std::string> demote(Plan& plan, const std::string& node, const std::string& why);

// Stores a matrix with a scale per row that it sums over instead of per output, in the folded form. Where an input
// channel is hundreds of times larger than the others, the weights that meet it are as much smaller, and such scales
// hold both. False when the node has no such matrix to itself, or has been turned already.
bool turn_scales(Plan& plan, const std::string& node);

}  // namespace octet
