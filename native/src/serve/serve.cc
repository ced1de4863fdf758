#include "serve/serve.h"

#include <fmt/format.h>

#include <atomic>
#include <cerrno>
#include <csignal>
#include <string>
#include <thread>

#include "octet/error.h"
#include "serve/loopback_server.h"
#include "serve/page_files.h"
#include "serve/serve_routes.h"
#include "serve/temporary_folder.h"

namespace octet {
namespace {

// Signals that end the server, kept from every thread that is begun meanwhile: none of them interrupts anything, this
// one waits for them.
class EndSignals {
 public:
  EndSignals() {
    ::sigemptyset(&set_);
    for (const int number : {SIGINT, SIGTERM, SIGHUP}) {
      struct sigaction action {};
      // A caller that ignores the signal (nohup, a background job) means it.
      if (::sigaction(number, nullptr, &action) != 0 || action.sa_handler != SIG_IGN) ::sigaddset(&set_, number);
    }
    ::sigaddset(&set_, SIGUSR1);  // the server's own: it cannot go on
    ::pthread_sigmask(SIG_BLOCK, &set_, &before_);
  }
  ~EndSignals() { ::pthread_sigmask(SIG_SETMASK, &before_, nullptr); }
  EndSignals(const EndSignals&) = delete;
  EndSignals& operator=(const EndSignals&) = delete;

  int wait() const {
    int number = 0;
    while (::sigwait(&set_, &number) == EINTR) {
    }
    return number;
  }

 private:
  sigset_t set_{}, before_{};
};

}  // namespace

void serve(const ServeOptions& options,
           const std::function<void(const std::string& address, const std::string& once)>& started) {
  check_page(options.page);
  const EndSignals signals;
  const TemporaryFolder folder;
  LoopbackServer server;
  GuardRules rules;
  rules.port = server.bind(options.port);
  rules.token = make_token();
  rules.max_upload = options.max_bytes;
  const std::string once = make_token();
  const ServeRoutes routes(options, rules, once, folder.path(), server);
  std::atomic<bool> failed = false;
  std::thread listening([&] {
    failed = !server.listen_after_bind() && !server.is_ending();
    if (failed) ::kill(::getpid(), SIGUSR1);
  });
  while (!server.is_running() && !failed) std::this_thread::yield();
  const std::string here = fmt::format("http://127.0.0.1:{}/", rules.port);
  started(here + "#token=" + rules.token, here + "open/" + once);
  signals.wait();
  server.end();
  listening.join();
  if (failed) throw Error(ErrorCode::kInternal, here, "the server can take no more connections");
}

}  // namespace octet
