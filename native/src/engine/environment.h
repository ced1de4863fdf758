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
  std::string emulator;               // what runs this program in the processor's place; empty: nothing does
};

// Reads the machine. What it does not say is left empty.
Environment this_environment();

// Whether this program, built for another kind of processor or for this one, runs in an emulator of user programs such
// as qemu-user. How long it takes there says nothing about any processor.
const std::string& emulator();
// Throws Error(kUsage) in an emulator: for `what`, which takes time.
void refuse_to_time_in_emulator(const std::string& what);

// The parts that come of text in the forms of /proc/cpuinfo and /proc/loadavg, and of a folder like
// /sys/devices/system/cpu.
std::string cpu_name(std::string_view cpuinfo);
std::vector<std::string> cpu_features(std::string_view cpuinfo);
std::optional<double> load_average(std::string_view loadavg);
std::string_view cpu_architecture(std::string_view cpuinfo);  // "x64" or "arm64"; empty: it does not say
std::string governors_in(const std::filesystem::path& folder, unsigned cores);

// The name of the emulator of a program built for `architecture`, "an emulator" where only cpuinfo gives it away. It
// shows programs their own file as /proc/self/exe (`shown`); the kernel knows which one runs (`real`).
std::string emulator_of(std::string_view architecture, std::string_view cpuinfo, const std::filesystem::path& shown,
                        const std::filesystem::path& real);

nlohmann::json to_json(const Environment& environment);
// "Intel(R) Xeon(R) Processor, 2 cores, AVX2, AVX-512, load 0.3, governor performance".
std::string to_text(const Environment& environment);

}  // namespace octet
