// What calibration looks at, and what it says of values that it could not use.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "octet/ranges.h"

namespace octet {

// Which tensors had values that were NaN or infinite, and where first.
class NonFinite {
 public:
  // `number`: of the sample among all, from 0.
  void begin_sample(std::uint64_t number, std::string name) {
    number_ = number;
    sample_ = std::move(name);
    touched_.clear();
  }
  void add(const std::string& tensor);  // in this sample; more often counts once
  void clear();                         // but for the sample
  void merge(const NonFinite& other);   // what was seen in other samples

  // Sentences, of the first few tensors: an infinite mask goes through every layer.
  std::vector<std::string> notes(const Ranges& ranges) const;

 private:
  struct Seen {
    std::uint64_t samples = 0;
    std::uint64_t first_number = 0;
    std::string first;  // its name
  };
  std::map<std::string, Seen> seen_;
  std::set<std::string> touched_;  // in this sample
  std::uint64_t number_ = 0;
  std::string sample_;
};

}  // namespace octet
