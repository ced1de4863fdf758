#include "serve/loopback_server.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/socket.h>
#include <unistd.h>

#include <condition_variable>
#include <cstdlib>
#include <exception>
#include <functional>
#include <limits>
#include <utility>

#include "octet/error.h"
#include "serve/bounded_stream.h"

namespace octet {
namespace {

constexpr std::size_t kThreads = 64, kMostWaiting = 64;

// Threads with a queue that is never long: who comes then waits in the system's own.
class BoundedQueue final : public httplib::TaskQueue {
 public:
  void enqueue(std::function<void()> task) override {
    {
      std::unique_lock lock(mutex_);
      changed_.wait(lock, [this] { return waiting_ < kMostWaiting; });
      ++waiting_;
    }
    pool_.enqueue([this, task = std::move(task)] {
      {
        const std::lock_guard lock(mutex_);
        --waiting_;
      }
      changed_.notify_one();
      task();
    });
  }
  void shutdown() override { pool_.shutdown(); }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  std::size_t waiting_ = 0;
  httplib::ThreadPool pool_{kThreads};
};

// What the request says that it brings, whether or not it is believed.
std::uint64_t announced_body(const httplib::Request& request) {
  if (request.has_header("Transfer-Encoding")) return std::numeric_limits<std::uint64_t>::max();
  return std::strtoull(request.get_header_value("Content-Length").c_str(), nullptr, 10);
}

}  // namespace

LoopbackServer::LoopbackServer() {
  new_task_queue = [] { return new BoundedQueue; };
  // Not the library's SO_REUSEPORT, with which two servers would share a port in silence.
  set_socket_options([](socket_t socket) {
    const int yes = 1;
    ::setsockopt(socket, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
  });
}

int LoopbackServer::bind(int port) {
  const int bound = port == 0 ? bind_to_any_port("127.0.0.1") : bind_to_port("127.0.0.1", port) ? port : -1;
  if (bound < 0)
    throw Error(ErrorCode::kUsage, fmt::format("--port {}", port), "cannot be used, most likely it is taken",
                "choose another, or 0 for any that is free");
  return bound;
}

void LoopbackServer::end() {
  const std::lock_guard lock(mutex_);
  ending_ = true;
  stop();
  for (const int socket : open_) ::shutdown(socket, SHUT_RDWR);
}

bool LoopbackServer::process_and_close_socket(socket_t socket) {
  ::fcntl(socket, F_SETFD, FD_CLOEXEC);
  {
    const std::lock_guard lock(mutex_);
    if (ending_) {
      ::close(socket);
      return false;
    }
    open_.insert(socket);
  }
  BoundedStream stream(socket);
  std::uint64_t announced = 0;
  bool done = false, closed = false;
  try {
    done = process_request(stream, true, closed, [&announced](httplib::Request& request) {
      announced = announced_body(request);
      request.ranges.clear();  // files are served whole
    });
  } catch (const std::exception&) {  // out of memory, for one: the other connections go on
  }
  if (!done || !stream.has_head() || stream.body_bytes() < announced || stream.is_readable()) stream.drain();
  const std::lock_guard lock(mutex_);
  open_.erase(socket);
  ::shutdown(socket, SHUT_RDWR);
  ::close(socket);
  return done;
}

}  // namespace octet
