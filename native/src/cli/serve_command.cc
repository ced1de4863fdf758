// octet serve: the page in a browser, with native benchmarks and calibration behind it.
#include <fmt/format.h>

#include <iostream>

#include "cli/commands.h"
#include "octet/error.h"
#include "serve/open_browser.h"
#include "serve/page_files.h"
#include "serve/serve.h"

namespace octet {
namespace {

// Runs are kept by the browser under the address, so it should be the same each time.
constexpr int kUsualPort = 8642;

struct ServeFlags {
  int port = kUsualPort;
  bool no_open = false;
  std::string page, calib, data;
  std::uint64_t max_mb = 4096;
};

std::optional<std::filesystem::path> samples_at(const char* option, const std::string& path) {
  if (path.empty()) return std::nullopt;
  std::error_code fault;
  const auto whole = std::filesystem::canonical(path, fault);
  if (fault) throw Error(ErrorCode::kRead, path, fault.message(), fmt::format("{} takes a folder of samples", option));
  return whole;
}

void run(const ServeFlags& flags) {
  ServeOptions options;
  options.port = flags.port;
  options.page = flags.page.empty() ? find_page() : std::filesystem::path(flags.page);
  options.calib = samples_at("--calib", flags.calib);
  options.data = samples_at("--data", flags.data);
  options.max_bytes = flags.max_mb << 20;
  options.version = OCTET_VERSION;
  serve(options, [&](const std::string& address, const std::string& once) {
    std::cout << address << std::endl;
    if (!flags.no_open) open_browser(once);
  });
}

}  // namespace

void add_serve_command(CLI::App& app) {
  auto flags = std::make_shared<ServeFlags>();
  auto* command = app.add_subcommand("serve", "Show the page in a browser, with native benchmarks and calibration");
  command->add_option("--port", flags->port, "on 127.0.0.1; 0: any that is free")
      ->type_name("N")
      ->check(CLI::Range(0, 65535))
      ->capture_default_str();
  command->add_flag("--no-open", flags->no_open, "only print the address");
  command->add_option("--page", flags->page, "the built page (default: the one beside the program)")->type_name("DIR");
  command->add_option("--calib", flags->calib, "samples on this machine that the page may calibrate on")
      ->type_name("DATA");
  command->add_option("--data", flags->data, "samples on this machine that the page may measure on")->type_name("DATA");
  command->add_option("--max-mb", flags->max_mb, "megabytes of models and samples that the page may send in all")
      ->type_name("MB")
      ->check(CLI::Range(1, 1 << 20))
      ->capture_default_str();
  command->callback([flags] { run(*flags); });
}

}  // namespace octet
