#include "engine/environment.h"

#include <fmt/format.h>
#include <sys/utsname.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <fstream>
#include <iterator>
#include <set>
#include <thread>
#include <utility>

#include "octet/error.h"

namespace octet {
namespace {

// As the kernel writes them, on x86 in "flags", on ARM in "Features", in the order they are told.
constexpr std::array<std::pair<std::string_view, const char*>, 9> kFeatures = {{
    {"avx2", "AVX2"},
    {"avx512f", "AVX-512"},
    {"avx_vnni", "AVX VNNI"},
    {"avx512_vnni", "AVX-512 VNNI"},
    {"amx_int8", "AMX INT8"},
    {"asimd", "NEON"},
    {"asimddp", "NEON dot product"},
    {"i8mm", "NEON INT8 matrices"},
    {"sve", "SVE"},
}};

#if defined(__aarch64__)
constexpr std::string_view kBuiltFor = "arm64";
#elif defined(__x86_64__)
constexpr std::string_view kBuiltFor = "x64";
#else
constexpr std::string_view kBuiltFor;
#endif

std::string_view trimmed(std::string_view text) {
  const std::size_t first = text.find_first_not_of(" \t\r\n");
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(" \t\r\n") - first + 1);
}

// Of the first line "key : value"; empty without one.
std::string_view value_of(std::string_view text, std::string_view key) {
  while (!text.empty()) {
    const std::string_view line = text.substr(0, text.find('\n'));
    text.remove_prefix(std::min(line.size() + 1, text.size()));
    const std::size_t colon = line.find(':');
    if (colon != std::string_view::npos && trimmed(line.substr(0, colon)) == key)
      return trimmed(line.substr(colon + 1));
  }
  return {};
}

bool has_word(std::string_view list, std::string_view word) {
  while (!list.empty()) {
    const std::string_view first = list.substr(0, list.find(' '));
    if (first == word) return true;
    list.remove_prefix(std::min(first.size() + 1, list.size()));
  }
  return false;
}

std::string content_of(const std::filesystem::path& path) {
  std::ifstream stream(path);
  return {std::istreambuf_iterator<char>(stream), {}};
}

}  // namespace

std::string cpu_name(std::string_view cpuinfo) {
  for (const std::string_view key : {"model name", "Hardware", "Model"}) {
    if (const std::string_view name = value_of(cpuinfo, key); !name.empty()) return std::string(name);
  }
  const std::string_view maker = value_of(cpuinfo, "CPU implementer"), part = value_of(cpuinfo, "CPU part");
  return maker.empty() || part.empty() ? "" : fmt::format("CPU implementer {}, part {}", maker, part);
}

std::vector<std::string> cpu_features(std::string_view cpuinfo) {
  std::string_view words = value_of(cpuinfo, "flags");
  if (words.empty()) words = value_of(cpuinfo, "Features");
  std::vector<std::string> found;
  for (const auto& [word, name] : kFeatures) {
    if (has_word(words, word)) found.emplace_back(name);
  }
  return found;
}

std::optional<double> load_average(std::string_view loadavg) {
  double load = 0;
  const auto [end, fault] = std::from_chars(loadavg.data(), loadavg.data() + loadavg.size(), load);
  return fault == std::errc() ? std::optional(load) : std::nullopt;
}

std::string_view cpu_architecture(std::string_view cpuinfo) {
  if (!value_of(cpuinfo, "flags").empty()) return "x64";
  return value_of(cpuinfo, "Features").empty() ? "" : "arm64";
}

std::string emulator_of(std::string_view architecture, std::string_view cpuinfo, const std::filesystem::path& shown,
                        const std::filesystem::path& real) {
  if (!shown.empty() && !real.empty() && shown != real) return real.filename();
  const std::string_view found = cpu_architecture(cpuinfo);
  return architecture.empty() || found.empty() || found == architecture ? "" : "an emulator";
}

const std::string& emulator() {
  static const std::string name = [] {
    std::error_code ignored;  // a path is empty then
    const auto shown = std::filesystem::read_symlink("/proc/self/exe", ignored);
    const auto real = std::filesystem::read_symlink("/proc/thread-self/exe", ignored);
    return emulator_of(kBuiltFor, content_of("/proc/cpuinfo"), shown, real);
  }();
  return name;
}

void refuse_to_time_in_emulator(const std::string& what) {
  if (emulator().empty()) return;
  throw Error(ErrorCode::kUsage, what, fmt::format("this program runs in an emulator ({})", emulator()),
              "time models on the kind of machine they are for: an emulator's times say nothing about it");
}

std::string governors_in(const std::filesystem::path& folder, unsigned cores) {
  std::set<std::string> names;
  for (unsigned core = 0; core < cores; ++core) {
    const std::string text = content_of(folder / fmt::format("cpu{}", core) / "cpufreq" / "scaling_governor");
    if (const std::string_view name = trimmed(text); !name.empty()) names.emplace(name);
  }
  return fmt::format("{}", fmt::join(names, "/"));
}

Environment this_environment() {
  const std::string cpuinfo = content_of("/proc/cpuinfo");
  Environment here;
  here.cpu = cpu_name(cpuinfo);
  if (utsname system{}; here.cpu.empty() && ::uname(&system) == 0) here.cpu = system.machine;
  here.cores = std::max(1u, std::thread::hardware_concurrency());
  here.features = cpu_features(cpuinfo);
  here.governor = governors_in("/sys/devices/system/cpu", here.cores);
  here.load = load_average(content_of("/proc/loadavg"));
  here.emulator = emulator();
  return here;
}

nlohmann::json to_json(const Environment& environment) {
  nlohmann::json document = {
      {"cpu", environment.cpu}, {"cores", environment.cores}, {"features", environment.features}};
  document["governor"] = environment.governor.empty() ? nlohmann::json(nullptr) : nlohmann::json(environment.governor);
  document["load"] = environment.load ? nlohmann::json(*environment.load) : nlohmann::json(nullptr);
  if (!environment.emulator.empty()) document["emulator"] = environment.emulator;
  return document;
}

std::string to_text(const Environment& environment) {
  std::string text = fmt::format("{}, {} core{}", environment.cpu.empty() ? "unknown processor" : environment.cpu,
                                 environment.cores, environment.cores == 1 ? "" : "s");
  for (const std::string& feature : environment.features) text += ", " + feature;
  if (!environment.emulator.empty()) text += ", emulated by " + environment.emulator;
  if (environment.load) text += fmt::format(", load {:.1f}", *environment.load);
  return text + (environment.governor.empty() ? ", governor unknown" : ", governor " + environment.governor);
}

}  // namespace octet
