// Where something was measured: latency means nothing without it.
#pragma once

#include <filesystem>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace octet {

struct Environment {
  std::string cpu;                    // its name, as the system has it; empty: it has none
  unsigned cores = 1;                 // that this program may use
  std::vector<std::string> features;  // those that integer and float kernels are chosen by: "AVX2", "AVX-512 VNNI" …
  std::string governor;               // of the clock, several joined by "/"; empty: the system does not say
  std::optional<double> load;         // processes that wanted to run, on average over the last minute
};

// Reads the machine. What it does not say is left empty.
Environment this_environment();

// The parts that come of text in the forms of /proc/cpuinfo and /proc/loadavg, and of a folder like
// /sys/devices/system/cpu.
std::string cpu_name(std::string_view cpuinfo);
std::vector<std::string> cpu_features(std::string_view cpuinfo);
std::optional<double> load_average(std::string_view loadavg);
std::string governors_in(const std::filesystem::path& folder, unsigned cores);

nlohmann::json to_json(const Environment& environment);
// "Intel(R) Xeon(R) Processor, 2 cores, AVX2, AVX-512, load 0.3, governor performance".
std::string to_text(const Environment& environment);

}  // namespace octet
