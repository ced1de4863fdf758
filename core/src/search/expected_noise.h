// What rounding is likely to cost, from what calibration saw: nothing runs. Where a search looks first.
#pragma once

#include <cstddef>
#include <map>
#include <string>
#include <vector>

#include "octet/quantizer.h"

namespace octet {

// Noise of what is rounded, over the power of what is there, is taken to reach the outputs in proportion, but for sums
// and concatenations: there it counts by the share that the value has in the power of what comes out.
class ExpectedNoise {
 public:
  // Of a plan of the quantizer's; nothing is known of values that `ranges` has not seen. All stay the caller's.
  ExpectedNoise(const Quantizer& quantizer, const Plan& plan, const Ranges& ranges);

  // At the outputs, over their power, by node in integers: of what it reads and writes, and of its weights.
  std::map<std::string, double> of_nodes() const;
  // Values whose range depends on how it is read, those first where that matters most: by what their rounding is
  // expected to cost, and by how far the methods differ.
  std::vector<std::string> doubtful_values(std::size_t most) const;

 private:
  double rounding(const std::string& value) const;
  double gain(const std::string& value) const;
  void find_gains();

  const Quantizer& quantizer_;
  const Plan& plan_;
  const Ranges& ranges_;
  std::map<std::string, double> powers_, gains_;  // by value: sum of squares; of its noise, what is left at the outputs
};

}  // namespace octet
