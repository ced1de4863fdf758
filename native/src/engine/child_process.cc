#include "engine/child_process.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <sstream>
#include <system_error>
#include <utility>

#include "engine/environment.h"
#include "octet/error.h"

namespace octet {
namespace {

constexpr std::size_t kMaxOutput = std::size_t{64} << 20;
constexpr double kWatchMilliseconds = 200;

double now() { return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count(); }

[[noreturn]] void fail(const char* what, int code) {
  throw Error(ErrorCode::kRun, "child process", std::string(what) + ": " + std::generic_category().message(code));
}

// The words that start `executable`. Where an emulator is registered with the kernel, its own file is enough.
std::vector<std::string> command_for(const std::filesystem::path& executable) {
  if (emulator().empty()) return {executable.string()};
  std::vector<std::string> command;
  if (const char* prefix = std::getenv("OCTET_EMULATOR"); prefix != nullptr) {
    std::istringstream words(prefix);
    for (std::string word; words >> word;) command.push_back(word);
  }
  std::error_code ignored;
  const std::filesystem::path own_file = std::filesystem::read_symlink(executable, ignored);
  command.push_back((own_file.empty() ? executable : own_file).string());
  return command;
}

}  // namespace

StartedChild start_child(const std::vector<std::string>& arguments, const std::filesystem::path& executable) {
  // One socket serves as both of the child's streams: unlike a pipe it can be written to without SIGPIPE.
  std::array<int, 2> ends{};
  if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends.data()) != 0) fail("no channel can be opened", errno);
  std::vector<std::string> words = command_for(executable);
  const std::string program = words.front();
  if (words.size() == 1) words.front() = "octet";  // as lists of processes show it
  words.insert(words.end(), arguments.begin(), arguments.end());
  std::vector<char*> argv;
  for (std::string& word : words) argv.push_back(word.data());
  argv.push_back(nullptr);
  const pid_t parent = ::getpid();
  sigset_t no_signals;
  ::sigemptyset(&no_signals);

  const pid_t process = ::fork();
  if (process == 0) {
    // Only calls that are safe after fork in a program with threads.
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (::getppid() != parent) ::_exit(126);
    ::sigprocmask(SIG_SETMASK, &no_signals, nullptr);
    ::close_range(STDERR_FILENO + 1, ~0U, CLOSE_RANGE_CLOEXEC);  // a connection of the parent would not end with it
    ::dup2(ends[1], STDIN_FILENO);
    ::dup2(ends[1], STDOUT_FILENO);
    ::execvp(program.c_str(), argv.data());
    ::_exit(127);
  }
  const int code = errno;
  ::close(ends[1]);
  if (process < 0) {
    ::close(ends[0]);
    fail("no process can be started", code);
  }
  ::fcntl(ends[0], F_SETFL, O_NONBLOCK);
  return {process, ends[0]};
}

ChildProcess::ChildProcess(const std::vector<std::string>& arguments, std::string input,
                           const std::filesystem::path& executable)
    : input_(std::move(input)), started_(now()) {
  const StartedChild child = start_child(arguments, executable);
  process_ = child.process;
  socket_ = child.socket;
}

ChildProcess::~ChildProcess() {
  if (socket_ >= 0) ::close(socket_);
  if (process_ < 0) return;
  ::kill(process_, SIGKILL);
  while (::waitpid(process_, nullptr, 0) < 0 && errno == EINTR) {
  }
}

// Sends the input and collects the output until the child closes its end.
void ChildProcess::exchange(ChildResult& result, double deadline, const Watcher& watcher) {
  const double longest = watcher ? kWatchMilliseconds : 60'000;
  std::size_t sent = 0;
  std::array<char, 65536> chunk;
  if (input_.empty()) ::shutdown(socket_, SHUT_WR);
  while (true) {
    const double left = deadline - now();
    if (left <= 0) {
      result.timed_out = true;
      return;
    }
    pollfd wanted{socket_, static_cast<short>(sent < input_.size() ? POLLIN | POLLOUT : POLLIN), 0};
    const int ready = ::poll(&wanted, 1, static_cast<int>(std::min(left * 1000 + 1, longest)));
    if (ready < 0 && errno != EINTR) fail("waiting failed", errno);
    if (watcher && !watcher({})) {
      result.unwanted = true;
      return;
    }
    if (ready <= 0) continue;
    if ((wanted.revents & POLLOUT) != 0 && sent < input_.size()) {
      const ssize_t count = ::send(socket_, input_.data() + sent, input_.size() - sent, MSG_NOSIGNAL);
      // A child that ends early has closed its end: what it did is in its status.
      sent = count >= 0 ? sent + static_cast<std::size_t>(count) : (errno == EAGAIN ? sent : input_.size());
      if (sent == input_.size()) ::shutdown(socket_, SHUT_WR);
    }
    if ((wanted.revents & (POLLIN | POLLHUP | POLLERR)) != 0) {
      const ssize_t count = ::recv(socket_, chunk.data(), chunk.size(), 0);
      if (count == 0 || (count < 0 && errno != EAGAIN && errno != EINTR)) return;
      if (count > 0 && watcher) {
        result.unwanted = !watcher({chunk.data(), static_cast<std::size_t>(count)});
        if (result.unwanted) return;
      } else if (count > 0) {
        result.output.append(chunk.data(), static_cast<std::size_t>(count));
      }
      if (result.output.size() > kMaxOutput) return;
    }
  }
}

ChildResult ChildProcess::wait(double timeout_seconds, const Watcher& watcher) {
  ChildResult result;
  exchange(result, started_ + timeout_seconds, watcher);
  ::close(std::exchange(socket_, -1));
  // Whatever still runs has no reader any more; one that merely finishes is left to.
  int status = 0;
  rusage usage{};
  pid_t ended = 0;
  const double patience = now() + (result.timed_out || result.unwanted ? 0 : 2);
  while ((ended = ::wait4(process_, &status, WNOHANG, &usage)) == 0 && now() < patience) ::usleep(1000);
  if (ended == 0) {
    ::kill(process_, SIGKILL);
    while ((ended = ::wait4(process_, &status, 0, &usage)) < 0 && errno == EINTR) {
    }
  }
  process_ = -1;
  result.seconds = now() - started_;
  result.peak_bytes = static_cast<std::uint64_t>(std::max(0L, usage.ru_maxrss)) * 1024;
  if (WIFEXITED(status)) result.exit_status = WEXITSTATUS(status);
  if (WIFSIGNALED(status)) result.signal = WTERMSIG(status);
  return result;
}

}  // namespace octet
