#include "serve/bounded_stream.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <poll.h>
#include <strings.h>
#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstring>

namespace octet {
namespace {

constexpr std::size_t kLongestHead = 16384;  // cookies of other servers on this host may come along
constexpr double kHeadSeconds = 5;           // of waiting for it in all
// Of waiting afterwards: so long, and longer with what has come or gone at this rate.
constexpr double kPatienceSeconds = 30, kBytesPerSecond = 16384;
constexpr double kDrainSeconds = 2;

double now() { return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count(); }

short events_of(int socket, short events, double seconds) {
  pollfd wanted{socket, events, 0};
  const int milliseconds = static_cast<int>(std::clamp(seconds * 1000 + 1, 0.0, 60'000.0));
  return ::poll(&wanted, 1, seconds <= 0 ? 0 : milliseconds) > 0 ? wanted.revents : short{0};
}

template <class Ask>
void address_of(int socket, Ask ask, std::string& ip, int& port) {
  sockaddr_in address{};
  socklen_t size = sizeof address;
  if (ask(socket, reinterpret_cast<sockaddr*>(&address), &size) != 0 || address.sin_family != AF_INET) return;
  std::array<char, INET_ADDRSTRLEN> text{};
  if (::inet_ntop(AF_INET, &address.sin_addr, text.data(), text.size()) != nullptr) ip = text.data();
  port = ntohs(address.sin_port);
}

}  // namespace

bool BoundedStream::is_readable() const { return at_ < end_ || events_of(socket_, POLLIN, 0) != 0; }

bool BoundedStream::is_writable() const {
  return (events_of(socket_, POLLRDHUP, 0) & (POLLRDHUP | POLLHUP | POLLERR | POLLNVAL)) == 0;
}

bool BoundedStream::wait(short events) {
  const double start = now();
  const double patience =
      in_head_ ? kHeadSeconds : kPatienceSeconds + static_cast<double>(body_bytes_ + sent_bytes_) / kBytesPerSecond;
  const double left = patience - waited_;
  if (left <= 0) return false;
  const short ready = events_of(socket_, events, std::min(left, 59.0));
  waited_ += now() - start;
  return ready != 0 || waited_ < patience;  // a wait that was interrupted is begun again
}

// The library reads ranges with a regular expression that takes stack for every character, and files are served whole
// anyway.
bool BoundedStream::is_too_long() const {
  constexpr std::size_t kLongestRange = 256;
  const bool is_range = ::strncasecmp(line_start_.data(), "range:", line_start_.size()) == 0;
  return head_bytes_ > kLongestHead || (is_range && line_bytes_ > kLongestRange);
}

// The first lines end with an empty one.
void BoundedStream::count(char c) {
  if (!in_head_) {
    ++body_bytes_;
    return;
  }
  ++head_bytes_;
  if (line_bytes_ < line_start_.size()) line_start_[line_bytes_] = c;
  ++line_bytes_;
  if (c == '\n') {
    if (line_bytes_ == 2 && last_ == '\r') {
      in_head_ = false;
      waited_ = 0;
    }
    line_bytes_ = 0;
  }
  last_ = c;
}

ssize_t BoundedStream::read(char* data, size_t size) {
  if (in_head_ && is_too_long()) return -1;
  while (at_ == end_) {
    const ssize_t count = ::recv(socket_, buffer_.data(), buffer_.size(), MSG_DONTWAIT);
    if (count == 0) return 0;
    if (count > 0) {
      at_ = 0;
      end_ = static_cast<std::size_t>(count);
    } else if (errno != EAGAIN && errno != EINTR) {
      return -1;
    } else if (!wait(POLLIN)) {
      return -1;
    }
  }
  std::size_t taken = std::min(size, end_ - at_);
  if (in_head_) {
    std::size_t i = 0;
    while (i < taken && in_head_ && !is_too_long()) count(buffer_[at_ + i++]);
    taken = i;
  } else {
    body_bytes_ += taken;
  }
  std::memcpy(data, buffer_.data() + at_, taken);
  at_ += taken;
  return static_cast<ssize_t>(taken);
}

ssize_t BoundedStream::write(const char* data, size_t size) {
  while (true) {
    const ssize_t count = ::send(socket_, data, size, MSG_NOSIGNAL | MSG_DONTWAIT);
    if (count >= 0) {
      sent_bytes_ += static_cast<std::uint64_t>(count);
      return count;
    }
    if ((errno != EAGAIN && errno != EINTR) || !wait(POLLOUT)) return -1;
  }
}

void BoundedStream::get_remote_ip_and_port(std::string& ip, int& port) const {
  address_of(socket_, ::getpeername, ip, port);
}

void BoundedStream::get_local_ip_and_port(std::string& ip, int& port) const {
  address_of(socket_, ::getsockname, ip, port);
}

void BoundedStream::drain() {
  ::shutdown(socket_, SHUT_WR);
  const double deadline = now() + kDrainSeconds;
  while (now() < deadline) {
    if (events_of(socket_, POLLIN, deadline - now()) == 0) return;
    if (::recv(socket_, buffer_.data(), buffer_.size(), MSG_DONTWAIT) <= 0) return;
  }
}

}  // namespace octet
