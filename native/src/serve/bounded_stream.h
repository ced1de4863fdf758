// A connection that cannot hold its server up: little for the first lines of a request, little time without progress.
#pragma once

#include <httplib.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>

namespace octet {

class BoundedStream final : public httplib::Stream {
 public:
  explicit BoundedStream(int socket) : socket_(socket) {}

  bool is_readable() const override;
  bool is_writable() const override;  // false once the other side is gone
  // What is not there in time, or more of first lines than there may be, ends like a connection that was closed.
  ssize_t read(char* data, size_t size) override;
  ssize_t write(const char* data, size_t size) override;
  using Stream::write;
  void get_remote_ip_and_port(std::string& ip, int& port) const override;
  void get_local_ip_and_port(std::string& ip, int& port) const override;
  socket_t socket() const override { return socket_; }

  bool has_head() const { return !in_head_; }  // the empty line that ends the first lines has come
  // Bytes read after it.
  std::uint64_t body_bytes() const { return body_bytes_; }

  // Reads on for a moment and throws it away: a client that still sends would otherwise lose the answer.
  void drain();

 private:
  bool wait(short events);
  void count(char c);
  bool is_too_long() const;

  const int socket_;
  std::array<char, 65536> buffer_;
  std::size_t at_ = 0, end_ = 0;
  bool in_head_ = true;
  std::size_t head_bytes_ = 0, line_bytes_ = 0;
  std::array<char, 6> line_start_{};
  char last_ = 0;
  std::uint64_t body_bytes_ = 0, sent_bytes_ = 0;
  double waited_ = 0;  // seconds, since the first lines or for them
};

}  // namespace octet
