// Work in a process of its own: this program again, with a hidden subcommand, one JSON document in and one out. A
// crash, and the memory, of what runs there stay there.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace octet {

struct ChildResult {
  bool timed_out = false;
  bool unwanted = false;  // the watcher had it killed
  int exit_status = -1;   // -1 when a signal ended it
  int signal = 0;
  double seconds = 0;
  std::uint64_t peak_bytes = 0;  // as wait4 says: never less than this program held when it started the child
  std::string output;            // what the child wrote to its standard output
};

// A process that runs `executable arguments` with one socket as both its standard streams, and ends when the thread
// that started it does.
struct StartedChild {
  int process = -1, socket = -1;
};
// Throws Error(kRun) when no process can be made.
StartedChild start_child(const std::vector<std::string>& arguments, const std::filesystem::path& executable);

class ChildProcess {
 public:
  // Starts at once; `input` is what the child reads from its standard input. The child also ends when the thread that
  // started it does. In an emulator, OCTET_EMULATOR is the command that children are started with: the kernel can run
  // neither this program nor, in its place, the emulator that /proc/self/exe is. Throws Error(kRun) when no process can
  // be made.
  ChildProcess(const std::vector<std::string>& arguments, std::string input,
               const std::filesystem::path& executable = "/proc/self/exe");
  ~ChildProcess();  // kills a child that still runs
  ChildProcess(const ChildProcess&) = delete;
  ChildProcess& operator=(const ChildProcess&) = delete;

  // Called with what the child wrote as it comes, and with nothing several times a second; false kills the child.
  using Watcher = std::function<bool(std::string_view output)>;

  // To be called once. After `timeout_seconds` the child is killed. With a watcher the result has no output.
  ChildResult wait(double timeout_seconds, const Watcher& watcher = {});

 private:
  void exchange(ChildResult& result, double deadline, const Watcher& watcher);

  std::string input_;
  int process_ = -1, socket_ = -1;
  double started_ = 0;
};

}  // namespace octet
