// One file per command; each adds its subcommand to the application and runs when it is chosen.
#pragma once

#include <CLI/CLI.hpp>

namespace octet {

void add_inspect_command(CLI::App& app);
void add_prepare_command(CLI::App& app);
void add_quantize_command(CLI::App& app);
void add_calibrate_command(CLI::App& app);
void add_compare_command(CLI::App& app);
void add_bench_command(CLI::App& app);
void add_serve_command(CLI::App& app);
void add_auto_command(CLI::App& app);
void add_report_command(CLI::App& app);

}  // namespace octet
