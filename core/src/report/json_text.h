// JSON on its way out. Names in models need not be UTF-8: what is not becomes U+FFFD instead of an exception.
#pragma once

#include <nlohmann/json.hpp>
#include <string>

namespace octet {

// In one line, or with each level indented by so many spaces.
template <class Json = nlohmann::ordered_json>
std::string json_text(const Json& json, int indent = -1) {
  return json.dump(indent, ' ', false, Json::error_handler_t::replace);
}

}  // namespace octet
