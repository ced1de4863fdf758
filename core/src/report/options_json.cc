// Options from JSON: one row per key, so that a key is known here or nowhere.
#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>
#include <string>

#include "octet/error.h"
#include "octet/options.h"

namespace octet {
namespace {

using Json = nlohmann::ordered_json;

[[noreturn]] void refuse(const std::string& key, const std::string& problem, const std::string& next) {
  throw Error(ErrorCode::kUsage, "option " + key, problem, next);
}

bool flag(const std::string& key, const Json& value) {
  if (!value.is_boolean()) refuse(key, "must be true or false", "");
  return value.get<bool>();
}

template <class T>
T choice(const std::string& key, const Json& value, std::optional<T> (*from)(std::string_view), const char* known) {
  const std::string text = value.is_string() ? value.get<std::string>() : value.dump();
  const auto found = from(text);
  if (!found) refuse(key, "'" + text + "' is none that Octet knows", std::string("use ") + known);
  return *found;
}

int block_size(const std::string& key, const Json& value) {
  constexpr int kLargest = 65536;  // check_options says which sizes below it are fit
  if (!value.is_number_integer() || value < 0 || value > kLargest)
    refuse(key, "must be a whole number from 0 to 65536", "");
  return value.get<int>();
}

std::vector<std::string> names(const std::string& key, const Json& value) {
  const auto is_name = [](const Json& entry) { return entry.is_string(); };
  if (!value.is_array() || !std::all_of(value.begin(), value.end(), is_name))
    refuse(key, "must be a list of names", "");
  return value.get<std::vector<std::string>>();
}

struct Row {
  std::string_view key;
  void (*read)(GivenOptions&, const std::string& key, const Json&);
};

constexpr std::array kRows = {
    Row{"mode", [](auto& o, auto& k, auto& v) { o.plan_options.mode = choice(k, v, mode_from, "dynamic or weights"); }},
    Row{"target",
        [](auto& o, auto& k, auto& v) {
          o.plan_options.target = choice(k, v, target_from, "x64, x64-novnni, arm64, wasm or any");
        }},
    Row{"weight_type",
        [](auto& o, auto& k, auto& v) {
          o.plan_options.weight_type =
              choice(k, v, weight_type_from, "qint8, quint8, qint4, quint4, qint16 or quint16");
        }},
    Row{"per_channel", [](auto& o, auto& k, auto& v) { o.plan_options.per_channel = flag(k, v); }},
    Row{"reduce_range", [](auto& o, auto& k, auto& v) { o.plan_options.reduce_range = flag(k, v); }},
    Row{"block_size", [](auto& o, auto& k, auto& v) { o.plan_options.block_size = block_size(k, v); }},
    Row{"nodes_to_quantize", [](auto& o, auto& k, auto& v) { o.plan_options.nodes_to_quantize = names(k, v); }},
    Row{"nodes_to_exclude", [](auto& o, auto& k, auto& v) { o.plan_options.nodes_to_exclude = names(k, v); }},
    Row{"op_types", [](auto& o, auto& k, auto& v) { o.plan_options.op_types = names(k, v); }},
    Row{"plan", [](auto& o, auto&, auto& v) { o.plan = plan_from_json(v.dump()); }},
    Row{"external_data", [](auto& o, auto& k, auto& v) { o.external_data = flag(k, v); }},
};

const Row& row_of(const std::string& key) {
  for (const Row& row : kRows) {
    if (row.key == key) return row;
  }
  std::string known;
  for (const Row& row : kRows) known += (known.empty() ? "" : ", ") + std::string(row.key);
  refuse(key, "is none that Octet knows", "there are " + known);
}

}  // namespace

GivenOptions options_from_json(std::string_view text, Target default_target) {
  GivenOptions options;
  options.plan_options.target = default_target;
  const Json json = Json::parse(text, nullptr, false);
  if (!json.is_object()) throw Error(ErrorCode::kUsage, "options", "are no JSON object", "pass {} for the defaults");
  for (const auto& [key, value] : json.items()) {
    const Row& row = row_of(key);
    if (!value.is_null()) row.read(options, key, value);
  }
  return options;
}

}  // namespace octet
