// octet serve: the built page on loopback, and what a page cannot do itself: benchmarks and calibration at native
// speed.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>

namespace octet {

struct ServeOptions {
  int port = 0;  // 0: any that is free
  std::filesystem::path page;
  std::optional<std::filesystem::path> calib, data;  // folders on this machine that jobs may use
  std::uint64_t max_bytes = std::uint64_t{4096} << 20;
  std::string version;  // of Octet
};

// Serves until SIGINT, SIGTERM or SIGHUP; then everything it began has ended, and no file of it is left. `started` gets
// the address to print, and one to open: that works once, since whoever lists processes can read it. Throws Error when
// it cannot begin.
void serve(const ServeOptions& options,
           const std::function<void(const std::string& address, const std::string& once)>& started);

}  // namespace octet
