// Options from JSON: one row per key, so that a key is known here or nowhere.
#include <algorithm>
#include <array>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <type_traits>

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

template <class Options>
struct Row {
  std::string_view key;
  void (*read)(Options&, const std::string& key, const Json&);
};

std::int64_t whole(const std::string& key, const Json& value) {
  if (!value.is_number_integer()) refuse(key, "must be a whole number", "");
  return value.get<std::int64_t>();
}

template <class Value>
std::map<std::string, Value> by_name(const std::string& key, const Json& value) {
  std::map<std::string, Value> entries;
  if (!value.is_object()) refuse(key, "must be an object of names and values", "");
  for (const auto& [name, entry] : value.items()) {
    if constexpr (std::is_same_v<Value, std::string>)
      entries[name] = entry.is_string() ? entry.template get<std::string>() : entry.dump();
    else
      entries[name] = whole(key + "." + name, entry);
  }
  return entries;
}

constexpr std::array kQuantizeRows = {
    Row<GivenOptions>{
        "mode",
        [](auto& o, auto& k, auto& v) { o.plan_options.mode = choice(k, v, mode_from, "dynamic, static or weights"); }},
    Row<GivenOptions>{"target",
                      [](auto& o, auto& k, auto& v) {
                        o.plan_options.target = choice(k, v, target_from, "x64, x64-novnni, arm64, wasm or any");
                      }},
    Row<GivenOptions>{"weight_type",
                      [](auto& o, auto& k, auto& v) {
                        o.plan_options.weight_type =
                            choice(k, v, quant_type_from, "qint8, quint8, qint4, quint4, qint16 or quint16");
                      }},
    Row<GivenOptions>{"per_channel", [](auto& o, auto& k, auto& v) { o.plan_options.per_channel = flag(k, v); }},
    Row<GivenOptions>{"reduce_range", [](auto& o, auto& k, auto& v) { o.plan_options.reduce_range = flag(k, v); }},
    Row<GivenOptions>{"format", [](auto& o, auto& k,
                                   auto& v) { o.plan_options.format = choice(k, v, format_from, "qdq or qoperator"); }},
    Row<GivenOptions>{"activation_type",
                      [](auto& o, auto& k, auto& v) {
                        o.plan_options.activation_type =
                            choice(k, v, quant_type_from, "quint8, qint8, quint16 or qint16");
                      }},
    Row<GivenOptions>{"symmetric_activations",
                      [](auto& o, auto& k, auto& v) { o.plan_options.symmetric_activations = flag(k, v); }},
    Row<GivenOptions>{"round_outputs", [](auto& o, auto& k, auto& v) { o.plan_options.round_outputs = flag(k, v); }},
    Row<GivenOptions>{"method",
                      [](auto& o, auto& k, auto& v) {
                        o.plan_options.method =
                            choice(k, v, range_method_from, "minmax, average, entropy, percentile, mse or best");
                      }},
    Row<GivenOptions>{"percentile",
                      [](auto& o, auto& k, auto& v) {
                        if (!v.is_number() || v <= 0 || v > 100) refuse(k, "must lie above 0 and up to 100", "");
                        o.plan_options.percentile = v.template get<double>();
                      }},
    Row<GivenOptions>{"block_size", [](auto& o, auto& k, auto& v) { o.plan_options.block_size = block_size(k, v); }},
    Row<GivenOptions>{"nodes_to_quantize",
                      [](auto& o, auto& k, auto& v) { o.plan_options.nodes_to_quantize = names(k, v); }},
    Row<GivenOptions>{"nodes_to_exclude",
                      [](auto& o, auto& k, auto& v) { o.plan_options.nodes_to_exclude = names(k, v); }},
    Row<GivenOptions>{"op_types", [](auto& o, auto& k, auto& v) { o.plan_options.op_types = names(k, v); }},
    Row<GivenOptions>{"equalize", [](auto& o, auto& k, auto& v) { o.plan_options.equalize = flag(k, v); }},
    Row<GivenOptions>{"smooth_quant",
                      [](auto& o, auto& k, auto& v) {
                        if (!v.is_number() || v < 0 || v > 1) refuse(k, "must lie between 0 and 1", "use 0.5");
                        o.plan_options.smooth_quant = v.template get<double>();
                      }},
    Row<GivenOptions>{"bias_correction",
                      [](auto& o, auto& k, auto& v) { o.plan_options.bias_correction = flag(k, v); }},
    Row<GivenOptions>{"min_sqnr",
                      [](auto& o, auto& k, auto& v) {
                        if (!v.is_number()) refuse(k, "must be a number of decibels", "");
                        o.min_sqnr = v.template get<double>();
                      }},
    Row<GivenOptions>{"prepare", [](auto& o, auto& k, auto& v) { o.plan_options.prepare = flag(k, v); }},
    Row<GivenOptions>{"plan", [](auto& o, auto&, auto& v) { o.plan = plan_from_json(v.dump()); }},
    Row<GivenOptions>{"external_data", [](auto& o, auto& k, auto& v) { o.external_data = flag(k, v); }},
};

constexpr std::array kPrepareRows = {
    Row<PrepareOptions>{"fixed", [](auto& o, auto& k, auto& v) { o.fixed = by_name<std::string>(k, v); }},
    Row<PrepareOptions>{"dims", [](auto& o, auto& k, auto& v) { o.dims = by_name<std::int64_t>(k, v); }},
    Row<PrepareOptions>{"opset",
                        [](auto& o, auto& k, auto& v) {
                          const auto version = whole(k, v);
                          if (version < 1 || version > kMaxOpset) refuse(k, "must lie between 1 and 26", "");
                          o.opset = static_cast<int>(version);
                        }},
    Row<PrepareOptions>{"to_float32", [](auto& o, auto& k, auto& v) { o.to_float32 = flag(k, v); }},
    Row<PrepareOptions>{"passes", [](auto& o, auto& k, auto& v) { o.passes = names(k, v); }},
};

template <class Options, std::size_t kCount>
void read(std::string_view text, const std::array<Row<Options>, kCount>& rows, Options& options) {
  const Json json = Json::parse(text, nullptr, false);
  if (!json.is_object()) throw Error(ErrorCode::kUsage, "options", "are no JSON object", "pass {} for the defaults");
  for (const auto& [key, value] : json.items()) {
    const auto row = std::find_if(rows.begin(), rows.end(), [&name = key](const auto& r) { return r.key == name; });
    if (row == rows.end()) {
      std::string known;
      for (const auto& other : rows) known += (known.empty() ? "" : ", ") + std::string(other.key);
      refuse(key, "is none that Octet knows", "there are " + known);
    }
    if (!value.is_null()) row->read(options, key, value);
  }
}

}  // namespace

GivenOptions options_from_json(std::string_view text, Target default_target) {
  GivenOptions options;
  options.plan_options.target = default_target;
  read(text, kQuantizeRows, options);
  return options;
}

std::string GivenOptions::search_key() const {
  if (plan_options.equalize) return "equalize";
  if (plan_options.smooth_quant > 0) return "smooth_quant";
  if (plan_options.bias_correction) return "bias_correction";
  return min_sqnr ? "min_sqnr" : "";
}

PrepareOptions prepare_options_from_json(std::string_view text) {
  PrepareOptions options;
  read(text, kPrepareRows, options);
  return options;
}

}  // namespace octet
