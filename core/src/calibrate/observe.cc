#include "octet/observe.h"

namespace octet {

void NonFinite::add(const std::string& tensor) {
  if (!touched_.insert(tensor).second) return;
  Seen& seen = seen_[tensor];
  if (seen.samples++ > 0) return;
  seen.first_number = number_;
  seen.first = sample_;
}

void NonFinite::clear() {
  seen_.clear();
  touched_.clear();
}

void NonFinite::merge(const NonFinite& other) {
  for (const auto& [tensor, more] : other.seen_) {
    Seen& seen = seen_[tensor];
    if (seen.samples == 0 || more.first_number < seen.first_number) {
      seen.first_number = more.first_number;
      seen.first = more.first;
    }
    seen.samples += more.samples;
  }
}

std::vector<std::string> NonFinite::notes(const Ranges& ranges) const {
  constexpr std::size_t kMostNotes = 5;
  std::vector<std::string> notes;
  for (const auto& [tensor, seen] : seen_) {
    if (notes.size() == kMostNotes) {
      notes.push_back("so were values of " + std::to_string(seen_.size() - kMostNotes) + " other tensors");
      break;
    }
    notes.push_back("'" + tensor + "': " + std::to_string(ranges.tensors.at(tensor).non_finite()) +
                    " values were NaN or infinite in " + std::to_string(seen.samples) + " of " +
                    std::to_string(ranges.samples) + " samples" +
                    (seen.first.empty() ? "" : ", first in " + seen.first) + "; they are left out");
  }
  return notes;
}

}  // namespace octet
