#include "engine/process_memory.h"

#include <algorithm>
#include <fstream>
#include <string>

namespace octet {
namespace {

// The number of a line such as "MemAvailable:  123 kB".
std::uint64_t kilobytes_of(const char* file, const std::string& key) {
  std::ifstream stream(file);
  for (std::string line; std::getline(stream, line);) {
    if (!line.starts_with(key)) continue;
    return std::strtoull(line.c_str() + key.size(), nullptr, 10) * 1024;
  }
  return 0;
}

std::uint64_t number_in(const char* file) {
  std::ifstream stream(file);
  std::uint64_t number = 0;
  return stream >> number ? number : 0;  // "max" and a missing file: no limit
}

}  // namespace

std::uint64_t available_memory_bytes() {
  const std::uint64_t machine = kilobytes_of("/proc/meminfo", "MemAvailable:");
  const std::uint64_t limit = number_in("/sys/fs/cgroup/memory.max");
  if (limit == 0) return machine;
  const std::uint64_t used = number_in("/sys/fs/cgroup/memory.current");
  return std::min(machine, limit > used ? limit - used : 1);
}

std::uint64_t own_peak_bytes() { return kilobytes_of("/proc/self/status", "VmHWM:"); }

}  // namespace octet
