// octet: makes ONNX models small and fast, and proves it.
#include <malloc.h>

#include <csignal>
#include <cstring>
#include <iostream>
#include <new>

#include "cli/commands.h"
#include "cli/terminal.h"
#include "data/mapped_file.h"
#include "engine/measure_candidates.h"
#include "engine/peak_memory.h"
#include "engine/verify.h"
#include "octet/error.h"
#include "serve/job_child.h"

namespace {

constexpr const char* kFooter =
    R"(Exit status: 0 done · 2 wrong options · 3 cannot read · 4 not a valid model · 5 unsupported · 6 cannot write ·
7 samples do not fit · 8 NaN or infinity in a weight · 9 the runtime refuses the model · 10 outputs drifted below the floor ·
70 a defect of Octet · 130 interrupted. Errors are one line on stderr; reports are on stdout.)";

int fail(const octet::Error& error) {
  octet::Terminal::clear_progress();
  std::cerr << "octet: error: " << error.what() << "\n";
  return octet::exit_status(error.code());
}

// Weights come and go by the megabyte: buffers that go back to the system each time cost more in page faults than the
// work on them.
void keep_buffers() {
#ifdef __GLIBC__
  mallopt(M_MMAP_THRESHOLD, 256 << 20);
  mallopt(M_TRIM_THRESHOLD, 64 << 20);
#endif
}

}  // namespace

int main(int argc, char** argv) {
  keep_buffers();
  octet::remove_outputs_on_signal();
  std::signal(SIGPIPE, SIG_IGN);
  try {
    if (argc == 2 && std::strcmp(argv[1], octet::kVerifyCommand) == 0) return octet::verify_child_main();
    if (argc == 2 && std::strcmp(argv[1], octet::kMemoryCommand) == 0) return octet::memory_child_main();
    if (argc == 2 && std::strcmp(argv[1], octet::kBenchCommand) == 0) return octet::bench_child_main();
    if (argc == 2 && std::strcmp(argv[1], octet::kCalibrateCommand) == 0) return octet::calibrate_child_main();
    if (argc == 2 && std::strcmp(argv[1], octet::kMeasureCommand) == 0) return octet::measure_child_main();
    CLI::App app{"Makes ONNX models small and fast, and proves it."};
    app.footer(kFooter);
    app.require_subcommand(1);
    app.set_version_flag("--version", std::string("octet ") + OCTET_VERSION);
    app.get_formatter()->column_width(34);
    octet::add_inspect_command(app);
    octet::add_prepare_command(app);
    octet::add_quantize_command(app);
    octet::add_calibrate_command(app);
    octet::add_compare_command(app);
    octet::add_bench_command(app);
    octet::add_serve_command(app);
    octet::add_auto_command(app);
    octet::add_report_command(app);
    try {
      app.parse(argc, argv);
    } catch (const CLI::CallForHelp& help) {
      return app.exit(help);
    } catch (const CLI::CallForVersion& version) {
      return app.exit(version);
    } catch (const CLI::ParseError& fault) {
      return fail(octet::Error(octet::ErrorCode::kUsage, {}, fault.what(), "see octet --help"));
    }
    std::cout.flush();
    if (!std::cout)
      return fail(octet::Error(octet::ErrorCode::kWrite, "standard output", "the report could not be written"));
    return 0;
  } catch (const octet::Error& error) {
    return fail(error);
  } catch (const std::bad_alloc&) {
    return fail(octet::Error(octet::ErrorCode::kInternal, {}, "out of memory",
                             "close other programs or use a machine with more"));
  } catch (const std::exception& fault) {
    return fail(octet::Error(octet::ErrorCode::kInternal, {}, std::string("unexpected: ") + fault.what(),
                             "please report it with the model's name"));
  }
}
