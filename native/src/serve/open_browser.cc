#include "serve/open_browser.h"

#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <csignal>
#include <cstdlib>
#include <thread>

namespace octet {
namespace {

#ifdef __APPLE__
constexpr const char* kOpener = "open";
bool has_screen() { return true; }
#else
constexpr const char* kOpener = "xdg-open";
bool is_set(const char* name) {
  const char* value = std::getenv(name);
  return value != nullptr && *value != '\0';
}
bool has_screen() { return is_set("DISPLAY") || is_set("WAYLAND_DISPLAY"); }
#endif

}  // namespace

void open_browser(const std::string& address) {
  if (!has_screen()) return;
  posix_spawn_file_actions_t files;
  posix_spawnattr_t attributes;
  ::posix_spawn_file_actions_init(&files);
  ::posix_spawnattr_init(&attributes);
  for (const int stream : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO})
    ::posix_spawn_file_actions_addopen(&files, stream, "/dev/null", O_RDWR, 0);
#ifndef __APPLE__
  ::posix_spawn_file_actions_addclosefrom_np(&files, STDERR_FILENO + 1);
#endif
  // Signals as usual, and a group of its own: Ctrl-C is for the server, not for the browser.
  sigset_t none, pipe;
  ::sigemptyset(&none);
  ::sigemptyset(&pipe);
  ::sigaddset(&pipe, SIGPIPE);
  ::posix_spawnattr_setsigmask(&attributes, &none);
  ::posix_spawnattr_setsigdefault(&attributes, &pipe);
  ::posix_spawnattr_setpgroup(&attributes, 0);
  ::posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETPGROUP);
  std::string opener = kOpener, argument = address;
  std::array<char*, 3> words = {opener.data(), argument.data(), nullptr};
  pid_t process = -1;
  if (::posix_spawnp(&process, kOpener, &files, &attributes, words.data(), environ) == 0)
    std::thread([process] { ::waitpid(process, nullptr, 0); }).detach();
  ::posix_spawn_file_actions_destroy(&files);
  ::posix_spawnattr_destroy(&attributes);
}

}  // namespace octet
