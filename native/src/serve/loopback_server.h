// cpp-httplib's server on 127.0.0.1, made to last: bounded connections, one request each, and an end that does not wait
// for clients.
#pragma once

#include <httplib.h>

#include <atomic>
#include <mutex>
#include <set>

namespace octet {

class LoopbackServer final : public httplib::Server {
 public:
  LoopbackServer();

  // 0: any that is free. Returns the port; throws Error(kUsage) when it is taken.
  int bind(int port);
  // Ends every connection, and listen_after_bind.
  void end();
  bool is_ending() const { return ending_; }

 private:
  bool process_and_close_socket(socket_t socket) override;

  std::atomic<bool> ending_ = false;
  std::mutex mutex_;
  std::set<int> open_;
};

}  // namespace octet
