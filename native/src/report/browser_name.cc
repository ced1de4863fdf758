#include <array>
#include <string_view>
#include <utility>

#include "report/place.h"

namespace octet {
namespace {

using Sign = std::pair<std::string_view, std::string_view>;  // in the agent, in words

// Browsers call themselves by the names of older ones too: the special before the general.
constexpr std::array<Sign, 6> kBrowsers = {{{"Edg/", "Edge"},
                                            {"OPR/", "Opera"},
                                            {"Firefox/", "Firefox"},
                                            {"HeadlessChrome/", "Chrome"},
                                            {"Chrome/", "Chrome"},
                                            {"Version/", "Safari"}}};
constexpr std::array<Sign, 7> kSystems = {{{"Android", "Android"},
                                           {"iPhone", "iPhone"},
                                           {"iPad", "iPad"},
                                           {"CrOS", "ChromeOS"},
                                           {"Windows", "Windows"},
                                           {"Mac OS X", "macOS"},
                                           {"Linux", "Linux"}}};

}  // namespace

std::string browser_name(const std::string& agent) {
  for (const auto& [sign, browser] : kBrowsers) {
    const std::size_t found = agent.find(sign);
    if (found == std::string::npos) continue;
    std::string name(browser);
    const std::string version = agent.substr(found + sign.size());
    if (const std::size_t end = version.find_first_not_of("0123456789"); end != 0) name += " " + version.substr(0, end);
    for (const auto& [mark, system] : kSystems) {
      if (agent.find(mark) != std::string::npos) return name + " on " + std::string(system);
    }
    return name;
  }
  return agent.empty() ? "a browser" : agent;
}

}  // namespace octet
