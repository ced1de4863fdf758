// The keys of a JSON object, read strictly: what has the wrong type, lies out of bounds or is unknown is an
// Error(kUsage) that names it.
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <vector>

namespace octet {

class RequestFields {
 public:
  // `where` goes in front of the keys in messages. Throws Error(kUsage) when it is no object.
  RequestFields(const nlohmann::json& object, std::string where);

  // The value; nullptr where there is none or null.
  const nlohmann::json* get(const std::string& key);
  void read(const std::string& key, bool& value);
  void read(const std::string& key, double& value, double least, double most);
  template <class Whole>
  void read(const std::string& key, Whole& value, std::uint64_t least, std::uint64_t most) {
    if (const nlohmann::json* given = get(key)) value = static_cast<Whole>(whole(*given, key, least, most));
  }
  std::uint64_t whole(const nlohmann::json& value, const std::string& key, std::uint64_t least, std::uint64_t most);

  // Throws for a key that nobody asked for.
  void close() const;

  [[noreturn]] void refuse(const std::string& key, const std::string& problem, const std::string& next = {}) const;

 private:
  const nlohmann::json& object_;
  std::string where_;
  std::set<std::string> known_;
};

}  // namespace octet
