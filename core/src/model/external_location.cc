#include "model/external_location.h"

#include <algorithm>
#include <cctype>

namespace octet {

// Both kinds of slashes separate folders, whatever system runs this: a model must not be harmless on one and climb out
// of its folder on another.
std::string location_problem(const std::string& location) {
  if (location.empty()) return "is empty";
  const auto is_control = [](char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7f; };
  if (std::any_of(location.begin(), location.end(), is_control)) return "holds control characters";
  const auto is_slash = [](char c) { return c == '/' || c == '\\'; };
  if (is_slash(location[0])) return "is an absolute path";
  if (location.size() > 1 && location[1] == ':' && std::isalpha(static_cast<unsigned char>(location[0])) != 0) {
    return "starts with a drive";
  }
  for (auto part = location.begin(); part != location.end();) {
    const auto end = std::find_if(part, location.end(), is_slash);
    if (std::string(part, end) == "..") return "leads out of the model's folder";
    part = end == location.end() ? end : end + 1;
  }
  return {};
}

}  // namespace octet
