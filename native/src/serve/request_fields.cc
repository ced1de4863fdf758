#include "serve/request_fields.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cmath>
#include <utility>

#include "octet/error.h"

namespace octet {

using nlohmann::json;

RequestFields::RequestFields(const json& object, std::string where) : object_(object), where_(std::move(where)) {
  if (!object_.is_object()) throw Error(ErrorCode::kUsage, where_.empty() ? "request" : where_, "is no JSON object");
}

const json* RequestFields::get(const std::string& key) {
  known_.insert(key);
  const auto found = object_.find(key);
  return found == object_.end() || found->is_null() ? nullptr : &*found;
}

void RequestFields::read(const std::string& key, bool& value) {
  const json* given = get(key);
  if (given == nullptr) return;
  if (!given->is_boolean()) refuse(key, "must be true or false");
  value = given->get<bool>();
}

void RequestFields::read(const std::string& key, double& value, double least, double most) {
  const json* given = get(key);
  if (given == nullptr) return;
  const double number = given->is_number() ? given->get<double>() : std::nan("");
  if (!(number >= least && number <= most)) refuse(key, fmt::format("must be a number from {} to {}", least, most));
  value = number;
}

std::uint64_t RequestFields::whole(const json& value, const std::string& key, std::uint64_t least, std::uint64_t most) {
  if (!value.is_number_unsigned() || value.get<std::uint64_t>() < least || value.get<std::uint64_t>() > most)
    refuse(key, fmt::format("must be a whole number from {} to {}", least, most));
  return value.get<std::uint64_t>();
}

void RequestFields::close() const {
  for (const auto& [key, value] : object_.items()) {
    if (!known_.contains(key))
      refuse(key.substr(0, 64), "is none that is known here", fmt::format("there are {}", fmt::join(known_, ", ")));
  }
}

void RequestFields::refuse(const std::string& key, const std::string& problem, const std::string& next) const {
  throw Error(ErrorCode::kUsage, where_.empty() ? key : where_ + "." + key, problem, next);
}

}  // namespace octet
